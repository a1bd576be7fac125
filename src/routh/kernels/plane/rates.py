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

from routh.base.validation import Array
from routh.compiling import kernel
from routh.compiling.rows import rows
from routh.kernels.common.random import event_number
from routh.kernels.common.small_linear import solve_linear

NONE, DRIVEN, HELD, EDGE = 0, 1, 2, 3

CODES, SLIPS = 1, 3  # see `PlaneWork.known`
MENDS = 8  # changes of the pattern before held contacts and edges are given up
ROUNDING = 1e-11  # rates below this share of what adds up to them are zero
SHUFFLE = 3000  # numbers of an event from this on draw the order of contacts that are alike
SAME = 1e-9  # contacts whose data differ by less than this are alike
KINDS = 2048  # of contacts with one role, see `order_contacts`
ANY_ORDER = np.uint64(0)  # see `draw_order`


class PlaneArrays(NamedTuple):
    """The arrays of `PlaneWork`, for at most nc contacts, n = 2 nc."""

    values: Array  # (rows named below, n)
    marks: np.ndarray  # (rows named below, n + 1) int64
    gram: Array  # (n, n) G
    equations: Array  # (n, n + 1) linear equations, the right side last
    approaching: np.ndarray  # (n,) bool: contacts that approach, for a user's own rates
    names: np.ndarray  # (slots,) uint64: patterns whose rates are known; slots is a power of two, or 0
    # (slots + 2, 2 n + CODES + nc): rates, changes of c, whether anything pushes, roles and slips of the
    # contacts (`SLIPS` times the role, and 1 and the sign of slip); the last two rows are not kept
    known: Array
    shared: Array  # on a GPU `known` of all threads, which none changes; else (0, 0)
    trace: Array  # (pieces, n): impulses of the pieces, where they are asked for; else none


class PlaneWork(PlaneArrays):
    """Scratch of one thread, with names for the rows of its arrays."""

    __slots__ = ()

    # of coordinates, contact by contact, normal first: where the path is, where the piece ends, before the
    # impact, impulse so far, changes below which are rounding
    now, then, start, total, noise = rows("values", 5)
    # of contacts: normal rate of one that is driven; impulse, or work, still to be returned; work done on
    # contacts that approach, and work that they gave back; data; numbers in (0, 1) for a user's own rates
    weight, budget, stored, returned, mu, bounce, uniforms = rows("values", 7)
    # of contacts: NONE, DRIVEN, HELD or EDGE; sign of the slip, or its first guess; 1: the slip is zero, so
    # that its sign may be mended; 1: it may not push while it separates
    role, slip, free, ceiling = rows("marks", 4)
    # of the unknowns of the linear equations: whose they are, also coordinates of a corner cut; 1 normal
    # rate, 0 friction. A corner cut: its two coordinates, and where the rates are that it looked ahead with
    unknown, is_normal, cut_at = rows("marks", 3)
    # contacts in the order in which they are looked at; a number of a contact's data; of data and role:
    # those with equal ones are alike
    # first of all, for derivatives: kinds of pairs that the search for a corner cut passed by, see
    # `routh.kernels.plane.pieces.pass_by`
    order, data, kind, passed = rows("marks", 4)


@kernel
def tell_apart(work: PlaneWork, nc: int) -> None:
    """Number contacts by their data, mirror images alike; equal numbers: they are told apart by nothing."""
    # reads bounce, data, gram, mu, start, then; writes data, then
    for i in range(nc):
        print_ = work.start[2 * i] ** 2 + work.start[2 * i + 1] ** 2 + work.bounce[i]
        print_ += work.mu[i] / (1.0 + work.mu[i])
        for j in range(nc):
            for p in range(2):
                square = work.gram[2 * i + p, 2 * j + p] ** 2
                print_ += square / (1.0 + square)
        work.then[i] = print_
    for i in range(nc):
        work.data[i] = 0
        for j in range(nc):
            work.data[i] += int(work.then[j] < work.then[i] - SAME)


@kernel
def order_contacts(work: PlaneWork, nc: int) -> None:
    """KIND of contacts, and ORDER by it: by what `pattern_name` tells, and by nothing else."""
    # reads ceiling, data, kind, order, role, slip; writes kind, order
    for i in range(nc):
        slides = int(work.slip[i] != 0)
        ceiling = work.ceiling[i] if work.role[i] != HELD else 0
        kind = KINDS * (2 * work.role[i] + slides) + 2 * work.data[i] + ceiling
        work.kind[i] = kind if work.role[i] != NONE else -1
        at = i
        while at > 0 and work.kind[work.order[at - 1]] > work.kind[i]:
            work.order[at] = work.order[at - 1]
            at -= 1
        work.order[at] = i


@kernel
def draw_order(work: PlaneWork, nc: int, key: np.uint64) -> np.uint64:
    """Draw the order of contacts of one kind, all alike; its number, which is never that of ANY_ORDER."""
    # reads kind, order; writes order
    number, begin = np.uint64(0), 0
    while begin < nc:
        end, kind = begin + 1, work.kind[work.order[begin]]
        while end < nc and work.kind[work.order[end]] == kind:
            end += 1
        while begin < end - 1 and kind >= 0:
            pick = begin + int((end - begin) * event_number(key, SHUFFLE + begin))
            other = work.order[pick]
            work.order[pick] = work.order[begin]
            work.order[begin] = other
            number = number * np.uint64(end - begin) + np.uint64(pick - begin)
            begin += 1
        begin = end
    return number + np.uint64(1)


@kernel
def are_alike(work: PlaneWork, nc: int) -> bool:
    """Whether there are contacts of one kind."""
    # reads kind, order
    for q in range(1, nc):
        kind = work.kind[work.order[q]]
        if kind >= 0 and kind == work.kind[work.order[q - 1]]:
            return True
    return False


@kernel
def rates_of_pattern(work: PlaneWork, nc: int, at: int) -> bool:
    """Rates and changes, ``known[at]``, of the roles, weights and slips as they stand; NOISE of changes.

    False where some rates can stand for others: the last ones in `order` are zero.
    """
    # reads equations, gram, is_normal, known, mu, order, role, slip, unknown, weight
    # writes equations, is_normal, known, noise, unknown
    rates = work.known
    n = 2 * nc
    m = nc - nc
    for q in range(nc):
        i = work.order[q]
        role = work.role[i]
        weight = work.weight[i] if role == DRIVEN else 0.0
        rates[at, 2 * i] = weight
        rates[at, 2 * i + 1] = -work.mu[i] * work.slip[i] * weight
        if role == HELD or role == EDGE:
            work.unknown[m] = i
            work.is_normal[m] = 1
            m += 1
        if (role == DRIVEN or role == HELD) and work.mu[i] > 0.0 and work.slip[i] == 0:
            work.unknown[m] = i
            work.is_normal[m] = 0
            m += 1
    for a in range(m):
        i = work.unknown[a]
        kept = 2 * i if work.is_normal[a] == 1 and work.role[i] == HELD else 2 * i + 1
        right = 0.0
        for b in range(n):
            right -= work.gram[kept, b] * rates[at, b]
        work.equations[a, m] = right
        for b in range(m):
            j = work.unknown[b]
            entry = work.gram[kept, 2 * j + 1]
            if work.is_normal[b] == 1:
                entry = work.gram[kept, 2 * j] - work.mu[j] * work.slip[j] * entry
            work.equations[a, b] = entry
    regular = solve_linear(work.equations, m)
    for a in range(m):
        j, found = work.unknown[a], work.equations[a, m]
        if work.is_normal[a] == 1:
            rates[at, 2 * j] = found
            rates[at, 2 * j + 1] = -work.mu[j] * work.slip[j] * found
        else:
            rates[at, 2 * j + 1] = found
    for a in range(n):
        change, noise = 0.0, 0.0
        for b in range(n):
            term = work.gram[a, b] * rates[at, b]
            change += term
            noise += abs(term)
        rates[at, n + a] = change
        work.noise[a] = ROUNDING * noise
    return regular


@kernel
def breaks_law(work: PlaneWork, nc: int, at: int, i: int, tiny: float) -> bool:
    """Whether a contact breaks a law; if so its role or slip is changed."""
    # reads ceiling, free, known, mu, noise, role, slip; writes role, slip
    rates = work.known
    role, slip = work.role[i], work.slip[i]
    if role == NONE:
        return False
    normal, friction = rates[at, 2 * i], rates[at, 2 * i + 1]
    rise, slide = rates[at, 2 * nc + 2 * i], rates[at, 2 * nc + 2 * i + 1]
    level, still = work.noise[2 * i], work.noise[2 * i + 1]
    leaves = work.ceiling[i] == 1 and rise > level
    if role == DRIVEN and leaves:
        work.role[i] = HELD  # it may not push while it separates
        return True
    lost = role != DRIVEN and (leaves or not normal >= -tiny)
    lost = lost or (role == HELD and abs(rise) > level) or (role == EDGE and abs(slide) > still)
    if lost:
        work.role[i] = NONE
        return True
    if role == EDGE or work.mu[i] == 0.0:
        return False
    if slip == 0 and not abs(friction) <= work.mu[i] * (normal + tiny):
        work.slip[i] = -1 if friction > 0.0 else 1
        return True
    if slip == 0 and abs(slide) > still:  # equations that contradict each other: what is held lets it go
        work.slip[i] = 1 if slide > 0.0 else -1
        return True
    if work.free[i] == 1 and slip * slide < -still:
        work.slip[i] = 0
        return True
    return False


@kernel
def mend(work: PlaneWork, nc: int, at: int, ordered: bool) -> tuple[bool, bool]:
    """Change the first contact that breaks a law.

    Whether there was none, and whether one of its kind breaks one, too, and none is the first before they
    are ``ordered``.
    """
    # reads kind, known, order, role, slip; writes role, slip; hands on work
    rates = work.known
    tiny = 0.0
    for i in range(nc):
        tiny = max(tiny, ROUNDING * rates[at, 2 * i])
    first, role, slip = -1, NONE, NONE
    for q in range(nc):
        i = work.order[nc - 1 - q]
        if first >= 0 and work.kind[i] != work.kind[first]:
            break
        was, slid = work.role[i], work.slip[i]
        if not breaks_law(work, nc, at, i, tiny):
            continue
        if ordered:
            return False, False
        if first >= 0:
            work.role[i], work.slip[i] = was, slid
            work.role[first], work.slip[first] = role, slip
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
    # reads free, known, mu, noise, order, role; writes known, role, slip; hands on work
    rates = work.known
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
            i = work.order[q]
            role = work.role[i]
            if role == HELD or role == EDGE or (role == DRIVEN and attempt == 1 and first >= 0):
                work.role[i] = NONE
            elif role == DRIVEN and first < 0:
                first = i
            if work.free[i] == 1:
                work.slip[i] = 0
        attempt += 1
    pushes = False
    for i in range(nc):
        normal, limit = max(rates[at, 2 * i], 0.0), work.mu[i]
        rates[at, 2 * i] = normal
        rates[at, 2 * i + 1] = min(max(rates[at, 2 * i + 1], -limit * normal), limit * normal)
        pushes = pushes or normal > 0.0
    for a in range(2 * nc):
        if abs(rates[at, 2 * nc + a]) <= work.noise[a]:
            rates[at, 2 * nc + a] = 0.0
    return settled and pushes, number
