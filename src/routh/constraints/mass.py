"""The mass matrix as the solvers need it: a factor of a dense one, or the inverse of a sparse one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.csgraph import connected_components

from routh import tolerances
from routh.validation import Array, DenseOrSparse, real_array


class DenseMass:
    """``M = L L^T`` with its factor."""

    def __init__(self, M: DenseOrSparse) -> None:
        self.M = real_array("M", M, [(None, None)], "shape (nv, nv)")
        _check_symmetric(self.M)
        # the inverse of the triangular factor: bodies are few where matrices are dense, calls are many
        self.half = lapack.dtrtri(_factor(self.M), lower=1)[0]

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.M)

    def solve(self, b: Array) -> Array:
        """``M^-1 b``."""
        return self.half.T @ (self.half @ b)

    def whiten(self, G: Array) -> Array:
        """Rows ``G L^-T``, so that ``G M^-1 G^T`` is their Gram matrix, (n, nv)."""
        return (self.half @ G.T).T  # column by column in memory: products with few columns are faster so

    def unwhiten(self, x: Array) -> Array:
        """``L^-T x``."""
        return self.half.T @ x


class SparseMass:
    """A sparse mass matrix: block diagonal in bodies, in any order; each block is inverted."""

    def __init__(self, M: DenseOrSparse) -> None:
        self.given = M
        self.M = sparse.csr_array(M, dtype=np.float64)
        if not np.all(np.isfinite(self.M.data)):
            raise ValueError("M: got an entry that is not finite; wanted finite numbers")
        _check_symmetric(self.M)
        self.inverse = _inverse_of_blocks(self.M)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return int(self.M.shape[0])

    def solve(self, b: Array) -> Array:
        """``M^-1 b``."""
        return self.inverse @ b

    def diagonal(self, G: DenseOrSparse) -> Array:
        """Diagonal of ``G M^-1 G^T``, (n,)."""
        return np.asarray((G @ self.inverse).multiply(G).sum(axis=1)).ravel()


Mass = DenseMass | SparseMass


def mass_of(M: DenseOrSparse) -> Mass:
    """The factored mass matrix; refuses a massless direction."""
    return SparseMass(M) if sparse.issparse(M) else DenseMass(M)


def _check_symmetric(M: DenseOrSparse) -> None:
    if M.shape[0] != M.shape[1]:
        raise ValueError(f"M: got shape {M.shape}; wanted (nv, nv)")
    off = abs(M - M.T).max() if M.shape[0] else 0.0
    if off and not off <= tolerances.SYMMETRY * abs(M).max():
        raise ValueError(f"M: got asymmetry {off:g}; wanted a symmetric matrix")


def _factor(M: Array) -> Array:
    """Cholesky factor; a direction whose inertia is lost in rounding counts as massless."""
    L, info = lapack.dpotrf(M, lower=1, clean=1)
    margin = 0.0 if info else (np.diag(L) ** 2 / np.diag(M)).min(initial=1.0)
    if not margin > tolerances.MASSLESS:
        lowest = np.linalg.eigvalsh(M)[0]
        raise ValueError(
            f"M: got smallest eigenvalue {lowest:g}; wanted a positive definite mass matrix: "
            "a massless direction has no acceleration, so give every body mass and inertia"
        )
    return L


def _inverse_of_blocks(M: DenseOrSparse) -> DenseOrSparse:
    count, label = connected_components(M, directed=False)
    if count == M.shape[0]:
        diagonal = M.diagonal()
        if not diagonal.min(initial=1.0) > 0.0:
            _factor(np.diag(diagonal))
        return sparse.diags_array(1.0 / diagonal).tocsr()
    order = np.argsort(label, kind="stable")
    blocks = np.split(order, np.cumsum(np.bincount(label))[:-1])
    rows, columns, data = [], [], []
    for block in blocks:
        dense = M[block][:, block].toarray()
        half = lapack.dtrtri(_factor(dense), lower=1)[0]
        rows.append(np.repeat(block, len(block)))
        columns.append(np.tile(block, len(block)))
        data.append((half.T @ half).ravel())
    triple = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.coo_array(triple, shape=M.shape).tocsr()
