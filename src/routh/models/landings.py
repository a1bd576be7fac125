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

from routh.base.status import InputError
from routh.base.validation import Array, real
from routh.models.regime import Regime, duration_of_spring, regime_of
from routh.models.resting import Rest, rest_of
from routh.models.robot import (
    ContactRow,
    NoContactError,
    RobotContact,
    RobotProblem,
    distinct_names,
    impossible,
    planar_tangents,
)
from routh.models.rotations import exponential, multiply, skew
from routh.models.simultaneity import (
    DEEPEST,
    RESTITUTION,
    TOUCHING,
    Restitution,
    Rules,
    time_to_contact,
)
from routh.problem.impact import ImpactProblem


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

    sideways: float = 0.0  # m/s, at right angles to gravity
    heading: float = 0.0  # rad, where that goes: 0 is the body's own x axis, to its left is positive
    roll_rate: float = 0.0  # rad/s, about the body's own axes x, y, z
    pitch_rate: float = 0.0
    yaw_rate: float = 0.0
    joints: Mapping[str, float] = field(default_factory=dict)  # name -> rad/s, or m/s for slides

    @property
    def rates(self) -> Array:
        """Rates about the body's own axes, (3,) rad/s."""
        return np.array([self.roll_rate, self.pitch_rate, self.yaw_rate])

    def along_ground(self, ahead: Array, down: Array) -> Array:
        """The velocity (3,) m/s along the ground, of the body's x axis and the direction of gravity, (3,)."""
        along = ahead - down * (down @ ahead)
        size = float(np.linalg.norm(along))
        if self.sideways and not size > 1e-6:
            raise InputError(
                "heading", wrong="the body's x axis is vertical", wanted="one with a horizontal part"
            )
        along = along / max(size, 1e-300)
        left = np.cross(along, down)
        return np.asarray(self.sideways * (np.cos(self.heading) * along + np.sin(self.heading) * left))


#: What of a motion is a number: arguments of `routh.models.landing`.
MOTION = ("sideways", "heading", "roll_rate", "pitch_rate", "yaw_rate")


def speed_down(down: float | None, height: float | None, gravity: Array) -> float:
    """The speed (m/s) of a touchdown told by ``down`` (m/s) or by ``height`` (m of free fall); (3,) m/s^2."""
    if (down is None) == (height is None):
        came = "neither" if down is None else "both"
        raise InputError(
            "down, height",
            got=came,
            wanted="one: the speed in m/s (down=), or the height in m that it falls freely from (height=)",
        )
    if height is None:
        return real("down", down, above=0.0)
    metres, size = real("height", height, above=0.0), float(np.linalg.norm(gravity))
    if size == 0.0:
        raise InputError(
            "height", wrong="the model has no gravity, so nothing falls", wanted="the speed (down=)"
        )
    return math.sqrt(2.0 * size * metres)


@dataclass(frozen=True, eq=False)
class Landing:
    """A robot as it touches: its state, and the impact of all contacts that close within ``window``."""

    model: object = field(repr=False)  # mujoco.MjModel or pinocchio.Model
    qpos: Array  # (nq,)
    qvel: Array  # (nv,)
    problem: RobotProblem
    down: float  # m/s, speed along gravity
    window: float  # s
    lifted: float  # m, by how much the robot was raised (negative: lowered) from where it stood
    moved: Mapping[str, float] = field(default_factory=dict)  # joints that were past their limits: put here
    motion: Motion = field(default_factory=Motion)  # besides coming down
    body: str = ""  # that comes down, where other bodies move too
    restitution: Restitution = RESTITUTION  # of the contacts, as it was asked for


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
            raise InputError(field, got=repr(name), wanted=wanted)
        q[known[name]] = real(f"{field}[{name!r}]", value)


#: Slope (m/m) up to which what may carry a body is looked for: tilts and slopes of 15 degrees together.
SLOPE = 0.27

_WALL = -0.5  # cosine between a normal and gravity from which the ground is a wall
_PARALLEL = math.cos(0.01)  # of the angle (rad) between normals up to which the ground is one plane


class SeenContacts(NamedTuple):
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

    def take(self, kept: np.ndarray) -> SeenContacts:
        """Some of the contacts, which get distinct names."""
        if kept.all():
            return self._replace(names=distinct_names(self.names))
        rows = np.flatnonzero(kept).tolist()
        names, geoms = [self.names[k] for k in rows], [self.geoms[k] for k in rows]
        return SeenContacts(distinct_names(names), geoms, *(array[kept] for array in self[2:]))


@dataclass(frozen=True, eq=False)
class RootMotion:
    """Position of the free root, and the frame of its velocities."""

    dofs: slice  # its six velocities
    place: Array  # (3,) m, world: the origin of its frame
    to_world: Array  # (6, 6) orthogonal: from its velocities to those of the origin and its rotation, world


@dataclass(frozen=True, eq=False)
class Load:
    """What pulls a body to the ground."""

    mass: float  # kg, of the body itself: armature is inertia, but has no weight
    com: Array  # (3,) m, world
    weight: Array  # (3,) N: what acts on it of gravity
    centre: Array  # (3,) m, world: where that acts
    gravity: Array  # (3,) m/s^2


@dataclass(frozen=True, eq=False)
class Touchdown:
    """A body above the ground that it comes down on.

    Its velocities are those of the root alone: joints are held from the touch on, with the momentum that the
    robot has before.
    """

    M: Array  # (nv, nv)
    v: Array  # (nv,) before
    basis: Array  # (nv of the robot, nv)
    seen: SeenContacts  # all contacts with the ground within reach
    points: Array  # (nc, 3) m, world: where the body will touch, on the body
    root: RootMotion
    load: Load
    held: tuple[str, ...] = field(default=())  # joints
    ground: str = ""  # the one plane that the body can ever meet, if that is known
    doubts: tuple[str, ...] = ()  # why its energy proves nothing about later
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
        """Time at which each contact closes at a velocity of the problem (default: its own), (nc,) s.

        ``unevenness``: m, by which the height of each foot may differ from the model at most; two of them
        differ by up to twice as much, so a foot may close earlier by that.
        """
        if v is None and not unevenness:
            return self._closing
        dist = self.seen.dist - 2.0 * (unevenness or 0.0)
        times = time_to_contact(dist, self.seen.J[:, 0] @ (self.v if v is None else v))
        return np.where(dist <= 2.0 * TOUCHING, 0.0, times)

    def velocity(self, down: float, motion: Motion) -> Array:
        """The problem's velocity (nv,) of a body that comes down at ``down`` m/s and moves so besides."""
        fall = self.load.gravity / np.linalg.norm(self.load.gravity)
        turn = self.root.to_world[3:, 3:]
        world = np.concatenate([down * fall + motion.along_ground(turn[:, 0], fall), turn @ motion.rates])
        return np.asarray(self.root.to_world.T @ world, dtype=np.float64)

    def turning(self, points: Array, directions: Array) -> Array:
        """Velocities (k, nv) of turning at 1 rad/s about axes through points (k, 3) along unit vectors."""
        linear = np.cross(directions, self.root.place - points)
        return np.asarray(np.hstack([linear, directions]) @ self.root.to_world, dtype=np.float64)

    @cached_property
    def up(self) -> Array:
        """The normal of the nearest ground that is no wall, (3,); of the nearest wall where there is none."""
        floors = self.seen.up @ self.load.weight < _WALL * math.hypot(*self.load.weight)
        dist = np.where(floors, self.seen.dist, np.inf) if floors.any() else self.seen.dist
        return np.asarray(self.seen.up[int(np.argmin(dist))])

    @cached_property
    def over_ground(self) -> np.ndarray:
        """The contacts (k,) with ground of that normal."""
        return np.flatnonzero(self.seen.up @ self.up > _PARALLEL)

    @cached_property
    def rest(self) -> Rest:
        """Rest of the body on `over_ground`; a ValueError where these points span no area."""
        pull = self.load.weight / max(float(np.linalg.norm(self.load.weight)), 1e-300)
        return rest_of(self.points[self.over_ground], self.up, self.load.centre, pull)

    @cached_property
    def carrying(self) -> np.ndarray:
        """Which contacts carry the body once it has come down, (k,); all, where it cannot come to rest."""
        try:
            return np.asarray(self.over_ground[self.rest.carrying])
        except ValueError:
            return self.over_ground

    def regime(
        self, window: float, unevenness: float, duration: float | None = None, *, decided: bool = False
    ) -> Regime:
        """Whether the set of outcomes is the right model here; ``duration``: of a contact, if not its own;
        ``decided``: that later impacts do not decide."""
        lasting = self.contact_duration if duration is None else duration
        closing = self.closing()
        speed = float(-(self.seen.J[:, 0] @ self.v)[closing <= window].min(initial=0.0))
        return regime_of(closing[self.carrying], speed, lasting, window, unevenness, decided=decided)

    @property
    def contact_duration(self) -> float:
        """How long the contacts last, s, their median; NaN where nothing is known of them."""
        lasting = duration_of_spring(self.seen.time_constant, self.seen.damping_ratio)
        return float(np.median(lasting)) if np.isfinite(lasting).all() else np.nan


def held_touchdown(
    M: Array,
    qvel: Array,
    root: RootMotion,
    seen: SeenContacts,
    *,
    reach: float,
    load: Load,
    held: Sequence[str],
    deepest: float | None = DEEPEST,
    ground: str = "",
    doubts: Sequence[str] = (),
) -> Touchdown:
    """The touch-down of a robot whose joints are held.

    Parameters
    ----------
    M : (nv, nv).
    qvel : (nv,).
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
        raise NoContactError(f"no contact {Rules(gap=reach)}; {found}", v, basis)
    near = seen.take(kept)
    lowest = int(np.argmin(near.dist))
    if not -near.dist[lowest] <= (np.inf if deepest is None else deepest):
        worst = RobotContact(near.names[lowest], "contact", "", "", float(near.dist[lowest]))
        raise impossible(worst, Rules(gap=reach, deepest=deepest))
    if float(near.dist[lowest]) < -2.0 * TOUCHING:
        doubts = [*doubts, f"it starts {-1e3 * near.dist[lowest]:.2g} mm deep in {near.geoms[lowest][0]}"]
    places = near.pos + 0.5 * near.dist[:, None] * near.up
    return Touchdown(own, v, basis, near, places, root, load, tuple(held), ground, tuple(doubts))


def look_ahead(radius: float, width: float, twist: Array, window: float) -> float:
    """How far from a body to look for ground, m.

    Parameters
    ----------
    radius : m, of a ball around the body; width : m, of a cylinder along gravity around it.
    twist : (6,) with which it moves.
    """
    fastest = math.hypot(*twist[:3]) + 2.0 * radius * math.hypot(*twist[3:6])
    return max(2.0 * SLOPE * width, 2.0 * window * fastest)


def touchdown_of_each(
    make: Callable[[Array, Array], Touchdown], qpos: Array, qvel: Array
) -> Iterator[Touchdown | ValueError]:
    """What an adapter makes of states (n, nq), (n, nv), one by one; an error where one has no touch-down."""
    for q, v in zip(qpos, qvel, strict=True):
        try:
            if not (np.isfinite(q).all() and np.isfinite(v).all()):
                raise InputError("qpos, qvel", got="a number that is not finite", wanted="finite ones")
            found: Touchdown | ValueError = make(q, v)
        except ValueError as error:
            found = error
        yield found


def rigid_jacobians(points: Array, frame: Array, root: RootMotion) -> Array:
    """How fast points (k, 3) of a rigid body move along rows of frames (k, 3, 3), (k, 3, 6) per its own."""
    turning = frame @ skew(root.place - points)  # row . (w x arm) = row . (-arm x w)
    return np.concatenate([frame, turning], axis=2) @ root.to_world
