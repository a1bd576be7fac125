"""Spring-damper rows that all act: one linear system, solved so that stiff rows do not drown soft ones.

They obey ``y + S Gm a = c`` with the acceleration ``a = M^-1 Gf^T S y``. ``Gm`` measures and ``Gf``
pushes; they differ only for sliding contacts. Eliminating either unknown squares the range of the
stiffnesses, so neither is eliminated: the symmetric problem is a least-squares problem, the other one is
factored with both unknowns in it.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from routh.base.validation import Array, DenseOrSparse
from routh.constraints.system import Mass, SparseMass

#: dense rows above which sliding contacts are solved in the space of velocities (nv by nv)
_AUGMENTED_ROWS = 240


def solve_springs(
    mass: Mass, Gm: DenseOrSparse, Gf: DenseOrSparse, S: Array, c: Array
) -> tuple[Array, Array]:
    """Scaled forces ``y`` (n,) and the acceleration ``a`` (nv,) that they cause."""
    if len(c) == 0:
        return np.zeros(0), np.zeros(mass.nv)
    if isinstance(mass, SparseMass):
        return _sparse(mass, Gm, Gf, S, c)
    N = S[:, None] * mass.whiten(Gm)  # (n, nv)
    if Gf is Gm:
        y, x = least_squares(N, c)
    else:
        F = S[:, None] * mass.whiten(Gf)
        if len(c) <= _AUGMENTED_ROWS:
            y, x = _augmented(N, F, c)
        else:  # many contacts on few bodies: (I + F^T N) x = F^T c, then y = c - N x
            x = np.linalg.solve(np.eye(N.shape[1]) + F.T @ N, F.T @ c).astype(np.float64)
            y = c - N @ x
    return y, mass.unwhiten(x)


def least_squares(N: Array, c: Array) -> tuple[Array, Array]:
    """``(I + N N^T) y = c`` and ``x = N^T y`` in O(n nv^2), for any range of the rows of N (n, nv).

    ``x`` minimises ``|c - N x|^2 + |x|^2`` and ``y = c - N x`` is its residual. Householder QR with row
    sorting and column pivoting is stable row by row (Cox and Higham 1998), and the residual taken from Q
    does not cancel as the subtraction would.
    """
    n, nv = N.shape
    W, b = np.empty((n + nv, nv), order="F"), np.empty(n + nv)
    size = np.abs(N).max(axis=1)
    graded = size.min() < 1e-2 * size.max()  # their order matters
    order = np.argsort(-size, kind="stable") if graded else slice(None)
    # rows larger than those of the identity before them, the others after
    heavy = int((size > 1.0).sum()) if graded else n * bool(size.max() > 1.0)
    W[heavy : heavy + nv], b[heavy : heavy + nv] = np.eye(nv), 0.0
    sorted_N, sorted_c = N[order], c[order]
    W[:heavy], W[heavy + nv :] = sorted_N[:heavy], sorted_N[heavy:]
    b[:heavy], b[heavy + nv :] = sorted_c[:heavy], sorted_c[heavy:]
    factor, pivots, tau, *_ = lapack.dgeqp3(W, overwrite_a=1)
    rhs = _apply(factor, tau, b, "T")
    x, y = np.empty(nv), np.empty(n)
    x[pivots - 1], _ = lapack.dtrtrs(factor[:nv, :nv], rhs[:nv])
    rhs[:nv] = 0.0
    residual = _apply(factor, tau, rhs, "N")
    y[order] = np.concatenate([residual[:heavy], residual[heavy + nv :]])
    return y, x


def _apply(factor: Array, tau: Array, b: Array, trans: str) -> Array:
    return np.asarray(lapack.dormqr("L", trans, factor, tau, b[:, None], lwork=64 * 64)[0][:, 0])


def _augmented(N: Array, F: Array, c: Array) -> tuple[Array, Array]:
    """``y + N x = c``, ``x = F^T y`` by LU with both unknowns, rows brought to unit size."""
    n, nv = N.shape
    A = np.empty((n + nv, n + nv))
    A[:n, :n], A[:n, n:] = np.eye(n), N
    A[n:, :n], A[n:, n:] = F.T, -np.eye(nv)
    A /= np.abs(A).max(axis=1)[:, None]
    b = np.zeros(n + nv)
    b[:n] = c / np.maximum(1.0, np.abs(N).max(axis=1, initial=0.0))
    factor, pivots, info = lapack.dgetrf(A)
    if info:
        raise np.linalg.LinAlgError(f"dgetrf returned {info}")
    solution = lapack.dgetrs(factor, pivots, b)[0]
    # one step of refinement makes the solution right row by row (Skeel 1980)
    solution += lapack.dgetrs(factor, pivots, b - A @ solution)[0]
    return solution[:n], solution[n:]


def _sparse(
    mass: SparseMass, Gm: DenseOrSparse, Gf: DenseOrSparse, S: Array, c: Array
) -> tuple[Array, Array]:
    """Solve for both unknowns by one sparse LU, rows brought to unit size."""
    scale = sparse.diags_array(S)
    push = -(mass.inverse @ Gf.T @ scale)
    A = sparse.block_array(
        [[sparse.eye_array(mass.nv), push], [scale @ Gm, sparse.eye_array(len(c))]], format="csr"
    )
    size = abs(A).max(axis=1).toarray().ravel()
    b = np.concatenate([np.zeros(mass.nv), c]) / size
    solution = splu((sparse.diags_array(1.0 / size) @ A).tocsc()).solve(b)
    return solution[mass.nv :], solution[: mass.nv]
