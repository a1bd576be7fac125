"""Impulse rates of one piece of a planar path: who pushes, who sticks, and how fast everything changes.

In the problem's own units ``c = (y_1, t_1, y_2, ...)`` changes by ``c' = G r``, with ``r = (n_1, f_1, ...)``
the normal and friction rates. Each contact has a role:

* DRIVEN: its normal rate is given. Slip gives its friction; at zero slip friction is as near to holding it
  as the cone lets it be.
* HELD: at ``y = 0``; its normal rate is unknown and keeps it there.
* EDGE: at ``t = 0``; its normal rate is unknown, friction is on the edge of the cone, and slip stays zero.

For driven contacts alone the slip rates are unique (a convex quadratic in the friction). With held contacts
or edges there can be several solutions; the pattern of sticking and sliding to start from is drawn, and
mended, the first contact that breaks a law first, until all laws hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.compiling import kernel
from routh.kernels.dictionary import wide
from routh.validation import Array

NONE, DRIVEN, HELD, EDGE = wide(0), wide(1), wide(2), wide(3)

# rows of `PlaneWork.marks`: of contacts, of the unknowns of linear equations, and of a corner cut: its two
# coordinates and the place of the rates that it looked ahead with
ROLE, SLIP, FREE, CEILING, UNKNOWN, IS_NORMAL, CUT_AT = range(7)
# rows of `PlaneWork.values`; from GRAM on the matrix G, then the linear equations
NOW, THEN, START, TOTAL, NOISE, WEIGHT, BUDGET, STORED, RETURNED, MU, BOUNCE, UNIFORMS, GRAM = range(13)

CODES, SLIPS = 1, 3  # see `PlaneWork.known`
MENDS = 24  # changes of the pattern before held contacts and edges are given up
SINGULAR = 1e-11  # pivots below this, in rows of unit size, are none: dependent tangents or normals
ROUNDING = 1e-11  # rates below this share of what adds up to them are zero


class PlaneWork(NamedTuple):
    """Scratch of one thread, for at most nc contacts, n = 2 nc."""

    values: Array  # (13 + 2 n, n + 1)
    marks: np.ndarray  # (7, n + 1) int64
    flags: np.ndarray  # (n,) bool: contacts that approach, for a user's own rates
    names: np.ndarray  # (slots,) uint64: patterns whose rates are known; slots is a power of two, or 0
    # (slots + 2, 2 n + CODES + nc): rates, changes of c, whether anything pushes, roles and slips of the
    # contacts (`SLIPS` times the role, and 1 and the sign of slip); the last two rows are not kept
    known: Array


@kernel
def solve_linear(values: Array, first: int, m: int) -> None:
    """Gauss with row pivoting for the rows (m, m + 1) from ``first`` on; the last column is the solution.

    Unknowns whose pivots vanish are set to zero: whoever asked verifies the equations.
    """
    A, end = values, first + m
    for a in range(first, end):  # rows of unit size, so that a pivot of the size of rounding can be told
        size = 0.0
        for b in range(m):
            size = max(size, abs(A[a, b]))
        if size > 0.0:
            for b in range(m + 1):
                A[a, b] /= size
    for k in range(m):
        at = first + k
        best = at
        for a in range(at + 1, end):
            if abs(A[a, k]) > abs(A[best, k]):
                best = a
        if best != at:
            for b in range(k, m + 1):
                A[at, b], A[best, b] = A[best, b], A[at, b]
        if not abs(A[at, k]) > SINGULAR:
            A[at, k] = 0.0
            continue
        for a in range(at + 1, end):
            factor = A[a, k] / A[at, k]
            if factor != 0.0:
                for b in range(k + 1, m + 1):
                    A[a, b] -= factor * A[at, b]
    for k in range(m - 1, -1, -1):
        value = 0.0
        if A[first + k, k] != 0.0:
            value = A[first + k, m]
            for b in range(k + 1, m):
                value -= A[first + k, b] * A[first + b, m]
            value /= A[first + k, k]
        A[first + k, m] = value


@kernel
def rates_of_pattern(work: PlaneWork, nc: int, at: int) -> None:
    """Rates and changes, ``known[at]``, of the roles, weights and slips as they stand; NOISE of changes."""
    values, marks, rates = work.values, work.marks, work.known
    n = 2 * nc
    A = GRAM + n
    m = nc - nc
    for i in range(nc):
        role = marks[ROLE, i]
        weight = values[WEIGHT, i] if role == DRIVEN else 0.0
        rates[at, 2 * i] = weight
        rates[at, 2 * i + 1] = -values[MU, i] * marks[SLIP, i] * weight
        if role == HELD or role == EDGE:
            marks[UNKNOWN, m] = i
            marks[IS_NORMAL, m] = 1
            m += 1
        if (role == DRIVEN or role == HELD) and values[MU, i] > 0.0 and marks[SLIP, i] == 0:
            marks[UNKNOWN, m] = i
            marks[IS_NORMAL, m] = 0
            m += 1
    for a in range(m):
        i = marks[UNKNOWN, a]
        kept = 2 * i if marks[IS_NORMAL, a] == 1 and marks[ROLE, i] == HELD else 2 * i + 1
        right = 0.0
        for b in range(n):
            right -= values[GRAM + kept, b] * rates[at, b]
        values[A + a, m] = right
        for b in range(m):
            j = marks[UNKNOWN, b]
            entry = values[GRAM + kept, 2 * j + 1]
            if marks[IS_NORMAL, b] == 1:
                entry = values[GRAM + kept, 2 * j] - values[MU, j] * marks[SLIP, j] * entry
            values[A + a, b] = entry
    solve_linear(values, A, m)
    for a in range(m):
        j, found = marks[UNKNOWN, a], values[A + a, m]
        if marks[IS_NORMAL, a] == 1:
            rates[at, 2 * j] = found
            rates[at, 2 * j + 1] = -values[MU, j] * marks[SLIP, j] * found
        else:
            rates[at, 2 * j + 1] = found
    for a in range(n):
        change, noise = 0.0, 0.0
        for b in range(n):
            term = values[GRAM + a, b] * rates[at, b]
            change += term
            noise += abs(term)
        rates[at, n + a] = change
        values[NOISE, a] = ROUNDING * noise


@kernel
def mend(work: PlaneWork, nc: int, at: int) -> bool:
    """Change the first contact that breaks a law; whether there was none."""
    values, marks, rates = work.values, work.marks, work.known
    tiny = 0.0
    for i in range(nc):
        tiny = max(tiny, ROUNDING * rates[at, 2 * i])
    for i in range(nc):
        role, slip = marks[ROLE, i], marks[SLIP, i]
        if role == NONE:
            continue
        normal, friction = rates[at, 2 * i], rates[at, 2 * i + 1]
        rise, slide = rates[at, 2 * nc + 2 * i], rates[at, 2 * nc + 2 * i + 1]
        level, still = values[NOISE, 2 * i], values[NOISE, 2 * i + 1]
        leaves = marks[CEILING, i] == 1 and rise > level
        if role == DRIVEN and leaves:
            marks[ROLE, i] = HELD  # it may not push while it separates
            return False
        lost = role != DRIVEN and (leaves or not normal >= -tiny)
        lost = lost or (role == HELD and abs(rise) > level) or (role == EDGE and abs(slide) > still)
        if lost:
            marks[ROLE, i] = NONE
            return False
        if role == EDGE or values[MU, i] == 0.0:
            continue
        if slip == 0 and not abs(friction) <= values[MU, i] * (normal + tiny):
            marks[SLIP, i] = -1 if friction > 0.0 else 1
            return False
        if marks[FREE, i] == 1 and slip * slide < -still:
            marks[SLIP, i] = 0
            return False
    return True


@kernel
def find_rates(work: PlaneWork, nc: int, at: int) -> bool:
    """Rates and changes for the roles, weights and first guesses of slip; False where nothing pushes.

    Where mending does not come to an end, held contacts and edges are dropped, then all driven contacts but
    one. In the end rounding is made exact: rates in their cones, changes of what is held or sticks zero.
    """
    values, marks, rates = work.values, work.marks, work.known
    settled, attempt = False, 0
    while not settled and attempt < 3:
        for _ in range(MENDS + 4 * nc):
            rates_of_pattern(work, nc, at)
            settled = mend(work, nc, at)
            if settled:
                break
        first = -1
        for i in range(nc):
            if settled:
                break
            role = marks[ROLE, i]
            if role == HELD or role == EDGE or (role == DRIVEN and attempt == 1 and first >= 0):
                marks[ROLE, i] = NONE
            elif role == DRIVEN and first < 0:
                first = i
            if marks[FREE, i] == 1:
                marks[SLIP, i] = 0
        attempt += 1
    pushes = False
    for i in range(nc):
        normal, limit = max(rates[at, 2 * i], 0.0), values[MU, i]
        rates[at, 2 * i] = normal
        rates[at, 2 * i + 1] = min(max(rates[at, 2 * i + 1], -limit * normal), limit * normal)
        pushes = pushes or normal > 0.0
    for a in range(2 * nc):
        if abs(rates[at, 2 * nc + a]) <= values[NOISE, a]:
            rates[at, 2 * nc + a] = 0.0
    return settled and pushes
