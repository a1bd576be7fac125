"""Slopes of the true cone's curved paths, and one Runge-Kutta step along them.

The state is the impulse of the contacts that push, as a function of the length s of the path (the normal
impulse of the driven contacts, whose weights have sum one).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from routh.compiling import kernel
from routh.kernels.space_names import (
    BASE,
    HELD,
    IMPULSE,
    LIST,
    MOVES,
    POINT,
    RATE,
    ROLE,
    SLIDE,
    SLOPE,
    TRY,
    TRY_WORK,
    UNIT0,
    UNIT1,
    WORK,
    WORK_SLOPE,
    ZERO,
    C,
)

# Dormand and Prince's pair of orders 5 and 4: row j has the weights of the slopes before slope j + 1; the
# sixth row is the step itself, the last its difference from the embedded one
STAGES = np.array(
    [
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0],
        [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
    ]
)
DEPENDENT = 1e-11  # pivots below this share of the largest: contacts that repeat each other


@kernel
def eliminate(d: Any, size: int) -> None:
    """Solve ``d[:, :size] z = d[:, size]``; z replaces the right-hand side, unknowns left over are 0.

    Gauss and Jordan with row pivoting; column ``size + 1`` notes the row in which an unknown stands.
    """
    largest = 0.0
    for row in range(size):
        for column in range(size):
            largest = max(largest, abs(d[row, column]))
    rank = 0
    for column in range(size):
        d[column, size + 1] = -1.0
        pivot = rank
        for row in range(rank + 1, size):
            if abs(d[row, column]) > abs(d[pivot, column]):
                pivot = row
        if rank == size or abs(d[pivot, column]) <= DEPENDENT * largest:
            continue
        if pivot != rank:
            for other in range(column, size + 1):
                d[rank, other], d[pivot, other] = d[pivot, other], d[rank, other]
        for row in range(size):
            if row != rank and d[row, column] != 0.0:
                factor = d[row, column] / d[rank, column]
                for other in range(column + 1, size + 1):
                    d[row, other] -= factor * d[rank, other]
        d[column, size + 1] = float(rank)
        for other in range(column + 1, size + 1):
            d[rank, other] /= d[rank, column]
        rank += 1
    for column in range(size):  # the first column is free now
        row = int(d[column, size + 1])
        d[column, 0] = d[row, size] if row >= 0 else 0.0
    for column in range(size):
        d[column, size] = d[column, 0]


@kernel
def effect(m: int, G: Any, x: Any, k: Any, of: int, row: int) -> float:
    """What the impulse x[of] of the contacts that push changes contact coordinate ``row`` by."""
    value = 0.0
    for a in range(m):
        first = 3 * k[LIST, a]
        value += (
            G[row, first] * x[of, first]
            + G[row, first + 1] * x[of, first + 1]
            + G[row, first + 2] * x[of, first + 2]
        )
    return value


@kernel
def fill_matrix(m: int, G: Any, mu: Any, s: Any, k: Any, d: Any) -> int:
    """The equations of what is unknown: ``t' = 0`` where contacts stick, ``y' = 0`` where they are held."""
    size = 0
    for a in range(m):
        i = k[LIST, a]
        held, sticks = k[ROLE, i] == HELD, k[MOVES, i] == ZERO
        for part in range(3):
            if (part == 0 and not held) or (part > 0 and not sticks):
                continue
            row, column = 3 * i + part, 0
            for b in range(m):
                j = k[LIST, b]
                if k[ROLE, j] == HELD:
                    d[size, column] = G[row, 3 * j]
                    if k[MOVES, j] == SLIDE:
                        d[size, column] -= mu[j] * (
                            G[row, 3 * j + 1] * s[UNIT0, j] + G[row, 3 * j + 2] * s[UNIT1, j]
                        )
                    column += 1
                if k[MOVES, j] == ZERO:
                    d[size, column], d[size, column + 1] = G[row, 3 * j + 1], G[row, 3 * j + 2]
                    column += 2
            size += 1
    return size


@kernel
def solve_unknown(m: int, G: Any, mu: Any, x: Any, s: Any, k: Any, d: Any, base: float, to: int) -> None:
    """Change x[to] by what is unknown, so that ``base C + G x[to]`` vanishes in the unknown's rows."""
    size = fill_matrix(m, G, mu, s, k, d)
    at = 0
    for a in range(m):
        i = k[LIST, a]
        for part in range(3):
            if (part == 0 and k[ROLE, i] == HELD) or (part > 0 and k[MOVES, i] == ZERO):
                d[at, size] = -base * x[C, 3 * i + part] - effect(m, G, x, k, to, 3 * i + part)
                at += 1
    eliminate(d, size)
    at = 0
    for a in range(m):
        i = k[LIST, a]
        if k[ROLE, i] == HELD:
            x[to, 3 * i] += d[at, size]
            if k[MOVES, i] == SLIDE:
                x[to, 3 * i + 1] -= mu[i] * d[at, size] * s[UNIT0, i]
                x[to, 3 * i + 2] -= mu[i] * d[at, size] * s[UNIT1, i]
            at += 1
        if k[MOVES, i] == ZERO:
            x[to, 3 * i + 1] += d[at, size]
            x[to, 3 * i + 2] += d[at + 1, size]
            at += 2


@kernel
def slope(
    m: int, solving: bool, elastic: bool, G: Any, mu: Any, x: Any, s: Any, k: Any, d: Any, to: int
) -> None:
    """The rates at POINT into RATE and row SLOPE + to, and the power of the normal forces."""
    for a in range(m):
        i = k[LIST, a]
        first = 3 * i
        for row in range(first, first + 3):
            x[RATE, row] = x[BASE, row]
        if k[MOVES, i] != SLIDE:
            continue
        t0 = x[C, first + 1] + effect(m, G, x, k, POINT, first + 1)
        t1 = x[C, first + 2] + effect(m, G, x, k, POINT, first + 2)
        length = math.sqrt(t0 * t0 + t1 * t1)
        scale = 1.0 / length if length > 0.0 else 0.0
        s[UNIT0, i], s[UNIT1, i] = t0 * scale, t1 * scale
        x[RATE, first + 1] = -mu[i] * x[BASE, first] * s[UNIT0, i]
        x[RATE, first + 2] = -mu[i] * x[BASE, first] * s[UNIT1, i]
    if solving:
        solve_unknown(m, G, mu, x, s, k, d, 0.0, RATE)
    for a in range(m):
        i = k[LIST, a]
        for row in range(3 * i, 3 * i + 3):
            x[SLOPE + to, row] = x[RATE, row]
        if elastic:
            y = x[C, 3 * i] + effect(m, G, x, k, POINT, 3 * i)
            s[WORK_SLOPE + to, i] = x[RATE, 3 * i] * y


@kernel
def blend(m: int, elastic: bool, x: Any, s: Any, k: Any, stage: int, h: float, count: int) -> None:
    """POINT = IMPULSE + h times the weighted slopes of one stage; MIDDLE likewise of the work."""
    for a in range(m):
        i = k[LIST, a]
        for row in range(3 * i, 3 * i + 3):
            value = 0.0
            for j in range(count):
                value += STAGES[stage, j] * x[SLOPE + j, row]
            x[POINT, row] = x[IMPULSE, row] + h * value
        if elastic and stage == 5:
            value = 0.0
            for j in range(count):
                value += STAGES[stage, j] * s[WORK_SLOPE + j, i]
            s[TRY_WORK, i] = s[WORK, i] + h * value


@kernel
def rk_alone(i: int, elastic: bool, G: Any, mu: Any, x: Any, s: Any, h: float) -> float:
    """`rk_step` for one driven contact that slides: a planar curve, whose slope needs no matrices."""
    at = 3 * i
    normal = x[BASE, at]
    a00, a01, a11 = G[at + 1, at + 1], G[at + 1, at + 2], G[at + 2, at + 2]
    now0, now1, now2 = x[IMPULSE, at], x[IMPULSE, at + 1], x[IMPULSE, at + 2]
    y = x[C, at] + G[at, at] * now0 + G[at, at + 1] * now1 + G[at, at + 2] * now2
    t0 = x[C, at + 1] + G[at + 1, at] * now0 + a00 * now1 + a01 * now2
    t1 = x[C, at + 2] + G[at + 2, at] * now0 + a01 * now1 + a11 * now2
    q0, q1, q2 = 0.0, 0.0, 0.0
    for stage in range(6):
        q0, q1, q2 = 0.0, 0.0, 0.0
        for j in range(stage + 1):
            q0 += STAGES[stage, j]
            q1 += STAGES[stage, j] * x[SLOPE + j, at + 1]
            q2 += STAGES[stage, j] * x[SLOPE + j, at + 2]
        q0, q1, q2 = h * normal * q0, h * q1, h * q2
        slip0 = t0 + G[at + 1, at] * q0 + a00 * q1 + a01 * q2
        slip1 = t1 + G[at + 2, at] * q0 + a01 * q1 + a11 * q2
        length = math.sqrt(slip0 * slip0 + slip1 * slip1)
        scale = -mu[i] * normal / length if length > 0.0 else 0.0
        to = SLOPE + stage + 1
        x[to, at], x[to, at + 1], x[to, at + 2] = normal, scale * slip0, scale * slip1
        if elastic:
            s[WORK_SLOPE + stage + 1, i] = normal * (
                y + G[at, at] * q0 + G[at, at + 1] * q1 + G[at, at + 2] * q2
            )
    x[TRY, at], x[TRY, at + 1], x[TRY, at + 2] = now0 + q0, now1 + q1, now2 + q2
    q1, q2, work, spent = 0.0, 0.0, 0.0, 0.0
    for j in range(7):
        q1 += STAGES[6, j] * x[SLOPE + j, at + 1]
        q2 += STAGES[6, j] * x[SLOPE + j, at + 2]
        if elastic:
            work += STAGES[6, j] * s[WORK_SLOPE + j, i]
            spent += STAGES[5, j] * s[WORK_SLOPE + j, i]
    if elastic:
        s[TRY_WORK, i] = s[WORK, i] + h * spent
    error = h * math.sqrt(max(q1 * (a00 * q1 + 2.0 * a01 * q2) + a11 * q2 * q2, 0.0)) + abs(h * work)
    return error if error == error else math.inf


@kernel
def rk_step(
    m: int, solving: bool, elastic: bool, G: Any, mu: Any, x: Any, s: Any, k: Any, d: Any, h: float
) -> float:
    """A step of length h from IMPULSE to TRY; its local error in the energy norm, a share of the speed."""
    if m == 1 and not solving and k[MOVES, k[LIST, 0]] == SLIDE:
        return rk_alone(k[LIST, 0], elastic, G, mu, x, s, h)
    for stage in range(6):
        blend(m, elastic, x, s, k, stage, h, stage + 1)
        slope(m, solving, elastic, G, mu, x, s, k, d, stage + 1)
    for a in range(m):
        i = k[LIST, a]
        for row in range(3 * i, 3 * i + 3):
            x[TRY, row] = x[POINT, row]
            value = 0.0
            for j in range(7):
                value += STAGES[6, j] * x[SLOPE + j, row]
            x[POINT, row] = h * value
    return energy_norm(m, G, x, k, POINT) + work_error(m, elastic, s, k, h)


@kernel
def energy_norm(m: int, G: Any, x: Any, k: Any, of: int) -> float:
    """``sqrt(p^T G p)``: what an impulse changes the velocity by, as a share of the speed before."""
    total = 0.0
    for a in range(m):
        first = 3 * k[LIST, a]
        for row in range(first, first + 3):
            total += x[of, row] * effect(m, G, x, k, of, row)
    return math.sqrt(max(total, 0.0)) if total == total else math.inf


@kernel
def work_error(m: int, elastic: bool, s: Any, k: Any, h: float) -> float:
    """Local error of the work of the contacts, a share of the speed squared."""
    worst = 0.0
    if elastic:
        for a in range(m):
            i = k[LIST, a]
            value = 0.0
            for j in range(7):
                value += STAGES[6, j] * s[WORK_SLOPE + j, i]
            worst = max(worst, abs(h * value))
    return worst
