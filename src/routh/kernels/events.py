"""Sampling by events: one entry to the kernels of the plane and of space, for single problems and batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from routh.base.results import ImpactPath, PathKind
from routh.base.validation import Array, Options
from routh.compiling.foreign import Foreign
from routh.kernels.common.arrays import Draw, Outputs, make_outputs
from routh.kernels.common.callback import rates_function
from routh.kernels.common.slices import run_slices
from routh.problem.friction import friction_polygon
from routh.problem.impact import ImpactProblem
from routh.problem.rows import Rows

#: Error of a curved path (the true cone in space), as a share of the speed before.
TOLERANCE = 1e-6

FIRST_ROOM = 1024  # pieces of a path for which there is room at first

Rates = str | Callable[..., None]


class EventSampler:
    """Draws the samples of rows into outputs.

    ``directions`` (k, nt): of friction; in space None for the true cone, in the plane not looked at.
    """

    def __init__(
        self, rows: Rows, draw: Draw, outputs: Outputs, directions: Array | None, rates: Rates = "mixed"
    ) -> None:
        self.rows, self.draw, self.outputs = rows, draw, outputs
        self.nc = rows.contact.shape[2]
        self.nt = rows.start.shape[1] // self.nc - 1
        self.corners = None if directions is None else np.ascontiguousarray(directions, dtype=np.float64)
        self.books = (1 if draw.poisson else 0) if outputs.work.shape[3] > 0 else None
        self.rates = rates_function(rates) if callable(rates) else None  # to be kept as long as it is called

    def run(self, *, threads: int | None = None, budget: float | None = None) -> None:
        """Draw all of them; what ``budget`` (s) leaves undone is Status.OUT_OF_TIME."""
        total = len(self.rows.nc) * self.draw.n
        how: Options = {"threads": threads, "budget": budget, "contacts": self.nc}
        run_slices(total, self.workspace, self.draw_range, **how)

    def workspace(self, pieces: int = 0) -> Foreign:
        """Scratch of a thread, in which so many pieces of a path are kept."""
        if self.nt == 1:
            from routh.kernels.plane import sample as plane

            return plane.workspace(self.nc, pieces, 1 if pieces else self.draw.n)
        from routh.kernels.space import workspace as space

        return space.workspace(self.nc, pieces)

    def draw_range(self, first: int, last: int, work: Foreign) -> int:
        """Draw samples; how many pieces the last of the outputs has, or as many as are kept."""
        custom = None if self.rates is None else self.rates.address
        if self.nt == 1:
            from routh.kernels.plane import sample as plane

            plane.run_range(self.rows, self.draw, self.outputs, work, custom, first, last)
            return int(self.outputs.events[-1, -1])
        from routh.kernels.space import sample as space
        from routh.kernels.space.workspace import TRACED

        how = self.corners, self.books, custom
        space.run_range(self.rows, self.draw, self.outputs, work, *how, first, last)
        return int(work.course[TRACED])


def event_samples(
    rows: Rows,
    draw: Draw,
    outputs: Outputs | None = None,
    *,
    friction: str = "cone",
    facets: int | None = None,
    threads: int | None = None,
    budget: float | None = None,
    rates: Rates = "mixed",
) -> Outputs:
    """The samples of all rows, into ``outputs``; what ``budget`` (s) leaves undone is Status.OUT_OF_TIME.

    ``rates`` is the function where ``draw.rates`` is CUSTOM. In space ``friction`` chooses the kernel.
    """
    out = outputs or make_outputs(rows, draw.n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    sampler = EventSampler(rows, draw, out, _directions(rows, friction, facets), rates)
    sampler.run(threads=threads, budget=budget)
    return out


def scaled_pieces(
    rows: Rows, draw: Draw, sample: int, *, friction: str, facets: int | None, rates: Rates = "mixed"
) -> Array:
    """The scaled impulses (k, n) of the pieces of one sample of a single row; of curves, point by point."""
    outputs = make_outputs(rows, 1, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    sampler = EventSampler(rows, draw, outputs, _directions(rows, friction, facets), rates)
    room = FIRST_ROOM
    while True:
        work = sampler.workspace(room)
        count = sampler.draw_range(sample, sample + 1, work)
        if count < room:
            return work.trace[:count]
        room *= 4


def _directions(rows: Rows, friction: str, facets: int | None) -> Array | None:
    return friction_polygon(friction, facets, rows.start.shape[1] // rows.contact.shape[2] - 1)


def piecewise_path(problem: ImpactProblem, pieces: Array, friction: str = "cone") -> ImpactPath:
    """Velocities and impulses of pieces with these scaled impulses (k, n): curved in the true cone only."""
    kind = PathKind.CURVED if problem.nt == 2 and friction == "cone" else PathKind.STRAIGHT
    steps = pieces.reshape(len(pieces), problem.nc, 1 + problem.nt) * problem.scaling.impulse[:, None]
    return problem.path(steps, kind)
