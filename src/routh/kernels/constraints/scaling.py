"""The mass matrix' factor, the scaled rows of a step, and how well forces obey their laws."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import distinct, kernel
from routh.kernels.constraints.data import (
    DAMPING,
    DIAGONAL,
    FREE,
    GAMMA,
    HALFWAY,
    LAW,
    PHI,
    RATE,
    STIFFNESS,
    WHITE,
    C,
    Layout,
    S,
    Scratch,
    Terms,
    X,
)
from routh.tolerances import MASSLESS
from routh.validation import Array


class Residuals(NamedTuple):
    """See `routh.constraints.system.Residuals`."""

    bilateral: float
    unilateral: float
    normal: float
    friction: float


@kernel
def factorise(layout: Layout, M: Array, L: Array, half: Array) -> bool:
    """``half = L^-1`` with ``M = L L^T``, block by block; False where a direction has no inertia."""
    start = layout.start
    for k in range(len(start)):
        s = start[k]
        for j in range(s, k + 1):
            total = M[k, j - s]
            for i in range(s, j):
                total -= L[k, i - s] * L[j, i - s]
            if j < k:
                L[k, j - s] = total / L[j, j - s]
            elif not total > MASSLESS * M[k, k - s]:
                return False
            else:
                L[k, k - s] = math.sqrt(total)
        half[k, k - s] = 1.0 / L[k, k - s]
        for j in range(s, k):
            total = 0.0
            for i in range(j, k):
                total += L[k, i - s] * half[i, j - s]
            half[k, j - s] = -total / L[k, k - s]
    return True


@kernel
def unwhiten(layout: Layout, half: Array, x: Array, out: Array) -> None:
    """``L^-T x``."""
    start, nv = layout.start, len(x)
    for k in range(nv):
        out[k] = 0.0
    for k in range(nv):
        for j in range(start[k], k + 1):
            out[j] += half[k, j - start[k]] * x[k]


@kernel
def solve_mass(layout: Layout, half: Array, b: Array, between: Array, out: Array) -> None:
    """``M^-1 b``."""
    start = layout.start
    for k in range(len(b)):
        total = 0.0
        for j in range(start[k], k + 1):
            total += half[k, j - start[k]] * b[j]
        between[k] = total
    unwhiten(layout, half, between, out)


@kernel
def row_times(layout: Layout, rows: Array, i: int, vector: Array) -> float:
    """Row i of G times a vector (nv,)."""
    p, total = layout.pattern[i], 0.0
    for a in range(layout.width[p]):
        total += rows[i, a] * vector[layout.columns[p, a]]
    return total


@kernel
def can_stick(layout: Layout, terms: Terms, own: Scratch, i: int) -> bool:
    """Whether contact i has friction and a tangential spring or damper."""
    return terms.mu[i] > 0.0 and own.scaled[X, layout.nb + layout.nu + layout.nc + i * layout.nt] > 0.0


@kernel
def prepare(layout: Layout, terms: Terms, h: float, own: Scratch) -> None:
    """The scaled rows of a step of h seconds, D19 (50), and the size of its forces."""
    scaled, numbers, free, pattern = own.scaled, terms.numbers, own.motion[FREE], layout.pattern
    solve_mass(layout, terms.half, terms.f, own.motion[HALFWAY], free)
    for k in range(len(free)):
        free[k] = terms.v[k] + h * free[k]
    i, last = 0, len(pattern) - 1
    while i <= last:  # rows on the same velocities four at a time; where there are fewer, the last again
        two = i + int(i < last and pattern[min(i + 1, last)] == pattern[i])
        three = two + int(two < last and pattern[min(two + 1, last)] == pattern[i])
        four = three + int(three < last and pattern[min(three + 1, last)] == pattern[i])
        stiff = 0.0
        for j in range(i, four + 1):
            stiff += numbers[STIFFNESS, j] + numbers[DAMPING, j]
        if stiff > 0.0:
            columns = layout.columns[pattern[i], : layout.width[pattern[i]]]
            rows = i, two, three, four
            _whiten(columns, layout.start, terms.half, terms.G, free, rows, scaled, own.white)
        i = four + 1
    own.scale[0] = 0.0
    for i in range(len(pattern)):
        K, B, gamma = numbers[STIFFNESS, i], numbers[DAMPING, i], numbers[GAMMA, i]
        stiff = h * h * K + h * B
        if stiff == 0.0:  # of a contact that is open, say: its row tells nothing
            for part in range(len(scaled)):
                scaled[part, i] = 0.0
            continue
        root, speed = math.sqrt(stiff), scaled[S, i] + h * abs(gamma)
        rate, square = scaled[RATE, i] + h * gamma, scaled[DIAGONAL, i]
        scaled[X, i], scaled[S, i], scaled[RATE, i] = stiff, root, rate
        scaled[C, i] = -(K / root) * numbers[PHI, i] - (root / h) * rate
        alone = (K * abs(numbers[PHI, i]) + stiff / h * speed) / (1.0 + stiff * square)
        own.scale[0] = max(own.scale[0], alone)


@distinct
def _whiten(
    columns: np.ndarray,
    start: np.ndarray,
    half: Array,
    G: Array,
    free: Array,
    rows: tuple[int, int, int, int],
    scaled: Array,
    white: Array,
) -> None:
    """Rows ``G L^-T``, the sums of their squares, their rates, and (in `S`) the sums of their speeds."""
    one, two, three, four = rows
    rate = (0.0, 0.0, 0.0, 0.0)
    speed, square = rate, rate
    for a in range(len(columns)):
        k = columns[a]
        first = a - (k - start[k])
        own = half[k, a - first]
        p, q, r, s = own * G[one, a], own * G[two, a], own * G[three, a], own * G[four, a]
        for b in range(first, a):
            share = half[k, b - first]
            p += share * G[one, b]
            q += share * G[two, b]
            r += share * G[three, b]
            s += share * G[four, b]
        white[one, a], white[two, a], white[three, a], white[four, a] = p, q, r, s
        square = (square[0] + p * p, square[1] + q * q, square[2] + r * r, square[3] + s * s)
        v = free[k]
        p, q, r, s = G[one, a] * v, G[two, a] * v, G[three, a] * v, G[four, a] * v
        rate = (rate[0] + p, rate[1] + q, rate[2] + r, rate[3] + s)
        speed = (speed[0] + abs(p), speed[1] + abs(q), speed[2] + abs(r), speed[3] + abs(s))
    scaled[RATE, one], scaled[RATE, two], scaled[RATE, three], scaled[RATE, four] = rate
    scaled[S, one], scaled[S, two], scaled[S, three], scaled[S, four] = speed
    scaled[DIAGONAL, one], scaled[DIAGONAL, two] = square[0], square[1]
    scaled[DIAGONAL, three], scaled[DIAGONAL, four] = square[2], square[3]


@kernel
def soften(layout: Layout, terms: Terms, h: float, own: Scratch, most: float) -> float:
    """Scale rows so that none is stiffer than ``most`` times what it pushes; how stiff the stiffest is.

    Stiffness and damping of a row are multiplied by the same number; those of a contact's tangents, too.
    """
    scaled, tangents, stiffest = own.scaled, layout.nb + layout.nu + layout.nc, 0.0
    for i in range(len(layout.pattern)):
        if scaled[X, i] > 0.0:
            first = i if i < tangents else i - (i - tangents) % layout.nt
            stiff = 0.0
            for j in range(first, i + 1 if i < tangents else first + layout.nt):
                stiff = max(stiff, scaled[X, j] * scaled[DIAGONAL, j])
            root, share = math.sqrt(scaled[X, i]), 1.0 / math.sqrt(1.0 + stiff / most)
            c = -(terms.numbers[STIFFNESS, i] / root) * terms.numbers[PHI, i] - (root / h) * scaled[RATE, i]
            scaled[S, i], scaled[C, i], stiffest = share * root, share * c, max(stiffest, stiff)
    return stiffest


@kernel
def residuals(layout: Layout, terms: Terms, h: float, own: Scratch, force: Array) -> Residuals:
    """Of forces (n,), computed from the data; their acceleration, `HALFWAY`, too."""
    nb, nu, nc, nt = layout.nb, layout.nu, layout.nc, layout.nt
    scaled, numbers, out = own.scaled, terms.numbers, own.rows[LAW]
    total, between, scale = own.motion[HALFWAY], own.motion[WHITE], own.scale[0]
    for k in range(len(total)):
        total[k] = 0.0
    for i in range(len(force)):
        scale = max(scale, abs(force[i]))
        if force[i] != 0.0:
            p = layout.pattern[i]
            for a in range(layout.width[p]):
                total[layout.columns[p, a]] += terms.G[i, a] * force[i]
    solve_mass(layout, terms.half, total, between, total)
    if scale == 0.0:
        scale = 1.0
    worst = (0.0, 0.0, 0.0)
    for i in range(len(force)):
        law = 0.0
        open_ = i >= nb + nu + nc and not force[nb + nu + (i - nb - nu - nc) // nt] > 0.0
        if scaled[X, i] != 0.0 and not open_:  # what an open contact's friction wishes does not count
            rate = scaled[RATE, i] + h * row_times(layout, terms.G, i, total)
            law = -numbers[STIFFNESS, i] * numbers[PHI, i] - (scaled[X, i] / h) * rate
        out[i] = law
        if i < nb + nu + nc:
            moved = force[i] - (force[i] - law) / (1.0 + scaled[X, i] * scaled[DIAGONAL, i])
            error = abs(force[i] - (moved if i < nb else max(moved, 0.0))) / scale
            if i < nb:
                worst = (larger(worst[0], error), worst[1], worst[2])
            elif i < nb + nu:
                worst = (worst[0], larger(worst[1], error), worst[2])
            else:
                worst = (worst[0], worst[1], larger(worst[2], error))
    rub = 0.0
    for c in range(nc):
        t, size = nb + nu + nc + c * nt, 0.0
        stiffest = 0.0
        for j in range(nt):
            stiffest = max(stiffest, scaled[X, t + j] * scaled[DIAGONAL, t + j])
        for j in range(nt):
            # one step for the tangents of a contact, or a sliding force would be turned
            out[t + j] = force[t + j] - (force[t + j] - out[t + j]) / (1.0 + stiffest)
            size += out[t + j] * out[t + j]
        size, limit, error = math.sqrt(size), terms.mu[c] * max(force[nb + nu + c], 0.0), 0.0
        held = limit / size if size > limit else 1.0
        for j in range(nt):
            error += (force[t + j] - held * out[t + j]) ** 2
        rub = larger(rub, math.sqrt(error) / scale)
    return Residuals(worst[0], worst[1], worst[2], rub)


@kernel
def larger(one: float, two: float) -> float:
    """The larger of two; NaN where one of them is."""
    return one if one > two or math.isnan(one) else two
