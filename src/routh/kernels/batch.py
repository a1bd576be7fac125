"""Many different problems in one compiled call each, spread over threads; and one step on its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from routh import tolerances
from routh.kernels.loop import run_samples, solve
from routh.kernels.prepare import facet_normals, kernel_data
from routh.kernels.sampling import Arrays, draw_again, empty_outputs, generator_key, scratch
from routh.kernels.table import empty_table, freeze
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
    threads: int | None = None,
) -> list[Arrays]:
    """n samples of each problem, pivoted; ``sizes`` (nc,) N s and ``directions`` by nt as in `run`."""

    def one(place: int) -> Arrays:
        problem = problems[place]
        data = kernel_data(problem, directions[problem.nt])
        outputs = empty_outputs(problem, n)
        size = np.asarray(sizes[place], dtype=np.float64) / data.impulse
        points = np.empty((n, 0))
        vertices = empty_table(data, capacity=0)
        freeze(vertices)
        frame = (np.ascontiguousarray(problem.response), np.array(problem.v), data.impulse)
        run_samples(
            data.shape, data.solver, facet_normals(data.dirs), vertices, False,
            (max_steps, tolerances.APPROACH, data.limit), generator_key(seed), points, 0, 0, n, size, data.c,
            frame, outputs, *scratch(data, pivoting=True),
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
    x = np.concatenate([c, np.asarray(lambda_max, dtype=np.float64) / data.impulse])
    vertices = empty_table(data, capacity=0)
    freeze(vertices)
    own: Any = scratch(data, pivoting=True)
    p, after = own[0][1], own[0][2]
    outcome, residual = solve(
        data.shape, data.solver, facet_normals(data.dirs), vertices, False, x, p, after, own[2]
    )
    impulse = p.reshape(problem.nc, -1) * data.impulse[:, None]
    status = Status.SOLVED if residual < data.limit else Status(outcome or Status.NUMERICAL)
    return problem.apply(impulse, before), impulse, status, float(residual)
