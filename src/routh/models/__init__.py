"""Models of mechanisms with contacts: the protocol, planar trees, free bodies in space, and robots."""

from routh.models import mujoco, pinocchio, planar, simultaneity, spatial
from routh.models.base import ContactInfo, Model, State, impact_problem
from routh.models.dropping import landing
from routh.models.landed import Landing, Posture
from routh.models.robot import RobotContact, RobotProblem, UnrepresentedWarning
from routh.models.robot_batch import RobotBatch

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
