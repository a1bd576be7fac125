"""Contact forces of a mode from a model's Jacobians, in the plane or in space, compiled.

The readable counterpart is `routh.sim.contact_forces.forces_of`; a test holds them together. Where forces are
shared among redundant contacts and the smallest ones leave the friction cones, these functions do not know:
their caller then takes the readable ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh import tolerances
from routh.compiling import kernel
from routh.kernels.common.small_linear import invert, least, misfit
from routh.validation import Array

JAMMED = 1e-9  # share of a contact's response that friction leaves over: below it the force has no bound
SINGULAR = 1e-11  # reciprocal condition below which forces are not determined
MISFIT = tolerances.CONTACT_FORCE


class Held(NamedTuple):
    """The m contacts of a mode."""

    contact: np.ndarray  # (m,) int64
    sticks: np.ndarray  # (m,) bool
    mu: Array  # (m,)
    way: Array  # (m, nt) unit direction of slip that a step began with
    straight: np.ndarray  # (m,) bool: slip that keeps its direction


class At(NamedTuple):
    """What a model says at a state."""

    J: Array  # (nc, 1 + nt, nv)
    inverse_mass: Array  # (nv, nv)
    free: Array  # (nv,) acceleration without contact forces
    bias: Array  # (nc, 1 + nt) m/s^2
    v: Array  # (nv,)


class Found(NamedTuple):
    """What a mode needs at a state, and scratch; h = m (1 + nt)."""

    force: Array  # (m, 1 + nt) N
    unit: Array  # (m, 2) of force, N, and of acceleration, m/s^2
    acceleration: Array  # (nv,)
    residual: Array  # (1,) share of the mode's equations that cannot be met
    way: Array  # (m, nt) directions of slip now
    response: Array  # (h, nv) M^-1 J^T
    at: Array  # (h,) accelerations without forces
    columns: Array  # (h, h) forces per unknown
    picked: np.ndarray  # (h,) int64: accelerations that vanish
    equations: Array  # (3, h, h): G times columns in units, the same used up, its inverse
    unknowns: Array  # (2, h): right side, solution
    right: Array  # (h,) the right side again, used up


def make_found(m: int, width: int, nv: int) -> Found:
    """Room for a mode of m contacts."""
    h = m * width
    return Found(
        force=np.zeros((m, width)),
        unit=np.zeros((m, 2)),
        acceleration=np.zeros(nv),
        residual=np.zeros(1),
        way=np.zeros((m, width - 1)),
        response=np.zeros((h, nv)),
        at=np.zeros(h),
        columns=np.zeros((h, h)),
        picked=np.zeros(h, dtype=np.int64),
        equations=np.zeros((3, h, h)),
        unknowns=np.zeros((2, h)),
        right=np.zeros(h),
    )


@kernel
def find_mode_forces(held: Held, at: At, slowest: float, found: Found) -> bool:
    """Forces that keep the mode, and the acceleration with them; False where these are not determined.

    Contacts that slip faster than ``slowest`` (m/s) have friction against their slip now, along the line of
    it that is nearer to the way that the step began with.
    """
    m, width = found.force.shape
    nv = len(at.free)
    for i in range(m):
        _turn(held, at, i, slowest, found)
    _respond(held, at, found)
    k = _columns(held, found)
    if not _solve(held, found, k):
        return False
    for j in range(nv):
        found.acceleration[j] = at.free[j]
    for row in range(m * width):
        total = 0.0
        for c in range(k):
            owner = found.picked[c] // width
            total += found.columns[row, c] * found.unknowns[1, c] * found.unit[owner, 0]
        found.force[row // width, row % width] = total
        for j in range(nv):
            found.acceleration[j] += found.response[row, j] * total
    return True


@kernel
def _turn(held: Held, at: At, i: int, slowest: float, found: Found) -> None:
    """The direction in which contact number i of the mode slips now."""
    nt, nv = found.way.shape[1], len(at.v)
    size = 0.0
    along = 0.0
    for a in range(nt):
        total = 0.0
        for j in range(nv):
            total += at.J[held.contact[i], 1 + a, j] * at.v[j]
        found.way[i, a] = total
        size += total * total
        along += total * held.way[i, a]
    size = math.sqrt(size)
    kept = held.sticks[i] or held.straight[i] or nt == 1 or not size > slowest
    for a in range(nt):
        if kept:
            found.way[i, a] = held.way[i, a]
        else:
            found.way[i, a] /= -size if along < 0.0 else size


@kernel
def _respond(held: Held, at: At, found: Found) -> None:
    """M^-1 J^T, the Delassus matrix, accelerations without forces, and units."""
    m, width = found.force.shape
    nv = len(at.free)
    scale = 0.0
    for i in range(m):
        contact = held.contact[i]
        for a in range(width):
            row = i * width + a
            total = at.bias[contact, a]
            for j in range(nv):
                total += at.J[contact, a, j] * at.free[j]
                found.response[row, j] = 0.0
            for b in range(nv):
                entry = at.J[contact, a, b]
                if entry != 0.0:
                    for j in range(nv):
                        found.response[row, j] += at.inverse_mass[b, j] * entry
            found.at[row] = total
        own = 0.0
        for j in range(nv):
            own += at.J[contact, 0, j] * found.response[i * width, j]
        root = math.sqrt(own)
        found.unit[i, 0], found.unit[i, 1] = 1.0 / root, root
        for a in range(width):
            scale = max(scale, abs(found.at[i * width + a]) / root)
    if not scale > 0.0:
        scale = 1.0
    for i in range(m):
        found.unit[i, 0] *= scale
        found.unit[i, 1] *= scale
    _delassus(held, at, found)


@kernel
def _delassus(held: Held, at: At, found: Found) -> None:
    """J M^-1 J^T into the place of the equations' inverse."""
    m, width = found.force.shape
    for p in range(m * width):
        for r in range(m * width):
            total = 0.0
            for j in range(len(at.free)):
                total += at.J[held.contact[p // width], p % width, j] * found.response[r, j]
            found.equations[2, p, r] = total


@kernel
def _columns(held: Held, found: Found) -> int:
    """How the unknowns of a mode spread over forces; their number."""
    m, width = found.force.shape
    k = 0
    for i in range(m):
        for a in range(width if held.sticks[i] else 1):
            for row in range(m * width):
                found.columns[row, k] = 0.0
            found.columns[i * width + a, k] = 1.0
            found.picked[k] = i * width + a
            if not held.sticks[i]:
                for b in range(width - 1):
                    found.columns[i * width + 1 + b, k] = -held.mu[i] * found.way[i, b]
            k += 1
    return k


@kernel
def _solve(held: Held, found: Found, k: int) -> bool:
    """The unknowns in units of force, and what is left of the equations; False where they are not known."""
    width = found.force.shape[1]
    A, used, inverse = found.equations[0], found.equations[1], found.equations[2]
    wanted, x = found.unknowns[0], found.unknowns[1]
    largest = 0.0
    for r in range(k):
        row = found.picked[r]
        unit = found.unit[row // width, 1]
        wanted[r] = -found.at[row] / unit
        for c in range(k):
            first = found.picked[c] // width * width  # a column has forces of one contact only
            total = 0.0
            for b in range(first, first + width):
                total += inverse[row, b] * found.columns[b, c]
            A[r, c] = total * found.unit[first // width, 0] / unit
            used[r, c] = A[r, c]
            largest = max(largest, abs(A[r, c]))
    if k == 1:
        if not abs(A[0, 0]) > JAMMED:
            return False
        x[0] = wanted[0] / A[0, 0]
    regular = k == 1
    if k > 1 and invert(used, inverse, k):
        answer = 0.0
        for r in range(k):
            x[r] = 0.0
            for c in range(k):
                x[r] += inverse[r, c] * wanted[c]
                answer = max(answer, abs(inverse[r, c]))
        regular = answer * largest * SINGULAR < 1.0
    if not regular:
        _share(found, k)
    worst = misfit(A, x, wanted, k)
    found.residual[0] = worst
    return regular or (worst < MISFIT and _inside(held, found))


@kernel
def _share(found: Found, k: int) -> None:
    """The smallest forces, in N, of contacts that are redundant."""
    m, width = found.force.shape
    A, scaled, V = found.equations[0], found.equations[1], found.equations[2]
    most = 0.0
    for i in range(m):
        most = max(most, found.unit[i, 0])
    for r in range(k):
        found.right[r] = found.unknowns[0, r]
        for c in range(k):
            scaled[r, c] = A[r, c] * most / found.unit[found.picked[c] // width, 0]
    least(scaled, V, found.right, found.unknowns[1], k, SINGULAR)
    for c in range(k):
        found.unknowns[1, c] *= most / found.unit[found.picked[c] // width, 0]


@kernel
def _inside(held: Held, found: Found) -> bool:
    """Whether the unknowns lie in their friction cones."""
    m, width = found.force.shape
    x = found.unknowns[1]
    c = 0
    for i in range(m):
        if x[c] < 0.0:
            return False
        if held.sticks[i]:
            size = 0.0
            for a in range(1, width):
                size += x[c + a] * x[c + a]
            if math.sqrt(size) > held.mu[i] * x[c]:
                return False
        c += width if held.sticks[i] else 1
    return True


class Room(NamedTuple):
    """Scratch of `correct` for k rows."""

    A: Array  # (k, k)
    V: Array  # (k, k)
    response: Array  # (k, nv)
    right: Array  # (k,)
    x: Array  # (k,)


def make_room(k: int, nv: int) -> Room:
    """Room for k rows."""
    return Room(*(np.zeros(shape) for shape in ((k, k), (k, k), (k, nv), (k,), (k,))))


@kernel
def correct(inverse_mass: Array, rows: Array, values: Array, room: Room, moved: Array) -> None:
    """Take the smallest x with ``rows x = values``, in the metric of mass, from moved (nv,).

    By least squares where the rows (k, nv) depend on each other.
    """
    k, nv = rows.shape
    for r in range(k):
        for j in range(nv):
            total = 0.0
            for b in range(nv):
                total += inverse_mass[j, b] * rows[r, b]
            room.response[r, j] = total
    for r in range(k):
        room.right[r] = values[r]
        for c in range(k):
            total = 0.0
            for j in range(nv):
                total += rows[r, j] * room.response[c, j]
            room.A[r, c] = total
    least(room.A, room.V, room.right, room.x, k, 1e-12)
    for r in range(k):
        for j in range(nv):
            moved[j] -= room.response[r, j] * room.x[r]
