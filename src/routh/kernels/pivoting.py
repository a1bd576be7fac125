"""Lemke's method on the impact step HP23 (75) without beta and gamma: bounded-variable pivoting.

Lemke's path is the set of solutions of the step with ``lambda_max + t``, friction bounds ``mu lambda_n + t``
and velocities ``+ t``, followed from large t down to t = 0 (it may turn on the way). On it at most two
neighbouring friction directions of a contact push at a time, so nc contacts need a dictionary of size 2 nc
(plane) or 3 nc (space) instead of (3 + k) nc, and yet the path ends in the very solution that Lemke's method
with the all-ones covering vector and lexicographic ties finds, unique or not.
"""

from __future__ import annotations

from typing import Any

from routh.compiling import kernel
from routh.kernels.dictionary import (
    BETA,
    FREE,
    GAMMA,
    LD,
    LN,
    NORMAL,
    OPEN,
    SB,
    SD,
    SG,
    SLIDING,
    SN,
    A,
    B,
    T,
    along,
    exchange,
    wide,
)
from routh.kernels.slots import fill_slots
from routh.kernels.walking import TIE, read_impulses

# How the pivoting ended; SOLVED only says that t reached zero, the residual decides.
SOLVED, RAY, PIVOT_LIMIT, LOST = 0, 4, 5, 6  # the numbers of routh.status.Status
PIVOTS_PER_ROW = 20
SMALL_RATE = 1e-11  # of the largest rate: smaller ones are rounding (routh.tolerances.PIVOT)


@kernel
def collect_ties(count: int, size: float, step: float, found: Any, which: Any) -> int:
    """Move the candidates that vanish with the smallest ratio to the front; t alone where it is one."""
    ties = 0
    for q in range(count):
        if found[q, 0] + step * found[q, 1] <= TIE * (size + found[q, 0]):
            found[ties, 1] = found[q, 1]
            for j in range(3):
                which[ties, j] = which[q, j]
            ties += 1
            if which[ties - 1, 0] == T:
                return 1
    return ties


@kernel
def _note(count: int, kind: int, i: int, j: int, value: float, fall: float, found: Any, which: Any) -> int:
    found[count, 0] = max(value, 0.0)
    found[count, 1] = fall
    which[count, 0] = kind
    which[count, 1] = i
    which[count, 2] = j
    return count + 1


@kernel
def candidates(
    shape: Any, dirs: Any, mu: Any, cover: Any, bound: Any, state: Any, entering: int, at: int, towards: int,
    x: Any, dx: Any, found: Any, which: Any,
) -> tuple[int, float, float]:  # fmt: skip
    """Quantities that fall along dx: ``found`` (value, rate), ``which`` (kind, contact, direction).

    Returns their number, the size that rounding is measured by, and the smallest ratio. t comes first.
    """
    nc, nt = shape
    width = 1 + nt
    n, k = nc * width, dirs.shape[0]
    largest, size = 0.0, 0.0
    for row in range(2 * n + 1):
        largest = max(largest, abs(dx[row]))
        size = max(size, abs(x[row]))
    least = -SMALL_RATE * largest
    t, dt = x[2 * n], dx[2 * n]
    count, none = wide(0), wide(0)
    if dt < 0.0:
        count = _note(count, T, none, none, t, dt, found, which)
    for i in range(nc):
        own, slip = i * width, n + i * width
        here = i == at
        if state[i, NORMAL] == FREE:
            if dx[own] < least and not (here and entering == LN):
                count = _note(count, LN, i, none, x[own], dx[own], found, which)
            fall = cover[i, 1] * dt - dx[own]
            if fall < least and not (here and entering == SB):
                count = _note(count, SB, i, none, bound[i] + cover[i, 1] * t - x[own], fall, found, which)
        else:
            sign = 1.0 if state[i, NORMAL] == OPEN else -1.0
            kind = SN if state[i, NORMAL] == OPEN else BETA
            fall = sign * (dx[slip] + cover[i, 0] * dt)
            if fall < least and not (here and entering == kind):
                count = _note(count, kind, i, none, sign * (x[slip] + cover[i, 0] * t), fall, found, which)
        a, b = wide(state[i, A]), wide(state[i, B])
        base, base_fall = cover[i, 0] * t, cover[i, 0] * dt
        if state[i, SLIDING]:
            base = -along(nt, slip, dirs, a, x)
            base_fall = -along(nt, slip, dirs, a, dx)
            fall = base_fall - cover[i, 0] * dt
            if fall < least and not (here and entering == GAMMA):
                count = _note(count, GAMMA, i, none, base - cover[i, 0] * t, fall, found, which)
        elif a >= 0:
            fall = mu[i] * dx[own] + cover[i, 1] * dt - dx[own + 1]
            value = mu[i] * x[own] + cover[i, 1] * t - x[own + 1]
            if nt == 2:
                fall -= dx[own + 2]
                value -= x[own + 2]
            if fall < least and not (here and entering == SG):
                count = _note(count, SG, i, none, value, fall, found, which)
        pushes = a >= 0 and (b >= 0 or not state[i, SLIDING])
        if pushes and dx[own + 1] < least and not (here and entering == LD and towards == a):
            count = _note(count, LD, i, a, x[own + 1], dx[own + 1], found, which)
        if b >= 0:  # no third direction of unit length can have the same slip
            if dx[own + 2] < least and not (here and entering == LD and towards == b):
                count = _note(count, LD, i, b, x[own + 2], dx[own + 2], found, which)
            continue
        if nt == 1 and a >= 0 and not state[i, SLIDING]:  # the other slip is 2 t: t itself is there first
            continue
        for j in range(k):
            if j != a:
                fall = base_fall + along(nt, slip, dirs, j, dx)
                if fall < least and not (here and entering == SD and towards == j):
                    count = _note(count, SD, i, j, base + along(nt, slip, dirs, j, x), fall, found, which)
    step = 1e300
    for q in range(count):
        step = min(step, found[q, 0] / -found[q, 1])
    return count, size, step


@kernel
def refine(shape: Any, data: Any, c: Any, bound: Any, made: int, p: Any, work: Any) -> None:
    """One step of iterative refinement at t = 0: the dictionary maps what should be zero to corrections.

    ``made`` is the row of D whose quantity entered last; there t becomes zero.
    """
    G, dirs, mu, _ = data
    state, columns, _, _, D, x, g, _, w = work
    nc, nt = shape
    n = nc * (1 + nt)
    if made < 0 or not exchange(shape, data, state, T, wide(0), wide(0), made, D, g):
        return
    x[2 * n] = 0.0
    for _ in range(2):
        for i in range(nc):  # impulses as they are read, then the velocities that they bring
            own = i * (1 + nt)
            if state[i, NORMAL] != FREE:
                x[own] = p[own]
            if state[i, SLIDING]:
                x[own + 1] = mu[i] * p[own] - (x[own + 2] if nt == 2 and state[i, B] >= 0 else 0.0)
        for row in range(n):
            value = c[row]
            for j in range(n):
                value += G[row, j] * p[j]
            x[n + row] = value
        for row in range(2 * n + 1):
            g[row] = 0.0
        for i in range(nc):
            slip = n + i * (1 + nt)
            if state[i, NORMAL] == FREE:
                _correct(D, columns[i, 0], 2 * n + 1, x[slip], g)
            a, b = state[i, A], state[i, B]
            if a >= 0 and not state[i, SLIDING]:
                _correct(D, columns[i, 1], 2 * n + 1, along(nt, slip, dirs, a, x), g)
            if b >= 0:
                value = along(nt, slip, dirs, b, x)
                if state[i, SLIDING]:
                    value -= along(nt, slip, dirs, a, x)
                _correct(D, columns[i, 2], 2 * n + 1, value, g)
        for row in range(n):
            x[row] -= g[row]
        fill_slots(shape, data, state, x, 1.0, bound, w)
        read_impulses((nc, nt, dirs.shape[0]), dirs, mu, bound, state, w, p)


@kernel
def _correct(D: Any, c: int, length: int, value: float, g: Any) -> None:
    for row in range(length):
        g[row] += value * D[c, row]
