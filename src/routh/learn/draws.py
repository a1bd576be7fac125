"""Outcomes of impacts as they arrive.

The rows come from the mass matrix and the Jacobians of a model, so what `routh.sample` checks of a stranger's
numbers is not checked again; the outcomes are the same, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from routh.auditing.membership import DEFAULT_TOLERANCE
from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array
from routh.compiling import bound
from routh.kernels.common.arrays import Draw, Outputs, make_outputs
from routh.kernels.common.judge import keep_laws
from routh.kernels.plane import sample as plane
from routh.kernels.plane.rates import PlaneWork
from routh.kernels.space import sample as space
from routh.kernels.space import workspace
from routh.kernels.space.workspace import SpaceWork
from routh.learn.arrivals import Arrival
from routh.problem.batch import empty_arrays
from routh.problem.rows import IMPULSE, Problems, Rows, empty_rows, prepare, scratch
from routh.sampling.settings import ByEvents

_TOLERANCES = tolerances.APPROACH, DEFAULT_TOLERANCE  # of energy and approach
_SOLVED = int(Status.SOLVED)  # arrays take long to be compared with members of an enumeration


class Drawn(NamedTuple):
    """Outcomes of one impact."""

    v: Array  # (n, nv)
    status: np.ndarray  # (n,) int8, see `routh.Status`
    good: np.ndarray  # (n,) bool: it ended, gains no energy and no contact approaches, recomputed from v


class _DrawRoom(NamedTuple):
    """Arrays that the impacts of one size use one after the other, and kernels with these arrays."""

    given: tuple[Array, ...]  # what an arrival has: M, Jn, Jt, mu, v
    rows: Rows
    found: Outputs
    good: np.ndarray  # (n,) bool
    draw: Draw
    work: PlaneWork | SpaceWork
    prepare: Callable[[], None]
    keep_laws: Callable[[], None]


class Drawer:
    """Draws the outcomes of ``routh.sample(problem, n, seed=seed)``."""

    def __init__(self, rates: str = "mixed", restitution: float = 0.0) -> None:
        self.restitution = restitution
        self._drawing = ByEvents(rates=rates)
        self._rooms: dict[tuple[int, ...], _DrawRoom] = {}

    def draw(self, arrival: Arrival, seed: int, n: int) -> Drawn:
        """The first ``n`` outcomes of an impact with this seed."""
        key = (*arrival.Jt.shape, n)
        room = self._rooms.get(key)
        if room is None:
            room = self._rooms[key] = self._room(arrival, n)
        for mine, given in zip(room.given, arrival[:5], strict=True):
            mine[:] = given
        room.prepare()
        draw, found = room.draw._replace(seed=np.uint64(seed)), room.found
        if isinstance(room.work, PlaneWork):
            plane.run_range(room.rows, draw, found, room.work, None, 0, n)
        else:
            books = draw.poisson if self.restitution > 0.0 else None
            space.run_range(room.rows, draw, found, room.work, None, books, None, 0, n)
        room.keep_laws()
        status = found.status[0].copy()
        return Drawn(found.v[0].copy(), status, room.good & (status == _SOLVED))

    def _room(self, arrival: Arrival, n: int) -> _DrawRoom:
        nc, nt, nv = arrival.Jt.shape
        problems = Problems(M=np.zeros((1, nv, nv)), v=np.zeros((1, nv)), **empty_arrays(1, nv, nc, nt))
        problems.restitution[:], problems.present[:], problems.size[:] = self.restitution, True, (nv, nc, nt)
        rows = empty_rows(1, nv, nc, nt)
        found, good = make_outputs(rows, n, elastic=self.restitution > 0.0), np.zeros(n, dtype=bool)
        M, Jn, Jt, mu, _, v, _, _ = (array[0] for array in problems)
        laws = M, Jn, v, rows.contact[0, IMPULSE], _TOLERANCES, found.v[0], good
        return _DrawRoom(
            (M, Jn, Jt, mu, v),
            rows,
            found,
            good,
            self._drawing.draws(n),
            plane.workspace(nc, 0, n) if nt == 1 else workspace.workspace(nc),
            bound(prepare, problems, 0, 1, np.zeros(1, dtype=bool), scratch(problems), rows),
            bound(keep_laws, *laws),
        )
