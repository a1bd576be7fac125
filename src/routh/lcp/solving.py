"""Solve one linear complementarity problem, and say so only where the residual proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import Result
from routh.base.status import InputError, Status
from routh.base.validation import Array, integer, real, real_array
from routh.lcp.lemke import FOUND, RAY, lemke_pivots

# The linear complementarity problem ``0 <= z _|_ W z + q >= 0``: its residual and its result.


@dataclass(frozen=True, eq=False)
class LCPResult(Result):
    """What became of one linear complementarity problem."""

    z: Array  # (n,)
    status: Status
    pivots: int
    residual: float  # dimensionless, recomputed from W, q and z; infinite where z is not finite
    method: str = "lemke"  # which attempt gave the answer


def natural_residual(W: Array, q: Array, z: Array) -> float:
    """``max |min(z, W z + q)|``, infinite where anything is not finite."""
    if not np.all(np.isfinite(z)):
        return float("inf")
    gap = float(np.abs(np.minimum(z, W @ z + q)).max())
    return gap if np.isfinite(gap) else float("inf")


def default_units(W: Array, q: Array) -> tuple[float, float]:
    """Units of z and w for a problem about which nothing else is known: from its largest entries."""
    w_unit = float(np.abs(q).max()) or 1.0
    return w_unit / (float(np.abs(W).max()) or 1.0), w_unit


# Exact integers grow with every pivot; above this size the last resort would take minutes.
RATIONAL_LIMIT = 80

# A residual this small cannot be improved: the tableau's own values are taken as they are.
CLEAN = 1e-14

Pivoting = Callable[[Array, Array, Array, int, float], tuple[int, int, np.ndarray, np.ndarray]]


def solve(
    W: ArrayLike,
    q: ArrayLike,
    *,
    cover: ArrayLike | None = None,
    z_unit: ArrayLike | None = None,
    w_unit: ArrayLike | None = None,
    tolerance: float = tolerances.RESIDUAL,
    max_pivots: int | None = None,
) -> LCPResult:
    """Find z with ``0 <= z _|_ W z + q >= 0`` by Lemke's method.

    Where floating point fails, the problem is tried again with cleaned data, with other covering vectors
    and, up to a limit of size, in exact arithmetic. The result's ``method`` tells which attempt succeeded.

    Parameters
    ----------
    W : (n, n).
    q : (n,).
    cover : (n,) positive covering vector; which solution is found depends on it where there are several.
        Default: all ones.
    z_unit : (n,) or number, the size of z, in which the residual is measured.
    w_unit : (n,) or number, the size of ``W z + q``, likewise.
    tolerance : the residual below which the result counts as solved.
    max_pivots : default ``50 n``.
    """
    matrix = real_array("W", W, [(None, None)], "shape (n, n)")
    n = len(matrix)
    if matrix.shape != (n, n) or n == 0:
        raise InputError("W", got=f"shape {matrix.shape}", wanted="a square matrix (n, n) with n >= 1")
    vector = real_array("q", q, [(n,)], f"shape ({n},)")
    covering = np.ones(n) if cover is None else real_array("cover", cover, [(n,)], f"shape ({n},)")
    if not np.all(covering > 0.0):
        raise InputError("cover", got=covering.min(), wanted="positive numbers")
    units = default_units(matrix, vector)
    z_size = _unit("z_unit", z_unit, n, units[0])
    w_size = _unit("w_unit", w_unit, n, units[1])
    real("tolerance", tolerance, above=0.0)
    limit = 50 * n if max_pivots is None else integer("max_pivots", max_pivots, at_least=1)
    return solve_scaled(matrix, vector, covering, z_size, w_size, tolerance, limit)


def solve_scaled(
    W: Array,
    q: Array,
    cover: Array,
    z_unit: Array,
    w_unit: Array,
    tolerance: float,
    max_pivots: int,
    pivoting: Pivoting = lemke_pivots,
    exact_W: Callable[[], np.ndarray] | None = None,
) -> LCPResult:
    """`solve` without the checks of its input.

    ``pivoting`` may be a compiled `lemke_pivots`. ``exact_W`` gives the scaled matrix in fractions, for the
    last resort: a matrix such as ``J M^-1 J^T`` that is singular and was rounded entry by entry may have
    lost the property that makes the problem solvable.
    """
    scaled_W = W * z_unit / w_unit[:, None]
    scaled_q = q / w_unit
    scaled_cover = cover / w_unit
    best: LCPResult | None = None
    for method, near_W, near_q, near_cover in _attempts(scaled_W, scaled_q, scaled_cover):
        outcome, pivots, basis, value = pivoting(near_W, near_q, near_cover, max_pivots, tolerances.PIVOT)
        for z in _readings(scaled_W, scaled_q, basis, value):
            residual = natural_residual(scaled_W, scaled_q, z)
            if best is None or residual < best.residual:
                status = _status(outcome, residual, tolerance)
                best = LCPResult(z * z_unit, status, int(pivots), residual, method)
            if best.residual < CLEAN:
                return best
        if best is not None and best.status is Status.SOLVED:
            return best
    if len(q) <= RATIONAL_LIMIT:
        matrix = scaled_W if exact_W is None else exact_W()
        from routh.lcp.rational import lemke_exact  # rarely needed

        outcome, pivots, basis, exact = lemke_exact(matrix, scaled_q, scaled_cover, max_pivots)
        z = _from_basis(basis, np.array([float(value) for value in exact]))
        residual = natural_residual(scaled_W, scaled_q, z)
        if best is None or residual < best.residual:
            best = LCPResult(z * z_unit, _status(outcome, residual, tolerance), pivots, residual, "exact")
    assert best is not None
    return best


def _attempts(W: Array, q: Array, cover: Array) -> Iterator[tuple[str, Array, Array, Array]]:
    """The problem as it came, without entries that are only rounding, then beside itself.

    A basis found for a matrix with a slightly larger diagonal, or from another covering vector, is tried on
    the problem itself: what counts is the residual there.
    """
    yield "lemke", W, q, cover
    clean = np.where(np.abs(q) < 1e-14 * np.abs(q).max(), 0.0, q)
    if np.any(clean != q):
        yield "lemke, cleaned", W, clean, cover
    for extra in (1e-13, 1e-11, 1e-9):
        yield "lemke, larger diagonal", W + extra * np.eye(len(q)), clean, cover
    rng = np.random.default_rng(0)
    for _ in range(3):
        yield "lemke, other cover", W, clean, cover * rng.uniform(0.5, 1.5, len(q))


def _readings(W: Array, q: Array, basis: np.ndarray, value: Array) -> Iterator[Array]:
    """The tableau's own values, then the basic variables solved anew from the given data."""
    n = len(q)
    yield _from_basis(basis, value)
    active = basis[(basis >= n) & (basis < 2 * n)] - n
    z = np.zeros(n)
    if active.size:
        block = W[np.ix_(active, active)]
        solution, *_ = np.linalg.lstsq(block, -q[active], rcond=None)
        solution -= np.linalg.lstsq(block, block @ solution + q[active], rcond=None)[0]
        z[active] = np.maximum(solution, 0.0)
        yield z
        # rows and columns of very different size, as with friction of 1e5, want to be balanced first
        row = np.abs(block).max(axis=1)
        row[row == 0.0] = 1.0
        column = np.abs(block / row[:, None]).max(axis=0)
        column[column == 0.0] = 1.0
        balanced = block / row[:, None] / column
        solution = np.linalg.lstsq(balanced, -q[active] / row, rcond=1e-15)[0] / column
        misfit = (block @ solution + q[active]) / row
        solution -= np.linalg.lstsq(balanced, misfit, rcond=1e-15)[0] / column
        z = np.zeros(n)
        z[active] = np.maximum(solution, 0.0)
    yield z


def _from_basis(basis: np.ndarray, value: Array) -> Array:
    n = len(basis)
    z = np.zeros(n)
    is_z = (basis >= n) & (basis < 2 * n)
    z[basis[is_z] - n] = np.maximum(value[is_z], 0.0)
    return z


def _status(outcome: int, residual: float, tolerance: float) -> Status:
    if residual < tolerance:
        return Status.SOLVED
    if outcome == FOUND:
        return Status.NUMERICAL
    return Status.RAY if outcome == RAY else Status.MAX_PIVOTS


def _unit(field: str, value: ArrayLike | None, n: int, default: float) -> Array:
    if value is None:
        return np.full(n, default)
    unit = np.broadcast_to(real_array(field, value, [(), (n,)], f"a number or shape ({n},)"), (n,)).copy()
    if not np.all(unit > 0.0):
        raise InputError(field, got=unit.min(), wanted="positive numbers")
    return unit
