"""`routh.lcp.lemke.lemke_pivots` for many problems: by NumPy at first, then by the compiled tableau."""

from __future__ import annotations

import numpy as np

from routh.compiling import Patient, kernel
from routh.compiling.foreign import Foreign
from routh.kernels.tableau import lemke
from routh.lcp.lemke import follow_path
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
def follow(
    W: Array, q: Array, cover: Array, max_pivots: int, tolerance: float, T: Array, basis: Array, ended: Array
) -> None:
    """`follow_path`; ``ended`` (2,): what the path ended with, and the number of pivots."""
    ended[0], ended[1] = lemke(W, q, cover, max_pivots, tolerance, T, basis)


def _follow_in_numpy(*given: Foreign) -> None:
    *problem, ended = given
    ended[:] = follow_path(*problem)


_follow_patiently = Patient(follow, _follow_in_numpy)
