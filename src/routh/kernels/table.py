"""The table of Lemke's vertices of one problem: grown in a serial, seeded pilot run, then frozen.

What is in it depends on the problem and the step alone, not on the number of samples, their order, their
seed or the threads, so neither do the results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from routh.kernels.prepare import KernelData

PILOT_SAMPLES, PILOT_SEED = 2048, 20231115
MOST_BYTES = 2**25
MOST_VERTICES = 2**14
Table = tuple[Any, ...]


def empty_table(data: KernelData, capacity: int | None = None) -> Table:
    """Arrays for as many vertices as fit into 32 MiB (they take memory only once they are filled)."""
    nc, nt = data.shape
    k, n = len(data.dirs), nc * (1 + nt)
    rows = 1 + nc * (4 if nt == 1 else 4 + k)
    each = 8 * ((n + 1) * (2 * n + 1) + 2 * n + 1) + rows * (5 * 8 + 2 * 8 + 4) + 8 * nc * 10
    fitting = capacity if capacity is not None else min(MOST_VERTICES, max(64, MOST_BYTES // each))
    if not _keys_fit(nc, k):
        fitting = 0
    places = 2 ** max(4, (2 * fitting).bit_length())
    return (
        np.full(nc * (1 + k), -1, dtype=np.int64),  # 0 roots: first vertex for each first quantity
        np.zeros(places, dtype=np.int64),  # 1 keys of the hash table
        np.full(places, -1, dtype=np.int64),  # 2 slots: vertex in each place of it
        np.zeros(2, dtype=np.int64),  # 3 used vertices; whether frozen
        np.zeros(fitting, dtype=np.int64),  # 4 row of D whose quantity enters
        np.zeros((fitting, nc, 4), dtype=np.int16),  # 5 state
        np.zeros((fitting, nc, 1 + nt), dtype=np.int16),  # 6 columns
        np.zeros((fitting, nc, nt, nt)),  # 7 frame
        np.zeros((fitting, n + 1, 2 * n + 1)),  # 8 D
        np.zeros((fitting, 2 * n + 1)),  # 9 directions of travel
        np.zeros(fitting, dtype=np.int64),  # 10 rows of the ratio test
        np.zeros((fitting, rows, 3), dtype=np.int16),  # 11 their quantities
        np.zeros((fitting, rows, 4), dtype=np.uint16),  # 12 primitives and bounds that they sum
        np.zeros((fitting, rows, 5)),  # 13 factors of these; rounding
        np.full((fitting, rows), -1, dtype=np.int32),  # 14 vertex behind each row, -1: unknown
    )


def _keys_fit(nc: int, k: int) -> bool:
    """Whether a vertex's name fits into 63 bits."""
    return 9 * nc * k * (6 * (k + 1) ** 2) ** nc < 2**63


def freeze(table: Table) -> None:
    """From now on the table is only read."""
    table[3][1] = 1
