"""All contact modes that the acceleration-level problem allows at one state.

In the plane every mode is tried: a closed contact opens, slips on or, where it has no slip, sticks or begins
to slip either way. So "no mode" is a proof of Painlevé's paradox and "several" a proof of ambiguity. In
space the direction in which slip begins is not enumerable; there and where the modes are too many, one
solution comes from the complementarity problem instead.

`likely` solves all modes at once, to see which ones deserve a closer look; `find_modes` looks; `select` says
in which the motion can go on, with ties between modes settled by a look ahead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array
from routh.kernels.algorithm1.lemke import pivots
from routh.lcp.solving import solve_scaled
from routh.problem.friction import facet_directions
from routh.sim.contact_forces import (
    ContactProblem,
    Hold,
    Mode,
    ModeForces,
    contact_problem,
    forces_of,
    is_valid,
    margins,
)
from routh.sim.mechanism import Mechanism, Snapshot

MOST_MODES = 1024
_REFINEMENTS = 5  # rounds of ever narrower facets round a friction direction in space
_CHANGES = 3  # of a mode that is nearly a solution, per contact
_AHEAD = 1e-6  # s, how far ahead ties are looked at
_ROUNDING = 1e-7  # residual of a mode's equations that is still rounding a moment later
_LOOKED_AT = 1e3 * tolerances.CONTACT_FORCE  # what a mode may miss and still be looked at
_BLURRED = 100.0 * tolerances.CONTACT_FORCE  # what the mode after one that ended at once may miss
_LIMIT = 10.0 * tolerances.CONTACT_FORCE  # friction this near to its limit may be at it, in units of its own
_SINGULAR = 1e-9  # reciprocal condition below which a system is looked at on its own


def likely(problem: ContactProblem, choices: Sequence[Sequence[Hold | None]]) -> Iterator[Mode]:
    """The modes that may solve the acceleration problem: every mode that does is among them.

    ``choices`` are what each contact may do (None: open). A mode is a linear system for all forces in units
    of their own: where a contact is open its forces vanish, else its accelerations or friction's law.
    """
    count = [len(options) for options in choices]
    if not count:
        yield ()
        return
    picks = np.array(list(product(*map(range, count))), dtype=np.int64)
    m, width = problem.free.shape
    unit_f, unit_a = (np.repeat(unit, width) for unit in (problem.force_unit, problem.acceleration_unit))
    G, free = problem.G * unit_f / unit_a[:, None], problem.free.ravel() / unit_a
    A = np.empty((len(picks), m * width, m * width))
    right = np.empty((len(picks), m * width))
    for i, options in enumerate(choices):
        rows = slice(i * width, (i + 1) * width)
        systems = [_rows(problem, i, hold, G[rows], free[rows]) for hold in options]
        A[:, rows] = np.array([system for system, _ in systems])[picks[:, i]]
        right[:, rows] = np.array([values for _, values in systems])[picks[:, i]]
    force, regular = _solved(A, right)
    acceleration = (force @ G.T + free).reshape(-1, m, width)
    fine = _possible(problem, choices, picks, force.reshape(acceleration.shape), acceleration)
    for pick in picks[fine | ~regular]:
        held = (options[k] for options, k in zip(choices, pick, strict=True))
        yield tuple(hold for hold in held if hold is not None)


def _rows(problem: ContactProblem, i: int, hold: Hold | None, G: Array, free: Array) -> tuple[Array, Array]:
    """What one contact's choice asks of all forces: rows (1 + nt, m (1 + nt)) and their right side."""
    width = len(G)
    own = np.zeros_like(G)
    own[:, i * width : (i + 1) * width] = np.eye(width)
    if hold is None:
        return own, np.zeros(width)
    if hold.direction is None:
        return G, -free
    rows, right = own, np.zeros(width)
    rows[0], right[0] = G[0], -free[0]
    rows[1:, i * width] = problem.mu[i] * np.asarray(hold.direction)
    return rows, right


def _solved(A: Array, right: Array) -> tuple[Array, np.ndarray]:
    """Solutions of regular systems (zeros elsewhere), and which systems are regular."""
    with np.errstate(all="ignore"):  # what overflows is not regular
        regular = np.abs(np.linalg.det(A)) > 0.0
        force = np.zeros_like(right)
        inverse = np.linalg.inv(A[regular])
        size = np.abs(inverse).max(axis=(1, 2)) * np.abs(A[regular]).max(axis=(1, 2))
        good = size * _SINGULAR < 1.0
        at = np.flatnonzero(regular)[good]
        force[at] = (inverse[good] @ right[at][:, :, None])[:, :, 0]
    regular[:] = False
    regular[at] = True
    return force, regular


def _possible(
    problem: ContactProblem,
    choices: Sequence[Sequence[Hold | None]],
    picks: np.ndarray,
    force: Array,
    acceleration: Array,
) -> np.ndarray:
    """Whether forces and accelerations (n, m, 1 + nt) fit what is picked (n, m), roughly; (n,) bool."""
    slack = _LOOKED_AT * np.maximum(1.0, np.abs(force).max(axis=2))
    opens, pushes = acceleration[:, :, 0] >= -slack, force[:, :, 0] >= -slack
    room = problem.mu * force[:, :, 0] - np.linalg.norm(force[:, :, 1:], axis=2)
    sticks = pushes & (room >= -slack * np.maximum(1.0, problem.mu))
    fine = np.ones(len(picks), dtype=bool)
    for i, options in enumerate(choices):
        for k, hold in enumerate(options):
            fits = (opens if hold is None else sticks if hold.sticks else pushes)[:, i]
            if hold is not None and not hold.sticks and problem.starts[i]:
                fits = fits & (acceleration[:, i, 1:] @ np.asarray(hold.direction) >= -slack[:, i])
            fine &= fits | (picks[:, i] != k)
    return fine


def find_modes(
    problem: ContactProblem, slack: float = tolerances.CONTACT_FORCE
) -> tuple[list[list[ModeForces]], bool]:
    """Every solution where the modes can be enumerated, else those that were found.

    In groups of modes with the same acceleration; and whether there can be no others. A solution may break
    its conditions by ``slack``, in units of its own.
    """
    choices = [list(_choices(problem, i)) for i in range(len(problem.contacts))]
    count = int(np.prod([len(options) for options in choices]))
    enumerable = count <= MOST_MODES
    found: list[ModeForces] = []
    if enumerable:
        candidates = (forces_of(problem, mode) for mode in likely(problem, choices))
        found = [candidate for candidate in candidates if is_valid(problem, candidate, slack)]
    complete = enumerable and not (problem.free.shape[1] > 2 and bool(problem.starts.any()))
    if not found or not complete:
        extra = _by_complementarity(problem)
        if extra is not None:
            found.append(extra)
            whole = forces_of(problem, _completed(problem, extra))
            if len(whole.mode) > len(extra.mode) and is_valid(problem, whole, slack):
                found.append(whole)
        begun = (
            forces_of(problem, mode) for one in list(found) if (mode := _begun(problem, one)) != one.mode
        )
        found += [solution for solution in begun if is_valid(problem, solution, slack)]
    return _grouped(problem, found), complete


def _choices(problem: ContactProblem, i: int) -> Iterator[Hold | None]:
    """What one contact may do; None: open."""
    contact, nt = problem.contacts[i], problem.free.shape[1] - 1
    yield None
    if problem.slip[i].any():
        yield Hold(contact, tuple(problem.slip[i].tolist()))
    elif problem.mu[i] == 0.0:
        yield Hold(contact, (0.0,) * nt)  # slips, but friction has no say
    else:
        yield Hold(contact)
        if nt == 1:
            yield Hold(contact, (1.0,))
            yield Hold(contact, (-1.0,))


def _grouped(problem: ContactProblem, found: list[ModeForces]) -> list[list[ModeForces]]:
    """Solutions with equal contact accelerations are one."""
    unit = problem.acceleration_unit[:, None]
    groups: list[list[ModeForces]] = []
    for solution in found:
        for group in groups:
            difference = np.abs((solution.acceleration - group[0].acceleration) / unit)
            if difference.size == 0 or difference.max() < tolerances.SAME_ACCELERATION:
                if all(solution.mode != other.mode for other in group):
                    group.append(solution)
                break
        else:
            groups.append([solution])
    return groups


def _by_complementarity(problem: ContactProblem) -> ModeForces | None:
    """One solution of the linear complementarity problem, as a mode; None where there is none."""
    m, nt = len(problem.contacts), problem.free.shape[1] - 1
    base = facet_directions(nt)
    directions = np.broadcast_to(base, (m, *base.shape))
    width = 2.0 * np.pi / len(base)
    for _ in range(_REFINEMENTS if nt == 2 else 1):
        force = _polyhedral(problem, directions)
        if force is None:
            return None
        solution = _mended(problem, _mode_of(problem, force))
        if solution is not None:
            return solution
        if nt == 2:
            angle = np.arctan2(force[:, 2], force[:, 1])[:, None]
            offsets = np.concatenate([[-0.5, 0.0, 0.5], np.pi / width * np.array([0.5, 1, 1.5])])
            around = angle + offsets * width
            directions = np.stack([np.cos(around), np.sin(around)], axis=2)
            width /= 6.0
    return None


def _mended(problem: ContactProblem, mode: Mode) -> ModeForces | None:
    """A solution from a mode that is nearly one: what breaks its conditions most is changed, one by one.

    Polyhedral friction does not tell sticking within 1e-3 of its limit from slip that begins.
    """
    for _ in range(_CHANGES * len(problem.contacts)):
        solution = forces_of(problem, _aligned(problem, mode))
        if is_valid(problem, solution):
            return solution
        mode = _changed(problem, solution)
    return None


def _changed(problem: ContactProblem, solution: ModeForces) -> Mode:
    """The mode of a solution with the choice of that contact changed which breaks its conditions most."""
    held = {hold.contact: hold for hold in solution.mode}
    changes: list[tuple[float, int, Hold | None]] = []
    for i, contact in enumerate(problem.contacts):
        force = solution.force[i] / problem.force_unit[i]
        acceleration, hold = solution.acceleration[i] / problem.acceleration_unit[i], held.get(contact)
        if hold is None:
            changes.append(
                (float(acceleration[0]), contact, _held(problem, i, contact, acceleration[1:], True))
            )
            continue
        changes.append((float(force[0]), contact, None))
        if hold.direction is None:
            size = float(np.linalg.norm(force[1:]))
            slips = _held(problem, i, contact, -force[1:], False) if size > 0.0 else hold
            changes.append((float(problem.mu[i] * force[0] - size), contact, slips))
        elif problem.starts[i]:
            changes.append((float(acceleration[1:] @ hold.direction), contact, Hold(contact)))
    _, contact, new = min(changes, key=lambda change: change[0])
    return tuple(hold for _, hold in sorted({**held, contact: new}.items()) if hold is not None)


def _mode_of(problem: ContactProblem, force: Array) -> Mode:
    holds = []
    for i, contact in enumerate(problem.contacts):
        normal, tangent = force[i, 0] / problem.force_unit[i], force[i, 1:] / problem.force_unit[i]
        if normal <= tolerances.CONTACT_FORCE:
            continue
        inside = problem.mu[i] * normal * (1.0 - 1e-3 * (len(tangent) - 1) - 1e-9)
        holds.append(_held(problem, i, contact, -tangent, float(np.linalg.norm(tangent)) < inside))
    return tuple(holds)


def _held(problem: ContactProblem, i: int, contact: int, slip: Array, sticks: bool) -> Hold:
    """A contact that stays closed: it slips on, or from rest it sticks or begins to slip along ``slip``."""
    if problem.slip[i].any() or problem.mu[i] == 0.0:
        return Hold(contact, tuple(problem.slip[i].tolist()))
    return Hold(contact) if sticks else Hold(contact, tuple((slip / np.linalg.norm(slip)).tolist()))


def _completed(problem: ContactProblem, solution: ModeForces) -> Mode:
    """The mode with those contacts added that stay closed without a force: they may share the load."""
    held = {hold.contact for hold in solution.mode}
    holds = list(solution.mode)
    for i, contact in enumerate(problem.contacts):
        acceleration = solution.acceleration[i] / problem.acceleration_unit[i]
        if contact in held or acceleration[0] > tolerances.CONTACT_FORCE:
            continue
        still = float(np.linalg.norm(acceleration[1:])) <= tolerances.CONTACT_FORCE
        holds.append(_held(problem, i, contact, acceleration[1:], still))
    return tuple(sorted(holds, key=lambda hold: hold.contact))


def _begun(problem: ContactProblem, solution: ModeForces) -> Mode:
    """The mode with those contacts sliding whose friction is at its limit: it has the same forces."""
    holds = []
    for hold in solution.mode:
        i = problem.position(hold.contact)
        normal, *tangent = solution.force[i] / problem.force_unit[i]
        size = float(np.linalg.norm(tangent))
        limit = hold.sticks and size > 0.0 and size >= problem.mu[i] * normal - _LIMIT
        holds.append(Hold(hold.contact, tuple((-np.array(tangent) / size).tolist())) if limit else hold)
    return tuple(holds)


def _aligned(problem: ContactProblem, mode: Mode) -> Mode:
    """Turn directions of beginning slip in space until acceleration and friction are parallel."""
    at = [k for k, h in enumerate(mode) if not h.sticks and problem.starts[problem.position(h.contact)]]
    if problem.free.shape[1] == 2 or not at:
        return mode

    def turned(angles: Array) -> Mode:
        holds = list(mode)
        for k, angle in zip(at, angles, strict=True):
            holds[k] = Hold(mode[k].contact, (float(np.cos(angle)), float(np.sin(angle))))
        return tuple(holds)

    def across(angles: Array) -> Array:
        trial = turned(angles)
        acceleration = forces_of(problem, trial).acceleration
        result = np.empty(len(at))
        for j, k in enumerate(at):
            i = problem.position(trial[k].contact)
            x, y = trial[k].direction or (1.0, 0.0)
            result[j] = (x * acceleration[i, 2] - y * acceleration[i, 1]) / problem.acceleration_unit[i]
        return result

    ways = np.array([mode[k].direction for k in at])
    from scipy.optimize import root

    found = root(across, np.arctan2(ways[:, 1], ways[:, 0]), tol=1e-13)
    return turned(found.x) if np.all(np.isfinite(found.x)) else mode


def _polyhedral(problem: ContactProblem, directions: Array) -> Array | None:
    """Forces (m, 1 + nt) that solve the problem with polyhedral friction at contacts without slip."""
    m, width = problem.free.shape
    starting = np.flatnonzero(problem.starts).tolist()
    k = directions.shape[1]
    spread = np.zeros((m, width, m + len(starting) * k))
    pick = np.zeros_like(spread)
    for i in range(m):
        spread[i, 0, i] = pick[i, 0, i] = 1.0
        spread[i, 1:, i] = -problem.mu[i] * problem.slip[i]
    for j, i in enumerate(starting):
        columns = slice(m + j * k, m + (j + 1) * k)
        spread[i, 1:, columns] = pick[i, 1:, columns] = directions[i].T
    flat, rows = spread.reshape(m * width, -1), pick.reshape(m * width, -1)
    n = flat.shape[1]
    W = np.zeros((n + len(starting), n + len(starting)))
    W[:n, :n] = rows.T @ problem.G @ flat
    q = np.concatenate([rows.T @ problem.free.ravel(), np.zeros(len(starting))])
    for j, i in enumerate(starting):
        W[m + j * k : m + (j + 1) * k, n + j] = 1.0
        W[n + j, i] = problem.mu[i]
        W[n + j, m + j * k : m + (j + 1) * k] = -1.0
    force, speed = problem.force_unit, problem.acceleration_unit
    z_unit = np.concatenate([force, np.repeat(force[starting], k), speed[starting]])
    w_unit = np.concatenate([speed, np.repeat(speed[starting], k), force[starting]])
    result = solve_scaled(W, q, np.ones(len(q)), z_unit, w_unit, tolerances.RESIDUAL, 50 * len(q), pivots)
    return (flat @ result.z[:n]).reshape(m, width) if result.status is Status.SOLVED else None


@dataclass(frozen=True, eq=False)
class Selection:
    """What the acceleration problem of one state allows."""

    choices: tuple[ModeForces, ...]  # one per distinct acceleration; none: Painlevé's paradox
    complete: bool  # whether there can be no others
    slipping: np.ndarray  # (nc,) bool: contacts that slip already


def select(
    mechanism: Mechanism, snapshot: Snapshot, resting: list[int], slipping: np.ndarray, excluded: set[Mode]
) -> Selection:
    """The solutions at a state: ``resting`` contacts are closed, those in ``slipping`` (nc,) bool slip.

    Modes in ``excluded`` have just ended at this very state.
    """
    velocity = snapshot.contact_velocity[resting, 1:]
    size = np.linalg.norm(velocity, axis=1, keepdims=True)
    slides = slipping[resting][:, None] & (size > 0.0)
    slip = np.where(slides, velocity / np.where(slides, size, 1.0), 0.0)
    problem = contact_problem(snapshot, resting, mechanism.mu, slip)
    groups, complete = find_modes(problem)
    if excluded and all(_among(one.mode, excluded) for group in groups for one in group):
        # the mode has just ended, at a time that is not known better than forces change in its last digit
        groups, complete = find_modes(problem, _BLURRED)
    choices = []
    for group in groups:
        left = [solution for solution in group if not _among(solution.mode, excluded)]
        if left:
            scores = [0.0]
            if len(left) > 1:
                scores = [_score(mechanism, snapshot, resting, solution, slip) for solution in left]
            best = max(scores)
            # of equally good modes the one with the fewest closed contacts: it asks for no force
            near = [s for s, score in zip(left, scores, strict=True) if score >= best - 1e-12]
            choices.append(min(near, key=lambda solution: len(solution.mode)))
    return Selection(tuple(choices), complete, slipping)


def _among(mode: Mode, others: set[Mode]) -> bool:
    """Whether a mode is one of some others, up to the rounding of directions in which slip begins."""
    return mode in others or any(
        len(mode) == len(other) and all(map(_same_hold, mode, other)) for other in others
    )


def _same_hold(a: Hold, b: Hold) -> bool:
    if a.contact != b.contact or a.direction is None or b.direction is None:
        return a == b
    return math.dist(a.direction, b.direction) < tolerances.SAME_ACCELERATION


def _score(
    mechanism: Mechanism, snapshot: Snapshot, resting: list[int], solution: ModeForces, slip: Array
) -> float:
    """The smallest margin a moment later, if the mode is kept until then."""
    force = np.zeros((mechanism.nc, mechanism.width))
    force[resting] = solution.force
    q = mechanism.model.integrate(snapshot.q, snapshot.v, _AHEAD)
    v = snapshot.v + _AHEAD * snapshot.acceleration(force)
    later = mechanism.snapshot(snapshot.t + _AHEAD, q, v)
    begun = slip.copy()
    for hold in solution.mode:
        if hold.direction is not None:
            begun[resting.index(hold.contact)] = hold.direction
    problem = contact_problem(later, resting, mechanism.mu, begun)
    kept = forces_of(problem, solution.mode)
    score = float(margins(problem, kept)[1:].min())
    if not kept.residual < _ROUNDING:
        score = min(score, -kept.residual)
    for hold in solution.mode:
        i = resting.index(hold.contact)
        if hold.direction is not None and mechanism.mu[hold.contact] > 0.0 and not slip[i].any():
            gained = float(later.contact_velocity[hold.contact, 1:] @ np.asarray(hold.direction)) / _AHEAD
            score = min(score, gained / float(problem.acceleration_unit[i]))
    return score if np.isfinite(score) else -np.inf
