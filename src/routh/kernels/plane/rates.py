"""Impulse rates of one piece of a planar path: who pushes, who sticks, and how fast everything changes.

In the problem's own units ``c = (y_1, t_1, y_2, ...)`` changes by ``c' = G r``, with ``r = (n_1, f_1, ...)``
the normal and friction rates. Each contact has a role:

* DRIVEN: its normal rate is given. Slip gives its friction; at zero slip friction is as near to holding it
  as the cone lets it be.
* HELD: at ``y = 0``; its normal rate is unknown and keeps it there.
* EDGE: at ``t = 0``; its normal rate is unknown, friction is on the edge of the cone, and slip stays zero.

For driven contacts alone the slip rates are unique (a convex quadratic in the friction). With held contacts
or edges there can be several solutions; the pattern of sticking and sliding to start from is drawn, and
mended, the first contact that breaks a law first, until all laws hold. Rates that can stand for others (where
tangents depend on one another) are zero, the last ones first. Which contact is the first does not hang on its
number: contacts are ordered by their data and roles, and the order of those that are alike is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.compiling import inlined, kernel
from routh.kernels.common.integers import wide
from routh.kernels.common.random import event_number
from routh.validation import Array

NONE, DRIVEN, HELD, EDGE = wide(0), wide(1), wide(2), wide(3)

# rows of `PlaneWork.marks`: of contacts, of the unknowns of linear equations, of a corner cut: its two
# coordinates and the place of the rates that it looked ahead with; contacts in the order of their turns;
# of contacts: a number of their data, and one of data and role: those with equal ones are alike
ROLE, SLIP, FREE, CEILING, UNKNOWN, IS_NORMAL, CUT_AT, ORDER, DATA, KIND = range(10)
# rows of `PlaneWork.values`; from GRAM on the matrix G, then the linear equations
NOW, THEN, START, TOTAL, NOISE, WEIGHT, BUDGET, STORED, RETURNED, MU, BOUNCE, UNIFORMS, GRAM = range(13)

CODES, SLIPS = 1, 3  # see `PlaneWork.known`
MENDS = 8  # changes of the pattern before held contacts and edges are given up
SINGULAR = 1e-11  # pivots below this, in rows of unit size, are none: dependent tangents or normals
ROUNDING = 1e-11  # rates below this share of what adds up to them are zero
TURN = wide(3000)  # numbers of an event from this on draw the order of turns
SAME = 1e-9  # contacts whose data differ by less than this are alike
KINDS = wide(2048)  # of contacts with one role, see `order_contacts`
ANY_ORDER = np.uint64(0)  # see `draw_order`


class PlaneWork(NamedTuple):
    """Scratch of one thread, for at most nc contacts, n = 2 nc."""

    values: Array  # (13 + 2 n, n + 1)
    marks: np.ndarray  # (10, n + 1) int64
    flags: np.ndarray  # (n,) bool: contacts that approach, for a user's own rates
    names: np.ndarray  # (slots,) uint64: patterns whose rates are known; slots is a power of two, or 0
    # (slots + 2, 2 n + CODES + nc): rates, changes of c, whether anything pushes, roles and slips of the
    # contacts (`SLIPS` times the role, and 1 and the sign of slip); the last two rows are not kept
    known: Array


@kernel
def tell_apart(work: PlaneWork, nc: int) -> None:
    """Number contacts by their data, mirror images alike; equal numbers: they are told apart by nothing."""
    values, marks = work.values, work.marks
    for i in range(nc):
        print_ = values[START, 2 * i] ** 2 + values[START, 2 * i + 1] ** 2 + values[BOUNCE, i]
        print_ += values[MU, i] / (1.0 + values[MU, i])
        for j in range(nc):
            for p in range(2):
                square = values[GRAM + 2 * i + p, 2 * j + p] ** 2
                print_ += square / (1.0 + square)
        values[THEN, i] = print_
    for i in range(nc):
        marks[DATA, i] = 0
        for j in range(nc):
            marks[DATA, i] += int(values[THEN, j] < values[THEN, i] - SAME)


@kernel
def order_contacts(work: PlaneWork, nc: int) -> None:
    """KIND of contacts, and ORDER by it: by what `pattern_name` tells, and by nothing else."""
    marks = work.marks
    for i in range(nc):
        slides = int(marks[SLIP, i] != 0)
        ceiling = marks[CEILING, i] if marks[ROLE, i] != HELD else 0
        kind = KINDS * (2 * marks[ROLE, i] + slides) + 2 * marks[DATA, i] + ceiling
        marks[KIND, i] = kind if marks[ROLE, i] != NONE else -1
        at = i
        while at > 0 and marks[KIND, marks[ORDER, at - 1]] > marks[KIND, i]:
            marks[ORDER, at] = marks[ORDER, at - 1]
            at -= 1
        marks[ORDER, at] = i


@kernel
def draw_order(work: PlaneWork, nc: int, key: np.uint64) -> np.uint64:
    """Draw the order of contacts of one kind, all alike; its number, which is never that of ANY_ORDER."""
    marks, number, begin = work.marks, np.uint64(0), 0
    while begin < nc:
        end, kind = begin + 1, marks[KIND, marks[ORDER, begin]]
        while end < nc and marks[KIND, marks[ORDER, end]] == kind:
            end += 1
        while begin < end - 1 and kind >= 0:
            pick = begin + int((end - begin) * event_number(key, TURN + begin))
            other = marks[ORDER, pick]
            marks[ORDER, pick] = marks[ORDER, begin]
            marks[ORDER, begin] = other
            number = number * np.uint64(end - begin) + np.uint64(pick - begin)
            begin += 1
        begin = end
    return number + np.uint64(1)


@kernel
def are_alike(work: PlaneWork, nc: int) -> bool:
    """Whether there are contacts of one kind."""
    marks = work.marks
    for q in range(1, nc):
        kind = marks[KIND, marks[ORDER, q]]
        if kind >= 0 and kind == marks[KIND, marks[ORDER, q - 1]]:
            return True
    return False


@inlined
def subtract_row(A: Array, a: int, at: int, k: int, m: int) -> None:
    """Take as much of row ``at`` from row ``a`` as leaves nothing in column k."""
    factor = A[a, k] / A[at, k]
    if factor != 0.0:
        for b in range(k + 1, m + 1):
            A[a, b] -= factor * A[at, b]


@kernel
def solve_linear(values: Array, first: int, m: int) -> bool:
    """Gauss with row pivoting for the rows (m, m + 1) from ``first`` on; the last column is the solution.

    Unknowns whose pivots vanish, for which those before them can stand, are zero: whoever asked verifies the
    equations. Whether none did. The row that such an unknown leaves over, of zero at its own place, may be
    the only one that tells a later unknown, so it stays in the game.
    """
    A, end, regular = values, first + m, True
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
        if not regular:
            for a in range(first, at):
                if A[a, a - first] == 0.0 and abs(A[a, k]) > abs(A[best, k]):
                    best = a
        if best != at:
            for b in range(k, m + 1):
                A[at, b], A[best, b] = A[best, b], A[at, b]
        if not abs(A[at, k]) > SINGULAR:
            A[at, k] = 0.0
            regular = False
            continue
        for a in range(at + 1, end):
            subtract_row(A, a, at, k, m)
        if not regular:
            for a in range(first, at):
                if A[a, a - first] == 0.0:
                    subtract_row(A, a, at, k, m)
    for k in range(m - 1, -1, -1):
        value = 0.0
        if A[first + k, k] != 0.0:
            value = A[first + k, m]
            for b in range(k + 1, m):
                value -= A[first + k, b] * A[first + b, m]
            value /= A[first + k, k]
        A[first + k, m] = value
    return regular


@kernel
def rates_of_pattern(work: PlaneWork, nc: int, at: int) -> bool:
    """Rates and changes, ``known[at]``, of the roles, weights and slips as they stand; NOISE of changes.

    False where some rates can stand for others: the last ones in the order of turns are zero.
    """
    values, marks, rates = work.values, work.marks, work.known
    n = 2 * nc
    A = GRAM + n
    m = nc - nc
    for q in range(nc):
        i = marks[ORDER, q]
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
    regular = solve_linear(values, A, m)
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
    return regular


@kernel
def breaks_law(work: PlaneWork, nc: int, at: int, i: int, tiny: float) -> bool:
    """Whether a contact breaks a law; if so its role or slip is changed."""
    values, marks, rates = work.values, work.marks, work.known
    role, slip = marks[ROLE, i], marks[SLIP, i]
    if role == NONE:
        return False
    normal, friction = rates[at, 2 * i], rates[at, 2 * i + 1]
    rise, slide = rates[at, 2 * nc + 2 * i], rates[at, 2 * nc + 2 * i + 1]
    level, still = values[NOISE, 2 * i], values[NOISE, 2 * i + 1]
    leaves = marks[CEILING, i] == 1 and rise > level
    if role == DRIVEN and leaves:
        marks[ROLE, i] = HELD  # it may not push while it separates
        return True
    lost = role != DRIVEN and (leaves or not normal >= -tiny)
    lost = lost or (role == HELD and abs(rise) > level) or (role == EDGE and abs(slide) > still)
    if lost:
        marks[ROLE, i] = NONE
        return True
    if role == EDGE or values[MU, i] == 0.0:
        return False
    if slip == 0 and not abs(friction) <= values[MU, i] * (normal + tiny):
        marks[SLIP, i] = -1 if friction > 0.0 else 1
        return True
    if slip == 0 and abs(slide) > still:  # equations that contradict each other: what is held lets it go
        marks[SLIP, i] = 1 if slide > 0.0 else -1
        return True
    if marks[FREE, i] == 1 and slip * slide < -still:
        marks[SLIP, i] = 0
        return True
    return False


@kernel
def mend(work: PlaneWork, nc: int, at: int, ordered: bool) -> tuple[bool, bool]:
    """Change the first contact that breaks a law.

    Whether there was none, and whether one of its kind breaks one, too, and none is the first before they
    are ``ordered``.
    """
    marks, rates = work.marks, work.known
    tiny = 0.0
    for i in range(nc):
        tiny = max(tiny, ROUNDING * rates[at, 2 * i])
    first, role, slip = -1, NONE, NONE
    for q in range(nc):
        i = marks[ORDER, nc - 1 - q]
        if first >= 0 and marks[KIND, i] != marks[KIND, first]:
            break
        was, slid = marks[ROLE, i], marks[SLIP, i]
        if not breaks_law(work, nc, at, i, tiny):
            continue
        if ordered:
            return False, False
        if first >= 0:
            marks[ROLE, i], marks[SLIP, i] = was, slid
            marks[ROLE, first], marks[SLIP, first] = role, slip
            return False, True
        first, role, slip = i, was, slid
    return first < 0, False


@kernel
def find_rates(work: PlaneWork, nc: int, at: int, key: np.uint64) -> tuple[bool, np.uint64]:
    """Rates and changes for the roles, weights and first guesses of slip; whether anything pushes.

    The second result is the number of the order that was drawn, ANY_ORDER where none was needed. Where
    mending does not come to an end, held contacts and edges are dropped, then all driven contacts but one. In
    the end rounding is made exact: rates in their cones, changes of what is held or sticks zero.
    """
    values, marks, rates = work.values, work.marks, work.known
    settled, attempt, number, undecided = False, 0, ANY_ORDER, False
    order_contacts(work, nc)
    alike = are_alike(work, nc)
    while not settled and attempt < 3:
        for _ in range(MENDS + 2 * nc):
            if undecided and alike and number == ANY_ORDER:
                number = draw_order(work, nc, key)
            ordered = number != ANY_ORDER or not alike
            undecided = not rates_of_pattern(work, nc, at)
            if ordered or not undecided:
                settled, undecided = mend(work, nc, at, ordered)
            if settled:
                break
        undecided = True
        first = -1
        for q in range(nc):
            if settled:
                break
            i = marks[ORDER, q]
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
    return settled and pushes, number
