"""Lemke's method, compiled: bit for bit what `routh.lcp.lemke.lemke_pivots` does."""

from __future__ import annotations

import numpy as np

from routh.compiling import Patient, kernel
from routh.lcp.lemke import CANCELLATION, FOUND, PIVOT_LIMIT, RAY, lemke_pivots
from routh.validation import Array


def pivots(
    W: Array, q: Array, cover: Array, max_pivots: int, tolerance: float
) -> tuple[int, int, np.ndarray, np.ndarray]:
    """`lemke_pivots`: by NumPy, until so many were asked for that compiled code is worth its loading."""
    n = len(q)
    T, basis, ended = np.zeros((n, 2 * n + 2)), np.empty(n, dtype=np.int64), np.empty(2, dtype=np.int64)
    value = np.empty(n)
    given = tuple(np.ascontiguousarray(array) for array in (W, q, cover))
    _follow_patiently(*given, int(max_pivots), float(tolerance), T, basis, value, ended)
    return int(ended[0]), int(ended[1]), basis, value


@kernel
def follow(
    W: Array,
    q: Array,
    cover: Array,
    max_pivots: int,
    tolerance: float,
    T: Array,
    basis: np.ndarray,
    value: Array,
    ended: np.ndarray,
) -> None:
    """Lemke's path in the tableau T (n, 2 n + 2), zero before; ``ended``: what it ended with, and pivots."""
    n = len(q)
    largest, least, lowest = 0.0, cover[0], q[0]
    for i in range(n):
        basis[i] = i
        T[i, i] = 1.0
        for j in range(n):
            T[i, n + j] = -W[i, j]
        T[i, 2 * n] = -cover[i]
        T[i, 2 * n + 1] = q[i]
        largest, least, lowest = max(largest, abs(q[i])), min(least, cover[i]), min(lowest, q[i])
    ended[0], ended[1] = FOUND, 0
    if not lowest >= 0.0:
        _path(T, basis, max_pivots, tolerance, largest / least, ended)
    for i in range(n):
        value[i] = T[i, 2 * n + 1]


@kernel
def _path(
    T: Array, basis: np.ndarray, max_pivots: int, tolerance: float, scale: float, ended: np.ndarray
) -> None:
    n = len(basis)
    row = 0
    for i in range(1, n):
        if _less(T, i, T[i, 2 * n] * -1.0, row, T[row, 2 * n] * -1.0):
            row = i
    entering, artificial = 2 * n, row
    for pivot in range(max_pivots):
        leaving = basis[row]
        _pivot(T, row, entering)
        basis[row] = entering
        ended[1] = pivot + 1
        if entering == 2 * n:
            artificial = row
        if leaving == 2 * n or abs(T[artificial, 2 * n + 1]) <= CANCELLATION * scale:
            return
        entering = leaving + n if leaving < n else leaving - n
        row = _leaving(T, entering, basis, tolerance)
        if row < 0:
            ended[0] = RAY
            return
    ended[0], ended[1] = PIVOT_LIMIT, max_pivots


@kernel
def _pivot(T: Array, row: int, column: int) -> None:
    n, width = T.shape
    pivot = T[row, column]
    for j in range(width):
        T[row, j] /= pivot
    for i in range(n):
        if i == row:
            continue
        factor = T[i, column]
        for j in range(width):
            change = factor * T[row, j]
            rounding = CANCELLATION * (abs(T[i, j]) + abs(change))
            rest = T[i, j] - change
            T[i, j] = 0.0 if abs(rest) <= rounding else rest
        T[i, column] = 0.0
    for j in range(width):
        if abs(T[row, j]) == 0.0:
            T[row, j] = 0.0  # no negative zero
    T[row, column] = 1.0


@kernel
def _leaving(T: Array, column: int, basis: np.ndarray, tolerance: float) -> int:
    n = len(basis)
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(T[i, column]))
    row = -1
    for i in range(n):
        if T[i, column] <= tolerance * largest:
            continue
        if row < 0 or _less(T, i, T[i, column], row, T[row, column]):
            row = i
    if row >= 0 and basis[row] != 2 * n:
        best = T[row, 2 * n + 1] / T[row, column]
        for i in range(n):
            can_leave = basis[i] == 2 * n and T[i, column] > tolerance * largest
            if can_leave and T[i, 2 * n + 1] / T[i, column] <= best:
                row = i
    return row


@kernel
def _less(T: Array, i: int, pivot_i: float, k: int, pivot_k: float) -> bool:
    n = T.shape[0]
    a, b = T[i, 2 * n + 1] / pivot_i, T[k, 2 * n + 1] / pivot_k
    if abs(a - b) > 10.0 * CANCELLATION * (abs(a) + abs(b)):
        return a < b
    for j in range(n):
        a, b = T[i, j] / pivot_i, T[k, j] / pivot_k
        if abs(a - b) > 10.0 * CANCELLATION * (abs(a) + abs(b)):
            return a < b
    return False


def _follow_in_numpy(
    W: Array,
    q: Array,
    cover: Array,
    max_pivots: int,
    tolerance: float,
    T: Array,
    basis: np.ndarray,
    value: Array,
    ended: np.ndarray,
) -> None:
    ended[0], ended[1], basis[:], value[:] = lemke_pivots(W, q, cover, max_pivots, tolerance)


_follow_patiently = Patient(follow, _follow_in_numpy)
