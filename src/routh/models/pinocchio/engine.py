"""Pinocchio and Coal themselves: the imports."""

from __future__ import annotations

from types import ModuleType

from routh.status import MissingExtraError


def engine() -> ModuleType:
    """The module ``pinocchio``."""
    try:
        import pinocchio
    except ImportError:
        raise MissingExtraError("pinocchio", "pinocchio") from None
    return pinocchio


def shapes() -> ModuleType:
    """The module ``coal``, which knows the shapes of collision geometry."""
    try:
        import coal
    except ImportError:
        raise MissingExtraError("coal", "pinocchio") from None
    return coal
