"""Samples of one problem or of rows, by Algorithm 1 on CPU threads or a GPU."""

from __future__ import annotations

import math
import time

import numpy as np

from routh.base import features
from routh.base.validation import Array, deadline_of, seconds_left
from routh.kernels.algorithm1.loop import run_range
from routh.kernels.algorithm1.work import PENDING, Directions, Samples, StepDraw, Work, make_work
from routh.kernels.common.arrays import Outputs, make_outputs, make_rows
from routh.kernels.common.slices import run_slices
from routh.problem.impact import ImpactProblem
from routh.problem.rows import Rows

STEPS_AT_A_TIME = 64  # of one compiled call, so that no call takes long


def run_rows(
    rows: Rows,
    draw: StepDraw,
    directions: Directions,
    outputs: Outputs,
    *,
    threads: int | None = None,
    deadline: float = math.inf,
) -> None:
    """All samples of all rows on the CPU, until the deadline (of `time.monotonic`), into empty outputs."""
    nc, (k, nt) = rows.contact.shape[2], (0, 2) if directions is None else directions.shape

    def draw_slice(begin: int, end: int, own: Work) -> None:
        while run_range(rows, draw, directions, outputs, own, begin, end, STEPS_AT_A_TIME):
            if time.monotonic() >= deadline:
                break

    left = seconds_left(deadline)
    run_slices(len(rows.nc) * draw.n, lambda: make_work(nc, nt, k), draw_slice, threads=threads, budget=left)
    unended = outputs.status == PENDING  # the velocity is that before, still
    outputs.impulse[unended], outputs.events[unended], outputs.residual[unended] = 0.0, 0, 0.0


def run(
    problem: ImpactProblem,
    n: int,
    *,
    step: Array,
    max_steps: int,
    seed: int,
    directions: Directions,
    row: int = 0,
    points: Array | None = None,
    device: str = "cpu",
    threads: int | None = None,
    budget: float | None = None,
) -> Samples:
    """Draw the samples 0 to ``n - 1`` of one problem.

    Parameters
    ----------
    step : (nc,) N s, the box that lambda_max is drawn from.
    row : the place of the problem in its batch.
    points : (n, steps * nc) numbers in (0, 1) for the first steps; beyond them the counter-based ones.
    directions : (k, nt), of friction polygons, in the order of their angle; None: the true cone in space.
    device : "cpu" with ``threads`` threads (default: all), or "cuda".
    budget : seconds; samples that are not ended by then have Status.OUT_OF_TIME.
    """
    deadline = deadline_of(budget)
    given = np.empty((n, 0)) if points is None else np.ascontiguousarray(points).reshape(n, -1)
    boxes = np.empty((0, problem.nc)) if np.array_equal(step, problem.scaling.impulse) else step[None]
    draw = StepDraw(n, row, np.uint64(seed), np.ascontiguousarray(boxes, dtype=np.float64), given, max_steps)
    rows = make_rows([problem])
    out = make_outputs(rows, n, elastic=False)
    if device == "cuda":
        features.device("cuda").run_steps(rows, draw, directions, out)
    else:
        run_rows(rows, draw, directions, out, threads=threads, deadline=deadline)
    return Samples(out.v[0], out.impulse[0], out.events[0], out.status[0], out.residual[0])
