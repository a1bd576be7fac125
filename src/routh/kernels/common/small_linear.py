"""Linear systems of a few unknowns: inverses, and least squares where the matrix is singular."""

from __future__ import annotations

import math

import numpy as np

from routh.base.validation import Array
from routh.compiling import distinct, kernel

SWEEPS = 30
ORTHOGONAL = 1e-15  # cosine of two columns that are taken for orthogonal
SINGULAR = 1e-11  # pivots below this, in rows of unit size, are none: rows depend on each other
NOTHING = 1e-14  # length of a column, as a share of the longest, that is rounding


@kernel
def invert(A: Array, inverse: Array, n: int) -> bool:
    """The inverse of A (n, n), which is used up; False where a pivot is zero or NaN."""
    return invert_rows(A, inverse, n, 0.0)[0] == n


@kernel
def invert_rows(A: Array, inverse: Array, n: int, cut: float) -> tuple[int, float]:
    """The inverse of A (n, n), which is used up, by Gauss and Jordan with row pivoting: (rank, least pivot).

    Unknowns whose pivot is not above ``cut`` times the largest entry have a row of zeros: others stand for
    them. The least of the other pivots is told as a share of the largest entry.
    """
    largest = 0.0
    for row in range(n):
        for column in range(n):
            largest = max(largest, abs(A[row, column]))
            inverse[row, column] = 1.0 if row == column else 0.0
    rank, least = 0, largest
    for column in range(n):
        pivot = rank
        for row in range(rank + 1, n):
            if abs(A[row, column]) > abs(A[pivot, column]):
                pivot = row
        if rank == n or not abs(A[pivot, column]) > cut * largest:
            A[0, column] = 0.0  # nothing looks at this column again: its pivot vanishes
            continue
        if pivot != rank:
            for other in range(column, n):
                A[rank, other], A[pivot, other] = A[pivot, other], A[rank, other]
            for other in range(n):
                inverse[rank, other], inverse[pivot, other] = inverse[pivot, other], inverse[rank, other]
        least = min(least, abs(A[rank, column]))
        scale = 1.0 / A[rank, column]
        for other in range(column, n):
            A[rank, other] *= scale
        for other in range(n):
            inverse[rank, other] *= scale
        for row in range(n):
            factor = A[row, column]
            if row != rank and factor != 0.0:
                for other in range(column, n):
                    A[row, other] -= factor * A[rank, other]
                for other in range(n):
                    inverse[row, other] -= factor * inverse[rank, other]
        A[0, column] = 1.0
        rank += 1
    if rank < n:
        row = rank
        for column in range(n - 1, -1, -1):  # rows of the inverse to their unknowns, the last first
            row -= 1 if A[0, column] > 0.0 else 0
            for other in range(n):
                inverse[column, other] = inverse[row, other] if A[0, column] > 0.0 else 0.0
    return rank, least / largest if largest > 0.0 else 1.0


@distinct
def factorise(A: Array, pivot: np.ndarray, n: int) -> bool:
    """Factors of A (n, n) by Gauss with row pivoting, in place; ``pivot`` (n,): its rows. False: singular."""
    for k in range(n):
        best = k
        for row in range(k + 1, n):
            if abs(A[row, k]) > abs(A[best, k]):
                best = row
        pivot[k] = best
        if not abs(A[best, k]) > 0.0:
            return False
        if best != k:
            for column in range(n):
                A[k, column], A[best, column] = A[best, column], A[k, column]
        inverse = 1.0 / A[k, k]
        for row in range(k + 1, n):
            factor = A[row, k] * inverse
            A[row, k] = factor
            if factor != 0.0:
                for column in range(k + 1, n):
                    A[row, column] -= factor * A[k, column]
    return True


@distinct
def substitute(A: Array, pivot: np.ndarray, right: Array, n: int) -> None:
    """``right`` (n,) becomes the solution of the equations whose factors `factorise` left in A."""
    for k in range(n):
        right[k], right[pivot[k]] = right[pivot[k]], right[k]
    for k in range(n):
        for row in range(k + 1, n):
            right[row] -= A[row, k] * right[k]
    for k in range(n - 1, -1, -1):
        value = right[k]
        for column in range(k + 1, n):
            value -= A[k, column] * right[column]
        right[k] = value / A[k, k]


@kernel
def least(A: Array, V: Array, right: Array, x: Array, n: int, cut: float) -> None:
    """The smallest x (n,) that meets ``A x = right`` as well as possible; A (n, n) is used up.

    Hestenes' one-sided rotations: A becomes U S, V gathers the rotations. Singular values below ``cut`` times
    the largest count as zero.
    """
    for i in range(n):
        x[i] = 0.0
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    largest = 0.0
    for j in range(n):
        largest = max(largest, _product(A, j, j, n))
    for _ in range(SWEEPS):
        if not _rotate_all(A, V, n, largest):
            break
    largest = 0.0
    for j in range(n):
        largest = max(largest, _product(A, j, j, n))
    for j in range(n):
        square = _product(A, j, j, n)
        if square > 0.0 and math.sqrt(square) > cut * math.sqrt(largest):
            along = 0.0
            for i in range(n):
                along += A[i, j] * right[i]
            for i in range(n):
                x[i] += V[i, j] * along / square


@kernel
def _rotate_all(A: Array, V: Array, n: int, largest: float) -> bool:
    """Make each pair of columns orthogonal in turn; whether any was not."""
    rotated = False
    for p in range(n):
        for q in range(p + 1, n):
            first, second, both = _product(A, p, p, n), _product(A, q, q, n), _product(A, p, q, n)
            small = NOTHING * NOTHING * largest
            if (
                not first > small
                or not second > small
                or both * both <= ORTHOGONAL * ORTHOGONAL * first * second
            ):
                continue
            rotated = True
            ratio = (second - first) / (2.0 * both)
            tangent = (1.0 if ratio >= 0.0 else -1.0) / (abs(ratio) + math.sqrt(1.0 + ratio * ratio))
            cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
            sine = cosine * tangent
            for i in range(n):
                A[i, p], A[i, q] = cosine * A[i, p] - sine * A[i, q], sine * A[i, p] + cosine * A[i, q]
                V[i, p], V[i, q] = cosine * V[i, p] - sine * V[i, q], sine * V[i, p] + cosine * V[i, q]
    return rotated


@kernel
def _product(A: Array, p: int, q: int, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += A[i, p] * A[i, q]
    return total


@kernel
def solve_linear(A: Array, m: int) -> bool:
    """Gauss with row pivoting for the rows A (m, m + 1); the last column becomes the solution.

    Unknowns whose pivots vanish, for which those before them can stand, are zero: whoever asked verifies the
    equations. Whether none did. The row that such an unknown leaves over, of zero at its own place, may be
    the only one that tells a later unknown, so it stays in the game.
    """
    regular = True
    for a in range(m):  # rows of unit size, so that a pivot of the size of rounding can be told
        size = 0.0
        for b in range(m):
            size = max(size, abs(A[a, b]))
        if size > 0.0:
            for b in range(m + 1):
                A[a, b] /= size
    for k in range(m):
        best, first = k, k + 1 if regular else 0
        for a in range(first, m):
            if (a > k or A[a, a] == 0.0) and abs(A[a, k]) > abs(A[best, k]):
                best = a
        if best != k:
            for b in range(k, m + 1):
                A[k, b], A[best, b] = A[best, b], A[k, b]
        if not abs(A[k, k]) > SINGULAR:
            A[k, k] = 0.0
            regular = False
            continue
        for a in range(first, m):
            factor = A[a, k] / A[k, k]
            if factor != 0.0 and (a > k or (a < k and A[a, a] == 0.0)):
                for b in range(k + 1, m + 1):
                    A[a, b] -= factor * A[k, b]
    for k in range(m - 1, -1, -1):
        value = 0.0
        if A[k, k] != 0.0:
            value = A[k, m]
            for b in range(k + 1, m):
                value -= A[k, b] * A[b, m]
            value /= A[k, k]
        A[k, m] = value
    return regular


@kernel
def misfit(A: Array, x: Array, wanted: Array, k: int) -> float:
    """The largest of ``|A x - wanted|`` over k rows; NaN stays."""
    worst = 0.0
    for r in range(k):
        total = -wanted[r]
        for c in range(k):
            total += A[r, c] * x[c]
        if not abs(total) <= worst:
            worst = abs(total)
    return worst
