"""Many different problems in one compiled call each, spread over threads; and one step on its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from routh import tolerances
from routh.kernels.cache import solve
from routh.kernels.loop import run_samples
from routh.kernels.prepare import facet_normals, kernel_data
from routh.kernels.sampling import (
    Arrays,
    draw_again,
    empty_outputs,
    generator_key,
    pivoting_of,
    vectors_of,
    velocity_frame,
)
from routh.kernels.table import empty_table
from routh.problem import ImpactProblem
from routh.status import Status
from routh.validation import Array


def run_many(
    problems: Sequence[ImpactProblem],
    n: int,
    *,
    sizes: Sequence[Array],
    max_steps: int,
    seed: int,
    directions: dict[int, Array],
    table: Array | None = None,
    threads: int | None = None,
) -> list[Arrays]:
    """n samples of each problem, pivoted; ``sizes`` (nc,) N s, ``directions`` by nt; ``table`` as `run`."""

    def one(place: int) -> Arrays:
        problem = problems[place]
        data = kernel_data(problem, directions[problem.nt])
        outputs = empty_outputs(problem, n)
        size = np.asarray(sizes[place], dtype=np.float64) / data.impulse
        points = np.empty((n, 0)) if table is None else np.ascontiguousarray(table).reshape(n, -1)
        run_samples(
            data.shape, data.solver, facet_normals(data.dirs), empty_table(data, size, capacity=0), False,
            (max_steps, tolerances.APPROACH, data.limit), generator_key(seed), points, 0, 0, n, size, data.c,
            velocity_frame(problem, data), outputs, vectors_of(data), pivoting_of(data),
        )  # fmt: skip
        draw_again(problem, (data, size, max_steps, seed, points, 0), "polyhedral", outputs)
        return outputs

    count = min(threads if threads is not None else len(os.sched_getaffinity(0)), max(len(problems), 1))
    if count <= 1:
        return [one(place) for place in range(len(problems))]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(len(problems))))


def solve_step(
    problem: ImpactProblem, lambda_max: Array, directions: Array, v: Array | None = None
) -> tuple[Array, Array, Status, float]:
    """One step of HP23 (72) by compiled pivoting: velocity (nv,), impulse (nc, 1 + nt), status, residual.

    ``lambda_max`` (nc,) in N s; ``v`` (nv,) defaults to the problem's velocity.
    """
    data = kernel_data(problem, directions)
    before = problem.v if v is None else np.asarray(v, dtype=np.float64)
    c = (problem.contact_velocity(before) / data.velocity[:, None]).ravel()
    bound = np.asarray(lambda_max, dtype=np.float64) / data.impulse
    x, p, after, _, _ = vectors_of(data)
    x[:] = np.concatenate([c, bound])
    outcome, residual = solve(
        data.shape, data.solver, facet_normals(data.dirs), empty_table(data, bound, capacity=0), False, x, p,
        after, pivoting_of(data),
    )  # fmt: skip
    impulse = p.reshape(problem.nc, -1) * data.impulse[:, None]
    status = Status.SOLVED if residual < data.limit else Status(outcome or Status.NUMERICAL)
    return problem.apply(impulse, before), impulse, status, float(residual)
