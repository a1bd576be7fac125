"""The power series of one driven contact that slides while nothing else pushes: most steps of most paths.

In the time of its own slip t (the *clock*) ``t' = c |t| + A t``: friction along t, times ``|t|``, is linear.
Only ``|t|^2 = t t`` is not.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space.advance import coupling
from routh.kernels.space.series import by_clock, enough, slip_size
from routh.kernels.space.workspace import (
    NORMAL,
    ORDER,
    PATH,
    PUSH0,
    PUSH1,
    PUSH2,
    SIZE,
    SLIP0,
    SLIP1,
    UNIT0,
    UNIT1,
    WORKED,
    Books,
    SpaceWork,
)


@kernel
def fill_single_series(
    work: SpaceWork, nc: int, i: int, books: Books, reach: float, allowed: float
) -> tuple[int, float]:
    """`series.fill_series` in the time of the slip of contact i, the only one that pushes.

    SLIP holds the slip, and UNIT does too, as a share of its first size.
    """
    # reads gram, mu, now, series, weight; writes series; hands on work
    G, at, own, path = work.gram, 3 * i, work.series[i], work.series[nc, PATH]
    inverse = 1.0 / own[SIZE, 0]
    weight, push = work.weight[i], -work.mu[i] * work.weight[i]
    g, h = at + 1, at + 2
    c0, a00, a01 = weight * G[g, at], push * G[g, g], push * G[g, h]
    c1, a10, a11 = weight * G[h, at], push * G[h, g], push * G[h, h]
    path[0], power, degree, last = 0.0, 1.0, ORDER, math.inf
    s, t0, t1 = own[SIZE, 0], work.now[g], work.now[h]
    own[SLIP0, 0], own[SLIP1, 0] = t0, t1
    for k in range(ORDER):
        share = 1.0 / (k + 1)
        path[k + 1] = share * s
        n, p0, p1 = share * weight * s, share * push * t0, share * push * t1
        own[PUSH0, k + 1], own[PUSH1, k + 1], own[PUSH2, k + 1] = n, p0, p1
        t0, t1 = share * (c0 * s + a00 * t0 + a01 * t1), share * (c1 * s + a10 * t0 + a11 * t1)
        own[SLIP0, k + 1], own[SLIP1, k + 1] = t0, t1
        own[UNIT0, k + 1], own[UNIT1, k + 1] = inverse * t0, inverse * t1
        s = slip_size(own, k + 1, t0, t1, inverse)
        own[SIZE, k + 1] = s
        if books is not None:
            own[NORMAL, k + 1] = coupling(work, at, at, n, p0, p1)
            own[WORKED, k + 1] = weight * by_clock(work, i, own[NORMAL], k)
        last = enough(work, 1, books, k + 1, power, reach, allowed)
        if last < math.inf:
            degree = k + 1
            break
        power *= reach
    return degree, last
