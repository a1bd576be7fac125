"""Algorithm 1 of HP23 for one sample, and the loop over samples that a thread runs."""

from __future__ import annotations

from typing import Any

from routh.kernels.cache import restore, solve_remembering
from routh.kernels.compiling import kernel
from routh.kernels.pivoting import SOLVED, refine
from routh.kernels.random import draw_bounds
from routh.kernels.residual import step_residual, velocity_after

ROUGH = 1e-12  # a residual above this is refined once
NO_IMPACT, MAX_STEPS, NUMERICAL = 1, 2, 6  # the numbers of routh.status.Status


@kernel
def approaches(shape: Any, c: Any, tolerance: float) -> bool:
    """Whether a contact approaches faster than the tolerance; so does a velocity that is not a number."""
    width = 1 + shape[1]
    for i in range(shape[0]):
        if not c[i * width] >= -tolerance:
            return True
    return False


@kernel
def step_bounds(
    shape: Any, key: Any, points: Any, row: int, sample: int, step: int, size: Any, bound: Any
) -> None:
    """``lambda_max`` from the table of points where it reaches, else from the generator."""
    nc = shape[0]
    if (step + 1) * nc <= points.shape[1]:
        for i in range(nc):
            bound[i] = size[i] * points[row, step * nc + i]
    else:
        draw_bounds(shape, key, sample, step, size, bound)


@kernel
def solve(
    shape: Any, data: Any, normals: Any, table: Any, grow: bool, x: Any, p: Any, after: Any, work: Any
) -> tuple[int, float]:
    """One step from inputs x = (c, lambda_max): impulses p, velocities after; (outcome, residual)."""
    G, dirs, mu, _ = data
    n = shape[0] * (1 + shape[1])
    bound = x[n:]
    outcome, node = solve_remembering(shape, data, x, bound, p, work, table, grow)
    velocity_after(shape, G, x, p, after)
    residual = step_residual(shape, dirs, normals, mu, bound, p, after)
    if outcome == SOLVED and not residual <= ROUGH:
        made = restore(shape, table, node, work) if node >= 0 else work[2][0, 3]
        refine(shape, data, x, bound, made, p, work)
        velocity_after(shape, G, x, p, after)
        residual = step_residual(shape, dirs, normals, mu, bound, p, after)
    return outcome, residual


@kernel
def write_outcome(
    shape: Any, response: Any, before: Any, unit: Any, total: Any, v: Any, impulse: Any, row: int
) -> None:
    """Impulses in N s and the velocity ``v + M^-1 J^T impulse`` of one sample."""
    width = 1 + shape[1]
    for i in range(shape[0]):
        for d in range(width):
            impulse[row, i, d] = total[i * width + d] * unit[i]
    for r in range(v.shape[1]):
        value = before[r]
        for i in range(shape[0]):
            for d in range(width):
                value += response[r, i * width + d] * impulse[row, i, d]
        v[row, r] = value


@kernel
def run_samples(
    shape: Any, data: Any, normals: Any, table: Any, grow: bool, settings: Any, key: Any, points: Any,
    first: int, begin: int, end: int, size: Any, start: Any, frame: Any, outputs: Any, vectors: Any,
    total: Any, work: Any,
) -> None:  # fmt: skip
    """HP23's Algorithm 1 for rows ``begin`` to ``end`` of the outputs; row r is the sample ``first + r``."""
    max_steps, approach, limit = settings
    v, impulse, steps, status, residuals = outputs
    x, p, after = vectors
    n = shape[0] * (1 + shape[1])
    for row in range(begin, end):
        for j in range(n):
            x[j] = start[j]
            total[j] = 0.0
        count, ended, worst = 0, MAX_STEPS, 0.0
        if not approaches(shape, x, approach):
            ended = NO_IMPACT
        while ended == MAX_STEPS and count < max_steps:
            step_bounds(shape, key, points, row, first + row, count, size, x[n:])
            outcome, residual = solve(shape, data, normals, table, grow, x, p, after, work)
            count += 1
            worst = residual if not residual <= worst else worst
            for j in range(n):
                total[j] += p[j]
                x[j] = after[j]
            if not residual < limit:
                ended = NUMERICAL if outcome == SOLVED else outcome
            elif not approaches(shape, x, approach):
                ended = SOLVED
        write_outcome(shape, frame[0], frame[1], frame[2], total, v, impulse, row)
        steps[row] = count
        status[row] = ended
        residuals[row] = worst
