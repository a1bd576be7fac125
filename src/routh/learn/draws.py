"""Outcomes of impacts as they arrive: one, or those of several simulations at once.

The rows come from the mass matrix and the Jacobians of a model, so what `routh.sample` checks of a stranger's
numbers is not checked again; the outcomes are the same, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from routh import tolerances
from routh.auditing.membership import DEFAULT_TOLERANCE
from routh.batch import empty_arrays
from routh.compiling import bound
from routh.kernels.common.arrays import Draw, Outputs, make_outputs, prepared
from routh.kernels.common.judge import keep_laws
from routh.kernels.events import with_default
from routh.kernels.own_seeds import Work, run, workspace_for
from routh.models.mujoco.arrivals import Arrival
from routh.problem_rows import IMPULSE, Problems, Rows, empty_rows, prepare, scratch
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
    """Arrays that the impacts of one size use one after the other, and kernels with these arrays."""

    given: tuple[Array, ...]  # what an arrival has: M, Jn, Jt, mu, v
    rows: Rows
    found: Outputs
    good: np.ndarray  # (n,) bool
    draw: Draw
    work: Work
    prepare: Callable[[], None]
    keep_laws: Callable[[], None]


class Drawer:
    """Draws the outcomes of ``routh.sample(problem, n, seed=seed)``, alone or among others."""

    def __init__(self, rates: str = "mixed", restitution: float = 0.0) -> None:
        self.restitution = restitution
        plain = make_settings(1, rates=rates)
        self._settings = {nt: with_default(plain, nt) for nt in (1, 2)}
        self._rooms: dict[tuple[int, ...], _Room] = {}

    def one(self, wanted: Wanted) -> Drawn:
        """The outcomes of one impact."""
        arrival, n = wanted.arrival, wanted.n
        key = (*arrival.Jt.shape, n)
        room = self._rooms.get(key)
        if room is None:
            room = self._rooms[key] = self._room(arrival, n)
        for mine, given in zip(room.given, arrival[:5], strict=True):
            mine[:] = given
        room.prepare()
        run(room.rows, room.draw, np.array([wanted.seed], dtype=np.uint64), room.found, room.work)
        room.keep_laws()
        status = room.found.status[0].copy()
        return Drawn(room.found.v[0].copy(), status, room.good & (status == _SOLVED))

    def _room(self, arrival: Arrival, n: int) -> _Room:
        nc, nt, nv = arrival.Jt.shape
        problems, rows = _padded([arrival], self.restitution), empty_rows(1, nv, nc, nt)
        found, good = make_outputs(rows, n, elastic=self.restitution > 0.0), np.zeros(n, dtype=bool)
        M, Jn, Jt, mu, _, v, _, _ = (array[0] for array in problems)
        laws = M, Jn, v, rows.contact[0, IMPULSE], _TOLERANCES, found.v[0], good
        return _Room(
            (M, Jn, Jt, mu, v),
            rows,
            found,
            good,
            self._settings[nt]._replace(n=n),
            workspace_for(rows, n),
            bound(prepare, problems, 0, 1, np.zeros(1, dtype=bool), scratch(problems), rows),
            bound(keep_laws, *laws),
        )

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
        rows, nt = prepared(problems), problems.Jt.shape[2]
        n = max(item.n for item in wanted)
        found = make_outputs(rows, n, elastic=self.restitution > 0.0)
        seeds = np.array([item.seed for item in wanted], dtype=np.uint64)
        run(rows, self._settings[nt]._replace(n=n), seeds, found, workspace_for(rows, n))
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
