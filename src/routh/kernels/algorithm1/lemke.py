"""Lemke's method compiled: `routh.lcp.lemke` as it stands, for kernels and for many problems from Python."""

from __future__ import annotations

import numpy as np

from routh.base.validation import Array
from routh.compiling import Patient, compiled, kernel, vectors
from routh.compiling.foreign import Foreign
from routh.lcp import lemke as readable
from routh.lcp.lemke import CANCELLED


def pivots(
    W: Array, q: Array, cover: Array, max_pivots: int, tolerance: float
) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Pivot with NumPy, until so many were asked for that compiled code is worth its loading."""
    n = len(q)
    T, basis, place = np.empty((n, n + 2)), np.empty(n, dtype=np.int64), np.empty(2 * n + 1, dtype=np.int64)
    given, ended = tuple(np.ascontiguousarray(array) for array in (W, q, cover)), np.empty(2, dtype=np.int64)
    _follow_patiently(*given, int(max_pivots), float(tolerance), T, basis, place, ended)
    return int(ended[0]), int(ended[1]), basis, T[:, -1].copy()


@kernel
def pivot(T: Array, n: int, row: int, column: int) -> None:
    """`readable.pivot`, scalar by scalar."""
    share = 1.0 / T[row, column]  # a division takes as long as a dozen products
    T[row, column] = 1.0
    for j in range(n + 2):
        T[row, j] = T[row, j] * share
    gained = T[row, n + 1]
    for i in range(n):
        factor, value = T[i, column], T[i, n + 1]
        if i != row and factor != 0.0:
            T[i, column] = 0.0
            subtract(n + 1, factor, T[row], T[i])
            new = value - factor * gained
            T[i, n + 1] = new if abs(new) > CANCELLED * abs(value) else 0.0


@vectors
def subtract(length: int, factor: float, line: Array, target: Array) -> None:
    """``target -= factor line``."""
    for j in range(length):
        target[j] = target[j] - factor * line[j]


#: `readable.follow_path`: what it ended with, and the number of pivots
lemke = compiled(readable.follow_path, instead=((readable.pivot, pivot),))


@kernel
def follow(
    W: Array, q: Array, cover: Array, max_pivots: int, tolerance: float, T: Array, basis: Array, place: Array,
    ended: Array,
) -> None:  # fmt: skip
    """`readable.follow_path`; ``ended`` (2,): what the path ended with, and the number of pivots."""
    ended[0], ended[1] = lemke(W, q, cover, max_pivots, tolerance, T, basis, place)


def _follow_in_numpy(*given: Foreign) -> None:
    *problem, ended = given
    ended[:] = readable.follow_path(*problem)


_follow_patiently = Patient(follow, _follow_in_numpy)
