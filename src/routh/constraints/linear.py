"""Spring-damper rows that all act: one linear system, solved so that stiff rows do not drown soft ones.

The rows obey ``y + S Gm a = c`` with the acceleration ``a = M^-1 Gf^T S y``. ``Gm`` measures and ``Gf``
pushes; they differ only for sliding contacts. Eliminating either unknown squares the range of the
stiffnesses, so neither is eliminated: the symmetric problem is a least-squares problem, the other one is
factored with both unknowns in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from routh.constraints.mass import Mass, SparseMass
from routh.validation import Array

#: dense rows above which sliding contacts are solved in the space of velocities (nv by nv)
_AUGMENTED_ROWS = 240


def solve_springs(mass: Mass, Gm: Any, Gf: Any, S: Array, c: Array) -> tuple[Array, Array]:
    """Scaled forces ``y`` (n,) and the acceleration ``a`` (nv,) that they cause."""
    if len(c) == 0:
        return np.zeros(0), np.zeros(mass.nv)
    if isinstance(mass, SparseMass):
        return _sparse(mass, Gm, Gf, S, c)
    N = S[:, None] * mass.whiten(Gm)  # (n, nv)
    if Gf is Gm:
        y, x = least_squares(N, c)
    elif len(c) <= _AUGMENTED_ROWS:
        y, x = _augmented(N, S[:, None] * mass.whiten(Gf), c)
    else:
        y, x = _primal(N, S[:, None] * mass.whiten(Gf), c)
    return y, mass.unwhiten(x)


def least_squares(N: Array, c: Array) -> tuple[Array, Array]:
    """``(I + N N^T) y = c`` and ``x = N^T y`` in O(n nv^2), for any range of the rows of N (n, nv).

    ``x`` minimises ``|c - N x|^2 + |x|^2`` and ``y = c - N x`` is its residual. Householder QR with row
    sorting and column pivoting is stable row by row (Cox and Higham 1998), and the residual taken from Q
    does not cancel as the subtraction would.
    """
    n, nv = N.shape
    W = np.vstack([N, np.eye(nv)])
    order = np.argsort(-np.abs(W).max(axis=1), kind="stable")
    b = np.concatenate([c, np.zeros(nv)])[order]
    factor, pivots, tau, _, info = lapack.dgeqp3(np.asfortranarray(W[order]))
    if info:
        raise np.linalg.LinAlgError(f"dgeqp3 returned {info}")
    rhs = _apply(factor, tau, b, "T")
    x = np.empty(nv)
    x[pivots - 1], _ = lapack.dtrtrs(factor[:nv, :nv], rhs[:nv])
    rhs[:nv] = 0.0
    residual = np.empty(n + nv)
    residual[order] = _apply(factor, tau, rhs, "N")
    return residual[:n], x


def _apply(factor: Array, tau: Array, b: Array, trans: str) -> Array:
    product, _, info = lapack.dormqr("L", trans, factor, tau, b[:, None], lwork=64 * 64)
    if info:
        raise np.linalg.LinAlgError(f"dormqr returned {info}")
    return product[:, 0]


def _augmented(N: Array, F: Array, c: Array) -> tuple[Array, Array]:
    """``y + N x = c``, ``x = F^T y`` by LU with both unknowns, rows brought to unit size."""
    n, nv = N.shape
    A = np.empty((n + nv, n + nv))
    A[:n, :n], A[:n, n:] = np.eye(n), N
    A[n:, :n], A[n:, n:] = F.T, -np.eye(nv)
    size = np.abs(A).max(axis=1)
    solution = np.linalg.solve(A / size[:, None], np.concatenate([c, np.zeros(nv)]) / size)
    return solution[:n], solution[n:]


def _primal(N: Array, F: Array, c: Array) -> tuple[Array, Array]:
    """``(I + F^T N) x = F^T c``, then ``y = c - N x``: many contacts on few bodies."""
    x: Array = np.linalg.solve(np.eye(N.shape[1]) + F.T @ N, F.T @ c).astype(np.float64)
    return c - N @ x, x


def _sparse(mass: SparseMass, Gm: Any, Gf: Any, S: Array, c: Array) -> tuple[Array, Array]:
    """Both unknowns in one sparse LU, rows brought to unit size."""
    scale = sparse.diags_array(S)
    push = -(mass.inverse @ Gf.T @ scale)
    A = sparse.block_array(
        [[sparse.eye_array(mass.nv), push], [scale @ Gm, sparse.eye_array(len(c))]], format="csr"
    )
    size = abs(A).max(axis=1).toarray().ravel()
    b = np.concatenate([np.zeros(mass.nv), c]) / size
    solution = splu((sparse.diags_array(1.0 / size) @ A).tocsc()).solve(b)
    return solution[mass.nv :], solution[: mass.nv]
