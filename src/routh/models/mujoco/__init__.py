"""Robots in MuJoCo: from an MJCF or URDF file, or from MjModel and MjData, to the problem of their impact."""

from routh.models.mujoco.loading import load, state
from routh.models.mujoco.problem import problem
from routh.models.mujoco.rollout import CaughtImpact, RolloutAudit, audit

__all__ = ["CaughtImpact", "RolloutAudit", "audit", "load", "problem", "state"]
