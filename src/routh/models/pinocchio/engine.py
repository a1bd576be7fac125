"""Pinocchio and Coal themselves: the imports."""

from __future__ import annotations

from types import ModuleType

from routh.status import optional


def engine() -> ModuleType:
    """The module ``pinocchio``."""
    return optional("pinocchio", "pinocchio")


def shapes() -> ModuleType:
    """The module ``coal``, which knows the shapes of collision geometry."""
    return optional("coal", "pinocchio")
