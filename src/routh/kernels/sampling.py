"""Many samples of one impact: what `routh.sample` calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from routh import tolerances
from routh.kernels.cone import run_cone_samples
from routh.kernels.loop import run_samples
from routh.kernels.prepare import KernelData, facet_normals, kernel_data, tangential_axes, workspace
from routh.kernels.table import PILOT_SAMPLES, PILOT_SEED, Table, empty_table, freeze
from routh.problem import ImpactProblem
from routh.rng import uniforms
from routh.status import Status
from routh.step import make_step
from routh.validation import Array, choice

Arrays = tuple[Array, Array, np.ndarray, np.ndarray, Array]
CHUNK = 4096  # samples that a thread takes at a time
_TABLES: WeakKeyDictionary[ImpactProblem, dict[bytes, Table]] = WeakKeyDictionary()


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
    friction : "polyhedral" with ``directions`` (k, nt), in the order of their angle, or "cone".
    device : "cpu" with ``threads`` threads (default: all), or "cuda".

    Returns
    -------
    v (n, nv), impulse (n, nc, 1 + nt) in N s, steps (n,) int32, status (n,) int8, and residual (n,): the
    largest scaled residual of a sample's steps. Samples on which the kernel fails are drawn again by the
    readable step solver, which is slower and surer.
    """
    choice("friction", friction, ("polyhedral", "cone"))
    choice("device", device, ("cpu", "cuda"))
    data = kernel_data(problem, directions)
    outputs = empty_outputs(problem, n)
    size = np.asarray(step, dtype=np.float64) / data.impulse
    points = np.empty((n, 0)) if table is None else np.ascontiguousarray(table).reshape(n, -1)
    draw = (data, size, max_steps, seed, points, first)
    if device == "cuda":
        from routh.kernels.cuda import run_on_gpu

        run_on_gpu(problem, draw, friction, outputs)
    elif friction == "cone" and problem.nt == 2:
        _run_cone(problem, draw, threads, outputs)
    else:
        _run_polyhedral(problem, draw, threads, outputs)
    draw_again(problem, draw, friction, outputs)
    return outputs


def _run_polyhedral(problem: ImpactProblem, draw: Any, threads: int | None, outputs: Arrays) -> None:
    data, size, max_steps, seed, points, first = draw
    vertices = vertex_table(problem, data, size, max_steps)
    loop = _polyhedral_loop(problem, data, size, max_steps, vertices)

    def work(begin: int, end: int, own: Any) -> None:
        loop(begin, end, own, False, generator_key(seed), points, first, outputs)

    in_threads(len(points), threads, lambda: scratch(data, pivoting=True), work)


def _polyhedral_loop(
    problem: ImpactProblem, data: KernelData, size: Array, max_steps: int, vertices: Table
) -> Callable[..., None]:
    settings = (max_steps, tolerances.APPROACH, data.limit)
    frame = (np.ascontiguousarray(problem.response), np.array(problem.v), data.impulse)
    normals = facet_normals(data.dirs)

    def loop(
        begin: int, end: int, own: Any, grow: bool, key: Any, points: Array, first: int, into: Any
    ) -> None:
        run_samples(
            data.shape, data.solver, normals, vertices, grow, settings, key, points, first, begin, end, size,
            data.c, frame, into, *own,
        )  # fmt: skip

    return loop


def vertex_table(problem: ImpactProblem, data: KernelData, size: Array, max_steps: int) -> Table:
    """The frozen table of a problem; kept as long as the problem, for its last few settings."""
    tables = _TABLES.setdefault(problem, {})
    name = data.dirs.tobytes() + size.tobytes() + max_steps.to_bytes(8, "little")
    if name not in tables:
        vertices = empty_table(data)
        loop = _polyhedral_loop(problem, data, size, max_steps, vertices)
        nothing = np.empty((PILOT_SAMPLES, 0))
        pilot = empty_outputs(problem, PILOT_SAMPLES)
        own = scratch(data, pivoting=True)
        loop(0, PILOT_SAMPLES, own, True, generator_key(PILOT_SEED), nothing, 0, pilot)
        freeze(vertices)
        if len(tables) >= 4:
            tables.pop(next(iter(tables)))
        tables[name] = vertices
    return tables[name]


def _run_cone(problem: ImpactProblem, draw: Any, threads: int | None, outputs: Arrays) -> None:
    data, size, max_steps, seed, points, first = draw
    settings = (max_steps, tolerances.APPROACH, data.limit)
    frame = (np.ascontiguousarray(problem.response), np.array(problem.v), data.impulse)
    axes = tangential_axes(data.G)

    def work(begin: int, end: int, own: Any) -> None:
        run_cone_samples(
            data.shape, data.G, axes, data.mu, settings, generator_key(seed), points, first, begin, end,
            size, data.c, frame, outputs, *own,
        )  # fmt: skip

    in_threads(len(points), threads, lambda: scratch(data, pivoting=False), work)


def draw_again(problem: ImpactProblem, draw: Any, friction: str, outputs: Arrays) -> None:
    """Samples whose kernel failed, by the readable step solver, from their beginning."""
    data, size, max_steps, seed, points, first = draw
    v, impulse, steps, status, residual = outputs
    failed = np.flatnonzero(np.isin(status, (Status.RAY, Status.MAX_PIVOTS, Status.NUMERICAL)))
    if not failed.size:
        return
    facets = None if problem.nt == 1 or friction == "cone" else len(data.dirs)
    solver = make_step(problem, friction=friction, facets=facets)
    ending = -tolerances.APPROACH * data.velocity
    for row in failed:
        v[row], impulse[row], residual[row], status[row] = problem.v, 0.0, 0.0, Status.MAX_STEPS
        for k in range(max_steps):
            at = slice(k * problem.nc, (k + 1) * problem.nc)
            if at.stop <= points.shape[1]:
                numbers = points[row, at]
            else:
                numbers = uniforms(seed, np.array([first + row]), k, problem.nc)[0]
            result = solver.solve(v[row].copy(), size * data.impulse * numbers)
            v[row], impulse[row], steps[row] = result.v, impulse[row] + result.impulse, k + 1
            residual[row] = max(residual[row], result.residual)
            if result.status is not Status.SOLVED or np.all(problem.Jn @ v[row] >= ending):
                status[row] = result.status
                break


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


def scratch(data: KernelData, *, pivoting: bool) -> Any:
    """Vectors of one thread, and the workspace of the pivoting."""
    nc, nt = data.shape
    width = nc * (1 + nt)
    vectors = (np.empty(width + nc), np.empty(width), np.empty(width))
    own = (vectors, np.empty(width))
    return (*own, workspace(nc, nt, len(data.dirs))) if pivoting else own


def generator_key(seed: int) -> tuple[np.uint64, np.uint64]:
    """A 64-bit seed as the generator's two words."""
    return np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)


def empty_outputs(problem: ImpactProblem, n: int) -> Arrays:
    """Arrays for n samples: v, impulse, steps, status, residual."""
    return (
        np.empty((n, problem.nv)),
        np.empty((n, problem.nc, 1 + problem.nt)),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int8),
        np.empty(n),
    )
