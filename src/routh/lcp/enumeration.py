"""Every solution of a small linear complementarity problem, by trying every basis: the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.status import CapacityError, Status
from routh.base.validation import Array, real_array
from routh.lcp.convex import nonnegative_least_squares
from routh.lcp.solving import LCPResult, default_units, natural_residual

MOST_BASES = 2**20
# Singular bases are tried one by one, by non-negative least squares: affordable up to this many bases.
MOST_SINGULAR = 2**12
_CHUNK = 4096


def enumerate_solutions(
    W: ArrayLike,
    q: ArrayLike,
    *,
    same: ArrayLike | None = None,
    z_unit: Array | float | None = None,
    w_unit: Array | float | None = None,
    tolerance: float = tolerances.RESIDUAL,
) -> list[LCPResult]:
    """All basic solutions of ``0 <= z _|_ W z + q >= 0``.

    ``same`` (k, n): two solutions are one where ``same @ (z / z_unit)`` agrees, e.g. where they differ only
    in undetermined impulses; default: z itself. Every vertex of the solution set that some invertible
    complementary basis represents is found; singular bases contribute one point each, in problems of up to
    2^12 bases. More than 2^20 bases are refused.
    """
    matrix = real_array("W", W, [(None, None)], "shape (n, n)")
    n = len(matrix)
    vector = real_array("q", q, [(n,)], f"shape ({n},)")
    if 2**n > MOST_BASES:
        raise CapacityError(
            "W", wrong=f"{n} variables have 2^{n} bases", wanted="at most 2^20, use a pivoting solver"
        )
    units = default_units(matrix, vector)
    z_size = np.broadcast_to(units[0] if z_unit is None else np.asarray(z_unit, dtype=np.float64), (n,))
    w_size = np.broadcast_to(units[1] if w_unit is None else np.asarray(w_unit, dtype=np.float64), (n,))
    scaled_W = matrix * z_size / w_size[:, None]
    scaled_q = vector / w_size
    key = np.eye(n) if same is None else np.asarray(same, dtype=np.float64)

    found: list[LCPResult] = []
    keys: list[Array] = []
    for z in _candidates(scaled_W, scaled_q):
        residual = natural_residual(scaled_W, scaled_q, z)
        if not residual < tolerance:
            continue
        image = key @ z
        if any(np.abs(image - other).max() < tolerances.SAME_VELOCITY for other in keys):
            continue
        keys.append(image)
        found.append(LCPResult(z * z_size, Status.SOLVED, 0, residual, "enumeration"))
    return found


def _candidates(W: Array, q: Array) -> Iterator[Array]:
    """Solutions of the linear system of each complementary basis that are non-negative up to rounding."""
    n = len(q)
    if np.all(q >= -tolerances.RESIDUAL):
        yield np.zeros(n)
    places = 1 << np.arange(n)[::-1]  # the first variable is the highest digit
    bases = np.arange(2**n - 1, 0, -1)  # and so those of one size come in the order of their variables
    if 2**n > MOST_SINGULAR:
        bases = bases[~_seen_singular(W, bases, places)]
    chosen = (bases[:, None] & places) > 0
    sizes = np.count_nonzero(chosen, axis=1)
    for size in range(1, n + 1):
        subsets = np.nonzero(chosen[sizes == size])[1].reshape(-1, size)
        for start in range(0, len(subsets), _CHUNK):
            rows = subsets[start : start + _CHUNK]  # (m, size)
            blocks = W[rows[:, :, None], rows[:, None, :]]
            rights = -q[rows]
            # a zero row with a right side cannot be met
            unmet = (np.abs(blocks).max(axis=2) == 0.0) & (np.abs(rights) > tolerances.RESIDUAL)
            possible = np.any(rights != 0.0, axis=1) & ~np.any(unmet, axis=1)  # else z = 0, as above
            rows, blocks, rights = rows[possible], blocks[possible], rights[possible]
            regular = _is_regular(blocks)
            found = _of_regular(rows[regular], blocks[regular], rights[regular])
            if 2**n <= MOST_SINGULAR:
                found = chain(found, _of_singular(rows[~regular], blocks[~regular], rights[~regular]))
            for row, value in found:
                z = np.zeros(n)
                z[row] = np.maximum(value, 0.0)
                yield z


def _seen_singular(W: Array, bases: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Bases (m,) with a row or column of zeros, or two equal or opposite rows: most, with friction."""
    found = np.zeros(len(bases), dtype=bool)
    for i, place in enumerate(places):
        for entries in (W[i], W[:, i]):
            found |= (bases & place > 0) & (bases & places[entries != 0.0].sum() == 0)
        for j in range(i):
            for differ in (W[i] != W[j], W[i] != -W[j]):
                if np.count_nonzero(differ) <= len(places) // 2:
                    both = place | places[j]
                    found |= (bases & both == both) & (bases & places[differ].sum() == 0)
    return found


def _is_regular(blocks: Array) -> np.ndarray:
    """Whether each block is invertible, judged by its determinant against the product of its row lengths."""
    lengths = np.linalg.norm(blocks, axis=2)
    sign, logarithm = np.linalg.slogdet(blocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = logarithm - np.sum(np.log(lengths), axis=1)
    return (sign != 0.0) & np.isfinite(relative) & (relative > np.log(1e-13))


def _of_regular(rows: np.ndarray, blocks: Array, rights: Array) -> Iterator[tuple[np.ndarray, Array]]:
    """Which variables are basic, and their values, up to rounding not negative."""
    values = np.linalg.solve(blocks, rights[:, :, None])[:, :, 0]
    size = np.maximum(1.0, np.abs(values).max(axis=1, keepdims=True))
    feasible = np.all(values >= -tolerances.RESIDUAL * size, axis=1)
    yield from zip(rows[feasible], values[feasible], strict=True)


def _of_singular(rows: np.ndarray, blocks: Array, rights: Array) -> Iterator[tuple[np.ndarray, Array]]:
    """The same of blocks that are not invertible, one point each."""
    nearest = np.linalg.pinv(blocks) @ rights[:, :, None]  # no numbers of any sign come nearer
    misfits = np.linalg.norm(blocks @ nearest - rights[:, :, None], axis=(1, 2))
    consistent = misfits < 2.0 * tolerances.RESIDUAL
    for row, block, right in zip(rows[consistent], blocks[consistent], rights[consistent], strict=True):
        value, misfit = nonnegative_least_squares(block, right)
        if misfit < tolerances.RESIDUAL:
            yield row, value
