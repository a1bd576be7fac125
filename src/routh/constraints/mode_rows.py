"""The spring rows that are left once it is known what every contact does: separates, sticks or slides.

All forces follow from a few: those of the rows that act, and in space one across each slip. They push along
``T^T G``, where ``T`` carries the few to all: a sliding contact's normal force brings ``mu d`` of friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from routh.constraints.system import ActingRows
from routh.friction import ContactMode
from routh.validation import Array, DenseOrSparse

SEPARATES, STICKS, SLIDES = ContactMode


@dataclass(eq=False)
class Modes:
    """What every row does: unilateral rows on or off, contacts open, stuck or slipping along a direction."""

    active: np.ndarray  # (nu,) bool
    mode: np.ndarray  # (nc,) int
    direction: Array  # (nc, nt), unit where slipping
    weakening: Array  # (nc,), mu lambda_n / |tau| where slipping

    @staticmethod
    def first(rows: ActingRows) -> Modes:
        """Everything that is pressed acts, and sticks where it can."""
        mode = np.where(rows.c[rows.normals] > 0.0, np.where(can_stick(rows), STICKS, SLIDES), SEPARATES)
        direction = np.zeros((rows.nc, rows.nt))
        return Modes(np.ones(rows.nu, dtype=bool), mode, direction, np.zeros(rows.nc))

    @staticmethod
    def slipping(rows: ActingRows, active: np.ndarray, mode: np.ndarray, pull: Array, limit: Array) -> Modes:
        """Those that slide slip along ``pull`` (nc, nt) N; friction gives ``limit`` (nc,) N at most."""
        size = np.linalg.norm(pull, axis=1)
        moving = (mode == SLIDES) & can_stick(rows) & (size > 0.0)
        safe = np.where(moving, size, 1.0)
        direction = np.where(moving[:, None], pull / safe[:, None], 0.0)
        return Modes(active, mode, direction, np.where(moving, np.minimum(limit / safe, 1.0), 0.0))


def can_stick(rows: ActingRows) -> np.ndarray:
    """Contacts with friction and a tangential spring or damper, (nc,) bool."""
    return (rows.mu > 0.0) & (rows.X[rows.tangents].reshape(rows.nc, rows.nt)[:, 0] > 0.0)


class ModeRows:
    """The few rows of a mode, k of them: first those of ``plain``, then those across the slips."""

    def __init__(self, rows: ActingRows, modes: Modes) -> None:
        nb, nu, nc, nt = rows.nb, rows.nu, rows.nc, rows.nt
        tangent = np.arange(nc * nt).reshape(nc, nt) + rows.tangents.start
        linear = np.concatenate([np.arange(nb), nb + np.flatnonzero(modes.active)]).astype(int)
        closed = np.flatnonzero(modes.mode != SEPARATES)
        stuck = np.flatnonzero(modes.mode == STICKS)
        self.slipping = np.flatnonzero((modes.mode == SLIDES) & can_stick(rows))
        self.plain = np.concatenate([linear, nb + nu + closed, tangent[stuck].ravel()]).astype(int)
        self.pressing = len(linear) + np.searchsorted(closed, self.slipping)  # their normals among the few
        self.across = tangent[self.slipping] if nt == 2 else tangent[:0]  # (s, nt) rows of the friction
        self.friction = tangent[self.slipping]  # (s, nt)
        self.along = modes.direction[self.slipping]  # (s, nt)
        self.tilt = rows.mu[self.slipping, None] * self.along
        turned = np.stack([-self.along[:, 1], self.along[:, 0]], axis=1) if nt == 2 else self.along[:0]
        self.turned = turned  # unit, across the slips
        root = np.sqrt(modes.weakening[self.slipping][: len(self.across)])
        self.root = root
        self.S = np.concatenate([rows.S[self.plain], root * rows.S[self.across[:, :1]].ravel()])
        #: what the rows measure of a velocity, and the directions in which they push, (k, nv)
        self.measure, self.push = self._matrices(rows.G)
        self.total = len(rows)

    def __len__(self) -> int:
        return len(self.S)

    def _matrices(self, G: DenseOrSparse) -> tuple[DenseOrSparse, DenseOrSparse]:
        measure = push = _select(G, self.plain)
        if len(self.slipping):
            push = _tilted(measure, self.pressing, _combine(G, self.friction, self.tilt))
        if len(self.across):
            extra = _combine(G, self.across, self.turned)
            measure, push = _append(measure, extra), _append(push, extra)
        return measure, push

    def measured(self, values: Array) -> Array:
        """Values (n,) of all rows as the few rows measure them, (k,)."""
        return np.concatenate([values[self.plain], (values[self.across] * self.turned).sum(axis=1)])

    def gathered(self, values: Array) -> Array:
        """``T^T`` times values (n,) of all rows: what they say of the few forces, (k,)."""
        few = self.measured(values)
        few[self.pressing] += (values[self.friction] * self.tilt).sum(axis=1)
        return few

    def spread(self, few: Array) -> Array:
        """``T`` times the few forces (k,): all of them, (n,)."""
        force = np.zeros(self.total)
        force[self.plain] = few[: len(self.plain)]
        force[self.friction] = few[self.pressing, None] * self.tilt
        force[self.across] += few[len(self.plain) :, None] * self.turned
        return force


def _select(G: DenseOrSparse, index: np.ndarray) -> DenseOrSparse:
    return G if len(index) == G.shape[0] and np.array_equal(index, np.arange(len(index))) else G[index]


def _combine(G: DenseOrSparse, index: np.ndarray, weights: Array) -> DenseOrSparse:
    """Rows ``sum_k weights[i, k] G[index[i, k]]``."""
    n, k = index.shape
    if sparse.issparse(G):
        place = (weights.ravel(), (np.repeat(np.arange(n), k), index.ravel()))
        return sparse.csr_array(place, shape=(n, G.shape[0])) @ G
    return np.einsum("ik,ikv->iv", weights, G[index])


def _tilted(measure: DenseOrSparse, position: np.ndarray, extra: DenseOrSparse) -> DenseOrSparse:
    """``measure`` with ``extra`` added to the rows at ``position``."""
    if sparse.issparse(measure):
        place = (np.ones(len(position)), (position, np.arange(len(position))))
        return measure + sparse.csr_array(place, shape=(measure.shape[0], len(position))) @ extra
    push = measure.copy()
    push[position] += extra
    return push


def _append(G: DenseOrSparse, extra: DenseOrSparse) -> DenseOrSparse:
    return sparse.vstack([G, extra], format="csr") if sparse.issparse(G) else np.concatenate([G, extra])
