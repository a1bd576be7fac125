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


@dataclass(frozen=True)
class Motion:
    """How a robot moves besides coming down."""

    speed: float = 0.0  # m/s, sideways: at right angles to gravity
    heading: float = 0.0  # rad, of that speed: 0 is the body's own x axis, to its left is positive
    roll_rate: float = 0.0  # rad/s, about the body's own axes x, y, z
    pitch_rate: float = 0.0
    yaw_rate: float = 0.0
    joints: Mapping[str, float] = field(default_factory=dict)  # name -> rad/s, or m/s for slides

    @property
    def rates(self) -> Array:
        """About the body's own axes, (3,) rad/s."""
        return np.array([self.roll_rate, self.pitch_rate, self.yaw_rate])

    def sideways(self, ahead: Array, down: Array) -> Array:
        """The velocity (3,) m/s along the ground, of the body's x axis and the direction of gravity, (3,)."""
        along = ahead - down * (down @ ahead)
        size = float(np.linalg.norm(along))
        if self.speed and not size > 1e-6:
            raise ValueError("heading: the body's x axis is vertical; wanted one that says where ahead is")
        along = along / max(size, 1e-300)
        left = np.cross(along, down)
        return np.asarray(self.speed * (np.cos(self.heading) * along + np.sin(self.heading) * left))


#: What of a motion is a number: arguments of `routh.models.landing`.
MOTION = ("speed", "heading", "roll_rate", "pitch_rate", "yaw_rate")


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
    motion: Motion = field(default_factory=Motion)  # besides coming down


def turned(quaternion: Array, roll: float, pitch: float, yaw: float) -> Array:
    """A unit quaternion (w, x, y, z) after turns about the body's own x, y and z, in this order."""
    result = np.asarray(quaternion, dtype=np.float64)
    for axis, angle in enumerate((roll, pitch, yaw)):
        result = multiply(result[None], exponential(angle * np.eye(3)[None, axis]))[0]
    return result / np.linalg.norm(result)


def place_joints(
    q: Array, joints: Mapping[str, float], known: Mapping[str, int], field: str = "joints"
) -> None:
    """Write values of joints by name into q (nq,) or v (nv,); ``known`` are their places in it."""
    for name, value in joints.items():
        if name not in known:
            raise ValueError(f"{field}: got {name!r}; wanted one of {', '.join(sorted(known)) or 'none'}")
        q[known[name]] = real(f"{field}[{name!r}]", value)
