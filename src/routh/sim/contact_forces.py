"""Contact forces in a given mode: which contacts are held closed, and which of them slip.

At closed contacts that neither approach nor separate, HP23 (12) and (16) hold on the level of accelerations:

    0 <= lambda_n  _|_  a_n >= 0,      lambda_t in -mu lambda_n Unit(slip),

where slip is the tangential velocity or, where that is zero, the tangential acceleration, and
``a = J M^-1 J^T lambda + J a_free + dJ/dt v``. A mode turns this into linear equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.problem.friction import facet_directions
from routh.sim.mechanism import Snapshot

_RAYS = 32  # edges of a spatial friction cone where redundant contacts share a load
_JAMMED = 1e-9  # share of a contact's response that friction leaves over: below it the force has no bound
SINGULAR = 1e-11  # singular values below this share of the largest count as zero


@dataclass(frozen=True)
class Hold:
    """One contact of a mode: it stays closed, and sticks or slips."""

    contact: int  # index in the model
    direction: tuple[float, ...] | None = None  # unit direction of slip, (nt,); None: it sticks

    @property
    def sticks(self) -> bool:
        """Whether the contact does not slip."""
        return self.direction is None


Mode = tuple[Hold, ...]  # the contacts that stay closed; every other contact is left alone


@dataclass(frozen=True, eq=False)
class ModeForces:
    """The forces that a mode needs, and what contradicts it."""

    mode: Mode
    force: Array  # (m, 1 + nt) N, of the problem's contacts
    acceleration: Array  # (m, 1 + nt) m/s^2
    residual: float  # share of the mode's equations that cannot be met, dimensionless
    redundant: bool  # forces are not determined by the motion; a balanced choice was made


@dataclass(frozen=True, eq=False)
class Equations:
    """A mode as linear equations: the accelerations that it sets to zero, and how its unknowns spread."""

    picked: np.ndarray  # (k,) which of the m (1 + nt) accelerations vanish
    owner: np.ndarray  # (k,) whose they are, as a position in the problem
    columns: Array  # (m (1 + nt), k) forces per unknown


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """The acceleration-level problem of some contacts (m of them), in the order of ``contacts``."""

    contacts: tuple[int, ...]
    G: Array  # (m (1 + nt), m (1 + nt)) 1/kg, Delassus matrix
    free: Array  # (m, 1 + nt) m/s^2, accelerations without contact forces
    mu: Array  # (m,)
    slip: Array  # (m, nt), unit directions of the present slip; zero where there is none
    force_unit: Array  # (m,) N
    acceleration_unit: Array  # (m,) m/s^2

    @cached_property
    def starts(self) -> np.ndarray:
        """Contacts with friction and without slip, which may begin to, (m,) bool."""
        return (self.mu > 0.0) & ~self.slip.any(axis=1)

    def position(self, contact: int) -> int:
        """Position of a contact of the model in this problem."""
        return self.contacts.index(contact)

    def accelerations(self, force: Array) -> Array:
        """Contact accelerations under forces (m, 1 + nt)."""
        return (self.G @ force.ravel()).reshape(force.shape) + self.free


def contact_problem(snapshot: Snapshot, contacts: Sequence[int], mu: Array, slip: Array) -> ContactProblem:
    """The problem of ``contacts``; ``slip`` (m, nt) are their unit slip directions or zero."""
    rows = list(contacts)
    J = snapshot.J[rows]
    m, width, nv = J.shape
    flat = J.reshape(m * width, nv)
    G = flat @ snapshot.inverse_mass @ flat.T
    free = (flat @ snapshot.free).reshape(m, width) + snapshot.bias[rows]
    root = np.sqrt(G.diagonal()[::width])  # 1 / sqrt(effective mass)
    scale = float(np.abs(free / root[:, None]).max(initial=0.0)) or 1.0
    return ContactProblem(tuple(rows), G, free, mu[rows], slip, scale / root, scale * root)


def forces_of(problem: ContactProblem, mode: Mode, known: Equations | None = None) -> ModeForces:
    """Forces with which the contacts of ``mode`` keep it; balanced where contacts are redundant.

    ``known`` are the mode's `equations`, where they were formed before.
    """
    m, width = problem.free.shape
    if not mode:
        return ModeForces(mode, np.zeros((m, width)), problem.free, 0.0, False)
    form = known or equations(problem.contacts, problem.mu, width, mode)
    unit_a, unit_f = problem.acceleration_unit[form.owner], problem.force_unit[form.owner]
    scaled = (problem.G[form.picked] @ form.columns) * (unit_f / unit_a[:, None])
    wanted = -problem.free.ravel()[form.picked] / unit_a
    x = _unique(scaled, wanted)
    redundant = x is None
    if x is None:
        x = _balanced(scaled, wanted, problem, mode, form)
    residual = float(np.abs(scaled @ x - wanted).max())
    force = (form.columns @ (x * unit_f)).reshape(m, width)
    return ModeForces(mode, force, problem.accelerations(force), residual, redundant)


def margins(problem: ContactProblem, solution: ModeForces) -> Array:
    """How far the solution is from leaving its mode, dimensionless: negative where (12) or (16) is broken.

    First the residual of the mode's equations (as a margin), then per contact: normal force and, sticking,
    the room inside the friction cone; beginning to slip, the acceleration along the slip; open, the normal
    acceleration.
    """
    held = {hold.contact: hold for hold in solution.mode}
    result = [tolerances.CONTACT_FORCE - solution.residual]
    for i, contact in enumerate(problem.contacts):
        acceleration = solution.acceleration[i] / problem.acceleration_unit[i]
        force = solution.force[i] / problem.force_unit[i]
        if contact not in held:
            result.append(float(acceleration[0]))
            continue
        result.append(float(force[0]))
        direction = held[contact].direction
        if direction is None:
            result.append(float(problem.mu[i] * force[0] - np.linalg.norm(force[1:])))
        elif problem.starts[i]:
            along = float(acceleration[1:] @ direction)
            across = float(np.linalg.norm(acceleration[1:] - along * np.asarray(direction)))
            result.append(along if across < 1e-6 else -across)
    return np.array(result)


def is_valid(problem: ContactProblem, solution: ModeForces, slack: float = tolerances.CONTACT_FORCE) -> bool:
    """Whether a mode's forces solve the acceleration problem, up to a scaled violation of ``slack``."""
    least = float(margins(problem, solution).min())
    return bool(np.isfinite(least) and least >= -slack)


def equations(contacts: Sequence[int], mu: Array, width: int, mode: Mode) -> Equations:
    """The equations of a mode of ``contacts`` (m of them) with friction mu (m,)."""
    picked: list[int] = []
    slipping: list[tuple[int, int, tuple[float, ...]]] = []
    for hold in mode:
        first = contacts.index(hold.contact) * width
        if hold.direction is None:
            picked += range(first, first + width)
        else:  # lambda_t = -mu lambda_n direction
            slipping.append((first, len(picked), hold.direction))
            picked.append(first)
    columns = np.zeros((len(contacts) * width, len(picked)))
    columns[picked, range(len(picked))] = 1.0
    for first, column, direction in slipping:
        for j, component in enumerate(direction):
            columns[first + 1 + j, column] = -mu[first // width] * component
    at = np.array(picked)
    return Equations(at, at // width, columns)


def _unique(matrix: Array, right: Array) -> Array | None:
    """The solution of a square system; None where it is singular."""
    if len(right) == 1:
        pivot = float(matrix[0, 0])
        return right / pivot if abs(pivot) > _JAMMED else None
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    if not np.abs(inverse).max() * np.abs(matrix).max() * SINGULAR < 1.0:
        return None
    x = inverse @ right
    return np.asarray(x + inverse @ (right - matrix @ x))  # nearly redundant contacts need the digits


def _balanced(matrix: Array, right: Array, problem: ContactProblem, mode: Mode, form: Equations) -> Array:
    """Forces that meet the equations as well as possible inside the cones: the smallest ones, if they do."""
    if len(right) == 1:
        return np.zeros(1)  # jammed: no finite force does it
    even = problem.force_unit.max() / problem.force_unit[form.owner]  # forces are compared in N, not in units
    smallest = even * np.linalg.lstsq(matrix * even, right, rcond=SINGULAR)[0]
    if _inside(smallest, problem, mode) and _misfit(matrix, smallest, right) < tolerances.CONTACT_FORCE:
        return smallest
    from scipy.optimize import nnls

    rays = _rays(problem, mode)
    size = float(np.abs(matrix).max())
    generators = matrix @ rays
    small = 1e-4 * size * np.eye(generators.shape[1])  # makes the choice unique and continuous
    z, _ = nnls(np.vstack([generators, small]), np.concatenate([right, np.zeros(len(small))]))
    used = z > 1e-9 * max(float(z.max()), 1e-300)
    refined = np.zeros_like(z)
    refined[used] = np.linalg.lstsq(generators[:, used], right, rcond=SINGULAR)[0]
    better = np.all(refined >= 0.0) and _misfit(generators, refined, right) <= _misfit(generators, z, right)
    return rays @ (refined if better else z)


def _inside(x: Array, problem: ContactProblem, mode: Mode) -> bool:
    """Whether the unknowns of a mode lie in their friction cones."""
    width, at = problem.free.shape[1], 0
    for hold in mode:
        count = width if hold.sticks else 1
        mu = problem.mu[problem.position(hold.contact)]
        if x[at] < 0.0 or (hold.sticks and np.linalg.norm(x[at + 1 : at + count]) > mu * x[at]):
            return False
        at += count
    return True


def _misfit(matrix: Array, z: Array, right: Array) -> float:
    return float(np.abs(matrix @ z - right).max())


def _rays(problem: ContactProblem, mode: Mode) -> Array:
    """Axes and edges of the friction cones in the unknowns of a mode, (k, number of rays)."""
    from scipy.linalg import block_diag

    nt = problem.free.shape[1] - 1
    blocks = []
    for hold in mode:
        mu = problem.mu[problem.position(hold.contact)]
        if hold.direction is not None:
            blocks.append(np.ones((1, 1)))
        else:  # the axis of the cone and its edges, each of unit size
            directions = facet_directions(nt, None if nt == 1 else _RAYS)
            edges = np.vstack([np.ones(len(directions)), mu * directions.T]) / max(mu, 1.0)
            blocks.append(np.hstack([np.eye(1 + nt, 1), edges]))
    return np.asarray(block_diag(*blocks))
