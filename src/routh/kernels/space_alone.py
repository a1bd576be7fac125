"""The power series of one driven contact that slides while no other pushes: most steps of most paths."""

from __future__ import annotations

from routh.compiling import kernel
from routh.kernels.space_names import (
    ALONG,
    CHANNELS,
    GRAM,
    MU,
    NORMAL,
    ORDER,
    PUSH0,
    PUSH1,
    PUSH2,
    SIZE,
    UNIT0,
    UNIT1,
    WEIGHT,
    WORKED,
    Books,
    SpaceWork,
)
from routh.kernels.space_powers import are_enough
from routh.kernels.space_series import by_clock


@kernel
def alone_series(work: SpaceWork, nc: int, i: int, books: Books, reach: float, allowed: float) -> int:
    """`fill_series` of contact i in the time of its own slip, where there are no equations to solve.

    With slip ``t = |t| u`` and its rate ``t' = c + A u``: ``|t|' = |t| a`` and ``u' = t' - a u`` with
    ``a = u t'``, where ``u A u = A11 + u0 ((A00 - A11) u0 + 2 A01 u1)`` since u has unit length. Friction
    follows from ``|t| u = t``, which is linear in the impulses.
    """
    values, series = work.values, work.series
    at, first, path = 3 * i, CHANNELS * i, CHANNELS * nc
    u, w, size, along = first + UNIT0, first + UNIT1, first + SIZE, first + ALONG
    weight, push = values[WEIGHT, i], -values[MU, i] * values[WEIGHT, i]
    g, h = GRAM + at + 1, GRAM + at + 2
    a00, a01, a11 = push * values[g, at + 1], push * values[g, at + 2], push * values[h, at + 2]
    c0, c1 = weight * values[g, at], weight * values[h, at]
    t0, t1 = series[size, 0] * series[u, 0], series[size, 0] * series[w, 0]
    series[path, 0], power, constant = 0.0, 1.0, 1.0
    for k in range(ORDER):
        uk, wk = series[u, k], series[w, k]
        value = c0 * uk + c1 * wk + constant * a11
        f0 = constant * c0 + a00 * uk + a01 * wk
        f1 = constant * c1 + a01 * uk + a11 * wk
        constant = 0.0
        for j in range(k + 1):
            value += series[u, k - j] * ((a00 - a11) * series[u, j] + 2.0 * a01 * series[w, j])
        series[along, k] = value
        grown = 0.0
        for j in range(k + 1):
            value = series[along, k - j]
            grown += series[size, j] * value
            f0 -= series[u, j] * value
            f1 -= series[w, j] * value
        share = 1.0 / (k + 1)
        series[u, k + 1], series[w, k + 1] = share * f0, share * f1
        n, p0, p1 = share * weight * series[size, k], share * push * t0, share * push * t1
        series[path, k + 1] = share * series[size, k]
        series[size, k + 1] = share * grown
        series[first + PUSH0, k + 1], series[first + PUSH1, k + 1], series[first + PUSH2, k + 1] = n, p0, p1
        t0 = values[g, at] * n + values[g, at + 1] * p0 + values[g, at + 2] * p1
        t1 = values[h, at] * n + values[h, at + 1] * p0 + values[h, at + 2] * p1
        if books is not None:
            series[first + NORMAL, k + 1] = (
                values[GRAM + at, at] * n + values[GRAM + at, at + 1] * p0 + values[GRAM + at, at + 2] * p1
            )
            series[first + WORKED, k + 1] = weight * by_clock(series, i, first + NORMAL, k)
        if are_enough(work, 1, books, k + 1, power, reach, allowed):
            return k + 1
        power *= reach
    return ORDER
