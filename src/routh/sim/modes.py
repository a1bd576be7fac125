"""All contact modes that the acceleration-level problem allows at one state.

In the plane every mode is tried: a closed contact opens, slips on or, where it has no slip, sticks or begins
to slip either way. So "no mode" is a proof of Painlevé's paradox and "several" a proof of ambiguity. In
space the direction in which slip begins is not enumerable; there and where the modes are too many, one
solution comes from the complementarity problem instead.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import root

from routh import tolerances
from routh.friction import facet_directions
from routh.lcp.solve import solve
from routh.sim.contact_forces import ContactProblem, Hold, Mode, ModeForces, forces_of, is_valid
from routh.sim.screening import likely
from routh.status import Status
from routh.validation import Array

MOST_MODES = 1024
_REFINEMENTS = 5  # rounds of ever narrower facets round a friction direction in space


def find_modes(problem: ContactProblem) -> tuple[list[list[ModeForces]], bool]:
    """Every solution where the modes can be enumerated, else those that were found.

    In groups of modes with the same acceleration; and whether there can be no others.
    """
    choices = [list(_choices(problem, i)) for i in range(len(problem.contacts))]
    count = int(np.prod([len(options) for options in choices]))
    enumerable = count <= MOST_MODES
    found: list[ModeForces] = []
    if enumerable:
        for mode in likely(problem, choices):
            candidate = forces_of(problem, mode)
            if is_valid(problem, candidate):
                found.append(candidate)
    complete = enumerable and not (problem.free.shape[1] > 2 and bool(problem.starts.any()))
    if not found or not complete:
        extra = _by_complementarity(problem)
        if extra is not None:
            found.append(extra)
            whole = forces_of(problem, _completed(problem, extra))
            if len(whole.mode) > len(extra.mode) and is_valid(problem, whole):
                found.append(whole)
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
        solution = forces_of(problem, _aligned(problem, _mode_of(problem, force)))
        if is_valid(problem, solution):
            return solution
        if nt == 2:
            angle = np.arctan2(force[:, 2], force[:, 1])[:, None]
            around = (
                angle + np.concatenate([[-0.5, 0.0, 0.5], np.pi / width * np.array([0.5, 1, 1.5])]) * width
            )
            directions = np.stack([np.cos(around), np.sin(around)], axis=2)
            width /= 6.0
    return None


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


def _aligned(problem: ContactProblem, mode: Mode) -> Mode:
    """In space: directions of beginning slip turned until acceleration and friction are parallel."""
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

    start = []
    for k in at:
        x, y = mode[k].direction or (1.0, 0.0)
        start.append(np.arctan2(y, x))
    found = root(across, np.array(start), tol=1e-13)
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
    force_unit = np.concatenate([problem.force_unit, np.repeat(problem.force_unit[starting], k)])
    speed_unit = np.concatenate(
        [problem.acceleration_unit, np.repeat(problem.acceleration_unit[starting], k)]
    )
    result = solve(
        W,
        q,
        z_unit=np.concatenate([force_unit, problem.acceleration_unit[starting]]),
        w_unit=np.concatenate([speed_unit, problem.force_unit[starting]]),
    )
    return (flat @ result.z[:n]).reshape(m, width) if result.status is Status.SOLVED else None
