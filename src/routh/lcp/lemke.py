"""Lemke's method with lexicographic pivoting: the readable reference for every faster path.

`follow_path` is plain Python that `routh.kernels.algorithm1.lemke` compiles as it stands; only `pivot` is
written for scalars there.
"""

from __future__ import annotations

import math

import numpy as np

# What the pivoting loop ended with; `routh.lcp.solve` turns these into a Status.
FOUND, RAY, PIVOT_LIMIT = 0, 1, 2

# Differences smaller than this share of their terms are rounding; of one of them, where they nearly cancel.
CANCELLATION = 1e-13
CANCELLED = 2.0 * CANCELLATION
TIED = 10.0 * CANCELLATION


def lemke_pivots(
    W: np.ndarray, q: np.ndarray, cover: np.ndarray, max_pivots: int, tolerance: float
) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Follow Lemke's path for ``0 <= z _|_ W z + q >= 0``.

    Parameters
    ----------
    W : (n, n) matrix.
    q : (n,) vector.
    cover : (n,) covering vector, positive.
    tolerance : pivots below this share of their column's largest entry count as zero.

    Returns
    -------
    tuple[int, int, np.ndarray, np.ndarray]
        Outcome, pivots, basis, value: ``basis[i]`` is the variable basic in row i (j < n: slack w_j,
        n <= j < 2 n: z_{j-n}, 2 n: the artificial variable) and ``value[i]`` its value.
    """
    n = len(q)
    T, basis, place = np.empty((n, n + 2)), np.empty(n, dtype=np.int64), np.empty(2 * n + 1, dtype=np.int64)
    outcome, pivots = follow_path(W, q, cover, max_pivots, tolerance, T, basis, place)
    return outcome, pivots, basis, T[:, n + 1].copy()


def follow_path(
    W: np.ndarray, q: np.ndarray, cover: np.ndarray, max_pivots: int, tolerance: float,
    T: np.ndarray, basis: np.ndarray, place: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """`lemke_pivots` in the caller's memory: (outcome, pivots); values in column n + 1 of T (n, n + 2).

    The other columns belong to the n + 1 variables that are zero: those of basic ones would be unit vectors.
    ``place[j]`` (2 n + 1,) says which is variable j's column, or ``-1 - row`` where it is basic. T, W and
    place may be larger.
    """
    n = len(q)
    right = n + 1
    smallest, largest, least_cover = 0.0, 0.0, cover[0]
    for i in range(n):
        for j in range(n):
            T[i, j] = -W[i, j]
        T[i, n] = -cover[i]
        T[i, right] = q[i]
        basis[i], place[i], place[n + i] = i, -1 - i, i
        smallest = min(smallest, q[i])
        largest = max(largest, abs(q[i]))
        least_cover = min(least_cover, cover[i])
    place[2 * n] = n
    if smallest >= 0.0:
        return FOUND, 0
    # The artificial variable enters; the row of the (lexicographically) largest -q / cover leaves.
    row, best = -1, 0.0
    for i in range(n):
        best = min(best, q[i] / cover[i])
    for i in range(n):
        tied = is_tied(q[i] / cover[i], best)
        if tied and (row < 0 or wins_tie(T, n, place, i, cover[i], row, cover[row])):
            row = i
    if row < 0:  # numbers that are not finite
        return RAY, 0
    entering, artificial = 2 * n, row
    scale = largest / least_cover  # of the artificial variable: below rounding it has left
    for done in range(max_pivots):
        leaving, column = basis[row], place[entering]
        pivot(T, n, row, column)
        basis[row], place[entering], place[leaving] = entering, -1 - row, column
        if entering == 2 * n:
            artificial = row
        if leaving == 2 * n or abs(T[artificial, right]) <= CANCELLATION * scale:
            return FOUND, done + 1
        entering = leaving + n if leaving < n else leaving - n  # the complement
        row = leaving_row(T, n, place[entering], basis, place, tolerance)
        if row < 0:
            return RAY, done + 1
    return PIVOT_LIMIT, max_pivots


def pivot(whole: np.ndarray, n: int, row: int, column: int) -> None:
    """Exchange the variable of a column and the basic one of a row: the column is now the latter's.

    A value that cancels to the last digits is zero: degenerate rows then show as such.
    """
    T = whole[:n, : n + 2]
    factors, values = T[:, column].copy(), T[:, n + 1].copy()
    T[:, column] = 0.0
    T[row, column] = 1.0
    T[row] *= 1.0 / factors[row]
    factors[row] = 0.0
    T -= np.outer(factors, T[row])
    cancelled = np.abs(T[:, n + 1]) <= CANCELLED * np.abs(values)
    T[cancelled & (factors != 0.0), n + 1] = 0.0


def leaving_row(
    T: np.ndarray, n: int, column: int, basis: np.ndarray, place: np.ndarray, tolerance: float
) -> int:
    """Row of the lexicographically smallest ratio; -1 where no entry of the column is positive.

    Where the artificial variable can leave, it does: the path has reached a solution.
    """
    largest, best, row = 0.0, math.inf, -1
    for i in range(n):
        largest = max(largest, abs(T[i, column]))
    for i in range(n):
        if T[i, column] > tolerance * largest:
            best = min(best, T[i, n + 1] / T[i, column])
    for i in range(n):
        if T[i, column] > tolerance * largest and is_tied(T[i, n + 1] / T[i, column], best):
            if basis[i] == 2 * n:
                return i
            if row < 0 or wins_tie(T, n, place, i, T[i, column], row, T[row, column]):
                row = i
    return row


def is_tied(a: float, b: float) -> bool:
    """Whether two numbers are equal up to rounding."""
    return abs(a - b) <= TIED * (abs(a) + abs(b))


def wins_tie(
    T: np.ndarray, n: int, place: np.ndarray, i: int, pivot_i: float, k: int, pivot_k: float
) -> bool:
    """Whether row i over its pivot is lexicographically smaller than row k's: the columns of the slacks.

    Both rows are multiplied by both pivots, which are positive. What is left of entries that have cancelled
    is small beside the largest of a row.
    """
    size_i = size_k = 0.0
    for j in range(n + 1):
        size_i, size_k = max(size_i, abs(T[i, j])), max(size_k, abs(T[k, j]))
    rounding = CANCELLATION * max(size_i * pivot_k, size_k * pivot_i)
    for j in range(n):
        column = place[j]
        if column >= 0:
            a, b = T[i, column] * pivot_k, T[k, column] * pivot_i
        else:  # a unit vector
            a = pivot_k if column == -1 - i else 0.0
            b = pivot_i if column == -1 - k else 0.0
        if abs(a - b) > rounding and not is_tied(a, b):
            return bool(a < b)
    return False
