"""Algorithm 1 of HP23: the fast loop over known vertices, and the steps that it leaves to the step solver.

Where a sample stands is its total impulse; every step begins from the velocity that this brings, so it does
not matter which of the two loops takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh import tolerances
from routh.compiling import distinct, inlined, kernel
from routh.kernels.dictionary import wide
from routh.kernels.random import draw_bounds
from routh.kernels.residual import velocity_after
from routh.kernels.step_arrays import PENDING
from routh.kernels.step_solver import SOLVED, read_solution, solve
from routh.kernels.walking import END, FIRST, VERTEX_SHIFT, first_ray, walk
from routh.status import Status

if TYPE_CHECKING:
    from routh.kernels.random import Key
    from routh.kernels.step_arrays import (
        Pivoting,
        Samples,
        Sampling,
        Sizes,
        Step,
        Table,
        Vectors,
        Vertices,
    )
    from routh.validation import Array

NO_IMPACT, MAX_STEPS, NUMERICAL = int(Status.NO_IMPACT), int(Status.MAX_STEPS), int(Status.NUMERICAL)
APPROACH = tolerances.APPROACH
WALK_LIMIT = wide(1000)  # vertices of one step before the step solver decides
Lengths = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]


@inlined
def approaches(sizes: Sizes, c: Array) -> bool:
    """Whether a contact approaches faster than APPROACH; so does a velocity that is not a number."""
    for i in range(sizes[0]):
        if not c[i * (1 + sizes[1])] >= -APPROACH:
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
def take_up(
    sizes: Sizes, step: Step, sampling: Sampling, samples: Samples, vectors: Vectors, row: int
) -> None:
    """Total impulse and velocity of a sample that is PENDING."""
    n, width = sizes[0] * (1 + sizes[1]), 1 + sizes[1]
    if samples.steps[row] == 0:
        for j in range(n):
            vectors.total[j] = 0.0
            vectors.inputs[j] = sampling.start[j]
        return
    for i in range(sizes[0]):
        for d in range(width):
            vectors.total[i * width + d] = samples.impulse[row, i, d]
    velocity_after(n, step.G, sampling.start, vectors.total, vectors.inputs)


@inlined
def put_down(
    sizes: Sizes, sampling: Sampling, samples: Samples, total: Array, row: int,
    ended: int, count: int, worst: float,
) -> None:  # fmt: skip
    """What became of a sample: impulses in N s, ``v + M^-1 J^T impulse``; scaled where it stays PENDING."""
    width = 1 + sizes[1]
    impulse, v = samples.impulse, samples.v
    samples.steps[row], samples.status[row], samples.residual[row] = count, ended, worst
    for i in range(sizes[0]):
        unit = 1.0 if ended == PENDING else sampling.unit[i]
        for d in range(width):
            impulse[row, i, d] = total[i * width + d] * unit
    if ended == PENDING:
        return
    for r in range(v.shape[1]):
        value = sampling.before[r]
        for i in range(sizes[0]):
            for d in range(width):
                value += sampling.response[r, i * width + d] * impulse[row, i, d]
        v[row, r] = value


@inlined
def fits(sizes: Sizes, step: Step, vertices: Vertices, sampling: Sampling, samples: Samples) -> bool:
    """Whether arrays have the shapes that these sizes say; known to the compiler, they cost no products."""
    n = sizes[0] * (1 + sizes[1])
    if step.G.shape[1] != n or step.directions.shape[1] != sizes[1] or step.cover.shape[1] != 3:
        return False
    if vertices.operators.shape[1] != n + sizes[0] or vertices.operators.shape[2] != n:
        return False
    if vertices.states.shape[1] != sizes[0] or vertices.states.shape[2] != 4:
        return False
    if samples.impulse.shape[1] != sizes[0] or samples.impulse.shape[2] != 1 + sizes[1]:
        return False
    return sampling.response.shape[1] == n


@distinct
def run_known(
    lengths: Lengths, step: Step, vertices: Vertices, sampling: Sampling, samples: Samples, vectors: Vectors,
    begin: int, end: int,
) -> int:  # fmt: skip
    """HP23's Algorithm 1 along known vertices for the rows ``begin`` to ``end`` that are PENDING.

    ``lengths``: tuples with as many entries as there are contacts, tangents and friction directions, so that
    each shape is compiled for itself. Returns how many rows stay PENDING, at a step that leaves the table;
    -1: nothing was done, arrays have other shapes.
    """
    nc, nt, k = len(lengths[0]), len(lengths[1]), len(lengths[2])
    sizes, n = (nc, nt, k), nc * (1 + nt)
    inputs, total = vectors.inputs, vectors.total
    if not fits(sizes, step, vertices, sampling, samples):
        return -1
    left = 0
    for row in range(begin, end):
        if samples.status[row] != PENDING:
            continue
        take_up(sizes, step, sampling, samples, vectors, row)
        count, worst = wide(samples.steps[row]), samples.residual[row]
        while True:
            if not approaches(sizes, inputs):
                ended = SOLVED if count > 0 else NO_IMPACT
                break
            if count >= sampling.max_steps:
                ended = MAX_STEPS
                break
            step_bounds(nc, sampling.points, sampling.key, row, count, sampling.size, inputs[n:])
            vertex = wide(vertices.roots[first_ray(sizes, step, inputs, vectors.values)])
            link = wide(0)
            if vertex >= FIRST:
                vertex, link = walk(sizes, vertices, vectors.values, vertex, WALK_LIMIT)
            if link >> VERTEX_SHIFT != END:
                ended = PENDING
                break
            final = np.uint64(vertices.finals[vertex])
            residual = read_solution(
                sizes, step, sampling.start, vertices.states[final], vertices.operators[final], vectors
            )
            if not residual < sampling.limit:
                ended = PENDING
                break
            count += 1
            worst = max(worst, residual)
            for j in range(n):
                total[j], inputs[j] = vectors.reached[j], vectors.after[j]
        left += 1 if ended == PENDING else 0
        put_down(sizes, sampling, samples, total, row, ended, count, worst)
    return left


@kernel
def run_pivoted(
    step: Step, table: Table, grow: bool, sampling: Sampling, samples: Samples, vectors: Vectors,
    work: Pivoting, rows: tuple[int, int], most: int,
) -> None:  # fmt: skip
    """At most ``most`` steps by the step solver for those of the rows (begin, end) that are PENDING."""
    sizes = (len(step.mu), step.directions.shape[1], step.directions.shape[0])
    n = sizes[0] * (1 + sizes[1])
    inputs, total = vectors.inputs, vectors.total
    for row in range(rows[0], rows[1]):
        if samples.status[row] != PENDING:
            continue
        take_up(sizes, step, sampling, samples, vectors, row)
        count, ended, worst = wide(samples.steps[row]), wide(PENDING), samples.residual[row]
        taken = 0
        while ended == PENDING:
            if not approaches(sizes, inputs):
                ended = wide(SOLVED if count > 0 else NO_IMPACT)
            elif count >= sampling.max_steps:
                ended = wide(MAX_STEPS)
            elif taken >= most:
                break
            else:
                step_bounds(sizes[0], sampling.points, sampling.key, row, count, sampling.size, inputs[n:])
                outcome, residual = solve(step, sampling.start, table, grow, vectors, work)
                count += 1
                taken += 1
                worst = residual if not residual <= worst else worst
                for j in range(n):
                    total[j], inputs[j] = vectors.reached[j], vectors.after[j]
                if not residual < sampling.limit:
                    ended = wide(NUMERICAL if outcome == SOLVED else outcome)
        put_down(sizes, sampling, samples, total, row, ended, count, worst)
