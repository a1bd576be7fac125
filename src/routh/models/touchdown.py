"""A free body, or a robot with its joints held, as it comes down: its contacts, its mass and its momentum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from routh.models.landed import Motion
from routh.models.regime import Regime, regime_of
from routh.models.robot import ContactRow, RobotProblem, assemble
from routh.models.simultaneity import DEEPEST, PAST_LIMIT, TOUCHING, Rules, time_to_contact
from routh.models.softness import duration_of_spring
from routh.status import ModelError
from routh.validation import Array

#: Share of the support's size: points nearer than this are one.
SAME = 1e-6

#: Slope (m/m, nearly rad) up to which a point above the ground carries the body once it has come down: feet
#: of a body that is tilted by less are all part of its support.
SLOPE = 0.1


@dataclass(frozen=True, eq=False)
class Touchdown:
    """A body above the ground that it comes down on.

    The velocities of ``problem`` are those of the root alone: joints are held from the touch on, with the
    momentum that the robot has before.
    """

    problem: RobotProblem  # all contacts with the ground within reach, inelastic
    points: Array  # (nc, 3) m, world: where the body will touch, on the body
    ups: Array  # (nc, 3) normals, from the ground to the body
    gravity: Array  # (3,) m/s^2
    mass: float  # kg
    com: Array  # (3,) m, world
    inertia: Array  # (3, 3) kg m^2 about the centre of mass, world
    momentum: Array  # (6, nv) per velocity of the problem: linear, then angular about the centre of mass
    to_world: Array  # (6, 6) orthogonal: from the root's velocities to those of its origin and its rotation
    time_constant: Array  # (nc,) s, of the contacts' springs; NaN where nothing is known
    damping_ratio: Array  # (nc,) likewise
    held: tuple[str, ...] = field(default=())  # joints

    def closing(self, v: Array | None = None) -> Array:
        """When each contact closes at a velocity of the problem (default: its own), (nc,) s."""
        problem = self.problem
        times = time_to_contact(problem.dist, problem.Jn @ (problem.v if v is None else v))
        return np.where(problem.dist <= 2.0 * TOUCHING, 0.0, times)

    def velocity(self, drop: float, motion: Motion) -> Array:
        """The problem's velocity (nv,) of a body that comes down at ``drop`` m/s and moves so besides."""
        down = self.gravity / np.linalg.norm(self.gravity)
        turn = self.to_world[3:, 3:]
        world = np.concatenate([drop * down + motion.sideways(turn[:, 0], down), turn @ motion.rates])
        return np.asarray(self.to_world.T @ world, dtype=np.float64)

    @cached_property
    def carrying(self) -> np.ndarray:
        """Which contacts carry the body once it has come down, (k,): those within a slope of the ground."""
        dist = self.problem.dist
        first = int(np.argmin(dist))
        up = self.ups.mean(axis=0)
        apart = self.points - self.points[first]
        level = np.linalg.norm(apart - np.outer(apart @ up, up) / max(float(up @ up), 1e-300), axis=1)
        rounding = SAME * max(float(level.max(initial=0.0)), 1e-3)
        return np.flatnonzero(dist - dist[first] <= SLOPE * level + rounding)

    def regime(self, window: float, unevenness: float, duration: float | None = None) -> Regime:
        """Whether the set of outcomes is the right model here; ``duration``: of a contact, if not its own."""
        lasting = self.contact_duration if duration is None else duration
        closing = self.closing()
        speed = float(-(self.problem.Jn @ self.problem.v)[closing <= window].min(initial=0.0))
        return regime_of(closing[self.carrying], speed, lasting, window, unevenness)

    @property
    def contact_duration(self) -> float:
        """How long the contacts last, s, their median; NaN where nothing is known of them."""
        lasting = duration_of_spring(self.time_constant, self.damping_ratio)
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
    rows: Sequence[ContactRow],
    ups: Array,
    *,
    reach: float,
    equality: Array,
    gravity: Array,
    springs: tuple[Array, Array],
    held: Sequence[str],
    deepest: float | None = DEEPEST,
    past_limit: float | None = PAST_LIMIT,
) -> Touchdown:
    """The touch-down of a robot whose joints are held.

    Parameters
    ----------
    M : (nv, nv); qvel : (nv,).
    rows : contacts of the robot with what does not move; ups : (k, 3) their normals towards the robot.
    springs : time constants and damping ratios of the contacts, (k,) each.
    """
    dofs = root.dofs
    own = M[dofs, dofs]
    basis = np.eye(len(M))[:, dofs]
    v: Array = np.asarray(
        np.linalg.solve(own, M[dofs] @ qvel), dtype=np.float64
    )  # joints that stop at once keep the momentum
    kept = [ContactRow(row.contact, row.J[:, dofs], row.mu) for row in rows]
    rules = Rules(gap=reach, limits=False, deepest=deepest, past_limit=past_limit)
    made = assemble(own, v, kept, rules, equality=equality[:, dofs])
    if made.reduced:
        raise ModelError("model: equality constraints hold its root, so it is not free; wanted a free body")
    # rows stay in order and keep their points; their names do not say which: a box has one name for four
    taken = {id(contact.pos) for contact in made.contacts}
    order = [k for k, row in enumerate(kept) if id(row.contact.pos) in taken]
    problem = RobotProblem(made, made.contacts, basis, basis @ v, made.unrepresented)
    upwards = ups[order]
    middle, dist = np.array([contact.pos for contact in made.contacts]), made.dist
    momentum = root.to_world @ own  # linear, and angular about the root's origin
    inertia = momentum @ root.to_world.T
    mass = float(inertia[0, 0])
    arm = np.array([inertia[1, 5], inertia[2, 3], inertia[0, 4]]) / mass  # -mass [arm]x is the upper block
    cross = _skew(arm)
    momentum[3:] -= cross @ momentum[:3]
    about = inertia[3:, 3:] - mass * cross.T @ cross
    return Touchdown(
        problem,
        middle + 0.5 * dist[:, None] * upwards,
        upwards,
        np.array(gravity, dtype=np.float64),
        mass,
        root.place + arm,
        about,
        momentum,
        root.to_world,
        springs[0][order],
        springs[1][order],
        tuple(held),
    )


def _skew(x: Array) -> Array:
    """``_skew(x) @ y = x cross y``."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
