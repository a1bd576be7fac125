"""Lemke's method on a full tableau, scalar by scalar: `routh.lcp.lemke` for kernels.

All memory belongs to the caller.
The step with a floor (see `routh.step.elastic`) has bounds that coincide, which the condensed pivoting of
the inelastic kernels does not know; the tableau takes any linear complementarity problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import kernel

if TYPE_CHECKING:
    from routh.validation import Array

FOUND, RAY, PIVOT_LIMIT = 0, 1, 2
CANCELLATION = 1e-13  # as in routh.lcp.lemke


@kernel
def lemke(
    W: Array, q: Array, cover: Array, max_pivots: int, tolerance: float, T: Array, basis: Array
) -> tuple[int, int]:
    """Follow Lemke's path: what it ended with, and the number of pivots.

    The solution stands in the last column of ``T`` (n, 2 n + 2), see ``basis`` (n,).
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
    row = 0
    for i in range(1, n):
        if lexicographically_less(T, n, i, -T[i, 2 * n], row, -T[row, 2 * n]):
            row = i
    entering, artificial = 2 * n, row
    scale = largest / least_cover
    for done in range(max_pivots):
        leaving = basis[row]
        pivot(T, n, row, entering)
        basis[row] = entering
        if entering == 2 * n:
            artificial = row
        if leaving == 2 * n or abs(T[artificial, right]) <= CANCELLATION * scale:
            return FOUND, done + 1
        entering = leaving + n if leaving < n else leaving - n
        row = leaving_row(T, n, entering, basis, tolerance)
        if row < 0:
            return RAY, done + 1
    return PIVOT_LIMIT, max_pivots


@kernel
def pivot(T: Array, n: int, row: int, column: int) -> None:
    """Make ``column`` the unit vector of ``row``; differences that cancel to the last digits are zero."""
    inverse = T[row, column]
    for j in range(2 * n + 2):
        T[row, j] = T[row, j] / inverse
    for i in range(n):
        factor = T[i, column]
        if i == row or factor == 0.0:
            continue
        for j in range(2 * n + 2):
            change = factor * T[row, j]
            old = T[i, j]
            new = old - change
            T[i, j] = 0.0 if abs(new) <= CANCELLATION * (abs(old) + abs(change)) else new
        T[i, column] = 0.0
    T[row, column] = 1.0


@kernel
def leaving_row(T: Array, n: int, column: int, basis: Array, tolerance: float) -> int:
    """Row of the lexicographically smallest ratio; the artificial variable leaves where it can; -1: none."""
    right = 2 * n + 1
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(T[i, column]))
    row = -1
    for i in range(n):
        if T[i, column] <= tolerance * largest:
            continue
        if row < 0 or lexicographically_less(T, n, i, T[i, column], row, T[row, column]):
            row = i
    if row >= 0 and basis[row] != 2 * n:
        best = T[row, right] / T[row, column]
        for i in range(n):
            can_leave = basis[i] == 2 * n and T[i, column] > tolerance * largest
            if can_leave and T[i, right] / T[i, column] <= best:
                row = i
    return row


@kernel
def lexicographically_less(T: Array, n: int, i: int, pivot_i: float, k: int, pivot_k: float) -> bool:
    """Whether row i (right side, then slack columns) over its pivot is smaller than row k's."""
    a, b = T[i, 2 * n + 1] / pivot_i, T[k, 2 * n + 1] / pivot_k
    if abs(a - b) > 10.0 * CANCELLATION * (abs(a) + abs(b)):
        return a < b
    for j in range(n):
        a, b = T[i, j] / pivot_i, T[k, j] / pivot_k
        if abs(a - b) > 10.0 * CANCELLATION * (abs(a) + abs(b)):
            return a < b
    return False


@kernel
def read_solution(T: Array, basis: Array, z: Array) -> None:
    """z (n,) from the basic variables."""
    n = len(z)
    for i in range(n):
        z[i] = 0.0
    for i in range(n):
        if n <= basis[i] < 2 * n:
            z[basis[i] - n] = max(T[i, 2 * n + 1], 0.0)


@kernel
def natural_residual(W: Array, q: Array, z: Array) -> float:
    """``max |min(z, W z + q)|``; infinite where anything is not finite."""
    gap = 0.0
    for i in range(len(q)):
        w = q[i]
        for j in range(len(q)):
            if z[j] != 0.0:
                w += W[i, j] * z[j]
        size = abs(min(z[i], w))
        if not size < 1e300:
            return 1e300
        gap = max(gap, size)
    return gap
