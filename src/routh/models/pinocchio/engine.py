"""Pinocchio and Coal themselves: the imports."""

from __future__ import annotations

from typing import Any

from routh.status import MissingExtraError


def engine() -> Any:
    """The module ``pinocchio``."""
    try:
        import pinocchio
    except ImportError:
        raise MissingExtraError("pinocchio", "pinocchio") from None
    return pinocchio


def shapes() -> Any:
    """The module ``coal``, which knows the shapes of collision geometry."""
    try:
        import coal
    except ImportError:
        raise MissingExtraError("coal", "pinocchio") from None
    return coal
