"""The table of Lemke's vertices of one problem: grown in a serial, seeded pilot run, then frozen.

What is in it depends on the problem and the step alone, not on the number of samples, their order, their
seed or the threads, so neither do the results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from routh.kernels.cache import complete_links
from routh.kernels.prepare import KernelData
from routh.kernels.walking import FIRST, PLACE_BITS, RANK_BITS, TIE, extents
from routh.validation import Array

PILOT_SEED = 20231115
PILOT_ROUND, PILOT_ROUNDS = 2048, 8  # samples a round; rounds end when one finds hardly anything new
FEW_NEW = 0.02  # of the vertices known
MOST_BYTES = 2**26
MOST_VERTICES = 2**15
Table = tuple[Any, Any]


def empty_table(data: KernelData, size: Array, capacity: int | None = None) -> Table:
    """Arrays for as many vertices as fit into 64 MiB (they take memory only once they are filled).

    ``size`` (nc,) is the scaled step. The first part of the table is what `routh.kernels.walking.walk` takes.
    """
    nc, nt = data.shape
    k, n = len(data.dirs), nc * (1 + nt)
    length, rows = extents((nc, nt, k))
    each = 8 * ((n + 1) * (2 * n + 1) + length + rows) + 4 * rows + 8 * nc * 10
    fitting = capacity if capacity is not None else min(MOST_VERTICES, max(64, MOST_BYTES // each))
    if not _names_fit(nc, k, length, rows):
        fitting = 0
    fitting += FIRST
    hashes = 2 ** max(4, (2 * fitting).bit_length())
    vertices = (
        np.zeros(length, dtype=np.int32),  # roots
        np.zeros(fitting * (length + rows)),  # records
        np.zeros(fitting * (1 + rows), dtype=np.int32),  # links
        np.zeros((fitting, nc, 4), dtype=np.int8),  # states
        _rounding(data, size, length),
    )
    return vertices, (
        np.zeros(hashes, dtype=np.int64),  # 0 keys of the hash table
        np.zeros(hashes, dtype=np.int32),  # 1 vertex in each place of it
        np.array([FIRST, 0], dtype=np.int64),  # 2 used vertices; whether frozen
        np.zeros(fitting, dtype=np.int64),  # 3 row of D whose quantity enters
        np.zeros((fitting, nc, 1 + nt), dtype=np.int64),  # 4 columns
        np.zeros((fitting, nc, nt, nt)),  # 5 frame
        np.zeros((fitting, n + 1, 2 * n + 1)),  # 6 D
        np.zeros((fitting, rows), dtype=np.int32),  # 7 how often each row won
    )


def _rounding(data: KernelData, size: Array, length: int) -> Array:
    """Rounding of the values in each place: the terms that they are sums of, times TIE."""
    nc, k = data.shape[0], len(data.dirs)
    # no contact moves faster than with all the energy in it (there G is 1 along the normal)
    largest = max(1.0, np.sqrt(np.diag(data.G).max()), size.max())
    velocity, impulse, _ = data.cover.T
    terms = np.ones(length)
    terms[:nc] = 2.0 + np.maximum(velocity, impulse)  # beta, its slack
    terms[nc : 2 * nc] = 2.0 + velocity  # lambda_n
    terms[2 * nc : (2 + k) * nc] = np.repeat(4.0 + velocity, k)  # lambda_D
    terms[(2 + k) * nc : (3 + k) * nc] = 3.0 + np.maximum(velocity, impulse)  # gamma, its slack
    return TIE * largest * terms


def _names_fit(nc: int, k: int, length: int, rows: int) -> bool:
    """Whether a vertex's name fits into 63 bits and a link into 31."""
    fits = length <= 2**PLACE_BITS and rows <= 2**RANK_BITS
    return fits and 9 * nc * k * (6 * (k + 1) ** 2) ** nc < 2**63


def freeze(data: KernelData, table: Table) -> Table:
    """A copy that is only read from now on, without unused memory; rows that win often come first."""
    (roots, records, links, states, rounding), (keys, found, used, *cold, wins) = table
    used[1] = 1
    complete_links(data.shape, len(data.dirs), table, np.zeros((data.shape[0], 4), dtype=np.int8))
    n, (length, rows) = int(used[0]), extents((*data.shape, len(data.dirs)))
    records, links = records.reshape(-1, length + rows)[:n].copy(), links.reshape(-1, 1 + rows)[:n].copy()
    order = np.argsort(np.where(np.arange(rows) < links[:, :1], -wins[:n], 1), axis=1, kind="stable")
    links[:, 1:] = np.take_along_axis(links[:, 1:], order, axis=1)
    records[:, length:] = np.take_along_axis(records[:, length:], order, axis=1)
    vertices = (roots, records.ravel(), links.ravel(), states[:n].copy(), rounding)
    return vertices, (keys, found, used, *(array[:n].copy() for array in (*cold, wins)))
