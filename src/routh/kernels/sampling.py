"""Many samples of one impact: what `routh.sample` calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from routh import tolerances
from routh.kernels.loop import run_samples
from routh.kernels.prepare import facet_normals, kernel_data, workspace
from routh.kernels.table import PILOT_SAMPLES, PILOT_SEED, empty_table, freeze
from routh.problem import ImpactProblem
from routh.validation import Array

Arrays = tuple[Array, Array, np.ndarray, np.ndarray, Array]
CHUNK = 4096  # samples that a thread takes at a time


def run(
    problem: ImpactProblem,
    n: int,
    *,
    first: int = 0,
    step: Array,
    max_steps: int,
    seed: int,
    table: Array | None = None,
    friction: str = "polyhedral",
    directions: Array,
    device: str = "cpu",
    threads: int | None = None,
) -> Arrays:
    """Draw the samples ``first`` to ``first + n - 1`` of HP23's Algorithm 1.

    Parameters
    ----------
    step : (nc,) N s, the box that lambda_max is drawn from.
    table : (n, steps * nc) points in (0, 1) for the first steps; beyond it the counter-based numbers.
    directions : (k, nt) friction directions (polyhedral friction).

    Returns
    -------
    v (n, nv), impulse (n, nc, 1 + nt) in N s, steps (n,) int32, status (n,) int8, and residual (n,): the
    largest scaled residual of a sample's steps.
    """
    data = kernel_data(problem, directions)
    outputs = _empty_outputs(problem, n)
    size = np.asarray(step, dtype=np.float64) / data.impulse
    points = np.empty((n, 0)) if table is None else np.ascontiguousarray(table).reshape(n, -1)
    settings = (max_steps, tolerances.APPROACH, data.limit)
    frame = (np.ascontiguousarray(problem.response), np.array(problem.v), data.impulse)
    normals = facet_normals(data.dirs)
    nc, nt, k = problem.nc, problem.nt, len(data.dirs)
    width = nc * (1 + nt)
    vertices = empty_table(data)

    def scratch() -> Any:
        vectors = (np.empty(width + nc), np.empty(width), np.empty(width))
        return vectors, np.empty(width), workspace(nc, nt, k)

    def loop(
        begin: int, end: int, own: Any, grow: bool, key: Any, points: Array, first: int, into: Any
    ) -> None:
        run_samples(
            data.shape, data.solver, normals, vertices, grow, settings, key, points, first, begin, end, size,
            data.c, frame, into, *own,
        )  # fmt: skip

    pilot = _empty_outputs(problem, PILOT_SAMPLES)
    loop(0, PILOT_SAMPLES, scratch(), True, _key(PILOT_SEED), np.empty((PILOT_SAMPLES, 0)), 0, pilot)
    freeze(vertices)
    key = _key(seed)

    def work(begin: int, end: int, own: Any) -> None:
        loop(begin, end, own, False, key, points, first, outputs)

    in_threads(n, threads, scratch, work)
    return outputs


def in_threads(
    n: int, threads: int | None, scratch: Callable[[], Any], work: Callable[[int, int, Any], None]
) -> None:
    """Call ``work(begin, end, scratch)`` on chunks of n rows, on as many threads as asked for."""
    count = threads if threads is not None else len(os.sched_getaffinity(0))
    count = min(count, -(-n // CHUNK))
    if count <= 1:
        work(0, n, scratch())
        return
    begins = iter(range(0, n, CHUNK))  # shared: whoever is free takes the next chunk

    def worker() -> None:
        own = scratch()
        for begin in begins:
            work(begin, min(begin + CHUNK, n), own)

    with ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(worker) for _ in range(count)]:
            future.result()


def _key(seed: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)


def _empty_outputs(problem: ImpactProblem, n: int) -> Arrays:
    return (
        np.empty((n, problem.nv)),
        np.empty((n, problem.nc, 1 + problem.nt)),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int8),
        np.empty(n),
    )
