"""Sampling by events: one entry to the kernels of the plane and of space, for single problems and batches."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import numpy as np

from routh.friction.cones import facet_directions
from routh.kernels.common.arrays import Draw, Outputs, make_outputs
from routh.problem import ImpactProblem
from routh.problem_rows import Rows
from routh.results import ImpactPath, PathKind
from routh.validation import Array, Options

#: Error of a curved path (the true cone in space), as a share of the speed before.
TOLERANCE = 1e-6

#: Probability that drawn rates stay until something happens, in space; the plane has its own.
PERSISTENCE = 0.6

Rates = str | Callable[..., None]


def with_default(draw: Draw, nt: int) -> Draw:
    """In space the default of the persistence does not depend on the row."""
    return draw if nt == 1 or draw.persistence > 0.0 else draw._replace(persistence=PERSISTENCE)


def _kernel(rows: Rows, friction: str, facets: int | None) -> tuple[int, ModuleType, Array | None]:
    """The rows' nt, the module that draws them, and its friction directions; the true cone has none."""
    nt = rows.start.shape[1] // rows.contact.shape[2] - 1
    curved = nt == 2 and friction == "cone"
    name = "routh.kernels.plane.sample" if nt == 1 else "routh.kernels.space.sample"
    return nt, import_module(name), None if curved else facet_directions(nt, facets)


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
    nt, kernel, directions = _kernel(rows, friction, facets)
    out = outputs or make_outputs(rows, draw.n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    options: Options = {"threads": threads, "budget": budget, "rates": rates}
    kernel.run(rows, with_default(draw, nt), out, directions, **options)
    return out


def scaled_pieces(
    rows: Rows, draw: Draw, sample: int, *, friction: str, facets: int | None, rates: Rates = "mixed"
) -> Array:
    """The scaled impulses (k, n) of the pieces of one sample of a single row; of curves, point by point."""
    nt, kernel, directions = _kernel(rows, friction, facets)
    found: Array = kernel.pieces(rows, with_default(draw, nt), sample, directions, rates=rates)
    return found


def piecewise_path(problem: ImpactProblem, pieces: Array, friction: str = "cone") -> ImpactPath:
    """Velocities and impulses of pieces with these scaled impulses (k, n): curved in the true cone only."""
    kind = PathKind.CURVED if problem.nt == 2 and friction == "cone" else PathKind.STRAIGHT
    steps = pieces.reshape(len(pieces), problem.nc, 1 + problem.nt) * problem.scaling.impulse[:, None]
    return problem.path(steps, kind)
