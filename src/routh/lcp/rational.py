"""Lemke's method in exact integers: the last resort where floating point fails, and a judge in tests.

Fraction-free pivoting (Edmonds; Bareiss): all entries of the tableau share one denominator, the previous
pivot, and every division is exact. Lexicographic ties are exact too, so the path cannot cycle.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from routh.lcp.lemke import FOUND, PIVOT_LIMIT, RAY

#: Bits of entries that pivots may touch together: a few seconds. Entries grow with every pivot.
MOST_BITS = 10**9


def lemke_exact(
    W: np.ndarray, q: np.ndarray, cover: np.ndarray, max_pivots: int
) -> tuple[int, int, np.ndarray, list[Fraction]]:
    """Solve as `routh.lcp.lemke.lemke_pivots`, every number taken at its exact value; values as fractions.

    ``W`` may hold fractions (dtype object), where its entries have no exact floating-point form. Ends with
    PIVOT_LIMIT after ``max_pivots``, or where the numbers have grown too long.
    """
    n = len(q)
    fractions = np.frompyfunc(Fraction, 1, 1)
    given = np.column_stack([-fractions(W), -fractions(cover), fractions(q)])
    scale = lcm(*(entry.denominator for entry in given.flat))
    # Slacks are counted in units of 1 / scale, so that their block is the identity: then every entry stays a
    # minor of an integer matrix, and the divisions of the fraction-free pivots are exact.
    T = np.column_stack([np.eye(n, dtype=int).astype(object), np.frompyfunc(int, 1, 1)(given * scale)])
    denominator = 1

    basis = np.arange(n)
    if min(T[:, 2 * n + 1]) >= 0:
        return FOUND, 0, basis, [Fraction(int(value), denominator) for value in T[:, 2 * n + 1]]
    row = _smallest(T, list(range(n)), [-int(T[i, 2 * n]) for i in range(n)])
    entering = 2 * n
    outcome, pivots, touched = PIVOT_LIMIT, max_pivots, 0
    for pivot in range(max_pivots):
        leaving = basis[row]
        denominator = _pivot(T, row, entering, denominator)
        touched += T.size * denominator.bit_length()
        if touched > MOST_BITS:
            pivots = pivot + 1
            break
        basis[row] = entering
        if leaving == 2 * n:
            outcome, pivots = FOUND, pivot + 1
            break
        entering = leaving + n if leaving < n else leaving - n
        candidates = [i for i in range(n) if T[i, entering] > 0]
        if not candidates:
            outcome, pivots = RAY, pivot + 1
            break
        row = _leaving(T, basis, candidates, entering)
    return outcome, pivots, basis, [Fraction(int(value), denominator) for value in T[:, 2 * n + 1]]


def _leaving(T: np.ndarray, basis: np.ndarray, candidates: list[int], entering: int) -> int:
    """The lexicographically smallest ratio; the artificial variable leaves wherever it can."""
    n = len(T)
    row = _smallest(T, candidates, [int(T[i, entering]) for i in candidates])
    for i in candidates:
        if basis[i] == 2 * n and T[i, -1] * T[row, entering] <= T[row, -1] * T[i, entering]:
            return i
    return row


def _pivot(T: np.ndarray, row: int, column: int, denominator: int) -> int:
    """Fraction-free pivot; returns the new common denominator (kept positive)."""
    pivot = T[row, column]
    factors = T[:, column].copy()
    pivot_row = T[row].copy()
    T[:] = (T * pivot - np.outer(factors, pivot_row)) // denominator
    T[row] = pivot_row
    if pivot < 0:
        T *= -1
        pivot = -pivot
    return int(pivot)


def _smallest(T: np.ndarray, rows: list[int], pivots: list[int]) -> int:
    """Row with the lexicographically smallest (right side, slack columns) over its positive pivot."""
    n = len(T)
    order = [2 * n + 1, *range(n)]
    best, best_pivot = rows[0], pivots[0]
    for row, pivot in zip(rows[1:], pivots[1:], strict=True):
        for j in order:
            difference = T[row, j] * best_pivot - T[best, j] * pivot
            if difference:
                if difference < 0:
                    best, best_pivot = row, pivot
                break
    return best
