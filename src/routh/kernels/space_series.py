"""Power series of the true cone's curved paths: one step of high order, with every event a root of it.

While contacts slide with directions ``u = t / |t|`` of slip, ``c' = G r`` with friction rates
``f = -mu n u``: normal rates n of driven contacts are given, those of held contacts (``y' = 0``) and friction
of sticking ones (``t' = 0``) follow from linear equations. Every quantity is a power series in the step; each
power follows from the lower ones, and the equations have one matrix for all powers.

Steps are taken in the length s of the path, or, where a slip is small, in its own time ``ds = |t| dtau`` (the
*clock*): there slip decays or grows exponentially and turns without a singularity. A contact that begins to
slip, ``t = s T(s)``, turns by an unknown amount in each power, which is one more equation.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space_equations import FIRST, fill_matrix, invert, list_turns, list_unknown, unknown_value
from routh.kernels.space_names import (
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
    NORMAL_RATE,
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
    Books,
    C,
    SpaceWork,
)
from routh.kernels.space_powers import are_enough, rate_of
from routh.validation import Array

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
def known_rates(work: SpaceWork, m: int, k: int) -> None:
    """Power k of the rates as far as lower powers say; what is unknown stays out."""
    values, marks, series = work.values, work.marks, work.series
    for a in range(m):
        i = marks[LIST, a]
        first = CHANNELS * i
        normal, f0, f1 = 0.0, 0.0, 0.0
        if marks[ROLE, i] == DRIVEN and k == 0:
            normal = values[WEIGHT, i]
        if marks[MOVES, i] == SLIDE:
            u, w = first + UNIT0, first + UNIT1
            if k > 0 and series[first + SIZE, 0] == 0.0:  # u has unit length
                along = 0.0
                for j in range(1, k):
                    along -= 0.5 * (series[u, j] * series[u, k - j] + series[w, j] * series[w, k - j])
                series[u, k], series[w, k] = along * series[u, 0], along * series[w, 0]
            if marks[ROLE, i] == DRIVEN:
                f0, f1 = values[WEIGHT, i] * series[u, k], values[WEIGHT, i] * series[w, k]
            else:
                for j in range(k):
                    f0 += series[first + RATE0, j] * series[u, k - j]
                    f1 += series[first + RATE0, j] * series[w, k - j]
        mu = values[MU, i]
        series[first + RATE0, k], series[first + RATE1, k], series[first + RATE2, k] = (
            normal,
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
    """Power k of the slip rates and of their parts along the slip."""
    marks, series = work.marks, work.series
    for a in range(m):
        i = marks[LIST, a]
        if marks[MOVES, i] == SLIDE:
            first = CHANNELS * i
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


@kernel
def push_by_clock(series: Array, clock: int, first: int, k: int, slides: bool) -> None:
    """`by_clock` for the friction and the slip of the contact whose rows begin at ``first``, in one pass.

    ``clock`` is the row with the slip of the clock.
    """
    p1, p2, grown, share = 0.0, 0.0, 0.0, 1.0 / (k + 1)
    if slides:
        for j in range(k + 1):
            slip = series[clock, j]
            p1 += slip * series[first + RATE1, k - j]
            p2 += slip * series[first + RATE2, k - j]
            grown += slip * series[first + ALONG, k - j]
        series[first + SIZE, k + 1] = share * grown
    else:
        for j in range(k + 1):
            slip = series[clock, j]
            p1 += slip * series[first + RATE1, k - j]
            p2 += slip * series[first + RATE2, k - j]
    series[first + PUSH1, k + 1], series[first + PUSH2, k + 1] = share * p1, share * p2


@kernel
def extend(work: SpaceWork, nc: int, m: int, books: Books, k: int, clock: int) -> None:
    """Power k + 1 of impulses, slips and work from power k of the rates."""
    values, marks, series = work.values, work.marks, work.series
    path = CHANNELS * nc
    series[path, 0] = 0.0
    series[path, k + 1] = 1.0 if k == 0 else 0.0
    if clock >= 0:
        series[path, k + 1] = series[CHANNELS * clock + SIZE, k] / (k + 1)
    for a in range(m):
        i = marks[LIST, a]
        first = CHANNELS * i
        if clock < 0:
            for part in range(3):
                series[first + PUSH0 + part, k + 1] = series[first + RATE0 + part, k] / (k + 1)
            if marks[MOVES, i] == SLIDE:
                series[first + SIZE, k + 1] = series[first + ALONG, k] / (k + 1)
        else:
            push_by_clock(series, CHANNELS * clock + SIZE, first, k, marks[MOVES, i] == SLIDE)
            if marks[ROLE, i] == HELD:
                series[first + PUSH0, k + 1] = by_clock(series, clock, first + RATE0, k)
        if marks[ROLE, i] == DRIVEN:
            series[first + PUSH0, k + 1] = values[WEIGHT, i] * series[path, k + 1]
        if marks[MOVES, i] == SLIDE and series[first + SIZE, 0] > 0.0:
            turn(series, clock, i, k)
        if books is not None:
            if marks[ROLE, i] == DRIVEN:
                series[first + NORMAL_RATE, k] = rate_of(work, m, k, 3 * i)
                series[first + NORMAL, k + 1] = by_clock(series, clock, first + NORMAL_RATE, k)
                worked = by_clock(series, clock, first + NORMAL, k)
                series[first + WORKED, k + 1] = values[WEIGHT, i] * worked
            else:
                series[first + WORKED, k + 1] = 0.0


@kernel
def turn(series: Array, clock: int, i: int, k: int) -> None:
    """Power k + 1 of the direction in which contact i slips."""
    first = CHANNELS * i
    u, w, size, along = first + UNIT0, first + UNIT1, first + SIZE, first + ALONG
    if i == clock:  # u' = t' - u (u t') in the slip's own time
        f0, f1 = series[first + TURN0, k], series[first + TURN1, k]
        for j in range(k + 1):
            f0 -= series[u, j] * series[along, k - j]
            f1 -= series[w, j] * series[along, k - j]
        series[u, k + 1], series[w, k + 1] = f0 / (k + 1), f1 / (k + 1)
        return
    f0, f1 = by_clock(series, clock, first + TURN0, k), by_clock(series, clock, first + TURN1, k)
    for j in range(1, k + 2):  # u |t| = t
        f0 -= series[size, j] * series[u, k + 1 - j]
        f1 -= series[size, j] * series[w, k + 1 - j]
    series[u, k + 1], series[w, k + 1] = f0 / series[size, 0], f1 / series[size, 0]


@kernel
def first_power(work: SpaceWork, nc: int, m: int) -> int:
    """Rates and slip rates where the step begins; how many of them are unknown."""
    size = list_unknown(work, m)
    known_rates(work, m, FIRST)
    if size > 0:
        fill_matrix(work, nc, size, size, FIRST)
        invert(work, nc, size)
        solve_power(work, m, FIRST, size, size)
    slip_rates(work, m, FIRST)
    return size


@kernel
def fill_series(
    work: SpaceWork, nc: int, m: int, books: Books, size: int, begins: bool, clock: int, reach: float,
    allowed: float,
) -> int:  # fmt: skip
    """Powers after `first_power`, as many as are needed up to ``reach``, or all; how many."""
    extend(work, nc, m, books, FIRST, clock)
    turns = size
    if begins:
        size = list_turns(work, m, size)
    power = reach
    for k in range(1, ORDER):
        known_rates(work, m, k)
        if begins:
            fill_matrix(work, nc, size, turns, k)
            invert(work, nc, size)
        if size > 0:
            solve_power(work, m, k, size, turns)
        slip_rates(work, m, k)
        extend(work, nc, m, books, k, clock)
        if are_enough(work, m, books, k + 1, power, reach, allowed):
            return k + 1
        power *= reach
    return ORDER
