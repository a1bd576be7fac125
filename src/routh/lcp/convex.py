"""Cone programs by Clarabel, the one place that sets it up.

What they return is for the caller to check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routh.validation import Array, DenseOrSparse

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
