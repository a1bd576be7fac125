"""Models of mechanisms with contacts: the protocol, planar trees, free bodies in space, and robots."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from routh.models.base import ContactInfo, Model, State, impact_problem

if TYPE_CHECKING:
    from routh.models import mujoco, pinocchio, planar, simultaneity, spatial
    from routh.models.dropping import landing
    from routh.models.landed import Landing, Posture
    from routh.models.robot import RobotContact, RobotProblem, UnrepresentedWarning
    from routh.models.robot_batch import RobotBatch

#: public name -> module that defines it, loaded on first use
_LATER = {
    "Landing": "landed",
    "Posture": "landed",
    "RobotBatch": "robot_batch",
    "RobotContact": "robot",
    "RobotProblem": "robot",
    "UnrepresentedWarning": "robot",
    "landing": "dropping",
}
_SUBMODULES = ("mujoco", "pinocchio", "planar", "simultaneity", "spatial")

__all__ = [
    "ContactInfo",
    "Landing",
    "Model",
    "Posture",
    "RobotBatch",
    "RobotContact",
    "RobotProblem",
    "State",
    "UnrepresentedWarning",
    "impact_problem",
    "landing",
    "mujoco",
    "pinocchio",
    "planar",
    "simultaneity",
    "spatial",
]


if not TYPE_CHECKING:  # who samples a planar system needs no robot

    def __getattr__(name: str) -> object:
        if name in _LATER:
            return getattr(importlib.import_module(f"routh.models.{_LATER[name]}"), name)
        if name in _SUBMODULES:
            return importlib.import_module(f"routh.models.{name}")
        raise AttributeError(f"module 'routh.models' has no attribute {name!r}")
