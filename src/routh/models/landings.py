"""Landings: the posture in which a robot comes down, and its first touch of the ground.

`Posture` and `Motion` say how a robot comes down, a `Landing` is it as it touches. A `Touchdown` is a state
above the ground with all that may touch: contacts, mass and momentum of a free body, or of a robot whose
joints are held. The adapters to MuJoCo and Pinocchio fill in both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from routh.models.regime import Regime, duration_of_spring, regime_of
from routh.models.robot import (
    ContactRow,
    NoContactError,
    RobotContact,
    RobotProblem,
    distinct_names,
    impossible,
    planar_tangents,
)
from routh.models.simultaneity import DEEPEST, TOUCHING, Rules, time_to_contact
from routh.models.spatial.rotations import exponential, multiply, skew
from routh.problem import ImpactProblem
from routh.status import StateError
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
            raise ValueError("heading: the body's x axis is vertical; wanted one with a horizontal part")
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
    body: str = ""  # that comes down, where other bodies move too


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
            wanted = (
                f"one of {', '.join(sorted(known))}" if known else "none: the model has no joints that move"
            )
            raise ValueError(f"{field}: got {name!r}; wanted {wanted}")
        q[known[name]] = real(f"{field}[{name!r}]", value)


#: Share of the support's size: points nearer than this are one.
SAME = 1e-6

#: Slope (m/m, nearly rad) up to which a point above the ground carries the body once it has come down: feet
#: of a body that is tilted by less are all part of its support.
SLOPE = 0.1


class Seen(NamedTuple):
    """Contacts of a body with what does not move; arrays, since there are many states."""

    names: Sequence[str]  # (k,) "geom2/geom1"
    geoms: Sequence[tuple[str, str]]  # (k,)
    dist: Array  # (k,) m
    pos: Array  # (k, 3) m, world
    frame: Array  # (k, 3, 3) rows: normal, two tangents
    up: Array  # (k, 3) normals towards the body
    J: Array  # (k, 3, nv of the root) normal, then tangents
    mu: Array  # (k,)
    time_constant: Array  # (k,) s, of the contacts' springs; NaN where nothing is known
    damping_ratio: Array  # (k,) likewise

    def take(self, kept: np.ndarray) -> Seen:
        """Some of them, which get distinct names."""
        if kept.all():
            return self._replace(names=distinct_names(self.names))
        rows = np.flatnonzero(kept).tolist()
        names, geoms = [self.names[k] for k in rows], [self.geoms[k] for k in rows]
        return Seen(distinct_names(names), geoms, *(array[kept] for array in self[2:]))


@dataclass(frozen=True, eq=False)
class Touchdown:
    """A body above the ground that it comes down on.

    Its velocities are those of the root alone: joints are held from the touch on, with the momentum that the
    robot has before.
    """

    M: Array  # (nv, nv)
    v: Array  # (nv,) before
    basis: Array  # (nv of the robot, nv)
    seen: Seen  # all contacts with the ground within reach
    points: Array  # (nc, 3) m, world: where the body will touch, on the body
    gravity: Array  # (3,) m/s^2
    mass: float  # kg
    com: Array  # (3,) m, world
    inertia: Array  # (3, 3) kg m^2 about the centre of mass, world
    momentum: Array  # (6, nv) per velocity of the problem: linear, then angular about the centre of mass
    to_world: Array  # (6, 6) orthogonal: from the root's velocities to those of its origin and its rotation
    held: tuple[str, ...] = field(default=())  # joints
    body: str = ""  # that comes down, where other bodies move too

    @cached_property
    def problem(self) -> RobotProblem:
        """The impact of all contacts within reach, inelastic."""
        every = np.arange(len(self.seen.names))
        return self.impact(every, np.zeros(len(every)))

    def impact(self, contacts: np.ndarray, restitution: Array, v: Array | None = None) -> RobotProblem:
        """The impact of some contacts with this restitution (k,); ``v``: another velocity before."""
        seen, velocity = self.seen, self.v if v is None else v
        named, pairs = [seen.names[k] for k in contacts], [seen.geoms[k] for k in contacts]
        places = [
            RobotContact(name, "contact", first, second, float(seen.dist[k]), seen.pos[k], seen.frame[k])
            for k, name, (first, second) in zip(contacts, named, pairs, strict=True)
        ]
        rows = [ContactRow(c, seen.J[k], float(seen.mu[k])) for c, k in zip(places, contacts, strict=True)]
        tangents = seen.J[contacts, 1:]
        if not self.slides_everywhere:
            places, tangents = planar_tangents(rows, tangents)
        given = self.M, seen.J[contacts, 0], tangents, seen.mu[contacts], velocity
        made = ImpactProblem(*given, restitution=restitution, names=named)
        return RobotProblem(made, places, self.basis, self.basis @ velocity)

    @cached_property
    def slides_everywhere(self) -> bool:
        """Whether every contact has friction in two directions, or in none."""
        return bool(np.any(self.seen.J[:, 1:], axis=2).all())

    @cached_property
    def _closing(self) -> Array:
        return self.closing(self.v)

    def closing(self, v: Array | None = None, unevenness: float | None = None) -> Array:
        """When each contact closes at a velocity of the problem (default: its own), (nc,) s.

        ``unevenness``: m, by which the height of each foot differs from the model; two of them differ by
        sqrt(2) of it, so a foot may close earlier by as much.
        """
        if v is None and not unevenness:
            return self._closing
        dist = self.seen.dist - math.sqrt(2.0) * (unevenness or 0.0)
        times = time_to_contact(dist, self.seen.J[:, 0] @ (self.v if v is None else v))
        return np.where(dist <= 2.0 * TOUCHING, 0.0, times)

    def velocity(self, drop: float, motion: Motion) -> Array:
        """The problem's velocity (nv,) of a body that comes down at ``drop`` m/s and moves so besides."""
        down = self.gravity / np.linalg.norm(self.gravity)
        turn = self.to_world[3:, 3:]
        world = np.concatenate([drop * down + motion.sideways(turn[:, 0], down), turn @ motion.rates])
        return np.asarray(self.to_world.T @ world, dtype=np.float64)

    @cached_property
    def carrying(self) -> np.ndarray:
        """Which contacts carry the body once it has come down, (k,): those within a slope of the ground."""
        dist = self.seen.dist
        first = int(np.argmin(dist))
        up = self.seen.up.sum(axis=0) / max(len(dist), 1)
        apart = self.points - self.points[first]
        across = apart - (apart @ up)[:, None] * (up / max(float(up @ up), 1e-300))
        level = np.sqrt(np.einsum("ij,ij->i", across, across))
        rounding = SAME * max(float(level.max(initial=0.0)), 1e-3)
        return np.flatnonzero(dist - dist[first] <= SLOPE * level + rounding)

    def regime(self, window: float, unevenness: float, duration: float | None = None) -> Regime:
        """Whether the set of outcomes is the right model here; ``duration``: of a contact, if not its own."""
        lasting = self.contact_duration if duration is None else duration
        closing = self.closing()
        speed = float(-(self.seen.J[:, 0] @ self.v)[closing <= window].min(initial=0.0))
        return regime_of(closing[self.carrying], speed, lasting, window, unevenness)

    @property
    def contact_duration(self) -> float:
        """How long the contacts last, s, their median; NaN where nothing is known of them."""
        lasting = duration_of_spring(self.seen.time_constant, self.seen.damping_ratio)
        return float(np.median(lasting)) if np.isfinite(lasting).all() else np.nan


@dataclass(frozen=True, eq=False)
class RootMotion:
    """Where the free root is and what its velocities mean."""

    dofs: slice  # its six velocities
    place: Array  # (3,) m, world: the origin of its frame
    to_world: Array  # (6, 6) orthogonal: from its velocities to those of the origin and its rotation, world


def held_touchdown(
    M: Array,
    qvel: Array,
    root: RootMotion,
    seen: Seen,
    *,
    reach: float,
    gravity: Array,
    held: Sequence[str],
    deepest: float | None = DEEPEST,
) -> Touchdown:
    """The touch-down of a robot whose joints are held.

    Parameters
    ----------
    M : (nv, nv); qvel : (nv,).
    seen : contacts of the robot with what does not move, of which those within ``reach`` m are taken.
    """
    dofs = root.dofs
    own = M[dofs, dofs]
    basis = np.eye(len(M))[:, dofs]
    v: Array = qvel
    if len(M) > len(own):  # joints that stop at once keep the momentum
        v = np.asarray(np.linalg.solve(own, M[dofs] @ qvel), dtype=np.float64)
    kept = seen.dist <= reach
    if not kept.any():
        found = f"the smallest distance is {seen.dist.min():g}" if len(kept) else "nothing is near"
        raise NoContactError(f"state: no contact {Rules(gap=reach)}; {found}", v, basis)
    near = seen.take(kept)
    lowest = int(np.argmin(near.dist))
    if not -near.dist[lowest] <= (np.inf if deepest is None else deepest):
        worst = RobotContact(near.names[lowest], "contact", "", "", float(near.dist[lowest]))
        raise StateError(impossible(worst, Rules(gap=reach, deepest=deepest)))
    momentum = root.to_world @ own  # linear, and angular about the root's origin
    inertia = momentum @ root.to_world.T
    mass = float(inertia[0, 0])
    arm = np.array([inertia[1, 5], inertia[2, 3], inertia[0, 4]]) / mass  # -mass [arm]x is the upper block
    cross = skew(arm[None])[0]
    momentum[3:] -= cross @ momentum[:3]
    return Touchdown(
        own,
        v,
        basis,
        near,
        near.pos + 0.5 * near.dist[:, None] * near.up,
        gravity,
        mass,
        root.place + arm,
        inertia[3:, 3:] - mass * cross.T @ cross,
        momentum,
        root.to_world,
        tuple(held),
    )


def look_ahead(radius: float, twist: Array, window: float) -> float:
    """How far from a body of some radius (m), moving with ``twist`` (6,), to look for ground, m."""
    fastest = math.hypot(*twist[:3]) + 2.0 * radius * math.hypot(*twist[3:6])
    return max(2.0 * SLOPE * radius, 2.0 * window * fastest)


def touchdown_of_each(
    make: Callable[[Array, Array], Touchdown], qpos: Array, qvel: Array
) -> Iterator[Touchdown | ValueError]:
    """What an adapter makes of states (n, nq), (n, nv), one by one; an error where one has no touch-down."""
    for q, v in zip(qpos, qvel, strict=True):
        try:
            if not (np.isfinite(q).all() and np.isfinite(v).all()):
                raise ValueError("qpos, qvel: got a number that is not finite; wanted finite ones")
            found: Touchdown | ValueError = make(q, v)
        except ValueError as error:
            found = error
        yield found


def rigid_jacobians(points: Array, frame: Array, root: RootMotion) -> Array:
    """How fast points (k, 3) of a rigid body move along rows of frames (k, 3, 3), (k, 3, 6) per its own."""
    turning = frame @ skew(root.place - points)  # row . (w x arm) = row . (-arm x w)
    return np.concatenate([frame, turning], axis=2) @ root.to_world
