"""Lemke's method with lexicographic pivoting: the readable reference for every faster path.

`lemke_pivots` is plain NumPy that numba can compile as it stands; the benchmarks that solve millions of
problems do so.
"""

from __future__ import annotations

import numpy as np

# What the pivoting loop ended with; `routh.lcp.solve` turns these into a Status.
FOUND, RAY, PIVOT_LIMIT = 0, 1, 2

# Differences smaller than this share of their terms are rounding.
CANCELLATION = 1e-13


def lemke_pivots(
    W: np.ndarray, q: np.ndarray, cover: np.ndarray, max_pivots: int, tolerance: float
) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Follow Lemke's path for ``0 <= z _|_ W z + q >= 0``.

    Parameters
    ----------
    W : (n, n) matrix; q : (n,) vector; cover : (n,) covering vector, positive.
    tolerance : pivots below this share of their column's largest entry count as zero.

    Returns
    -------
    (outcome, pivots, basis, value): ``basis[i]`` is the variable basic in row i (j < n: slack w_j,
    n <= j < 2 n: z_{j-n}, 2 n: the artificial variable) and ``value[i]`` its value.
    """
    n = q.shape[0]
    # columns: slacks (they carry the inverse of the basis, for lexicographic ties), z, artificial, right side
    T = np.zeros((n, 2 * n + 2))
    for i in range(n):
        T[i, i] = 1.0
        for j in range(n):
            T[i, n + j] = -W[i, j]
        T[i, 2 * n] = -cover[i]
        T[i, 2 * n + 1] = q[i]
    basis = np.arange(n)
    if q.min() >= 0.0:
        return FOUND, 0, basis, T[:, 2 * n + 1].copy()

    # The artificial variable enters; the row of the (lexicographically) largest -q / cover leaves.
    row = 0
    for i in range(1, n):
        if _lexicographically_less(T, i, T[i, 2 * n] * -1.0, row, T[row, 2 * n] * -1.0):
            row = i
    entering, artificial = 2 * n, row
    scale = np.abs(q).max() / cover.min()  # of the artificial variable: below rounding it has left
    for pivot in range(max_pivots):
        leaving = basis[row]
        _pivot(T, row, entering)
        basis[row] = entering
        if entering == 2 * n:
            artificial = row
        if leaving == 2 * n or abs(T[artificial, 2 * n + 1]) <= CANCELLATION * scale:
            return FOUND, pivot + 1, basis, T[:, 2 * n + 1].copy()
        entering = leaving + n if leaving < n else leaving - n  # the complement
        row = _leaving_row(T, entering, basis, tolerance)
        if row < 0:
            return RAY, pivot + 1, basis, T[:, 2 * n + 1].copy()
    return PIVOT_LIMIT, max_pivots, basis, T[:, 2 * n + 1].copy()


def _pivot(T: np.ndarray, row: int, column: int) -> None:
    """Make ``column`` the unit vector of ``row``.

    A difference that cancels to the last digits is zero: ties and degenerate rows then show as such,
    which the lexicographic rule needs.
    """
    T[row] /= T[row, column]
    factors = T[:, column].copy()
    factors[row] = 0.0
    change = np.outer(factors, T[row])
    rounding = CANCELLATION * (np.abs(T) + np.abs(change))
    T -= change
    T[:] = np.where(np.abs(T) <= rounding, 0.0, T)
    T[:, column] = 0.0
    T[row, column] = 1.0


def _leaving_row(T: np.ndarray, column: int, basis: np.ndarray, tolerance: float) -> int:
    """Row of the lexicographically smallest ratio; -1 where no entry of the column is positive.

    Where the artificial variable can leave, it does: the path has reached a solution.
    """
    n = T.shape[0]
    largest = np.abs(T[:, column]).max()
    row = -1
    for i in range(n):
        if T[i, column] <= tolerance * largest:
            continue
        if row < 0 or _lexicographically_less(T, i, T[i, column], row, T[row, column]):
            row = i
    if row >= 0 and basis[row] != 2 * n:
        best = T[row, 2 * n + 1] / T[row, column]
        for i in range(n):
            can_leave = basis[i] == 2 * n and T[i, column] > tolerance * largest
            if can_leave and T[i, 2 * n + 1] / T[i, column] <= best:
                row = i
    return row


def _lexicographically_less(T: np.ndarray, i: int, pivot_i: float, k: int, pivot_k: float) -> bool:
    """Whether row i (right side, then slack columns) over its pivot is smaller than row k's."""
    n = T.shape[0]
    a, b = T[i, 2 * n + 1] / pivot_i, T[k, 2 * n + 1] / pivot_k
    if abs(a - b) > 10.0 * CANCELLATION * (abs(a) + abs(b)):
        return a < b
    for j in range(n):
        a, b = T[i, j] / pivot_i, T[k, j] / pivot_k
        if abs(a - b) > 10.0 * CANCELLATION * (abs(a) + abs(b)):
            return a < b
    return False
