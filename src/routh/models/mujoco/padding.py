"""Rows of many states gathered into the padded arrays of a batch, which grow with the rows."""

from __future__ import annotations

import numpy as np

from routh.batch import empty_arrays
from routh.models.mujoco.watching import WatchedRows
from routh.validation import Array

_PLACES = {"kind": ((), np.int8), "pair": ((2,), np.int32), "ordinal": ((), np.int32), "dist": ((), float),
           "pos": ((3,), float), "frame": ((3, 3), float)}  # fmt: skip


class PaddedRows:
    """The contact arrays of a batch of ``n`` states.

    They begin with room for one planar contact a state and are made anew, one after the other, where a state
    has more: what is held besides the arrays themselves stays small.
    """

    def __init__(self, n: int, nv: int) -> None:
        self.n, self.nv, self.nc, self.nt = n, nv, 1, 1
        self.done = 0  # states up to this one may have rows
        self.arrays, self.places = self._empty(1, 1)

    def _empty(self, nc: int, nt: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        places = {name: np.zeros((self.n, nc, *shape), dtype=kind) for name, (shape, kind) in _PLACES.items()}
        return empty_arrays(self.n, self.nv, nc, nt), places

    def add(self, piece: WatchedRows) -> None:
        """Take over the rows of some states, which come after all earlier ones."""
        counts = np.diff(piece.first)
        nc = max(self.nc, int(counts.max()))
        nt = self.nt if piece.planar.all() else 2
        if (nc, nt) != (self.nc, self.nt):
            self._grow(nc, nt)
        rows = np.repeat(piece.states, counts)
        slots = np.arange(len(rows)) - np.repeat(piece.first[:-1], counts)
        J = piece.rows["J"]
        self.arrays["Jn"][rows, slots] = J[:, 0]
        self.arrays["Jt"][rows, slots] = J[:, 1 : 1 + self.nt]
        self.arrays["mu"][rows, slots] = piece.rows["mu"]
        self.arrays["present"][rows, slots] = True
        self.arrays["size"][piece.states, 1] = counts
        self.arrays["size"][piece.states, 2] = np.where(counts == 0, 0, np.where(piece.planar, 1, 2))
        for name, target in self.places.items():
            target[rows, slots] = piece.rows[name]
        self.done = int(piece.states[-1]) + 1

    def _grow(self, nc: int, nt: int) -> None:
        larger, places = self._empty(nc, nt)  # no memory yet: pages are given when they are written
        for old, new in ((self.arrays, larger), (self.places, places)):
            for name, array in new.items():
                given = old.pop(name)[: self.done]
                array[tuple(map(slice, given.shape))] = given
        self.arrays, self.places, self.nc, self.nt = larger, places, nc, nt

    def finished(self, M: Array, qvel: Array) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """The fields of a batch, and where its contacts are."""
        self.arrays["size"][:, 0] = self.nv
        self.places["dist"][~self.arrays["present"]] = np.nan
        return {"M": M, "v": qvel} | self.arrays, self.places
