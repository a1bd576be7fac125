"""Outcomes of impacts as they arrive: one, or those of several simulations at once.

The rows come from the mass matrix and the Jacobians of a model, so what `routh.sample` checks of a stranger's
numbers is not checked again; the outcomes are the same, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from routh import tolerances
from routh.auditing.membership import DEFAULT_TOLERANCE
from routh.batch import empty_arrays
from routh.kernels.common.arrays import IMPULSE, Outputs, make_outputs
from routh.kernels.common.judge import keep_laws
from routh.kernels.events import with_default
from routh.kernels.own_seeds import run
from routh.models.mujoco.arrivals import Arrival
from routh.problem_rows import Problems, Rows, Scratch, empty_rows, prepare, scratch, scratch_for
from routh.sampling.settings import make_settings
from routh.status import Status
from routh.validation import Array

_TOLERANCES = tolerances.APPROACH, DEFAULT_TOLERANCE  # of energy and approach
_SOLVED = int(Status.SOLVED)  # arrays take long to be compared with members of an enumeration


class Wanted(NamedTuple):
    """An impact, and which of its outcomes are wanted: the first ``n`` of this seed."""

    arrival: Arrival
    seed: int
    n: int


class Drawn(NamedTuple):
    """Outcomes of one impact."""

    v: Array  # (n, nv)
    status: np.ndarray  # (n,) int8, see `routh.Status`
    good: np.ndarray  # (n,) bool: it ended, gains no energy and no contact approaches, recomputed from v


class _Room(NamedTuple):
    """Arrays that the impacts of one size use one after the other."""

    skip: np.ndarray
    restitution: Array
    present: np.ndarray
    size: np.ndarray
    own: Scratch
    rows: Rows
    found: Outputs


class Drawer:
    """Draws the outcomes of ``routh.sample(problem, n, seed=seed)``, alone or among others."""

    def __init__(self, rates: str = "mixed", restitution: float = 0.0) -> None:
        self.restitution = restitution
        plain = make_settings(1, rates=rates)
        self._settings = {nt: with_default(plain, nt) for nt in (1, 2)}
        self._rooms: dict[tuple[int, ...], _Room] = {}

    def one(self, wanted: Wanted) -> Drawn:
        """The outcomes of one impact."""
        arrival = wanted.arrival
        nc, nt, nv = arrival.Jt.shape
        room = self._room(nv, nc, nt, wanted.n)
        M, Jn, Jt, mu, v = (array[None] for array in arrival[:5])
        problems = Problems(M, Jn, Jt, mu, room.restitution, v, room.present, room.size)
        prepare(problems, 0, 1, room.skip, room.own, room.rows)
        draw = self._settings[nt]._replace(n=wanted.n)
        run(room.rows, draw, np.array([wanted.seed], dtype=np.uint64), room.found)
        return _judged(wanted, room.found, room.rows, 0)

    def _room(self, nv: int, nc: int, nt: int, n: int) -> _Room:
        key = (nv, nc, nt, n)
        if key not in self._rooms:
            rows = empty_rows(1, nv, nc, nt)
            restitution, present = np.full((1, nc), self.restitution), np.ones((1, nc), dtype=bool)
            size = np.array([[nv, nc, nt]], dtype=np.int32)
            own = scratch_for(nc, nt, nv)
            found = make_outputs(rows, n, elastic=self.restitution > 0.0)
            self._rooms[key] = _Room(np.zeros(1, dtype=bool), restitution, present, size, own, rows, found)
        return self._rooms[key]

    def many(self, wanted: Sequence[Wanted]) -> list[Drawn]:
        """The outcomes of several impacts of any sizes, by one call of a kernel in the plane and in space."""
        if len(wanted) == 1:
            return [self.one(wanted[0])]
        found: dict[int, Drawn] = {}
        for nt in (1, 2):
            places = [k for k, item in enumerate(wanted) if item.arrival.Jt.shape[1] == nt]
            if places:
                found |= dict(zip(places, self._alike([wanted[k] for k in places]), strict=True))
        return [found[k] for k in range(len(wanted))]

    def _alike(self, wanted: Sequence[Wanted]) -> list[Drawn]:
        """Of impacts that all are in the plane, or all in space, as one batch."""
        problems = _padded([item.arrival for item in wanted], self.restitution)
        count, nc, nt, nv = problems.Jt.shape
        rows = empty_rows(count, nv, nc, nt)
        prepare(problems, 0, count, np.zeros(count, dtype=bool), scratch(problems), rows)
        n = max(item.n for item in wanted)
        found = make_outputs(rows, n, elastic=self.restitution > 0.0)
        seeds = np.array([item.seed for item in wanted], dtype=np.uint64)
        run(rows, self._settings[nt]._replace(n=n), seeds, found)
        return [_judged(item, found, rows, k) for k, item in enumerate(wanted)]


def _judged(item: Wanted, found: Outputs, rows: Rows, k: int) -> Drawn:
    arrival = item.arrival
    v, status = found.v[k, : item.n, : len(arrival.v)].copy(), found.status[k, : item.n].copy()
    good = np.zeros(item.n, dtype=bool)
    unit = rows.contact[k, IMPULSE, : len(arrival.mu)]
    keep_laws(arrival.M, arrival.Jn, arrival.v, unit, _TOLERANCES, v, good)
    return Drawn(v, status, good & (status == _SOLVED))


def _padded(arrivals: Sequence[Arrival], restitution: float) -> Problems:
    """Impacts of one number of tangents as the rows of a batch."""
    nc, nv = (max(size) for size in zip(*(arrival.Jn.shape for arrival in arrivals), strict=True))
    n, nt = len(arrivals), arrivals[0].Jt.shape[1]
    made = Problems(M=np.zeros((n, nv, nv)), v=np.zeros((n, nv)), **empty_arrays(n, nv, nc, nt))
    made.restitution[:] = restitution
    for k, arrival in enumerate(arrivals):
        c, i = arrival.Jn.shape
        made.M[k, :i, :i], made.Jn[k, :c, :i], made.Jt[k, :c, :, :i] = arrival.M, arrival.Jn, arrival.Jt
        made.mu[k, :c], made.v[k, :i], made.present[k, :c] = arrival.mu, arrival.v, True
        made.size[k] = i, c, nt
    return made
