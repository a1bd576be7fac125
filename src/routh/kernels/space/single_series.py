"""The power series of one driven contact that slides while no other does: most steps of most paths.

In the time of its own slip t (the *clock*) ``t' = c |t| + A t``: friction along t, times ``|t|``, is linear,
and so is what contacts that are held or stick answer. Only ``|t|^2 = t t`` is not.
"""

from __future__ import annotations

from routh.compiling import kernel
from routh.kernels.space.equations import unknown_value
from routh.kernels.space.powers import are_enough
from routh.kernels.space.series import by_clock, slip_size
from routh.kernels.space.workspace import (
    CHANNELS,
    COL1,
    COL2,
    DRIVEN,
    GRAM,
    LIST,
    MOVES,
    MU,
    NO_FRICTION,
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
    SIZE,
    SLIDE,
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

Motion = tuple[float, float, float, float, float, float]


@kernel
def slides_alone(work: SpaceWork, m: int, i: int) -> bool:
    """Whether contact i is driven and slides, and no other that pushes does; -1: there is none."""
    if i < 0 or work.marks[ROLE, i] != DRIVEN:
        return False
    for a in range(m):
        j = work.marks[LIST, a]
        if j != i and work.marks[MOVES, j] == SLIDE:
            return False
    return True


@kernel
def coordinate(work: SpaceWork, e: int) -> int:
    """The part, 0 to 2, of its contact in which unknown e is a rate; friction is along slip for none."""
    return int(work.values[COL1, e] + 2.0 * work.values[COL2, e])


@kernel
def answers(work: SpaceWork, nc: int, m: int, i: int, size: int) -> None:
    """What each unknown rate is by ``1, u0, u1``, u the direction in which i slips: behind the inverse."""
    values, marks, first, at = work.values, work.marks, GRAM + 6 * nc, 3 * i
    push = -values[MU, i] * values[WEIGHT, i]
    for part in range(3):
        for e in range(size):
            g, value = GRAM + 3 * marks[WHOSE, e] + coordinate(work, e), 0.0
            if part > 0:
                value = push * values[g, at + part]
            else:
                for a in range(m):
                    j = marks[LIST, a]
                    if marks[ROLE, j] == DRIVEN:
                        value += values[WEIGHT, j] * values[g, 3 * j]
            values[RIGHT, e] = -value
        for e in range(size):
            values[first + e, size + part] = unknown_value(work, size, e)


@kernel
def motion(work: SpaceWork, nc: int, m: int, i: int, size: int) -> Motion:
    """The slip rate of contact i by its direction u, ``c + A u``: c, then A row by row."""
    values, marks, first, at = work.values, work.marks, GRAM + 6 * nc, 3 * i
    g, h, push = GRAM + at + 1, GRAM + at + 2, -values[MU, i] * values[WEIGHT, i]
    c0, c1 = 0.0, 0.0
    for a in range(m):
        j = marks[LIST, a]
        if marks[ROLE, j] == DRIVEN:
            c0 += values[WEIGHT, j] * values[g, 3 * j]
            c1 += values[WEIGHT, j] * values[h, 3 * j]
    a00, a01 = push * values[g, at + 1], push * values[g, at + 2]
    a10, a11 = push * values[h, at + 1], push * values[h, at + 2]
    for e in range(size):
        column = 3 * marks[WHOSE, e] + coordinate(work, e)
        x, y, row, k = values[g, column], values[h, column], first + e, size
        c0, a00, a01 = c0 + x * values[row, k], a00 + x * values[row, k + 1], a01 + x * values[row, k + 2]
        c1, a10, a11 = c1 + y * values[row, k], a10 + y * values[row, k + 1], a11 + y * values[row, k + 2]
    return c0, c1, a00, a01, a10, a11


@kernel
def push_others(work: SpaceWork, nc: int, m: int, i: int, size: int, k: int) -> None:
    """Power k + 1 of the impulses of the contacts beside i."""
    values, marks, series = work.values, work.marks, work.series
    slip, share, first = series[CHANNELS * i + SIZE, k], 1.0 / (k + 1), GRAM + 6 * nc
    t0, t1 = series[CHANNELS * i + TURN0, k], series[CHANNELS * i + TURN1, k]
    for a in range(m):
        j = marks[LIST, a]
        if j != i:
            series[CHANNELS * j + PUSH0, k + 1] = share * values[WEIGHT, j] * slip
            if marks[MOVES, j] == NO_FRICTION:
                series[CHANNELS * j + PUSH1, k + 1] = series[CHANNELS * j + PUSH2, k + 1] = 0.0
    for e in range(size):
        row, column = first + e, size
        value = values[row, column] * slip + values[row, column + 1] * t0 + values[row, column + 2] * t1
        series[CHANNELS * marks[WHOSE, e] + PUSH0 + coordinate(work, e), k + 1] = share * value


@kernel
def rates_of_others(work: SpaceWork, nc: int, m: int, i: int, size: int, degree: int) -> None:
    """Powers up to ``degree`` of the direction ``u = t / |t|``, and those of the rates that follow it."""
    values, marks, series = work.values, work.marks, work.series
    own, first, inverse = CHANNELS * i, GRAM + 6 * nc, 1.0 / series[CHANNELS * i + SIZE, 0]
    for k in range(1, degree + 1):
        u0, u1 = series[own + TURN0, k], series[own + TURN1, k]
        for j in range(1, k + 1):
            u0 -= series[own + SIZE, j] * series[own + UNIT0, k - j]
            u1 -= series[own + SIZE, j] * series[own + UNIT1, k - j]
        u0, u1 = inverse * u0, inverse * u1
        series[own + UNIT0, k], series[own + UNIT1, k] = u0, u1
        for a in range(m):
            j = CHANNELS * marks[LIST, a]
            if j != own:
                series[j + RATE0, k] = series[j + RATE1, k] = series[j + RATE2, k] = 0.0
        for e in range(size):
            row, column = first + e, size
            series[CHANNELS * marks[WHOSE, e] + RATE0 + coordinate(work, e), k] = (
                values[row, column + 1] * u0 + values[row, column + 2] * u1
            )


@kernel
def alone_series(
    work: SpaceWork, nc: int, m: int, i: int, size: int, books: Books, reach: float, allowed: float
) -> int:
    """`fill_series` in the time of the slip of contact i, which alone slides; with ``books``, alone pushes.

    TURN holds the slip, and where nothing else pushes UNIT does too, as a share of its first size.
    """
    values, series = work.values, work.series
    at, first, path = 3 * i, CHANNELS * i, CHANNELS * nc
    t, r, slip = first + TURN0, first + TURN1, first + SIZE
    inverse = 1.0 / series[slip, 0]
    weight, push = values[WEIGHT, i], -values[MU, i] * values[WEIGHT, i]
    if size > 0:
        answers(work, nc, m, i, size)
    c0, c1, a00, a01, a10, a11 = motion(work, nc, m, i, size)
    series[path, 0], power, degree = 0.0, 1.0, ORDER
    s, t0, t1 = series[slip, 0], values[C, at + 1], values[C, at + 2]
    series[t, 0], series[r, 0] = t0, t1
    for k in range(ORDER):
        share = 1.0 / (k + 1)
        series[path, k + 1] = share * s
        n, p0, p1 = share * weight * s, share * push * t0, share * push * t1
        series[first + PUSH0, k + 1], series[first + PUSH1, k + 1], series[first + PUSH2, k + 1] = n, p0, p1
        if m > 1:
            push_others(work, nc, m, i, size, k)
        t0, t1 = share * (c0 * s + a00 * t0 + a01 * t1), share * (c1 * s + a10 * t0 + a11 * t1)
        series[t, k + 1], series[r, k + 1] = t0, t1
        series[first + UNIT0, k + 1], series[first + UNIT1, k + 1] = inverse * t0, inverse * t1
        s = slip_size(series, first, k + 1, t0, t1, inverse)
        series[slip, k + 1] = s
        if books is not None:
            series[first + NORMAL, k + 1] = (
                values[GRAM + at, at] * n + values[GRAM + at, at + 1] * p0 + values[GRAM + at, at + 2] * p1
            )
            series[first + WORKED, k + 1] = weight * by_clock(series, i, first + NORMAL, k)
        if are_enough(work, m, books, k + 1, power, reach, allowed):
            degree = k + 1
            break
        power *= reach
    if size > 0:
        rates_of_others(work, nc, m, i, size, degree)
    return degree
