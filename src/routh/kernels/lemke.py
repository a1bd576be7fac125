"""`routh.lcp.lemke.lemke_pivots` for many problems: by NumPy at first, then compiled."""

from __future__ import annotations

import numpy as np

from routh.compiling import Patient, compiled, kernel
from routh.compiling.foreign import Foreign
from routh.lcp import lemke as readable
from routh.lcp.lemke import CANCELLATION
from routh.validation import Array


def pivots(
    W: Array, q: Array, cover: Array, max_pivots: int, tolerance: float
) -> tuple[int, int, np.ndarray, np.ndarray]:
    """By NumPy, until so many were asked for that compiled code is worth its loading."""
    n = len(q)
    T, basis, ended = np.empty((n, 2 * n + 2)), np.empty(n, dtype=np.int64), np.empty(2, dtype=np.int64)
    given = tuple(np.ascontiguousarray(array) for array in (W, q, cover))
    _follow_patiently(*given, int(max_pivots), float(tolerance), T, basis, ended)
    return int(ended[0]), int(ended[1]), basis, T[:, -1].copy()


@kernel
def pivot(T: Array, row: int, column: int) -> None:
    """`readable.pivot`, scalar by scalar."""
    n, inverse = T.shape[0], T[row, column]
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


#: `readable.follow_path`: what it ended with, and the number of pivots
lemke = compiled(readable.follow_path, instead=((readable.pivot, pivot),))


@kernel
def follow(
    W: Array, q: Array, cover: Array, max_pivots: int, tolerance: float, T: Array, basis: Array, ended: Array
) -> None:
    """`readable.follow_path`; ``ended`` (2,): what the path ended with, and the number of pivots."""
    ended[0], ended[1] = lemke(W, q, cover, max_pivots, tolerance, T, basis)


def _follow_in_numpy(*given: Foreign) -> None:
    *problem, ended = given
    ended[:] = readable.follow_path(*problem)


_follow_patiently = Patient(follow, _follow_in_numpy)
