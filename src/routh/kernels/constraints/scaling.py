"""The mass matrix' factor, the scaled rows of a step, and how well forces obey their laws."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.base.tolerances import MASSLESS
from routh.base.validation import Array
from routh.compiling import distinct, kernel
from routh.kernels.constraints.data import (
    ACCELERATION,
    DAMPING,
    DIAGONAL,
    FREE,
    GAMMA,
    HALFWAY,
    LAW,
    PHI,
    RATE,
    STIFFNESS,
    SUMMED,
    WHITE,
    C,
    Layout,
    S,
    Scratch,
    Terms,
    X,
)


class Residuals(NamedTuple):
    """Scaled residuals by law; of each row as a share of its own force, or of what it alone would need.

    The residual of a row is the change of its own force that would satisfy its law with the other forces
    held: the distance of its force from the law, over ``1 + X (G M^-1 G^T)_ii``. What it alone would need is
    the force that would undo its deformation and stop the mechanism's motion along it. So huge forces
    elsewhere, of rows that contradict each other, hide nothing. ``momentum``: what the acceleration has that
    no force explains, as a share of all forces: where huge ones cancel, none of them is known better.
    """

    bilateral: float
    unilateral: float
    normal: float
    friction: float
    momentum: float

    @property
    def largest(self) -> float:
        """The largest of all; NaN where any of them is."""
        return float(np.max(self))


@kernel
def factorise(layout: Layout, M: Array, L: Array, half: Array) -> bool:
    """``half = L^-1`` with ``M = L L^T``, block by block; False where a direction has no inertia."""
    # reads start
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
    # reads start
    start, nv = layout.start, len(x)
    for k in range(nv):
        out[k] = 0.0
    for k in range(nv):
        for j in range(start[k], k + 1):
            out[j] += half[k, j - start[k]] * x[k]


@kernel
def solve_mass(layout: Layout, half: Array, b: Array, between: Array, out: Array) -> None:
    """``M^-1 b``."""
    # reads start; hands on layout
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
    # reads columns, pattern, width
    p, total = layout.pattern[i], 0.0
    for a in range(layout.width[p]):
        total += rows[i, a] * vector[layout.columns[p, a]]
    return total


@kernel
def can_stick(layout: Layout, terms: Terms, own: Scratch, i: int) -> bool:
    """Whether contact i has friction and a tangential spring or damper."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, own.scaled, terms.mu
    return terms.mu[i] > 0.0 and own.scaled[X, layout.nb + layout.nu + layout.nc + i * layout.nt] > 0.0


@kernel
def prepare(layout: Layout, terms: Terms, h: float, own: Scratch) -> None:
    """The scaled rows of a step of h seconds, D19 (50), and the size of its forces."""
    # reads layout.columns, layout.pattern, layout.start, layout.width, own.motion, own.scaled, terms.G,
    #   terms.f, terms.half, terms.numbers, terms.v
    # writes own.motion, own.scale, own.scaled, own.white
    # hands on layout, own
    scaled, numbers, free, pattern = own.scaled, terms.numbers, own.motion[FREE], layout.pattern
    often = 1.0 / h  # Hz
    solve_mass(layout, terms.half, terms.f, own.motion[HALFWAY], free)
    for k in range(len(free)):
        free[k] = terms.v[k] + h * free[k]
    i = 0
    while i < len(pattern):
        rows, stiff = _four(pattern, i), 0.0
        for j in range(i, rows[3] + 1):
            stiff += numbers[STIFFNESS, j] + numbers[DAMPING, j]
        if stiff > 0.0:
            columns = layout.columns[pattern[i], : layout.width[pattern[i]]]
            _whiten(columns, layout.start, terms.half, terms.G, free, rows, scaled, own.white)
        i = rows[3] + 1
    _forget(own)
    for i in range(len(pattern)):
        K, B, gamma = numbers[STIFFNESS, i], numbers[DAMPING, i], numbers[GAMMA, i]
        stiff = h * h * K + h * B
        own.scale[i] = 0.0
        if stiff == 0.0:  # of a contact that is open, say: its row tells nothing
            for part in range(len(scaled)):
                scaled[part, i] = 0.0
            continue
        root, speed = math.sqrt(stiff), scaled[S, i] + h * abs(gamma)
        rate, square = scaled[RATE, i] + h * gamma, scaled[DIAGONAL, i]
        scaled[X, i], scaled[S, i], scaled[RATE, i] = stiff, root, rate
        scaled[C, i] = -(K / root) * numbers[PHI, i] - root * (often * rate)
        own.scale[i] = (K * abs(numbers[PHI, i]) + (h * K + B) * speed) / (1.0 + stiff * square)


@kernel
def _forget(own: Scratch) -> None:
    """Nothing is summed up yet."""
    # reads weight; writes weight
    for i in range(len(own.weight)):
        own.weight[i] = 0.0


@kernel
def _four(pattern: np.ndarray, i: int) -> tuple[int, int, int, int]:
    """Four rows from i on that are on the same velocities; where there are fewer, the last again."""
    last = len(pattern) - 1
    two = i + int(i < last and pattern[min(i + 1, last)] == pattern[i])
    three = two + int(two < last and pattern[min(two + 1, last)] == pattern[i])
    return i, two, three, three + int(three < last and pattern[min(three + 1, last)] == pattern[i])


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
    # reads layout.nb, layout.nc, layout.nt, layout.nu, layout.pattern, own.scaled, terms.numbers
    # writes own.scaled
    # hands on own
    scaled, tangents, stiffest = own.scaled, layout.nb + layout.nu + layout.nc, 0.0
    often = 1.0 / h
    _forget(own)
    for i in range(len(layout.pattern)):
        if scaled[X, i] > 0.0:
            first = i if i < tangents else i - (i - tangents) % layout.nt
            stiff = 0.0
            for j in range(first, i + 1 if i < tangents else first + layout.nt):
                stiff = max(stiff, scaled[X, j] * scaled[DIAGONAL, j])
            root, share = math.sqrt(scaled[X, i]), 1.0 / math.sqrt(1.0 + stiff / most)
            c = -(terms.numbers[STIFFNESS, i] / root) * terms.numbers[PHI, i] - root * (
                often * scaled[RATE, i]
            )
            scaled[S, i], scaled[C, i], stiffest = share * root, share * c, max(stiffest, stiff)
    return stiffest


@kernel
def residuals(layout: Layout, terms: Terms, h: float, own: Scratch, force: Array) -> Residuals:
    """Residuals of forces (n,) and their velocity by `ACCELERATION`, which is `WHITE` in other axes.

    The acceleration is not summed up once more: where huge forces cancel, that would lose its digits.
    """
    # reads layout.nb, layout.nc, layout.nt, layout.nu, own.rows, own.scaled, terms.mu
    # writes own.rows
    # hands on layout, own, terms
    nb, nu, nc, nt = layout.nb, layout.nu, layout.nc, layout.nt
    first, rub, tangential = nb + nu + nc, 0.0, own.rows[LAW]
    for c in range(nc):
        t, size, stiffest, scale = first + c * nt, 0.0, 0.0, 0.0
        limit = terms.mu[c] * max(force[nb + nu + c], 0.0)
        for j in range(nt):
            stiffest = max(stiffest, own.scaled[X, t + j] * own.scaled[DIAGONAL, t + j])
        for j in range(nt):
            # one step for the tangents of a contact, or a sliding force would be turned
            law, alone = _law(layout, terms, h, own, t + j) if limit > 0.0 else (0.0, 0.0)
            tangential[t + j] = force[t + j] - (force[t + j] - law) / (1.0 + stiffest)
            size += tangential[t + j] * tangential[t + j]
            scale = max(scale, max(abs(force[t + j]), alone))
        size, error = math.sqrt(size), 0.0
        held = limit / size if size > limit else 1.0
        for j in range(nt):
            error += (force[t + j] - held * tangential[t + j]) ** 2
        rub = larger(rub, math.sqrt(error) / max(scale, limit) if error > 0.0 else error)
    return Residuals(
        _worst(layout, terms, h, own, force, 0, nb),
        _worst(layout, terms, h, own, force, nb, nb + nu),
        _worst(layout, terms, h, own, force, nb + nu, first),
        rub,
        _unexplained(layout, own, force),
    )


@kernel
def _worst(layout: Layout, terms: Terms, h: float, own: Scratch, force: Array, begin: int, end: int) -> float:
    """The largest change of its own force that the law of a row asks for; one-sided unless bilateral."""
    # reads layout.nb, own.scaled; hands on layout, own, terms
    worst = 0.0
    for i in range(begin, end):
        law, alone = _law(layout, terms, h, own, i)
        moved = force[i] - (force[i] - law) / (1.0 + own.scaled[X, i] * own.scaled[DIAGONAL, i])
        error = abs(force[i] - (moved if i < layout.nb else max(moved, 0.0)))
        worst = larger(worst, error / max(abs(force[i]), alone) if error > 0.0 else error)
    return worst


@kernel
def _law(layout: Layout, terms: Terms, h: float, own: Scratch, i: int) -> tuple[float, float]:
    """The force that a row's spring and damper have after `ACCELERATION`, and what it alone needs, N."""
    # reads layout.columns, layout.pattern, layout.width, own.motion, own.scale, own.scaled, terms.G,
    #   terms.numbers
    if own.scaled[X, i] == 0.0:
        return 0.0, 0.0
    p, gained, most, acceleration = layout.pattern[i], 0.0, 0.0, own.motion[ACCELERATION]
    for a in range(layout.width[p]):
        part = terms.G[i, a] * acceleration[layout.columns[p, a]]
        gained, most = gained + part, most + abs(part)
    K, stiff = terms.numbers[STIFFNESS, i], h * terms.numbers[STIFFNESS, i] + terms.numbers[DAMPING, i]
    law = -K * terms.numbers[PHI, i] - stiff * (own.scaled[RATE, i] + h * gained)
    return law, own.scale[i] + stiff * h * most / (1.0 + own.scaled[X, i] * own.scaled[DIAGONAL, i])


@kernel
def _unexplained(layout: Layout, own: Scratch, force: Array) -> float:
    """What is left of the acceleration without that of the forces, as a share of all that they do."""
    # reads layout.columns, layout.pattern, layout.width, own.motion, own.white; writes own.motion
    pushed, summed, x = own.motion[HALFWAY], own.motion[SUMMED], own.motion[WHITE]
    for k in range(len(x)):
        pushed[k] = summed[k] = 0.0
    for i in range(len(force)):
        if force[i] != 0.0:
            p = layout.pattern[i]
            for a in range(layout.width[p]):
                part = own.white[i, a] * force[i]
                pushed[layout.columns[p, a]] += part
                summed[layout.columns[p, a]] += abs(part)
    left, size = 0.0, 0.0
    for k in range(len(x)):
        left += (x[k] - pushed[k]) ** 2
        size += (abs(x[k]) + summed[k]) ** 2
    return math.sqrt(left / size) if size > 0.0 else left


@kernel
def larger(one: float, two: float) -> float:
    """The larger of two; NaN where one of them is."""
    return one if one > two or math.isnan(one) else two
