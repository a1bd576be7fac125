"""Contact forces of a mode, compiled: of any model from its Jacobians, and of a planar mechanism on its way.

A mode has m contacts that stay closed and k unknown forces, one along the normal of each and, where it
sticks, along its tangents; friction of a contact that slips follows its normal force. They make the
accelerations that the mode holds vanish. Equations are solved in units: of force, and of acceleration.

The readable counterparts are `routh.sim.contact_forces.forces_of` and `routh.sim.mode_motion.ModeMotion`;
tests hold them together. Where forces are shared among redundant contacts and the smallest ones leave the
friction cones, these functions do not know: their caller then takes the readable ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common.small_linear import invert, least, misfit
from routh.kernels.motion.place import Place, fill_place, velocity

if TYPE_CHECKING:
    from routh.models.planar.kinematics import PlanarArrays

JAMMED = 1e-9  # share of a contact's response that friction leaves over: below it the force has no bound
SINGULAR = 1e-11  # singular values below this share of the largest, and reciprocal conditions, count as zero
MISFIT = tolerances.CONTACT_FORCE
MOST = 1e4  # units of force: slip in space that turns until it asks for more jams, and the force has no bound
CLOSINGS = 4  # rounds at most in which gaps are closed
CLOSED, NOTICED = 1e-15, 1e-10  # m: a gap that is none; one whose closing changes what the model says

SLIDES, STICKS, RUBS = 0, 1, 2  # what a contact of a mode does: without friction, not at all, against it


class Found(NamedTuple):
    """What a mode needs at a state, and scratch; h = m (1 + nt)."""

    picked: np.ndarray  # (h,) int64: accelerations that vanish
    force: Array  # (m, 1 + nt) N
    unit: Array  # (2, m) of force, N, and of acceleration, m/s^2
    units: Array  # (2, h) those of unknowns
    acceleration: Array  # (nv,)
    residual: Array  # (1,) share of the mode's equations that cannot be met
    way: Array  # (m, nt) directions of slip now
    rows: Array  # (h, nv) Jacobians
    response: Array  # (h, nv) M^-1 J^T
    at: Array  # (h,) accelerations without forces
    delassus: Array  # (h, h) J M^-1 J^T
    columns: Array  # (h, h) forces per unknown
    given: Array  # (h, h) matrix of the equations, in units
    used: Array  # (h, h) the same, used up
    inverse: Array  # (h, h)
    wanted: Array  # (h,) their right side
    unknowns: Array  # (h,) their solution
    right: Array  # (h,) the right side, used up


def make_found(m: int, width: int, nv: int) -> Found:
    """Room for a mode of m contacts."""
    h = m * width
    shapes = [(m, width), (2, m), (2, h), (nv,), (1,), (m, width - 1), (h, nv), (h, nv), (h,)]
    shapes += [*5 * [(h, h)], *3 * [(h,)]]
    return Found(np.zeros(h, dtype=np.int64), *(np.zeros(shape) for shape in shapes))


# equations of a mode


@kernel
def _weigh(found: Found) -> None:
    """The Delassus matrix."""
    # reads response, rows; writes delassus
    m, width = found.force.shape
    for p in range(m * width):
        for r in range(m * width):
            total = 0.0
            for j in range(found.rows.shape[1]):
                total += found.rows[p, j] * found.response[r, j]
            found.delassus[p, r] = total


@kernel
def _measure(found: Found) -> float:
    """Roots of the contacts' own responses in ``unit[1]``; the scale of accelerations."""
    # reads at, delassus; writes unit
    m, width = found.force.shape
    scale = 0.0
    for i in range(m):
        root = math.sqrt(found.delassus[i * width, i * width])
        found.unit[1, i] = root
        for a in range(width):
            scale = max(scale, abs(found.at[i * width + a]) / root)
    return scale if scale > 0.0 else 1.0


@kernel
def _fill_equations(found: Found, columns: Array, picked: np.ndarray, k: int) -> None:
    """The equations of k unknowns, in units."""
    # reads at, delassus, force, given, unit, units; writes given, units, used, wanted
    width = found.force.shape[1]
    for r in range(k):
        for kind in range(2):
            found.units[kind, r] = found.unit[kind, picked[r] // width]
        found.wanted[r] = -found.at[picked[r]] / found.units[1, r]
    for c in range(k):
        first = picked[c] // width * width  # a column has forces of one contact only
        for r in range(k):
            found.given[r, c] = 0.0
        for b in range(first, first + width):
            push = columns[b, c] * found.units[0, c]
            for r in range(k if push != 0.0 else 0):
                found.given[r, c] += found.delassus[picked[r], b] * push
    for r in range(k):
        for c in range(k):
            found.given[r, c] /= found.units[1, r]
            found.used[r, c] = found.given[r, c]


@kernel
def _solve(found: Found, k: int) -> bool:
    """The unknowns in units of force, and what is left of the equations; whether these determine them."""
    # reads given, inverse, right, unknowns, used, wanted
    # writes inverse, residual, right, unknowns, used
    # hands on found
    A, inverse, wanted, x = found.given, found.inverse, found.wanted, found.unknowns
    regular = k == 1
    if k == 1:
        x[0] = wanted[0] / A[0, 0] if abs(A[0, 0]) > JAMMED else 0.0
    elif invert(found.used, inverse, k):
        largest, answer = 0.0, 0.0
        for r in range(k):
            x[r] = 0.0
            for c in range(k):
                x[r] += inverse[r, c] * wanted[c]
                largest, answer = max(largest, abs(A[r, c])), max(answer, abs(inverse[r, c]))
        regular = answer * largest * SINGULAR < 1.0
        for r in range(k):
            found.right[r] = wanted[r]
            for c in range(k):
                found.right[r] -= A[r, c] * x[c]
        for r in range(k):  # once more: nearly redundant contacts need the digits
            for c in range(k):
                x[r] += inverse[r, c] * found.right[c]
    if not regular:
        _share(found, k)
    found.residual[0] = misfit(A, x, wanted, k)
    return regular


@kernel
def _share(found: Found, k: int) -> None:
    """The smallest forces, in N, of contacts that are redundant."""
    # reads force, given, inverse, right, unit, units, unknowns, used, wanted
    # writes inverse, right, unknowns, used
    most = 0.0
    for i in range(len(found.force)):
        most = max(most, found.unit[0, i])
    for r in range(k):
        found.right[r] = found.wanted[r]
        for c in range(k):
            found.used[r, c] = found.given[r, c] * most / found.units[0, c]
    least(found.used, found.inverse, found.right, found.unknowns, k, SINGULAR)
    for c in range(k):
        found.unknowns[c] *= most / found.units[0, c]


@kernel
def _inside(does: np.ndarray, mu: Array, found: Found) -> bool:
    """Whether the unknowns lie in their friction cones, as far as the equations can be met."""
    # reads force, residual, unknowns
    width, x, c = found.force.shape[1], found.unknowns, 0
    if not found.residual[0] < MISFIT:
        return False
    for i in range(len(does)):
        size = 0.0
        for a in range(1, width if does[i] == STICKS else 1):
            size += x[c + a] * x[c + a]
        if x[c] < 0.0 or math.sqrt(size) > mu[i] * x[c]:
            return False
        c += width if does[i] == STICKS else 1
    return True


@kernel
def _spread(found: Found, columns: Array, free: Array, k: int) -> None:
    """Forces of the k unknowns, and the acceleration with them; ``free`` (nv,): the one without."""
    # reads acceleration, response, right, units, unknowns; writes acceleration, force, right
    m, width = found.force.shape
    for j in range(len(free)):
        found.acceleration[j] = free[j]
    for c in range(k):
        found.right[c] = found.unknowns[c] * found.units[0, c]
    for i in range(m):
        for a in range(width):
            total = 0.0
            for c in range(k):
                total += columns[i * width + a, c] * found.right[c]
            found.force[i, a] = total
            for j in range(len(free)):
                found.acceleration[j] += found.response[i * width + a, j] * total


# any model


class Held(NamedTuple):
    """The m contacts of a mode."""

    contact: np.ndarray  # (m,) int64
    sticks: np.ndarray  # (m,) bool
    mu: Array  # (m,)
    way: Array  # (m, nt) unit direction of slip that a step began with
    straight: np.ndarray  # (m,) bool: slip that keeps its direction until it stops


class At(NamedTuple):
    """What a model says at a state."""

    J: Array  # (nc, 1 + nt, nv)
    inverse_mass: Array  # (nv, nv)
    free: Array  # (nv,) acceleration without contact forces
    bias: Array  # (nc, 1 + nt) m/s^2
    v: Array  # (nv,)


@kernel
def find_mode_forces(held: Held, at: At, slowest: float, found: Found) -> bool:
    """Forces that keep the mode, and the acceleration with them; False where these are not determined.

    Contacts that slip faster than ``slowest`` (m/s) have friction against their slip now, along the line of
    it that is nearer to the way that the step began with. That of slower ones, mirrored where they go back,
    turns to that way, and is it without slip.
    """
    # reads at.free, at.v; hands on at, found, held
    respond(held, at, found)
    return solve_mode(held, at.v, at.free, slowest, found)


@kernel
def find_margins(held: Held, at: At, slowest: float, found: Found, margin: Array, known: np.ndarray) -> None:
    """The same, and how far the mode is from its end; ``known`` (1,) bool: whether forces are determined."""
    # reads at.v; hands on at, found, held
    known[0] = find_mode_forces(held, at, slowest, found)
    if known[0]:
        write_margins(held, at.v, found, margin)


@kernel
def write_margins(held: Held, v: Array, found: Found, margin: Array) -> None:
    """How far a mode is from its end under the forces found: see `routh.sim.mode_motion.ModeMotion.kinds`."""
    # reads found.force, found.residual, found.rows, found.unit, held.mu, held.sticks, held.way
    m, width = found.force.shape
    last, jam = 1 + m, 1.0
    margin[0] = MISFIT - found.residual[0]
    for i in range(m):
        push, rub = found.force[i, 0] / found.unit[0, i], 0.0
        margin[1 + i], jam = push, min(jam, 1.0 - abs(push) / MOST)
        for a in range(1, width):
            rub += (found.force[i, a] / found.unit[0, i]) ** 2
        if held.sticks[i]:
            margin[last] = held.mu[i] * push - math.sqrt(rub)
            last += 1
    for i in range(m):
        if not held.sticks[i] and held.mu[i] > 0.0:
            margin[last] = 0.0
            for a in range(width - 1):
                for j in range(len(v)):
                    margin[last] += held.way[i, a] * found.rows[i * width + 1 + a, j] * v[j]
            last += 1
    if last < len(margin):
        margin[last] = jam


@kernel
def solve_mode(held: Held, v: Array, free: Array, slowest: float, found: Found) -> bool:
    """The same where rows, responses, the Delassus matrix and accelerations without forces are known."""
    # reads found.columns, found.given, found.picked, found.unit, held.contact, held.mu, held.sticks
    # writes found.unit
    # hands on found, held
    for i in range(len(held.contact)):
        _follow_slip(held, v, i, slowest, found)
    scale = _measure(found)
    for i in range(len(held.contact)):
        found.unit[0, i] = 1.0 / found.unit[1, i] * scale
        found.unit[1, i] *= scale
    k = _columns(held, found)
    _fill_equations(found, found.columns, found.picked, k)
    if k == 1 and not abs(found.given[0, 0]) > JAMMED:
        return False
    if not _solve(found, k) and not _inside(held.sticks, held.mu, found):
        return False
    _spread(found, found.columns, free, k)
    return True


@kernel
def _follow_slip(held: Held, v: Array, i: int, slowest: float, found: Found) -> None:
    """The direction in which contact number i of the mode slips now; a limit of a joint has none."""
    # reads found.rows, found.way, held.mu, held.sticks, held.straight, held.way; writes found.way
    nt, nv = found.way.shape[1], len(v)
    if held.sticks[i] or held.straight[i] or held.mu[i] == 0.0 or nt == 1:
        for a in range(nt):
            found.way[i, a] = held.way[i, a]
        return
    size, along = 0.0, 0.0
    for a in range(nt):
        total = 0.0
        for j in range(nv):
            total += found.rows[i * (1 + nt) + 1 + a, j] * v[j]
        found.way[i, a] = total
        size += total * total
        along += total * held.way[i, a]
    size = math.sqrt(size)
    slow, whole = size < slowest, 0.0
    sign = -1.0 if along < 0.0 and not slow else 1.0
    own = slowest - size + 2.0 * max(-along, 0.0) if slow else 0.0
    for a in range(nt):
        found.way[i, a] = own * held.way[i, a] + sign * found.way[i, a]
        whole += found.way[i, a] ** 2
    for a in range(nt):
        found.way[i, a] /= math.sqrt(whole)


@kernel
def respond(held: Held, at: At, found: Found) -> None:
    """Jacobians, M^-1 J^T, the Delassus matrix, and accelerations without forces."""
    # reads at.J, at.bias, at.free, at.inverse_mass, found.response, found.rows, held.contact
    # writes found.at, found.response, found.rows
    # hands on found
    m, width = found.force.shape
    nv = len(at.free)
    for row in range(m * width):
        contact, a = held.contact[row // width], row % width
        total = at.bias[contact, a]
        for j in range(nv):
            found.rows[row, j] = at.J[contact, a, j]
            total += at.J[contact, a, j] * at.free[j]
            found.response[row, j] = 0.0
        for b in range(nv):
            entry = found.rows[row, b]
            if entry != 0.0:
                for j in range(nv):
                    found.response[row, j] += at.inverse_mass[b, j] * entry
        found.at[row] = total
    _weigh(found)


@kernel
def _columns(held: Held, found: Found) -> int:
    """How the unknowns of a mode spread over forces; their number."""
    # reads found.way, held.mu, held.sticks; writes found.columns, found.picked
    m, width = found.force.shape
    k = 0
    for i in range(m):
        for a in range(width if held.sticks[i] else 1):
            for row in range(m * width):
                found.columns[row, k] = 0.0
            found.columns[i * width + a, k] = 1.0
            found.picked[k] = i * width + a
            for b in range(0 if held.sticks[i] else width - 1):
                found.columns[i * width + 1 + b, k] = -held.mu[i] * found.way[i, b]
            k += 1
    return k


class CorrectionRoom(NamedTuple):
    """Scratch of `correct` for k rows."""

    A: Array  # (k, k)
    V: Array  # (k, k)
    response: Array  # (k, nv)
    right: Array  # (k,)
    x: Array  # (k,)


def make_room(k: int, nv: int) -> CorrectionRoom:
    """Room for k rows."""
    return CorrectionRoom(*(np.zeros(shape) for shape in ((k, k), (k, k), (k, nv), (k,), (k,))))


@kernel
def correct(inverse_mass: Array, rows: Array, values: Array, room: CorrectionRoom, moved: Array) -> None:
    """Take the smallest x with ``rows x = values``, in the metric of mass, from moved (nv,).

    By least squares where the rows (k, nv) depend on each other.
    """
    # reads A, V, response, right, x; writes A, V, response, right, x
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


# a planar mechanism


class ModeArrays(NamedTuple):
    """A contact mode: m contacts that stay closed, with k unknowns."""

    contacts: np.ndarray  # (nc,) int64: those of the mode, then all others
    does: np.ndarray  # (m,) int64: SLIDES, STICKS or RUBS
    picked: np.ndarray  # (k,) int64: which of the 2 m accelerations vanish
    columns: Array  # (2 m, k) forces per unknown
    friction: Array  # (2, m) coefficient, and 1 or -1: the way in which it rubs


@kernel
def fill_forces(mode: ModeArrays, place: Place, found: Found) -> bool:
    """Forces that keep the mode, and the acceleration with them; False where these are not known."""
    # reads found.unit, mode.columns, mode.contacts, mode.does, mode.friction, mode.picked, place.J,
    #   place.bias, place.free, place.inverse
    # writes found.at, found.residual, found.response, found.rows, found.unit
    # hands on found
    m, nv, k = len(mode.does), len(place.free), len(mode.picked)
    found.residual[0] = 0.0
    for row in range(2 * m):
        given = 2 * mode.contacts[row // 2] + row % 2
        total = place.bias[given]
        for i in range(nv):
            found.rows[row, i] = place.J[given, i]
            total += place.J[given, i] * place.free[i]
            value = 0.0
            for j in range(nv):
                value += place.inverse[i, j] * place.J[given, j]
            found.response[row, i] = value
        found.at[row] = total
    _weigh(found)
    scale = _measure(found)
    for i in range(m):
        found.unit[0, i] = scale / found.unit[1, i]
        found.unit[1, i] *= scale
    _fill_equations(found, mode.columns, mode.picked, k)
    if m > 0 and not _solve(found, k) and not _inside(mode.does, mode.friction[0], found):
        return False
    _spread(found, mode.columns, place.free, k)
    return True


@kernel
def settle(model: PlanarArrays, mode: ModeArrays, place: Place, found: Found, q: Array, v: Array) -> bool:
    """Move q and v, as little as mass allows, onto the closed contacts; place and forces are those there."""
    # reads mode.contacts, mode.does, mode.picked, place.gap; hands on found, mode, model, place
    m = len(mode.does)
    known = fill_place(model, q, v, place)
    for _ in range(CLOSINGS if m else 0):
        drift = 0.0
        for a in range(m):
            drift = max(drift, abs(place.gap[mode.contacts[a]]))
        if not drift > CLOSED:
            break
        _move(mode, place, found, q, m, drift > CLOSED)
        if not drift > NOTICED:
            break  # the model would notice nothing
        known = known and fill_place(model, q, v, place)
    if m:
        _move(mode, place, found, v, len(mode.picked), m == 0)
        known = known and fill_place(model, q, v, place)
    return known and fill_forces(mode, place, found)


@kernel
def _move(mode: ModeArrays, place: Place, found: Found, moved: Array, rows: int, gaps: bool) -> None:
    """Take gaps out of a configuration, or what the mode forbids out of a velocity, both (nv,).

    ``rows``: m for gaps, k for velocities, of which the mode picks those that vanish.
    """
    # reads found.rows, found.wanted, mode.contacts, mode.picked, place.J, place.gap, place.inverse
    # writes found.rows, found.wanted
    # hands on found.inverse, found.response, found.right, found.unknowns, found.used
    for a in range(rows):
        at = 2 * a if gaps else mode.picked[a]
        contact = mode.contacts[at // 2]
        found.wanted[a] = place.gap[contact] if gaps else velocity(place, 2 * contact + at % 2, moved)
        for i in range(len(moved)):
            found.rows[a, i] = place.J[2 * contact + at % 2, i]
    room = CorrectionRoom(found.used, found.inverse, found.response, found.right, found.unknowns)
    correct(place.inverse, found.rows[:rows], found.wanted, room, moved)
