"""The table of Lemke's vertices of one problem: grown by the first samples, one after the other, then frozen.

What is in it changes how fast samples are drawn, not what they are.
"""

from __future__ import annotations

import numpy as np

from routh.kernels.step_arrays import Dictionaries, ScaledProblem, Table, Vertices
from routh.kernels.vertex_memory import complete_links
from routh.kernels.walking import FIRST, PLACE_BITS, PLACE_MASK, RANK_BITS, TIE, VERTEX_SHIFT, extents
from routh.validation import Array

MOST_BYTES = 2**28
MOST_VERTICES = 2**17 - 1


def empty_table(scaled: ScaledProblem, size: Array, *, grows: bool) -> Table:
    """Arrays for as many vertices as fit into 256 MiB (they take memory only once they are filled), or none.

    ``size`` (nc,) is the scaled step.
    """
    nc, nt, k = scaled.sizes
    n = nc * (1 + nt)
    places, rows = extents(scaled.sizes)
    each = 8 * ((n + 1) * (2 * n + 1) + places + 2 * rows) + 4 * rows + 8 * nc * 10
    room = min(MOST_VERTICES, max(64, MOST_BYTES // each)) if grows and _names_fit(nc, k, places, rows) else 0
    room += FIRST
    hashes = 2 ** max(4, (4 * room).bit_length())
    vertices = Vertices(
        np.zeros(places, dtype=np.int32),
        np.zeros(room * (places + 2 * rows)),
        np.zeros(room * (1 + rows), dtype=np.int32),
        np.zeros(room, dtype=np.int32),
        _rounding(scaled, size, places),
        np.zeros(room * places if grows else 0, dtype=np.int32),
        np.zeros((room, nc, 4), dtype=np.int8),
        np.zeros((room, n + nc, n)),
    )
    dictionaries = Dictionaries(
        np.zeros(hashes, dtype=np.int64),
        np.zeros(hashes, dtype=np.int32),
        np.array([0 if grows else 1], dtype=np.int64),
        np.array([FIRST, 0], dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros((room, nc, 4), dtype=np.int8),
        np.zeros((room, nc, 1 + nt), dtype=np.int64),
        np.zeros((room, nc, nt, nt)),
        np.zeros((room, n + 1, 2 * n + 1)),
    )
    return Table(vertices, dictionaries)


def copy_table(frozen: Table, table: Table) -> None:
    """Copy all that a frozen table knows into an empty one, which then grows on."""
    for known, new in zip(frozen.dictionaries, table.dictionaries, strict=True):
        new[: len(known)] = known
    table.dictionaries.frozen[0] = 0
    for name in ("roots", "records", "links", "finals", "states", "operators"):
        known, new = getattr(frozen.vertices, name), getattr(table.vertices, name)
        new[: len(known)] = known


def _rounding(scaled: ScaledProblem, size: Array, places: int) -> Array:
    """Rounding of the values in each place: the terms that they are sums of, times TIE."""
    nc, _, k = scaled.sizes
    # no contact moves faster than with all the energy in it (there G is 1 along the normal)
    largest = max(1.0, np.sqrt(np.diag(scaled.step.G).max()), size.max())
    velocity, impulse, _ = scaled.step.cover.T
    terms = np.ones(places)
    terms[:nc] = 2.0 + np.maximum(velocity, impulse)  # beta, its slack
    terms[nc : 2 * nc] = 2.0 + velocity  # lambda_n
    terms[2 * nc : (2 + k) * nc] = np.repeat(4.0 + velocity, k)  # lambda_D
    terms[(2 + k) * nc : (3 + k) * nc] = 3.0 + np.maximum(velocity, impulse)  # gamma, its slack
    return TIE * largest * terms


def _names_fit(nc: int, k: int, places: int, rows: int) -> bool:
    """Whether a vertex's name fits into 63 bits and a link into 31."""
    fits = places <= 2**PLACE_BITS and rows <= 2**RANK_BITS and MOST_VERTICES < 2 ** (31 - VERTEX_SHIFT)
    return fits and 9 * nc * k * (6 * (k + 1) ** 2) ** nc < 2**63


def freeze(scaled: ScaledProblem, table: Table, *, complete: bool) -> Table:
    """A copy that is only read from now on, without unused memory; rows that win often come first.

    ``complete``: link known vertices that no sample has connected yet, too.
    """
    vertices, dictionaries = table
    dictionaries.frozen[0] = 1
    if complete:
        complete_links(scaled.sizes, table, np.zeros((scaled.sizes[0], 4), dtype=np.int8))
    n, solutions = (int(number) for number in dictionaries.used)
    places, rows = extents(scaled.sizes)
    records = vertices.records.reshape(-1, places + 2 * rows)[:n].copy()
    links = vertices.links.reshape(-1, 1 + rows)[:n].copy()
    left_by = np.take_along_axis(vertices.wins.reshape(-1, places)[:n], links[:, 1:] & PLACE_MASK, axis=1)
    won = np.where(np.arange(rows) < links[:, :1], -left_by, 1)
    order = np.argsort(won, axis=1, kind="stable")
    links[:, 1:] = np.take_along_axis(links[:, 1:], order, axis=1)
    tested = records[:, places:].reshape(n, rows, 2)
    records[:, places:] = np.take_along_axis(tested, order[:, :, None], axis=1).reshape(n, -1)
    read = Vertices(
        vertices.roots,
        records.ravel(),
        links.ravel(),
        vertices.finals[:n].copy(),
        vertices.rounding,
        np.zeros(0, dtype=np.int32),
        vertices.states[: max(solutions, 1)].copy(),
        vertices.operators[: max(solutions, 1)].copy(),
    )
    kept = (array[:n].copy() for array in dictionaries[4:])
    return Table(read, Dictionaries(*dictionaries[:4], *kept))
