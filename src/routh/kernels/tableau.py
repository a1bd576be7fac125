"""Lemke's method on a full tableau for kernels; all memory belongs to the caller.

The step with a floor (see `routh.step.elastic`) has bounds that coincide, which the condensed pivoting of
the inelastic kernels does not know; the tableau takes any linear complementarity problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import compiled, kernel
from routh.lcp import lemke as readable
from routh.lcp.lemke import CANCELLATION

if TYPE_CHECKING:
    from routh.validation import Array


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
