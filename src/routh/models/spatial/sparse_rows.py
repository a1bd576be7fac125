"""Contact Jacobians of many bodies, with their zeros left out."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from routh.models.spatial.touch import ContactKinematics
from routh.validation import Array


def sparse_rows(touch: ContactKinematics, positions: Array, R: Array) -> tuple[csr_array, csr_array]:
    """``Jn (nc, nv)`` and ``Jt (2 nc, nv)``: six entries per contact and body, twelve for two spheres."""
    first, second = touch.blocks(positions, R)
    nc, nv = len(first), 6 * touch.nb
    width = np.full(nc, 6)
    width[touch.paired] = 12
    columns = np.zeros((nc, 12), dtype=np.int32)
    entries = np.zeros((nc, 3, 12))
    columns[:, :6] = 6 * touch.first[:, None] + np.arange(6)
    columns[:, 6:] = 6 * touch.second[:, None] + np.arange(6)
    entries[:, :, :6] = first
    entries[touch.paired, :, 6:] = second
    kept = np.arange(12) < width[:, None]  # (nc, 12)

    def rows(directions: list[int]) -> csr_array:
        count = len(directions)
        mask = np.repeat(kept, count, axis=0)
        start = np.concatenate([[0], np.cumsum(np.repeat(width, count))]).astype(np.int32)
        data = entries[:, directions].reshape(nc * count, 12)[mask]
        return csr_array((data, np.repeat(columns, count, axis=0)[mask], start), shape=(nc * count, nv))

    return rows([0]), rows([1, 2])
