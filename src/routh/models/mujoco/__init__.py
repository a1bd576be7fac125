"""Robots in MuJoCo: from an MJCF or URDF file, or from MjModel and MjData, to the problem of their impact."""

from routh.models.mujoco.files import load, state
from routh.models.mujoco.landings import landing
from routh.models.mujoco.model import MujocoModel
from routh.models.mujoco.problem import problem, problems

__all__ = ["MujocoModel", "landing", "load", "problem", "problems", "state"]
