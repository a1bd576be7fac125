"""Robots in Pinocchio: from a URDF file, or a model and its configuration, to the problem of their impact."""

from routh.models.pinocchio.files import Robot, load
from routh.models.pinocchio.model import GroundedRobot
from routh.models.pinocchio.points import ContactPoint, feet
from routh.models.pinocchio.problem import problem, problems

__all__ = ["ContactPoint", "GroundedRobot", "Robot", "feet", "load", "problem", "problems"]
