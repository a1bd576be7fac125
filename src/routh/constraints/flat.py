"""The acting rows of a system as the kernels take them (`routh.kernels.constraints`)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from routh.constraints.mass import SparseMass
from routh.constraints.system import ActingRows
from routh.kernels.constraints.data import DENSE, SPARSE, Layout, Terms, make_terms
from routh.kernels.constraints.scaling import factorise
from routh.validation import Array

ROOM = 4  # entries of sparse factors, as a multiple of those of a matrix in which everything acts

Flat = tuple[Layout, Terms, int, np.ndarray]


def flat_rows(rows: ActingRows) -> Flat:
    """Layout, numbers, room for sparse factors, and the velocities (nv,) in the order of the layout."""
    if isinstance(rows.mass, SparseMass):
        return _sparse(rows, rows.mass)
    nv, half = rows.mass.nv, rows.mass.half
    pattern, start = np.zeros(len(rows), dtype=np.int64), np.zeros(nv, dtype=np.int64)
    columns = np.arange(nv)[None].copy(), np.array([nv]), start, np.zeros(0, dtype=np.int64)
    layout = Layout(DENSE, rows.nb, rows.nu, rows.nc, rows.nt, pattern, *columns)
    whole = np.ascontiguousarray(half)
    terms = Terms(
        whole, whole, np.zeros(nv), rows.v_free, np.ascontiguousarray(rows.G), _numbers(rows), rows.mu
    )
    return layout, terms, 0, np.arange(nv)


def _numbers(rows: ActingRows) -> Array:
    return np.array([rows.phi, rows.K, rows.B, rows.gamma])


def _sparse(rows: ActingRows, mass: SparseMass) -> Flat:
    """Velocities block by block of the mass matrix; the rows of a contact share their columns."""
    nv, (count, label) = mass.nv, connected_components(mass.M, directed=False)
    order = np.argsort(label, kind="stable")
    place = np.empty(nv, dtype=np.int64)
    place[order] = np.arange(nv)
    size = np.bincount(label, minlength=count)
    first = np.cumsum(size) - size
    G = sparse.coo_array(rows.G)
    G.eliminate_zeros()
    normals = rows.tangents.start
    pattern = np.concatenate([np.arange(normals), np.repeat(np.arange(rows.nb + rows.nu, normals), rows.nt)])
    pairs = np.unique(pattern[G.row] * count + label[G.col])  # a row or contact, and a block that it moves
    owner, block = pairs // count, pairs % count
    width = np.bincount(owner, weights=size[block], minlength=normals).astype(np.int64)
    before = np.cumsum(size[block]) - size[block]
    offset = before - (np.cumsum(width) - width)[owner]
    columns = np.zeros((normals, int(width.max(initial=1))), dtype=np.int64)
    which = np.repeat(np.arange(len(pairs)), size[block])
    along = np.arange(len(which)) - np.repeat(before, size[block])
    columns[owner[which], offset[which] + along] = first[block[which]] + along
    start = np.repeat(first, size).astype(np.int64)
    elimination, entries = elimination_order(pattern, columns, width, nv)
    kinds = rows.nb, rows.nu, rows.nc, rows.nt
    layout = Layout(SPARSE, *kinds, pattern.astype(np.int64), columns, width, start, elimination)
    terms = make_terms(layout)
    there = np.searchsorted(pairs, pattern[G.row] * count + label[G.col])
    terms.G[G.row, offset[there] + place[G.col] - first[label[G.col]]] = G.data
    M = sparse.coo_array(mass.M)
    terms.M[place[M.row], place[M.col] - start[place[M.row]]] = M.data
    factorise(layout, terms.M, np.zeros_like(terms.M), terms.half)
    terms.v[:], terms.numbers[:], terms.mu[:] = rows.v_free[order], _numbers(rows), rows.mu
    return layout, terms, entries, order


def elimination_order(
    pattern: np.ndarray, columns: np.ndarray, width: np.ndarray, nv: int
) -> tuple[np.ndarray, int]:
    """In which order elimination keeps factors sparse if everything acts (COLAMD), and room for them."""
    n = len(pattern)
    rows = np.repeat(np.arange(n), width[pattern])
    kept = np.arange(columns.shape[1]) < width[:, None]
    J = sparse.csr_array((np.linspace(1.0, 2.0, len(rows)), (rows, columns[pattern][kept[pattern]])), (n, nv))
    one, other = sparse.eye_array(n), sparse.eye_array(nv)
    factors = splu(sparse.block_array([[one, J], [-J.T, other]], format="csc"))
    entries = max(factors.L.nnz, factors.U.nnz, 2 * J.nnz + n + nv)
    return np.argsort(factors.perm_c).astype(np.int64), ROOM * entries
