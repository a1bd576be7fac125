"""The power series of one driven contact that slides while no other does: most steps of most paths.

In the time of its own slip t (the *clock*) ``t' = c |t| + A t``: friction along t, times ``|t|``, is linear,
and so is what contacts that are held or stick answer. Only ``|t|^2 = t t`` is not.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space.advance import coupling
from routh.kernels.space.equations import unknown_value
from routh.kernels.space.series import by_clock, enough, slip_size
from routh.kernels.space.workspace import (
    DRIVEN,
    NO_FRICTION,
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
    Books,
    SpaceWork,
)

Motion = tuple[float, float, float, float, float, float]


@kernel
def is_only_slider(work: SpaceWork, m: int, i: int) -> bool:
    """Whether contact i is driven and slides, and no other that pushes does; -1: there is none."""
    if i < 0 or work.role[i] != DRIVEN:
        return False
    for a in range(m):
        j = work.pushing[a]
        if j != i and work.moves[j] == SLIDE:
            return False
    return True


@kernel
def coordinate(work: SpaceWork, e: int) -> int:
    """The part, 0 to 2, of its contact in which unknown e is a rate; friction is along slip for none."""
    return int(work.column1[e] + 2.0 * work.column2[e])


@kernel
def answers(work: SpaceWork, m: int, i: int, size: int) -> None:
    """What each unknown rate is by ``1, u0, u1``, u the direction in which i slips: behind the inverse."""
    push = -work.mu[i] * work.weight[i]
    for part in range(3):
        for e in range(size):
            g, value = 3 * work.whose[e] + coordinate(work, e), 0.0
            if part > 0:
                value = push * work.gram[g, 3 * i + part]
            else:
                for a in range(m):
                    j = work.pushing[a]
                    if work.role[j] == DRIVEN:
                        value += work.weight[j] * work.gram[g, 3 * j]
            work.right[e] = -value
        for e in range(size):
            work.inverse[e, size + part] = unknown_value(work, size, e)


@kernel
def motion(work: SpaceWork, m: int, i: int, size: int) -> Motion:
    """The slip rate of contact i by its direction u, ``c + A u``: c, then A row by row."""
    G, g, h, push = work.gram, 3 * i + 1, 3 * i + 2, -work.mu[i] * work.weight[i]
    c0, c1 = 0.0, 0.0
    for a in range(m):
        j = work.pushing[a]
        if work.role[j] == DRIVEN:
            c0 += work.weight[j] * G[g, 3 * j]
            c1 += work.weight[j] * G[h, 3 * j]
    a00, a01 = push * G[g, g], push * G[g, h]
    a10, a11 = push * G[h, g], push * G[h, h]
    for e in range(size):
        column, answer, k = 3 * work.whose[e] + coordinate(work, e), work.inverse[e], size
        x, y = G[g, column], G[h, column]
        c0, a00, a01 = c0 + x * answer[k], a00 + x * answer[k + 1], a01 + x * answer[k + 2]
        c1, a10, a11 = c1 + y * answer[k], a10 + y * answer[k + 1], a11 + y * answer[k + 2]
    return c0, c1, a00, a01, a10, a11


@kernel
def push_others(work: SpaceWork, m: int, i: int, size: int, k: int) -> None:
    """Power k + 1 of the impulses of the contacts beside i."""
    slip, share = work.series[i, SIZE, k], 1.0 / (k + 1)
    t0, t1 = work.series[i, SLIP0, k], work.series[i, SLIP1, k]
    for a in range(m):
        j = work.pushing[a]
        if j != i:
            work.series[j, PUSH0, k + 1] = share * work.weight[j] * slip
            if work.moves[j] == NO_FRICTION:
                work.series[j, PUSH1, k + 1] = work.series[j, PUSH2, k + 1] = 0.0
    for e in range(size):
        answer = work.inverse[e]
        value = answer[size] * slip + answer[size + 1] * t0 + answer[size + 2] * t1
        work.series[work.whose[e], PUSH0 + coordinate(work, e), k + 1] = share * value


@kernel
def rates_of_others(work: SpaceWork, m: int, i: int, size: int, degree: int) -> None:
    """Powers up to ``degree`` of the direction ``u = t / |t|``, and those of the rates that follow it."""
    own, inverse = work.series[i], 1.0 / work.series[i, SIZE, 0]
    for k in range(1, degree + 1):
        u0, u1 = own[SLIP0, k], own[SLIP1, k]
        for j in range(1, k + 1):
            u0 -= own[SIZE, j] * own[UNIT0, k - j]
            u1 -= own[SIZE, j] * own[UNIT1, k - j]
        u0, u1 = inverse * u0, inverse * u1
        own[UNIT0, k], own[UNIT1, k] = u0, u1
        for a in range(m):
            other = work.series[work.pushing[a]]
            if work.pushing[a] != i:
                other[RATE0, k] = other[RATE1, k] = other[RATE2, k] = 0.0
        for e in range(size):
            work.series[work.whose[e], RATE0 + coordinate(work, e), k] = (
                work.inverse[e, size + 1] * u0 + work.inverse[e, size + 2] * u1
            )


@kernel
def fill_single_series(
    work: SpaceWork, nc: int, m: int, i: int, size: int, books: Books, reach: float, allowed: float
) -> tuple[int, float]:
    """`fill_series` in the time of the slip of contact i, the only one that slides; with ``books``, pushes.

    SLIP holds the slip, and where nothing else pushes UNIT does too, as a share of its first size.
    """
    at, own, path = 3 * i, work.series[i], work.series[nc, PATH]
    inverse = 1.0 / own[SIZE, 0]
    weight, push = work.weight[i], -work.mu[i] * work.weight[i]
    if size > 0:
        answers(work, m, i, size)
    c0, c1, a00, a01, a10, a11 = motion(work, m, i, size)
    path[0], power, degree, last = 0.0, 1.0, ORDER, math.inf
    s, t0, t1 = own[SIZE, 0], work.now[at + 1], work.now[at + 2]
    own[SLIP0, 0], own[SLIP1, 0] = t0, t1
    for k in range(ORDER):
        share = 1.0 / (k + 1)
        path[k + 1] = share * s
        n, p0, p1 = share * weight * s, share * push * t0, share * push * t1
        own[PUSH0, k + 1], own[PUSH1, k + 1], own[PUSH2, k + 1] = n, p0, p1
        if m > 1:
            push_others(work, m, i, size, k)
        t0, t1 = share * (c0 * s + a00 * t0 + a01 * t1), share * (c1 * s + a10 * t0 + a11 * t1)
        own[SLIP0, k + 1], own[SLIP1, k + 1] = t0, t1
        own[UNIT0, k + 1], own[UNIT1, k + 1] = inverse * t0, inverse * t1
        s = slip_size(own, k + 1, t0, t1, inverse)
        own[SIZE, k + 1] = s
        if books is not None:
            own[NORMAL, k + 1] = coupling(work, at, at, n, p0, p1)
            own[WORKED, k + 1] = weight * by_clock(work, i, own[NORMAL], k)
        last = enough(work, m, books, k + 1, power, reach, allowed)
        if last < math.inf:
            degree = k + 1
            break
        power *= reach
    if size > 0:
        rates_of_others(work, m, i, size, degree)
    return degree, last
