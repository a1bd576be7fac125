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


def _tangents(rows: Rows) -> int:
    """Of a contact."""
    return rows.start.shape[1] // rows.contact.shape[2] - 1


def _sampler(
    rows: Rows, draw: Draw, outputs: Outputs, directions: Array | None, rates: Rates
) -> tuple[Callable[[int], Foreign], Callable[[int, int, Foreign], int]]:
    """A maker of workspaces that keep so many pieces of a path, and what draws a range of samples in one.

    It returns how many pieces the last of the outputs has, or as many as are kept.
    """
    nc, own = rows.contact.shape[2], rates_function(rates) if callable(rates) else None
    nt = _tangents(rows)
    if nt == 1:
        from routh.kernels.plane import sample as plane

        def in_plane(first: int, last: int, work: Foreign) -> int:
            plane.run_range(rows, draw, outputs, work, None if own is None else own.address, first, last)
            return int(outputs.events[-1, -1])

        return lambda pieces: plane.workspace(nc, pieces, 1 if pieces else draw.n), in_plane
    from routh.kernels.space import sample as space
    from routh.kernels.space import workspace as data

    books = (1 if draw.poisson else 0) if outputs.work.shape[3] > 0 else None
    corners = None if directions is None else np.ascontiguousarray(directions, dtype=np.float64)

    def in_space(first: int, last: int, work: Foreign) -> int:
        custom = None if own is None else own.address
        space.run_range(rows, draw, outputs, work, corners, books, custom, first, last)
        return int(work.course[data.TRACED])

    return lambda pieces: data.workspace(nc, pieces), in_space


def run(
    rows: Rows, draw: Draw, outputs: Outputs, directions: Array | None, *,
    threads: int | None = None, budget: float | None = None, rates: Rates = "mixed",
) -> None:  # fmt: skip
    """Draw all samples of all rows into ``outputs``; ``directions`` (k, nt): in space None for the true cone.

    What ``budget`` (s) leaves undone is Status.OUT_OF_TIME.
    """
    scratch, work = _sampler(rows, draw, outputs, directions, rates)
    total, nc = len(rows.nc) * draw.n, rows.contact.shape[2]
    run_slices(total, lambda: scratch(0), work, threads=threads, budget=budget, contacts=nc)


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

    ``rates`` is the function where ``draw.rates`` is CUSTOM. In space ``friction`` chooses the kernel; in the
    plane the cone is the segment.
    """
    out = outputs or make_outputs(rows, draw.n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    options: Options = {"threads": threads, "budget": budget, "rates": rates}
    run(rows, draw, out, friction_polygon(friction, facets, _tangents(rows)), **options)
    return out


def scaled_pieces(
    rows: Rows, draw: Draw, sample: int, *, friction: str, facets: int | None, rates: Rates = "mixed"
) -> Array:
    """The scaled impulses (k, n) of the pieces of one sample of a single row; of curves, point by point."""
    outputs = make_outputs(rows, 1, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    directions, room = friction_polygon(friction, facets, _tangents(rows)), FIRST_ROOM
    workspace, draw_range = _sampler(rows, draw, outputs, directions, rates)
    while True:
        work = workspace(room)
        found = draw_range(sample, sample + 1, work)
        if found < room:
            return work.trace[:found]
        room *= 4


def piecewise_path(problem: ImpactProblem, pieces: Array, friction: str = "cone") -> ImpactPath:
    """Velocities and impulses of pieces with these scaled impulses (k, n): curved in the true cone only."""
    kind = PathKind.CURVED if problem.nt == 2 and friction == "cone" else PathKind.STRAIGHT
    steps = pieces.reshape(len(pieces), problem.nc, 1 + problem.nt) * problem.scaling.impulse[:, None]
    return problem.path(steps, kind)
