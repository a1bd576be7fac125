"""The keywords of `Settings`, for type checkers."""

from __future__ import annotations

from typing import TypedDict

from routh.learn.settings import Goal, Mode, Share


class HookOptions(TypedDict, total=False):
    """Keywords of hooks and wrappers."""

    mode: Mode
    share: Share
    rates: str
    threshold: float
    gap: float
    single: bool
    limits: bool
    restitution: float
    objective: Goal | None
    k: int
