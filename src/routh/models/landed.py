"""Landings: what a robot's first touch of the ground is, and the posture in which it comes down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from routh.models.robot import RobotProblem
from routh.models.spatial.rotations import exponential, multiply
from routh.validation import Array, real


@dataclass(frozen=True)
class Posture:
    """How a robot is turned, and where its joints are; what is not named stays as it is."""

    roll: float = 0.0  # rad, about the body's own axes x, y, z, in this order
    pitch: float = 0.0
    yaw: float = 0.0
    joints: Mapping[str, float] = field(default_factory=dict)  # name -> rad, or m for slides


@dataclass(frozen=True, eq=False)
class Landing:
    """A robot as it touches: its state, and the impact of all contacts that close within ``window``."""

    model: object = field(repr=False)  # mujoco.MjModel or pinocchio.Model
    qpos: Array  # (nq,)
    qvel: Array  # (nv,)
    problem: RobotProblem
    drop: float  # m/s, speed along gravity
    window: float  # s
    lifted: float  # m, by how much the robot was raised (negative: lowered) from where it stood
    moved: Mapping[str, float] = field(default_factory=dict)  # joints that were past their limits: put here


def turned(quaternion: Array, roll: float, pitch: float, yaw: float) -> Array:
    """A unit quaternion (w, x, y, z) after turns about the body's own x, y and z, in this order."""
    result = np.asarray(quaternion, dtype=np.float64)
    for axis, angle in enumerate((roll, pitch, yaw)):
        result = multiply(result[None], exponential(angle * np.eye(3)[None, axis]))[0]
    return result / np.linalg.norm(result)


def place_joints(q: Array, joints: Mapping[str, float], known: Mapping[str, int]) -> None:
    """Write positions of joints by name into q (nq,); ``known`` are their places in it."""
    for name, value in joints.items():
        if name not in known:
            raise ValueError(f"joints: got {name!r}; wanted one of {', '.join(sorted(known)) or 'none'}")
        q[known[name]] = real(f"joints[{name!r}]", value)
