"""Cone programs by Clarabel, the one place that sets it up, and least squares with non-negative numbers.

What they return is for the caller to check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routh.base.validation import Array, DenseOrSparse

ROUNDS = 3  # of `nonnegative_least_squares`, per unknown
Cone = tuple[str, int]  # kind, and its size: rows, or for "semidefinite" the matrix's
_KINDS = {
    "zero": "ZeroConeT",
    "nonnegative": "NonnegativeConeT",
    "second order": "SecondOrderConeT",
    "semidefinite": "PSDTriangleConeT",
}


@dataclass(frozen=True, eq=False)
class ConicAnswer:
    """The solver's last iterate."""

    x: Array  # (n,)
    slack: Array  # (m,), in the cones
    dual: Array  # (m,)
    solved: bool  # by the solver's own account, and finite
    iterations: int


def minimise(
    linear: Array,
    table: DenseOrSparse,
    constants: Array,
    cones: Sequence[Cone],
    *,
    quadratic: DenseOrSparse | None = None,
    tolerance: float = 1e-8,
) -> ConicAnswer:
    """Minimise ``x.P x / 2 + linear . x`` with ``constants - table x`` in the cones, one after the other.

    ``table`` (m, n) and ``quadratic`` P (n, n, default zero) may be dense or sparse; ``tolerance`` is that of
    feasibility and of the gap.
    """
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    members = [getattr(clarabel, _KINDS[kind])(size) for kind, size in cones if size]
    n = len(linear)
    upper = sparse.triu(sparse.csc_array((n, n) if quadratic is None else quadratic))
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(upper), linear, sparse.csc_matrix(table), constants, members, settings
    )
    answer = solver.solve()
    x, status = np.array(answer.x), str(answer.status)
    solved = "Solved" in status and "Infeasible" not in status and bool(np.all(np.isfinite(x)))
    return ConicAnswer(x, np.array(answer.s), np.array(answer.z), solved, int(answer.iterations))


def nonnegative_least_squares(A: Array, b: Array) -> tuple[Array, float]:
    """The x (n,) >= 0 that brings ``A x`` nearest to ``b``, and the distance (Lawson and Hanson 1974).

    For the few unknowns of one impact.
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
