"""Power series of the true cone's curved paths: one step of high order, with every event a root of it.

While contacts slide with directions ``u = t / |t|`` of slip, ``c' = G r`` with friction rates
``f = -mu n u``: normal rates n of driven contacts are given, those of held contacts (``y' = 0``) and friction
of sticking ones (``t' = 0``) follow from linear equations. Every quantity is a power series in the step; each
power follows from the lower ones, and the equations have one matrix for all powers.

Steps are taken in the length s of the path, or, where a slip is small, in its own time ``ds = |t| dtau`` (the
*clock*): there slip decays or grows exponentially and turns without a singularity, and rates are by that
time until they are divided by ``|t|`` in the end. Slips t are linear in the impulses, ``|t|^2 = t t``, and
``u |t| = t``. A contact that begins to slip, ``t = s T(s)``, turns by an unknown amount in each power, which
is one more equation.
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import inlined, kernel
from routh.kernels.space.advance import coupling
from routh.kernels.space.equations import (
    FIRST,
    fill_matrix,
    invert_equations,
    list_turns,
    list_unknown,
    unknown_value,
)
from routh.kernels.space.workspace import (
    ALONG,
    CUT,
    DRIVEN,
    HELD,
    NORMAL,
    ORDER,
    PATH,
    PUSH0,
    PUSH1,
    PUSH2,
    RATE0,
    RATE1,
    RATE2,
    SIZE,
    SLIDE,
    SLIP0,
    SLIP1,
    UNIT0,
    UNIT1,
    WORKED,
    ZERO,
    Books,
    SpaceWork,
)

NO_CLOCK = -1
CLOCKED = 1.0  # slip that vanishes or doubles within this length has its own time
ENOUGH = 6  # powers after which, and after every two further ones, it is looked whether they are enough
FARTHER = 1.25  # by how much the next event may be farther than the first rates say
NEAREST = 1e-9  # what is left of a stage that is cut may be zero by rounding


@kernel
def begin_series(work: SpaceWork, m: int, books: Books) -> bool:
    """Power 0 of the slips and normal velocities, from NOW; whether a contact begins to slip."""
    # reads moves, now, pushing, slide0, slide1; writes series
    begins = False
    for a in range(m):
        i = work.pushing[a]
        at, own = 3 * i, work.series[i]
        own[PUSH0, 0] = own[PUSH1, 0] = own[PUSH2, 0] = 0.0
        if work.moves[i] == SLIDE:
            t0, t1 = work.now[at + 1], work.now[at + 2]
            length = math.sqrt(t0 * t0 + t1 * t1)
            own[SIZE, 0] = length
            if length > 0.0:
                own[UNIT0, 0], own[UNIT1, 0] = t0 / length, t1 / length
            else:
                own[UNIT0, 0], own[UNIT1, 0] = work.slide0[i], work.slide1[i]
                begins = True
        if books is not None:
            own[NORMAL, 0], own[WORKED, 0] = work.now[at], 0.0
    return begins


@kernel
def pace(work: SpaceWork, clock: int, k: int) -> float:
    """Power k of how fast the path is walked in the step's own measure."""
    # reads series
    if clock >= 0:
        return work.series[clock, SIZE, k]
    return 1.0 if k == 0 else 0.0


@kernel
def known_rates(work: SpaceWork, m: int, k: int, clock: int) -> None:
    """Power k of the rates as far as lower powers say; what is unknown stays out."""
    # reads moves, mu, pushing, role, series, weight; writes series; hands on work
    now = pace(work, clock, k)
    for a in range(m):
        i = work.pushing[a]
        own = work.series[i]
        weight = work.weight[i] if work.role[i] == DRIVEN else 0.0
        f0, f1 = 0.0, 0.0
        if work.moves[i] == SLIDE:
            if k > 0 and own[SIZE, 0] == 0.0:  # u has unit length
                along = 0.0
                for j in range(1, k):
                    along -= 0.5 * (own[UNIT0, j] * own[UNIT0, k - j] + own[UNIT1, j] * own[UNIT1, k - j])
                own[UNIT0, k], own[UNIT1, k] = along * own[UNIT0, 0], along * own[UNIT1, 0]
            if work.role[i] == HELD:
                for j in range(k):
                    f0 += own[RATE0, j] * own[UNIT0, k - j]
                    f1 += own[RATE0, j] * own[UNIT1, k - j]
            elif i == clock:  # |t| u = t
                f0, f1 = weight * own[SLIP0, k], weight * own[SLIP1, k]
            elif clock >= 0:
                for j in range(k + 1):
                    f0 += work.series[clock, SIZE, j] * own[UNIT0, k - j]
                    f1 += work.series[clock, SIZE, j] * own[UNIT1, k - j]
                f0, f1 = weight * f0, weight * f1
            else:
                f0, f1 = weight * own[UNIT0, k], weight * own[UNIT1, k]
        mu = work.mu[i]
        own[RATE0, k], own[RATE1, k], own[RATE2, k] = weight * now, -mu * f0, -mu * f1


@kernel
def rate_of(work: SpaceWork, m: int, k: int, row: int) -> float:
    """Power k of the rate of contact coordinate ``row``."""
    # reads pushing, series; hands on work
    value = 0.0
    for a in range(m):
        i = work.pushing[a]
        own = work.series[i]
        value += coupling(work, row, 3 * i, own[RATE0, k], own[RATE1, k], own[RATE2, k])
    return value


@kernel
def slip_by(work: SpaceWork, m: int, i: int, channel: int, k: int) -> tuple[float, float]:
    """What power k of the rates (RATE0) or impulses (PUSH0) does to the slip of contact i."""
    # reads pushing, series; hands on work
    g, h = 3 * i + 1, 3 * i + 2
    t0, t1 = 0.0, 0.0
    for a in range(m):
        at, other = 3 * work.pushing[a], work.series[work.pushing[a]]
        n, p0, p1 = other[channel, k], other[channel + 1, k], other[channel + 2, k]
        t0 += coupling(work, g, at, n, p0, p1)
        t1 += coupling(work, h, at, n, p0, p1)
    return t0, t1


@kernel
def solve_power(work: SpaceWork, m: int, k: int, size: int, turns: int) -> None:
    """Add the unknowns of power k to the rates, after `invert_equations`."""
    # reads column0, column1, column2, row0, row1, row2, series, whose; writes right, series; hands on work
    for e in range(size):
        i = work.whose[e]
        own, value = work.series[i], 0.0
        if work.row0[e] != 0.0:
            value -= work.row0[e] * rate_of(work, m, k, 3 * i)
        if work.row1[e] != 0.0:
            value -= work.row1[e] * rate_of(work, m, k, 3 * i + 1)
        if work.row2[e] != 0.0:
            value -= work.row2[e] * rate_of(work, m, k, 3 * i + 2)
        if e >= turns:
            for j in range(1, k):
                turned = work.row1[e] * own[UNIT0, k - j]
                turned += work.row2[e] * own[UNIT1, k - j]
                value += (k + 1) * own[SIZE, j + 1] * turned
        work.right[e] = value
    for e in range(size):
        z, own = unknown_value(work, size, e), work.series[work.whose[e]]
        own[RATE0, k] += z * work.column0[e]
        own[RATE1, k] += z * work.column1[e]
        own[RATE2, k] += z * work.column2[e]
        if e >= turns:
            own[UNIT0, k] += z * work.row1[e]
            own[UNIT1, k] += z * work.row2[e]


@kernel
def slip_rates(work: SpaceWork, m: int, k: int) -> None:
    """Power k of the slip rates and of their parts along the slip, after the first of beginning slips."""
    # reads moves, pushing, series; writes series; hands on work
    for a in range(m):
        i = work.pushing[a]
        own = work.series[i]
        if work.moves[i] == SLIDE and (k == 0 or own[SIZE, 0] == 0.0):
            own[SLIP0, k], own[SLIP1, k] = slip_by(work, m, i, RATE0, k)
            along0, along1 = 0.0, 0.0
            for j in range(k + 1):
                along0 += own[UNIT0, j] * own[SLIP0, k - j]
                along1 += own[UNIT1, j] * own[SLIP1, k - j]
            own[ALONG, k] = along0 + along1


@kernel
def find_clock(work: SpaceWork, m: int, begins: bool) -> int:
    """The contact whose slip changes most quickly, if that is quick, and none begins to slip; else -1."""
    # reads moves, pushing, series
    clock, least = -1, CLOCKED * CLOCKED
    for a in range(m):
        i = work.pushing[a]
        if work.moves[i] == SLIDE and not begins:
            own = work.series[i]
            rate = own[SLIP0, 0] ** 2 + own[SLIP1, 0] ** 2
            if own[SIZE, 0] ** 2 < least * rate:
                clock, least = i, own[SIZE, 0] ** 2 / rate
    return clock


@kernel
def by_clock(work: SpaceWork, clock: int, of: Array, k: int) -> float:
    """Power k + 1 of what changes, per length, at the rate with powers ``of``."""
    # reads series
    if clock < 0:
        return of[k] / (k + 1)
    value = 0.0
    for j in range(k + 1):
        value += work.series[clock, SIZE, j] * of[k - j]
    return value / (k + 1)


@inlined
def slip_size(own: Array, k: int, t0: float, t1: float, inverse: float) -> float:
    """Power k of ``|t|`` from its lower ones, those of t, and power k of t: half of the sums ``|t|^2 = t t``.

    ``inverse`` is that of power 0. What comes last is added last: each power waits for the one before.
    """
    value, grown = 0.0, 0.0
    if k % 2 == 0:
        j = k // 2
        value = 0.5 * (own[SLIP0, j] * own[SLIP0, j] + own[SLIP1, j] * own[SLIP1, j])
        grown = 0.5 * own[SIZE, j] * own[SIZE, j]
    for j in range((k - 1) // 2, 0, -1):
        value += own[SLIP0, j] * own[SLIP0, k - j] + own[SLIP1, j] * own[SLIP1, k - j]
        grown += own[SIZE, j] * own[SIZE, k - j]
    return inverse * (value - grown + (own[SLIP0, 0] * t0 + own[SLIP1, 0] * t1))


@kernel
def slip(work: SpaceWork, m: int, i: int, k: int, clock: int) -> None:
    """Power k of the slip of contact i, of its size and of its direction, from the impulses."""
    # reads role, series; writes series; hands on work
    own = work.series[i]
    t0, t1 = slip_by(work, m, i, PUSH0, k)
    inverse = 1.0 / own[SIZE, 0]
    own[SLIP0, k], own[SLIP1, k] = t0, t1
    own[SIZE, k] = slip_size(own, k, t0, t1, inverse)
    if not (i == clock and work.role[i] == DRIVEN):  # of which nothing but t is asked
        for j in range(1, k + 1):
            t0 -= own[SIZE, j] * own[UNIT0, k - j]
            t1 -= own[SIZE, j] * own[UNIT1, k - j]
    own[UNIT0, k], own[UNIT1, k] = inverse * t0, inverse * t1


@kernel
def extend(work: SpaceWork, nc: int, m: int, books: Books, k: int, clock: int) -> None:
    """Power k + 1 of impulses, slips and work from power k of the rates."""
    # reads moves, pushing, role, series, weight; writes series; hands on work
    share = 1.0 / (k + 1)
    work.series[nc, PATH, 0] = 0.0
    work.series[nc, PATH, k + 1] = share * pace(work, clock, k)
    for a in range(m):
        own = work.series[work.pushing[a]]
        own[PUSH0, k + 1] = share * own[RATE0, k]
        own[PUSH1, k + 1] = share * own[RATE1, k]
        own[PUSH2, k + 1] = share * own[RATE2, k]
    for a in range(m):
        i = work.pushing[a]
        own = work.series[i]
        if work.moves[i] == SLIDE:
            if own[SIZE, 0] > 0.0:
                slip(work, m, i, k + 1, clock)
            else:
                own[SIZE, k + 1] = share * own[ALONG, k]
        if books is not None:
            if work.role[i] == DRIVEN:
                own[NORMAL, k + 1] = share * rate_of(work, m, k, 3 * i)
                own[WORKED, k + 1] = work.weight[i] * by_clock(work, clock, own[NORMAL], k)
            else:
                own[WORKED, k + 1] = 0.0


@kernel
def by_time(work: SpaceWork, m: int, clock: int) -> None:
    """Slips where the step begins, and its first rates by its own time."""
    # reads moves, now, pushing, series; writes series
    for a in range(m):
        i = work.pushing[a]
        own = work.series[i]
        if work.moves[i] == SLIDE and own[SIZE, 0] > 0.0:
            own[SLIP0, 0], own[SLIP1, 0] = work.now[3 * i + 1], work.now[3 * i + 2]
        if clock >= 0:
            for channel in range(RATE0, RATE2 + 1):
                own[channel, 0] *= work.series[clock, SIZE, 0]


@kernel
def by_length(work: SpaceWork, m: int, clock: int, degree: int) -> None:
    """Rates by the length of the path again: the first, and all of contacts that are held or stick."""
    # reads moves, pushing, role, series, weight; writes series
    size = work.series[clock, SIZE]
    inverse = 1.0 / size[0]
    for a in range(m):
        i = work.pushing[a]
        own, powers = work.series[i], 1
        if work.role[i] == HELD or work.moves[i] == ZERO:
            powers = degree
        for k in range(powers):
            x, y, z = own[RATE0, k], own[RATE1, k], own[RATE2, k]
            for j in range(1, k + 1):
                x -= size[j] * own[RATE0, k - j]
                y -= size[j] * own[RATE1, k - j]
                z -= size[j] * own[RATE2, k - j]
            x = inverse * x
            if work.role[i] == DRIVEN:
                x = work.weight[i] if k == 0 else 0.0
            own[RATE0, k], own[RATE1, k], own[RATE2, k] = x, inverse * y, inverse * z


@kernel
def first_power(work: SpaceWork, m: int) -> tuple[int, float]:
    """Rates and slip rates where the step begins; how many of them are unknown, and their least pivot."""
    # hands on work
    size, least = list_unknown(work, m), 1.0
    known_rates(work, m, FIRST, NO_CLOCK)
    if size > 0:
        fill_matrix(work, size, size, FIRST)
        least = invert_equations(work, size)
        solve_power(work, m, FIRST, size, size)
    slip_rates(work, m, FIRST)
    return size, least


@kernel
def fill_series(
    work: SpaceWork, nc: int, m: int, books: Books, size: int, begins: bool, clock: int, reach: float,
    allowed: float,
) -> tuple[int, float]:  # fmt: skip
    """Powers after `first_power`, as many as are needed up to ``reach``: how many, and the size of the last.

    Infinite: all of them, and it is not known.
    """
    # hands on work
    by_time(work, m, clock)
    extend(work, nc, m, books, FIRST, clock)
    turns, power, degree, last = size, reach, ORDER, math.inf
    if begins:
        size = list_turns(work, m, size)
    for k in range(1, ORDER):
        known_rates(work, m, k, clock)
        if begins:
            fill_matrix(work, size, turns, k)
            invert_equations(work, size)
        if size > 0:
            solve_power(work, m, k, size, turns)
        if begins:
            slip_rates(work, m, k)
        extend(work, nc, m, books, k, clock)
        last = enough(work, m, books, k + 1, power, reach, allowed)
        if last < math.inf:
            degree = k + 1
            break
        power *= reach
    if clock >= 0:
        by_length(work, m, clock, degree)
    return degree, last


# how many powers are needed, and how exact they are


@kernel
def distance_ahead(work: SpaceWork, nc: int, m: int) -> float:
    """Length of the path to the next zero of a normal velocity, or to the cut, by the step's first rates."""
    # reads course, now, role; hands on work
    least = work.course[CUT]
    for i in range(nc):
        y = work.now[3 * i]
        if y != 0.0 and work.role[i] != HELD:
            rate = rate_of(work, m, FIRST, 3 * i)
            if y * rate < 0.0:
                least = min(least, -y / rate)
    return least


@kernel
def event_ahead(work: SpaceWork, nc: int, m: int, clock: int) -> float:
    """How far in the step's own measure the next event may be: how far its powers must be good."""
    # reads series; hands on work
    length = max(FARTHER * distance_ahead(work, nc, m), NEAREST)
    if clock < 0 or not length < math.inf:
        return length
    slip, along = work.series[clock, SIZE, 0], work.series[clock, ALONG, 0]
    grown = length * along / slip  # a slip grows exponentially in its own time
    if grown <= -1.0:
        return math.inf
    return length / slip if abs(grown) < 1e-3 else math.log1p(grown) / along


@kernel
def size_of_power(work: SpaceWork, m: int, books: Books, k: int) -> float:
    """Power k of the impulses, contact by contact by what it changes the velocity by, a share of the speed
    before, and the largest of the work: its error if it is the last.

    What all of it changes together is less where a contact that sticks makes up for others, whose friction is
    off nevertheless.
    """
    # reads pushing, series; hands on work
    worst, total = 0.0, 0.0
    for a in range(m):
        i = work.pushing[a]
        n, f0, f1 = work.series[i, PUSH0, k], work.series[i, PUSH1, k], work.series[i, PUSH2, k]
        if books is not None:
            worst = max(worst, abs(work.series[i, WORKED, k]))
        square = n * coupling(work, 3 * i, 3 * i, n, f0, f1)
        square += f0 * coupling(work, 3 * i + 1, 3 * i, n, f0, f1)
        square += f1 * coupling(work, 3 * i + 2, 3 * i, n, f0, f1)
        total += math.sqrt(max(square, 0.0)) if square == square else math.inf
    return total + worst


@kernel
def enough(
    work: SpaceWork, m: int, books: Books, k: int, power: float, reach: float, allowed: float
) -> float:
    """The size of power k where k powers, fewer than all, are as exact up to ``reach`` as the error allows.

    Else infinite. ``power`` is that of reach to k - 1.
    """
    # hands on work
    if k < ENOUGH or k % 2 == 1 or k == ORDER or not power * reach < math.inf:
        return math.inf
    last = 0.0
    for back in range(1, -1, -1):  # one place of call: the GPU's compiler copies what is called
        last = size_of_power(work, m, books, k - back)
        if not last * power * (reach if back == 0 else 1.0) <= allowed:
            return math.inf
    return last


@kernel
def step_length(work: SpaceWork, m: int, books: Books, degree: int, last: float, allowed: float) -> float:
    """How far the powers up to ``degree``, whose size is ``last``, are as exact as the error allows."""
    # hands on work
    second = size_of_power(work, m, books, degree - 1)
    longest = math.log(allowed / max(last, 1e-200)) / degree
    return math.exp(min(longest, math.log(allowed / max(second, 1e-200)) / (degree - 1)))
