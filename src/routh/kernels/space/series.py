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

from routh.compiling import inlined, kernel
from routh.kernels.space.equations import FIRST, fill_matrix, invert, list_turns, list_unknown, unknown_value
from routh.kernels.space.powers import are_enough, rate_of
from routh.kernels.space.workspace import (
    ALONG,
    CHANNELS,
    COL0,
    COL1,
    COL2,
    DRIVEN,
    GRAM,
    HELD,
    LIST,
    MOVES,
    MU,
    NORMAL,
    ORDER,
    PUSH0,
    PUSH1,
    PUSH2,
    RATE0,
    RATE1,
    RATE2,
    RIGHT,
    ROLE,
    ROW0,
    ROW1,
    ROW2,
    SIZE,
    SLIDE,
    SLIDE0,
    SLIDE1,
    TURN0,
    TURN1,
    UNIT0,
    UNIT1,
    WEIGHT,
    WHOSE,
    WORKED,
    ZERO,
    Books,
    C,
    SpaceWork,
    named,
)
from routh.validation import Array

(NO_CLOCK,) = named(1, -1)
CLOCKED = 1.0  # slip that vanishes or doubles within this length has its own time


@kernel
def begin_series(work: SpaceWork, m: int, books: Books) -> bool:
    """Power 0 of the slips and normal velocities, from C; whether a contact begins to slip."""
    values, marks, series = work.values, work.marks, work.series
    begins = False
    for a in range(m):
        i = marks[LIST, a]
        at, first = 3 * i, CHANNELS * i
        series[first + PUSH0, 0] = series[first + PUSH1, 0] = series[first + PUSH2, 0] = 0.0
        if marks[MOVES, i] == SLIDE:
            t0, t1 = values[C, at + 1], values[C, at + 2]
            length = math.sqrt(t0 * t0 + t1 * t1)
            series[first + SIZE, 0] = length
            if length > 0.0:
                series[first + UNIT0, 0], series[first + UNIT1, 0] = t0 / length, t1 / length
            else:
                series[first + UNIT0, 0], series[first + UNIT1, 0] = values[SLIDE0, i], values[SLIDE1, i]
                begins = True
        if books is not None:
            series[first + NORMAL, 0], series[first + WORKED, 0] = values[C, at], 0.0
    return begins


@kernel
def pace(series: Array, clock: int, k: int) -> float:
    """Power k of how fast the path is walked in the step's own measure."""
    if clock >= 0:
        return series[CHANNELS * clock + SIZE, k]
    return 1.0 if k == 0 else 0.0


@kernel
def known_rates(work: SpaceWork, m: int, k: int, clock: int) -> None:
    """Power k of the rates as far as lower powers say; what is unknown stays out."""
    values, marks, series = work.values, work.marks, work.series
    now = pace(series, clock, k)
    for a in range(m):
        i = marks[LIST, a]
        first = CHANNELS * i
        u, w = first + UNIT0, first + UNIT1
        weight = values[WEIGHT, i] if marks[ROLE, i] == DRIVEN else 0.0
        f0, f1 = 0.0, 0.0
        if marks[MOVES, i] == SLIDE:
            if k > 0 and series[first + SIZE, 0] == 0.0:  # u has unit length
                along = 0.0
                for j in range(1, k):
                    along -= 0.5 * (series[u, j] * series[u, k - j] + series[w, j] * series[w, k - j])
                series[u, k], series[w, k] = along * series[u, 0], along * series[w, 0]
            if marks[ROLE, i] == HELD:
                for j in range(k):
                    f0 += series[first + RATE0, j] * series[u, k - j]
                    f1 += series[first + RATE0, j] * series[w, k - j]
            elif i == clock:  # |t| u = t
                f0, f1 = weight * series[first + TURN0, k], weight * series[first + TURN1, k]
            elif clock >= 0:
                clocked = CHANNELS * clock + SIZE
                for j in range(k + 1):
                    f0 += series[clocked, j] * series[u, k - j]
                    f1 += series[clocked, j] * series[w, k - j]
                f0, f1 = weight * f0, weight * f1
            else:
                f0, f1 = weight * series[u, k], weight * series[w, k]
        mu = values[MU, i]
        series[first + RATE0, k], series[first + RATE1, k], series[first + RATE2, k] = (
            weight * now,
            -mu * f0,
            -mu * f1,
        )


@kernel
def solve_power(work: SpaceWork, m: int, k: int, size: int, turns: int) -> None:
    """Add the unknowns of power k to the rates, after `invert`."""
    values, marks, series = work.values, work.marks, work.series
    for e in range(size):
        i = marks[WHOSE, e]
        first, value = CHANNELS * i, 0.0
        for part in range(3):
            if values[ROW0 + part, e] != 0.0:
                value -= values[ROW0 + part, e] * rate_of(work, m, k, 3 * i + part)
        if e >= turns:
            for j in range(1, k):
                turned = values[ROW1, e] * series[first + UNIT0, k - j]
                turned += values[ROW2, e] * series[first + UNIT1, k - j]
                value += (k + 1) * series[first + SIZE, j + 1] * turned
        values[RIGHT, e] = value
    for e in range(size):
        z, first = unknown_value(work, size, e), CHANNELS * marks[WHOSE, e]
        series[first + RATE0, k] += z * values[COL0, e]
        series[first + RATE1, k] += z * values[COL1, e]
        series[first + RATE2, k] += z * values[COL2, e]
        if e >= turns:
            series[first + UNIT0, k] += z * values[ROW1, e]
            series[first + UNIT1, k] += z * values[ROW2, e]


@kernel
def write_slip_rate(work: SpaceWork, m: int, k: int, i: int) -> None:
    """Power k of the slip rate of contact i: `rate_of` for both coordinates."""
    values, series, g, h = work.values, work.series, GRAM + 3 * i + 1, GRAM + 3 * i + 2
    t0, t1 = 0.0, 0.0
    for a in range(m):
        j = work.marks[LIST, a]
        at, first = 3 * j, CHANNELS * j
        r0, r1, r2 = series[first + RATE0, k], series[first + RATE1, k], series[first + RATE2, k]
        t0 += values[g, at] * r0 + values[g, at + 1] * r1 + values[g, at + 2] * r2
        t1 += values[h, at] * r0 + values[h, at + 1] * r1 + values[h, at + 2] * r2
    series[CHANNELS * i + TURN0, k], series[CHANNELS * i + TURN1, k] = t0, t1


@kernel
def slip_rates(work: SpaceWork, m: int, k: int) -> None:
    """Power k of the slip rates and of their parts along the slip, after the first of beginning slips."""
    marks, series = work.marks, work.series
    for a in range(m):
        i = marks[LIST, a]
        first = CHANNELS * i
        if marks[MOVES, i] == SLIDE and (k == 0 or series[first + SIZE, 0] == 0.0):
            write_slip_rate(work, m, k, i)
            along0, along1 = 0.0, 0.0
            for j in range(k + 1):
                along0 += series[first + UNIT0, j] * series[first + TURN0, k - j]
                along1 += series[first + UNIT1, j] * series[first + TURN1, k - j]
            series[first + ALONG, k] = along0 + along1


@kernel
def find_clock(work: SpaceWork, m: int, begins: bool) -> int:
    """The contact whose slip changes most quickly, if that is quick, and none begins to slip; else -1."""
    clock, least = -1, CLOCKED * CLOCKED
    for a in range(m):
        i = work.marks[LIST, a]
        if work.marks[MOVES, i] == SLIDE and not begins:
            first = CHANNELS * i
            rate = work.series[first + TURN0, 0] ** 2 + work.series[first + TURN1, 0] ** 2
            if work.series[first + SIZE, 0] ** 2 < least * rate:
                clock, least = i, work.series[first + SIZE, 0] ** 2 / rate
    return clock


@kernel
def by_clock(series: Array, clock: int, row: int, k: int) -> float:
    """Power k + 1 of what changes at the rate in a row, per length."""
    if clock < 0:
        return series[row, k] / (k + 1)
    value = 0.0
    for j in range(k + 1):
        value += series[CHANNELS * clock + SIZE, j] * series[row, k - j]
    return value / (k + 1)


@inlined
def slip_size(series: Array, first: int, k: int, t0: float, t1: float, inverse: float) -> float:
    """Power k of ``|t|`` from its lower ones, those of t, and power k of t: half of the sums ``|t|^2 = t t``.

    ``inverse`` is that of power 0. What comes last is added last: each power waits for the one before.
    """
    t, r, size = first + TURN0, first + TURN1, first + SIZE
    value, grown = 0.0, 0.0
    if k % 2 == 0:
        j = k // 2
        value = 0.5 * (series[t, j] * series[t, j] + series[r, j] * series[r, j])
        grown = 0.5 * series[size, j] * series[size, j]
    for j in range((k - 1) // 2, 0, -1):
        value += series[t, j] * series[t, k - j] + series[r, j] * series[r, k - j]
        grown += series[size, j] * series[size, k - j]
    return inverse * (value - grown + (series[t, 0] * t0 + series[r, 0] * t1))


@kernel
def slip(work: SpaceWork, m: int, i: int, k: int, clock: int) -> None:
    """Power k of the slip of contact i, of its size and of its direction, from the impulses."""
    values, series, g, h = work.values, work.series, GRAM + 3 * i + 1, GRAM + 3 * i + 2
    t0, t1 = 0.0, 0.0
    for a in range(m):
        at = 3 * work.marks[LIST, a]
        other = CHANNELS * work.marks[LIST, a]
        n, p0, p1 = series[other + PUSH0, k], series[other + PUSH1, k], series[other + PUSH2, k]
        t0 += values[g, at] * n + values[g, at + 1] * p0 + values[g, at + 2] * p1
        t1 += values[h, at] * n + values[h, at + 1] * p0 + values[h, at + 2] * p1
    first = CHANNELS * i
    u, w, size, inverse = first + UNIT0, first + UNIT1, first + SIZE, 1.0 / series[first + SIZE, 0]
    series[first + TURN0, k], series[first + TURN1, k] = t0, t1
    series[size, k] = slip_size(series, first, k, t0, t1, inverse)
    if not (i == clock and work.marks[ROLE, i] == DRIVEN):  # of which nothing but t is asked
        for j in range(1, k + 1):
            t0 -= series[size, j] * series[u, k - j]
            t1 -= series[size, j] * series[w, k - j]
    series[u, k], series[w, k] = inverse * t0, inverse * t1


@kernel
def extend(work: SpaceWork, nc: int, m: int, books: Books, k: int, clock: int) -> None:
    """Power k + 1 of impulses, slips and work from power k of the rates."""
    values, marks, series = work.values, work.marks, work.series
    path, share = CHANNELS * nc, 1.0 / (k + 1)
    series[path, 0] = 0.0
    series[path, k + 1] = share * pace(series, clock, k)
    for a in range(m):
        first = CHANNELS * marks[LIST, a]
        series[first + PUSH0, k + 1] = share * series[first + RATE0, k]
        series[first + PUSH1, k + 1] = share * series[first + RATE1, k]
        series[first + PUSH2, k + 1] = share * series[first + RATE2, k]
    for a in range(m):
        i = marks[LIST, a]
        first = CHANNELS * i
        if marks[MOVES, i] == SLIDE:
            if series[first + SIZE, 0] > 0.0:
                slip(work, m, i, k + 1, clock)
            else:
                series[first + SIZE, k + 1] = share * series[first + ALONG, k]
        if books is not None:
            if marks[ROLE, i] == DRIVEN:
                series[first + NORMAL, k + 1] = share * rate_of(work, m, k, 3 * i)
                worked = by_clock(series, clock, first + NORMAL, k)
                series[first + WORKED, k + 1] = values[WEIGHT, i] * worked
            else:
                series[first + WORKED, k + 1] = 0.0


@kernel
def by_time(work: SpaceWork, m: int, clock: int) -> None:
    """Slips where the step begins, and its first rates by its own time."""
    values, marks, series = work.values, work.marks, work.series
    for a in range(m):
        i = marks[LIST, a]
        first = CHANNELS * i
        if marks[MOVES, i] == SLIDE and series[first + SIZE, 0] > 0.0:
            series[first + TURN0, 0], series[first + TURN1, 0] = values[C, 3 * i + 1], values[C, 3 * i + 2]
        if clock >= 0:
            for row in range(first + RATE0, first + RATE2 + 1):
                series[row, 0] *= series[CHANNELS * clock + SIZE, 0]


@kernel
def by_length(work: SpaceWork, m: int, clock: int, degree: int) -> None:
    """Rates by the length of the path again: the first, and all of contacts that are held or stick."""
    marks, series = work.marks, work.series
    size = CHANNELS * clock + SIZE
    inverse = 1.0 / series[size, 0]
    for a in range(m):
        i = marks[LIST, a]
        first, powers = CHANNELS * i, 1
        if marks[ROLE, i] == HELD or marks[MOVES, i] == ZERO:
            powers = degree
        for k in range(powers):
            x, y, z = series[first + RATE0, k], series[first + RATE1, k], series[first + RATE2, k]
            for j in range(1, k + 1):
                x -= series[size, j] * series[first + RATE0, k - j]
                y -= series[size, j] * series[first + RATE1, k - j]
                z -= series[size, j] * series[first + RATE2, k - j]
            x = inverse * x
            if marks[ROLE, i] == DRIVEN:
                x = work.values[WEIGHT, i] if k == 0 else 0.0
            series[first + RATE0, k], series[first + RATE1, k], series[first + RATE2, k] = (
                x,
                inverse * y,
                inverse * z,
            )


@kernel
def first_power(work: SpaceWork, nc: int, m: int) -> tuple[int, float]:
    """Rates and slip rates where the step begins; how many of them are unknown, and their least pivot."""
    size, least = list_unknown(work, m), 1.0
    known_rates(work, m, FIRST, NO_CLOCK)
    if size > 0:
        fill_matrix(work, nc, size, size, FIRST)
        least = invert(work, GRAM + 3 * nc, 3 * nc, size)
        solve_power(work, m, FIRST, size, size)
    slip_rates(work, m, FIRST)
    return size, least


@kernel
def fill_series(
    work: SpaceWork, nc: int, m: int, books: Books, size: int, begins: bool, clock: int, reach: float,
    allowed: float,
) -> int:  # fmt: skip
    """Powers after `first_power`, as many as are needed up to ``reach``, or all; how many."""
    by_time(work, m, clock)
    extend(work, nc, m, books, FIRST, clock)
    turns, power, degree = size, reach, ORDER
    if begins:
        size = list_turns(work, m, size)
    for k in range(1, ORDER):
        known_rates(work, m, k, clock)
        if begins:
            fill_matrix(work, nc, size, turns, k)
            invert(work, GRAM + 3 * nc, 3 * nc, size)
        if size > 0:
            solve_power(work, m, k, size, turns)
        if begins:
            slip_rates(work, m, k)
        extend(work, nc, m, books, k, clock)
        if are_enough(work, m, books, k + 1, power, reach, allowed):
            degree = k + 1
            break
        power *= reach
    if clock >= 0:
        by_length(work, m, clock, degree)
    return degree
