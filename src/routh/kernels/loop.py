"""Algorithm 1 of HP23: the fast loop over known vertices, and the loop that solves whatever is left."""

from __future__ import annotations

from typing import Any

from routh.compiling import inlined, kernel
from routh.kernels.cache import ROUGH, solve
from routh.kernels.dictionary import wide
from routh.kernels.pivoting import SOLVED
from routh.kernels.random import draw_bounds
from routh.kernels.residual import step_residual, velocity_after
from routh.kernels.walking import END, FIRST, VERTEX_SHIFT, first_ray, read_impulses, walk

NO_IMPACT, MAX_STEPS, NUMERICAL = 1, 2, 6  # the numbers of routh.status.Status
PENDING = -1  # a sample that left the table: steps, residual and impulse (scaled) say how far it got
WALK_LIMIT = wide(1000)  # vertices of one step before `run_samples` decides


@inlined
def approaches(shape: Any, c: Any, tolerance: float) -> bool:
    """Whether a contact approaches faster than the tolerance; so does a velocity that is not a number."""
    for i in range(shape[0]):
        if not c[i * (1 + shape[1])] >= -tolerance:
            return True
    return False


@inlined
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


@inlined
def write_outcome(shape: Any, frame: Any, total: Any, v: Any, impulse: Any, row: int) -> None:
    """Impulses in N s and the velocity ``v + M^-1 J^T impulse`` of one sample."""
    response, before, unit = frame
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
def run_known(
    lengths: Any, data: Any, normals: Any, vertices: Any, settings: Any, key: Any, points: Any, first: int,
    begin: int, end: int, size: Any, start: Any, frame: Any, outputs: Any, vectors: Any,
) -> None:  # fmt: skip
    """HP23's Algorithm 1 for rows ``begin`` to ``end``, along known vertices; row r is sample ``first + r``.

    ``lengths``: tuples with as many entries as there are contacts, tangents and friction directions, so that
    each shape is compiled for itself. A sample that needs anything else is left PENDING for `run_samples`.
    """
    nc, nt, k = len(lengths[0]), len(lengths[1]), len(lengths[2])
    sizes, n = (nc, nt, k), nc * (1 + nt)
    max_steps, approach, _ = settings
    G, dirs, mu, cover = data
    v, impulse, steps, status, residuals = outputs
    x, p, after, total, w = vectors
    for row in range(begin, end):
        for j in range(n):
            x[j] = start[j]
            total[j] = 0.0
        count, ended, worst = wide(0), MAX_STEPS, 0.0
        if not approaches(sizes, x, approach):
            ended = NO_IMPACT
        while ended == MAX_STEPS and count < max_steps:
            bound = x[n:]
            step_bounds(sizes, key, points, row, first + row, count, size, bound)
            vertex = wide(vertices[0][first_ray(sizes, dirs, cover, x, bound, w)])
            link = wide(0)
            if vertex >= FIRST:
                vertex, link = walk(sizes, vertices, w, vertex, WALK_LIMIT)
            if link >> VERTEX_SHIFT != END:
                ended = PENDING
                break
            read_impulses(sizes, dirs, mu, bound, vertices[3][vertex], w, p)
            velocity_after(n, G, x, p, after)
            residual = step_residual(sizes, dirs, normals, mu, bound, p, after)
            if not residual <= ROUGH:
                ended = PENDING
                break
            count += 1
            worst = max(worst, residual)
            for j in range(n):
                total[j] += p[j]
                x[j] = after[j]
            if not approaches(sizes, x, approach):
                ended = SOLVED
        steps[row] = count
        status[row] = ended
        residuals[row] = worst
        if ended == PENDING:
            for i in range(nc):
                for d in range(1 + nt):
                    impulse[row, i, d] = total[i * (1 + nt) + d]
        else:
            write_outcome(sizes, frame, total, v, impulse, row)


@kernel
def run_samples(
    shape: Any, data: Any, normals: Any, table: Any, grow: bool, settings: Any, key: Any, points: Any,
    first: int, begin: int, end: int, size: Any, start: Any, frame: Any, outputs: Any, vectors: Any,
    work: Any,
) -> None:  # fmt: skip
    """HP23's Algorithm 1 for those of the rows ``begin`` to ``end`` that are PENDING, from where they are."""
    max_steps, approach, limit = settings
    v, impulse, steps, status, residuals = outputs
    x, p, after, total, _ = vectors
    n, sizes = shape[0] * (1 + shape[1]), (shape[0], shape[1], data[1].shape[0])
    for row in range(begin, end):
        if status[row] != PENDING:
            continue
        for j in range(n):
            total[j] = impulse[row, j // (1 + shape[1]), j % (1 + shape[1])]
        velocity_after(n, data[0], start, total, x)
        count, ended, worst = wide(steps[row]), MAX_STEPS, residuals[row]
        if count == 0 and not approaches(sizes, x, approach):
            ended = NO_IMPACT
        while ended == MAX_STEPS and count < max_steps:
            step_bounds(sizes, key, points, row, first + row, count, size, x[n:])
            outcome, residual = solve(shape, data, normals, table, grow, x, p, after, work)
            count += 1
            worst = residual if not residual <= worst else worst
            for j in range(n):
                total[j] += p[j]
                x[j] = after[j]
            if not residual < limit:
                ended = NUMERICAL if outcome == SOLVED else outcome
            elif not approaches(sizes, x, approach):
                ended = SOLVED
        write_outcome(sizes, frame, total, v, impulse, row)
        steps[row] = count
        status[row] = ended
        residuals[row] = worst
