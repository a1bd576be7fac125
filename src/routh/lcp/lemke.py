"""Lemke's method with lexicographic pivoting: the readable reference for every faster path.

`follow_path` is plain Python that `routh.kernels.lemke` compiles as it stands, with a scalar `pivot`.
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
    T, basis = np.zeros((n, 2 * n + 2)), np.empty(n, dtype=np.int64)
    outcome, pivots = follow_path(W, q, cover, max_pivots, tolerance, T, basis)
    return outcome, pivots, basis, T[:, 2 * n + 1].copy()


def follow_path(
    W: np.ndarray, q: np.ndarray, cover: np.ndarray, max_pivots: int, tolerance: float,
    T: np.ndarray, basis: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """`lemke_pivots` in the caller's memory: (outcome, pivots); values in the last column of T (n, 2 n + 2).

    The other columns: slacks (they carry the inverse of the basis, for lexicographic ties), z, artificial.
    """
    n = len(q)
    right = 2 * n + 1
    smallest, largest, least_cover = 0.0, 0.0, cover[0]
    for i in range(n):
        for j in range(n):
            T[i, j] = 0.0
            T[i, n + j] = -W[i, j]
        T[i, i] = 1.0
        T[i, 2 * n] = -cover[i]
        T[i, right] = q[i]
        basis[i] = i
        smallest = min(smallest, q[i])
        largest = max(largest, abs(q[i]))
        least_cover = min(least_cover, cover[i])
    if smallest >= 0.0:
        return FOUND, 0
    # The artificial variable enters; the row of the (lexicographically) largest -q / cover leaves.
    row = 0
    for i in range(1, n):
        if lexicographically_less(T, i, -T[i, 2 * n], row, -T[row, 2 * n]):
            row = i
    entering, artificial = 2 * n, row
    scale = largest / least_cover  # of the artificial variable: below rounding it has left
    for done in range(max_pivots):
        leaving = basis[row]
        pivot(T, row, entering)
        basis[row] = entering
        if entering == 2 * n:
            artificial = row
        if leaving == 2 * n or abs(T[artificial, right]) <= CANCELLATION * scale:
            return FOUND, done + 1
        entering = leaving + n if leaving < n else leaving - n  # the complement
        row = leaving_row(T, entering, basis, tolerance)
        if row < 0:
            return RAY, done + 1
    return PIVOT_LIMIT, max_pivots


def pivot(T: np.ndarray, row: int, column: int) -> None:
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


def leaving_row(T: np.ndarray, column: int, basis: np.ndarray, tolerance: float) -> int:
    """Row of the lexicographically smallest ratio; -1 where no entry of the column is positive.

    Where the artificial variable can leave, it does: the path has reached a solution.
    """
    n = T.shape[0]
    right, largest = 2 * n + 1, 0.0
    for i in range(n):
        largest = max(largest, abs(T[i, column]))
    row = -1
    for i in range(n):
        if T[i, column] <= tolerance * largest:
            continue
        if row < 0 or lexicographically_less(T, i, T[i, column], row, T[row, column]):
            row = i
    if row >= 0 and basis[row] != 2 * n:
        best = T[row, right] / T[row, column]
        for i in range(n):
            can_leave = basis[i] == 2 * n and T[i, column] > tolerance * largest
            if can_leave and T[i, right] / T[i, column] <= best:
                row = i
    return row


def lexicographically_less(T: np.ndarray, i: int, pivot_i: float, k: int, pivot_k: float) -> bool:
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
