"""Least squares with non-negative numbers, for the few unknowns of one impact (Lawson and Hanson 1974)."""

from __future__ import annotations

import numpy as np

from routh.validation import Array

ROUNDS = 3  # per unknown


def nonnegative_least_squares(A: Array, b: Array) -> tuple[Array, float]:
    """The x (n,) >= 0 that brings ``A x`` nearest to ``b``, and the distance.

    A distance that is not the least means that the rounds were used up: it is then that of the x returned.
    """
    n = A.shape[1]
    x, pushing = np.zeros(n), np.zeros(n, dtype=bool)
    small = 10.0 * np.finfo(float).eps * max(A.shape) * float(np.abs(A).max(initial=0.0))
    for _ in range(ROUNDS * n):
        slope = A.T @ (b - A @ x)
        slope[pushing] = -np.inf
        best = int(np.argmax(slope))
        if pushing.all() or not slope[best] > small:
            break
        pushing[best] = True
        x = _inside(A, b, x, pushing)
    return x, float(np.linalg.norm(A @ x - b))


def _inside(A: Array, b: Array, x: Array, pushing: np.ndarray) -> Array:
    """Go to the least squares of the pushing ones; those that would become negative stop pushing."""
    while pushing.any():
        wanted = np.zeros_like(x)
        wanted[pushing] = np.linalg.lstsq(A[:, pushing], b)[0]
        below = pushing & (wanted <= 0.0)
        if not below.any():
            return wanted
        share = float(np.min(x[below] / (x[below] - wanted[below] + np.finfo(float).tiny)))
        x = x + share * (wanted - x)
        pushing &= ~(below & (x <= np.finfo(float).eps * np.abs(x).max(initial=1e-300)))
        x[~pushing] = 0.0
    return np.zeros_like(x)
