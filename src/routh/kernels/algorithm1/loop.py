"""The loop of Algorithm 1: steps of a sample, samples of rows."""

from __future__ import annotations

import numpy as np

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array
from routh.compiling import inlined, kernel
from routh.kernels.algorithm1.cone import cone_step, load_cone
from routh.kernels.algorithm1.polygons import load_polygons, polygon_step
from routh.kernels.algorithm1.work import PENDING, Directions, StepDraw, Work, load_row, velocity_after
from routh.kernels.common.arrays import Outputs, place_of, write_impulse
from routh.kernels.common.random import SHIFT, Key, draw_bounds
from routh.problem.rows import Rows

SOLVED, NO_IMPACT = int(Status.SOLVED), int(Status.NO_IMPACT)
MAX_STEPS, NUMERICAL = int(Status.MAX_STEPS), int(Status.NUMERICAL)


@inlined
def approaches(nc: int, width: int, velocities: Array) -> bool:
    """Whether a contact approaches faster than APPROACH; so does a velocity that is not a number."""
    for i in range(nc):
        if not velocities[i * width] >= -tolerances.APPROACH:
            return True
    return False


@inlined
def step_bounds(nc: int, points: Array, key: Key, sample: int, step: int, size: Array, bound: Array) -> None:
    """``lambda_max`` from the given points where they reach, else from the generator."""
    if (step + 1) * nc <= points.shape[1]:
        for i in range(nc):
            bound[i] = size[i] * points[sample, step * nc + i]
    else:
        draw_bounds(nc, key, sample, step, size, bound)


@inlined
def solve_step(work: Work, directions: Directions, nc: int) -> float:
    """One step from ``work.inputs`` to ``work.impulse``; its residual."""
    # hands on work
    return cone_step(work, nc) if directions is None else polygon_step(work, directions, nc)


@kernel
def take_steps(
    rows: Rows, row: int, sample: int, draw: StepDraw, directions: Directions, outputs: Outputs, work: Work,
    most: int,
) -> None:  # fmt: skip
    """Take at most ``most`` steps of one sample that is PENDING; its impulse is the scaled total so far."""
    # reads draw.max_steps, draw.points, draw.row, draw.seed, outputs.events, outputs.impulse,
    #   outputs.residual, rows.nc, rows.start, work.G, work.box, work.impulse, work.inputs, work.mu,
    #   work.total
    # writes outputs.events, outputs.impulse, outputs.residual, outputs.status, work.inputs, work.total
    # hands on outputs, rows, work
    nc = rows.nc[row]
    width = 3 if directions is None else 1 + directions.shape[1]
    n, inputs, total, count = nc * width, work.inputs, work.total, outputs.events[row, sample]
    limit = tolerances.RESIDUAL
    for i in range(nc):
        if work.mu[i] > tolerances.HUGE_FRICTION:
            limit = tolerances.RESIDUAL_HUGE_FRICTION
        for part in range(width):
            so_far = outputs.impulse[row, sample, place_of(rows, row, i), part]
            total[width * i + part] = so_far if count > 0 else 0.0
    velocity_after(n, work.G, rows.start[row], total, inputs)
    ended, worst, taken = PENDING, outputs.residual[row, sample], 0
    key = (np.uint32(draw.seed), np.uint32(np.uint64(draw.seed) >> SHIFT), np.uint32(draw.row + row))
    while ended == PENDING:
        if not approaches(nc, width, inputs):
            ended = SOLVED if count > 0 else NO_IMPACT
        elif count >= draw.max_steps:
            ended = MAX_STEPS
        elif taken >= most:
            break
        else:
            step_bounds(nc, draw.points, key, sample, count, work.box, inputs[n:])
            residual = solve_step(work, directions, nc)
            count += 1
            taken += 1
            worst = residual if not residual <= worst else worst
            for j in range(n):
                total[j] += work.impulse[j]
            velocity_after(n, work.G, rows.start[row], total, inputs)
            if not residual < limit:
                ended = NUMERICAL
    outputs.status[row, sample], outputs.events[row, sample] = ended, count
    outputs.residual[row, sample] = worst
    for j in range(n if ended == PENDING else 0):
        outputs.impulse[row, sample, place_of(rows, row, j // width), j % width] = total[j]
    if ended != PENDING:
        write_impulse(rows, outputs, row, sample, total, width)


@kernel
def run_range(
    rows: Rows, draw: StepDraw, directions: Directions, outputs: Outputs, work: Work, begin: int, end: int,
    most: int,
) -> int:  # fmt: skip
    """The pairs (row, sample) with numbers ``begin`` to ``end`` that are PENDING.

    At most ``most`` steps of each; how many of them stay PENDING.
    """
    # reads draw.n, outputs.status, rows.nc; hands on draw, outputs, rows, work
    loaded, left = -1, 0
    for number in range(begin, end):
        row = number // draw.n
        sample = number - row * draw.n
        if outputs.status[row, sample] != PENDING:
            continue
        if row != loaded:
            if directions is None:
                load_row(rows, row, draw, 2, work)
                load_cone(work, rows.nc[row])
            else:
                load_row(rows, row, draw, directions.shape[1], work)
                load_polygons(work, directions, rows.nc[row])
            loaded = row
        take_steps(rows, row, sample, draw, directions, outputs, work, most)
        if outputs.status[row, sample] == PENDING:
            left += 1
    return left
