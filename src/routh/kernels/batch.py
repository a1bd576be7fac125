"""Samples of many different problems by Algorithm 1, spread over threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from routh.kernels.algorithm1_host import run
from routh.kernels.step_arrays import Samples
from routh.problem import ImpactProblem
from routh.validation import Array


def run_many(
    problems: Sequence[ImpactProblem],
    n: int,
    *,
    sizes: Sequence[Array],
    max_steps: int,
    seed: int,
    directions: dict[int, Array],
    points: Array | None = None,
    threads: int | None = None,
) -> list[Samples]:
    """n samples of each problem; ``sizes`` (nc,) N s, ``directions`` by nt; ``points`` as `run`."""

    def one(place: int) -> Samples:
        problem = problems[place]
        return run(
            problem,
            n,
            step=sizes[place],
            max_steps=max_steps,
            seed=seed,
            directions=directions[problem.nt],
            points=points,
            threads=1,
        )

    count = min(threads if threads is not None else len(os.sched_getaffinity(0)), max(len(problems), 1))
    if count <= 1:
        return [one(place) for place in range(len(problems))]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(len(problems))))
