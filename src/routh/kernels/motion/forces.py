"""Contact forces and smooth motion of a planar mechanism in one contact mode, compiled.

The readable counterparts are `routh.sim.contact_forces.forces_of` and `routh.sim.mode_motion.ModeMotion`;
a test holds them together. Where forces are shared among redundant contacts and the smallest ones leave the
friction cones, these functions do not know: their caller then takes the readable ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh import tolerances
from routh.compiling import kernel
from routh.kernels.common.integers import wide
from routh.kernels.common.small_linear import invert, least, misfit
from routh.kernels.motion.place import Place, fill_place, velocity
from routh.validation import Array

if TYPE_CHECKING:
    from routh.models.planar.arrays import PlanarArrays

JAMMED = 1e-9  # share of a contact's response that friction leaves over: below it the force has no bound
SINGULAR = 1e-11  # singular values below this share of the largest count as zero
MISFIT = tolerances.CONTACT_FORCE
CLOSINGS = 4  # rounds at most in which gaps are closed
CLOSED, NOTICED = 1e-15, 1e-10  # m: a gap that is none; one whose closing changes what the model says


SLIDES, STICKS, RUBS = 0, 1, 2  # what a contact of a mode does: without friction, not at all, against it


class ModeArrays(NamedTuple):
    """A contact mode: m contacts that stay closed, with k unknowns."""

    contacts: np.ndarray  # (nc,) int64: those of the mode, then all others
    does: np.ndarray  # (m,) int64: SLIDES, STICKS or RUBS
    picked: np.ndarray  # (k,) int64: which of the 2 m accelerations vanish
    columns: Array  # (2 m, k) forces per unknown
    friction: Array  # (m, 2) coefficient, and 1 or -1: the way in which it rubs


class Forces(NamedTuple):
    """What a mode needs at one state, and scratch; h = 2 m, or 1 where m is 0."""

    force: Array  # (h,) N
    at: Array  # (h,) accelerations without forces
    unit: Array  # (h,) of each contact, N
    root: Array  # (h,) of each contact, square root of its own response
    wanted: Array  # (h,) right side of the mode's equations, in units
    unknowns: Array  # (h,) their solution
    right: Array  # (h,) right side that is used up
    given: Array  # (h, h) matrix of the equations
    used: Array  # (h, h) the same, used up
    inverse: Array  # (h, h)
    turned: Array  # (h, h) rotations of `least`
    delassus: Array  # (h, h) J M^-1 J^T
    acceleration: Array  # (nv,)
    residual: Array  # (1,) share of the mode's equations that cannot be met
    response: Array  # (nv, h) M^-1 J^T


def make_forces(mode: ModeArrays, nv: int) -> Forces:
    """Room for one state."""
    h = max(2 * len(mode.does), 1)
    shapes = [*7 * [(h,)], *5 * [(h, h)], (nv,), (1,), (nv, h)]
    return Forces(*(np.zeros(shape) for shape in shapes))


@kernel
def fill_forces(mode: ModeArrays, place: Place, found: Forces) -> bool:
    """Forces that keep the mode, and the acceleration with them; False where these are not known."""
    m, nv = len(mode.does), len(place.free)
    for i in range(nv):
        found.acceleration[i] = place.free[i]
    found.residual[0] = 0.0
    if m == 0:
        return True
    scale = _accelerations(mode, place, found)
    if not _unknowns(mode, found, scale):
        return False
    k = len(mode.picked)
    x = found.unknowns
    for row in range(2 * m):
        total = 0.0
        for c in range(k):
            total += mode.columns[row, c] * x[c] * found.unit[mode.picked[c] // 2]
        found.force[row] = total
        for i in range(nv):
            found.acceleration[i] += found.response[i, row] * total
    return True


@kernel
def _accelerations(mode: ModeArrays, place: Place, found: Forces) -> float:
    """Delassus matrix, accelerations without forces and units of the mode's contacts; their scale."""
    m, nv = len(mode.does), len(place.free)
    for a in range(2 * m):
        row = 2 * mode.contacts[a // 2] + a % 2
        total = place.bias[row]
        for i in range(nv):
            total += place.J[row, i] * place.free[i]
            value = 0.0
            for j in range(nv):
                value += place.inverse[i, j] * place.J[row, j]
            found.response[i, a] = value
        found.at[a] = total
    for a in range(2 * m):
        row = 2 * mode.contacts[a // 2] + a % 2
        for b in range(2 * m):
            total = 0.0
            for i in range(nv):
                total += place.J[row, i] * found.response[i, b]
            found.delassus[a, b] = total
    scale = 0.0
    for i in range(m):
        root = math.sqrt(found.delassus[2 * i, 2 * i])
        found.root[i] = root
        for part in range(2):
            scale = max(scale, abs(found.at[2 * i + part]) / root)
    if not scale > 0.0:
        scale = 1.0
    for i in range(m):
        found.unit[i] = scale / found.root[i]
    return scale


@kernel
def _unknowns(mode: ModeArrays, found: Forces, scale: float) -> bool:
    """Solve the mode's equations, in units, into the vector FOUND; False where it is not known how."""
    k = len(mode.picked)
    A, used, inverse = found.given, found.used, found.inverse
    wanted, x, G = found.wanted, found.unknowns, found.delassus
    largest = 0.0
    for r in range(k):
        unit = scale * found.root[mode.picked[r] // 2]
        wanted[r] = -found.at[mode.picked[r]] / unit
        for c in range(k):
            total = 0.0
            for row in range(2 * len(mode.does)):
                total += G[mode.picked[r], row] * mode.columns[row, c]
            A[r, c] = total * found.unit[mode.picked[c] // 2] / unit
            used[r, c] = A[r, c]
            largest = max(largest, abs(A[r, c]))
    if k == 1:
        x[0] = wanted[0] / A[0, 0] if abs(A[0, 0]) > JAMMED else 0.0
    else:
        regular = invert(used, inverse, k)
        if regular:
            answer = 0.0
            for r in range(k):
                for c in range(k):
                    answer = max(answer, abs(inverse[r, c]))
            regular = answer * largest * SINGULAR < 1.0
        if regular:
            for r in range(k):
                x[r] = 0.0
                for c in range(k):
                    x[r] += inverse[r, c] * wanted[c]
        else:
            _share(mode, found)
    found.residual[0] = misfit(A, x, wanted, k)
    return k == 1 or regular or (found.residual[0] < MISFIT and _inside(mode, x))


@kernel
def _share(mode: ModeArrays, found: Forces) -> None:
    """The smallest forces, in N, of contacts that are redundant."""
    k = len(mode.picked)
    A, scaled, V = found.given, found.used, found.turned
    wanted, x, right = found.wanted, found.unknowns, found.right
    most = 0.0
    for i in range(len(mode.does)):
        most = max(most, found.unit[i])
    for r in range(k):
        right[r] = wanted[r]
        for c in range(k):
            scaled[r, c] = A[r, c] * most / found.unit[mode.picked[c] // 2]
    least(scaled, V, right, x, k, SINGULAR)
    for c in range(k):
        x[c] *= most / found.unit[mode.picked[c] // 2]


@kernel
def _inside(mode: ModeArrays, x: Array) -> bool:
    """Whether the unknowns of a mode lie in their friction cones."""
    c = 0
    for i in range(len(mode.does)):
        sticks = mode.does[i] == STICKS
        if x[c] < 0.0 or (sticks and abs(x[c + 1]) > mode.friction[i, 0] * x[c]):
            return False
        c += 2 if sticks else 1
    return True


@kernel
def settle(model: PlanarArrays, mode: ModeArrays, place: Place, found: Forces, q: Array, v: Array) -> bool:
    """Move q and v, as little as mass allows, onto the closed contacts; place and forces are those there."""
    m = len(mode.does)
    known = fill_place(model, q, v, place)
    for _ in range(CLOSINGS if m else 0):
        drift = 0.0
        for a in range(m):
            drift = max(drift, abs(place.gap[mode.contacts[a]]))
        if not drift > CLOSED:
            break
        _move(mode, place, found, q, wide(m), drift > CLOSED)
        if not drift > NOTICED:
            break  # the model would notice nothing
        known = known and fill_place(model, q, v, place)
    if m:
        _move(mode, place, found, v, wide(len(mode.picked)), m == 0)
        known = known and fill_place(model, q, v, place)
    return known and fill_forces(mode, place, found)


@kernel
def _move(mode: ModeArrays, place: Place, found: Forces, moved: Array, rows: int, gaps: bool) -> None:
    """Take gaps out of a configuration, or what the mode forbids out of a velocity, both (nv,).

    ``rows``: m for gaps, k for velocities, of which the mode picks those that vanish.
    """
    _accelerations(mode, place, found)
    A, V, G = found.used, found.turned, found.delassus
    right, x = found.right, found.unknowns
    for a in range(rows):
        at = 2 * a if gaps else mode.picked[a]
        contact = mode.contacts[at // 2]
        right[a] = place.gap[contact] if gaps else velocity(place, 2 * contact + at % 2, moved)
        for b in range(rows):
            A[a, b] = G[at, 2 * b if gaps else mode.picked[b]]
    least(A, V, right, x, rows, 1e-12)
    for a in range(rows):
        at = 2 * a if gaps else mode.picked[a]
        for i in range(len(moved)):
            moved[i] -= found.response[i, at] * x[a]
