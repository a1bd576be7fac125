"""Algorithm 1 of HP23 for one sample, and the loop over samples that a thread runs."""

from __future__ import annotations

from typing import Any

from routh.kernels.compiling import kernel
from routh.kernels.pivoting import SOLVED, solve_step
from routh.kernels.random import draw_bounds
from routh.kernels.residual import step_residual, velocity_after

WALK = 8  # regions that are tried before a step is given to pivoting
INSIDE = 1e-12  # scaled: how far outside its region a basis still holds
TRUSTED = 1e-11  # a residual above this sends a step from the table to pivoting
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
def region_step(shape: Any, table: Any, slot: int, x: Any, p: Any) -> int:
    """One step from the table of regions: walk from ``slot`` to the region of the inputs x.

    Returns its slot, or -1 where the walk leaves the table or the step may have several solutions.
    """
    _, impulses, rows, counts, neighbours, ambiguous, ambiguous_counts = table
    n = shape[0] * (1 + shape[1])
    inputs = n + shape[0]
    found = -1
    for _ in range(WALK):
        worst, at = -INSIDE, -1
        for r in range(counts[slot]):
            value = 0.0
            for j in range(inputs):
                value += rows[slot, r, j] * x[j]
            if value < worst:
                worst, at = value, r
        if at < 0:
            found = slot
            break
        slot = neighbours[slot, at]
        if slot < 0:
            break
    if found < 0:
        return -1
    for q in range(ambiguous.shape[0]):
        inside = True
        for r in range(ambiguous_counts[q]):
            value = 0.0
            for j in range(inputs):
                value += ambiguous[q, r, j] * x[j]
            if value < -INSIDE:
                inside = False
                break
        if inside:
            return -1
    for row in range(n):
        value = 0.0
        for j in range(inputs):
            value += impulses[found, row, j] * x[j]
        p[row] = value
    return found


@kernel
def solve(
    shape: Any, data: Any, normals: Any, table: Any, slot: int, x: Any, p: Any, after: Any, work: Any
) -> tuple[int, int, float]:
    """One step from inputs x = (c, lambda_max): impulses p, velocities after; (slot, outcome, residual)."""
    G, dirs, mu, _ = data
    n = shape[0] * (1 + shape[1])
    bound = x[n:]
    if table[3].shape[0] > 0:
        found = region_step(shape, table, max(slot, 0), x, p)
        if found >= 0:
            velocity_after(shape, G, x, p, after)
            residual = step_residual(shape, dirs, normals, mu, bound, p, after)
            if residual < TRUSTED:
                return found, SOLVED, residual
    outcome, _ = solve_step(shape, data, x, bound, p, work)
    velocity_after(shape, G, x, p, after)
    return slot, outcome, step_residual(shape, dirs, normals, mu, bound, p, after)


@kernel
def run_sample(
    shape: Any, data: Any, normals: Any, table: Any, settings: Any, key: Any, points: Any, row: int,
    sample: int, size: Any, start: Any, total: Any, vectors: Any, work: Any,
) -> tuple[int, int, float]:  # fmt: skip
    """One sample; ``total`` (n,) is its impulse. Returns (steps, status, residual)."""
    max_steps, approach, limit = settings
    x, p, after = vectors
    n = shape[0] * (1 + shape[1])
    for j in range(n):
        x[j] = start[j]
        total[j] = 0.0
    if not approaches(shape, x, approach):
        return 0, NO_IMPACT, 0.0
    worst = 0.0
    slot = table[0]
    for step in range(max_steps):
        step_bounds(shape, key, points, row, sample, step, size, x[n:])
        slot, outcome, residual = solve(shape, data, normals, table, slot, x, p, after, work)
        worst = residual if not residual <= worst else worst
        for j in range(n):
            total[j] += p[j]
            x[j] = after[j]
        if not residual < limit:
            return step + 1, (NUMERICAL if outcome == SOLVED else outcome), worst
        if not approaches(shape, x, approach):
            return step + 1, SOLVED, worst
    return max_steps, MAX_STEPS, worst


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
    shape: Any, data: Any, normals: Any, table: Any, settings: Any, key: Any, points: Any, first: int,
    begin: int, end: int, size: Any, start: Any, frame: Any, outputs: Any, vectors: Any, total: Any,
    work: Any,
) -> None:  # fmt: skip
    """Rows ``begin`` to ``end`` of the outputs; row r is the sample ``first + r``."""
    response, before, unit = frame
    v, impulse, steps, status, worst = outputs
    for row in range(begin, end):
        count, outcome, residual = run_sample(
            shape,
            data,
            normals,
            table,
            settings,
            key,
            points,
            row,
            first + row,
            size,
            start,
            total,
            vectors,
            work,
        )
        write_outcome(shape, response, before, unit, total, v, impulse, row)
        steps[row] = count
        status[row] = outcome
        worst[row] = residual
