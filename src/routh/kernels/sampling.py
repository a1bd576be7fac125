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
from routh.kernels.loop import PENDING, run_known, run_samples
from routh.kernels.prepare import KernelData, facet_normals, kernel_data, tangential_axes, workspace
from routh.kernels.table import FEW_NEW, PILOT_ROUND, PILOT_ROUNDS, PILOT_SEED, Table, empty_table, freeze
from routh.kernels.walking import extents
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
    table = vertex_table(problem, data, size, max_steps)
    vertices, normals, frame = table[0], facet_normals(data.dirs), velocity_frame(problem, data)
    lengths = shape_lengths(data)
    settings, key = (max_steps, tolerances.APPROACH, data.limit), generator_key(seed)
    in_common = (size, data.c, frame, outputs)

    def work(begin: int, end: int, own: Any) -> None:
        vectors, scratch = own
        rows = (settings, key, points, first, begin, end, *in_common, vectors)
        run_known(lengths, data.solver, normals, vertices, *rows)
        run_samples(data.shape, data.solver, normals, table, False, *rows, scratch)

    in_threads(len(points), threads, lambda: (vectors_of(data), pivoting_of(data)), work)


def vertex_table(problem: ImpactProblem, data: KernelData, size: Array, max_steps: int) -> Table:
    """The frozen table of a problem; kept as long as the problem, for its last few settings."""
    tables = _TABLES.setdefault(problem, {})
    name = data.dirs.tobytes() + size.tobytes() + max_steps.to_bytes(8, "little")
    if name not in tables:
        table = empty_table(data, size)
        _grow(problem, data, size, max_steps, table)
        if len(tables) >= 4:
            tables.pop(next(iter(tables)))
        tables[name] = freeze(data, table)
    return tables[name]


def _grow(problem: ImpactProblem, data: KernelData, size: Array, max_steps: int, table: Table) -> None:
    """Fill the table by samples of a fixed seed, one after the other, until they find hardly anything new."""
    settings, key = (max_steps, tolerances.APPROACH, data.limit), generator_key(PILOT_SEED)
    normals, frame = facet_normals(data.dirs), velocity_frame(problem, data)
    vectors, scratch, points = vectors_of(data), pivoting_of(data), np.empty((PILOT_ROUND, 0))
    used, known, room = table[1][2], 0, len(table[1][3])
    if room <= used[0]:
        return  # vertices have no names that fit: every step is pivoted
    for first in range(0, PILOT_ROUNDS * PILOT_ROUND, PILOT_ROUND):
        run_samples(
            data.shape, data.solver, normals, table, True, settings, key, points, first, 0, PILOT_ROUND, size,
            data.c, frame, empty_outputs(problem, PILOT_ROUND), vectors, scratch,
        )  # fmt: skip
        if used[0] - known <= FEW_NEW * used[0]:
            break
        known = int(used[0])


def _run_cone(problem: ImpactProblem, draw: Any, threads: int | None, outputs: Arrays) -> None:
    data, size, max_steps, seed, points, first = draw
    settings = (max_steps, tolerances.APPROACH, data.limit)
    frame = velocity_frame(problem, data)
    axes = tangential_axes(data.G)

    def work(begin: int, end: int, own: Any) -> None:
        run_cone_samples(
            data.shape, data.G, axes, data.mu, settings, generator_key(seed), points, first, begin, end,
            size, data.c, frame, outputs, own,
        )  # fmt: skip

    in_threads(len(points), threads, lambda: vectors_of(data), work)


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
            residual[row] = np.maximum(residual[row], result.residual)  # NaN stays
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


def vectors_of(data: KernelData) -> tuple[Array, ...]:
    """Vectors of one thread: inputs, impulses, velocities after, total impulses, places of the walk."""
    nc, nt = data.shape
    n = nc * (1 + nt)
    return (
        np.empty(n + nc),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.zeros(extents((nc, nt, len(data.dirs)))[0]),
    )


def pivoting_of(data: KernelData) -> tuple[Any, ...]:
    """The pivoting's workspace of one thread."""
    return workspace(*data.shape, len(data.dirs))


def shape_lengths(data: KernelData) -> tuple[tuple[float, ...], ...]:
    """Tuples as long as there are contacts, tangents and directions: their types tell shapes apart."""
    return (0.0,) * data.shape[0], (0.0,) * data.shape[1], (0.0,) * len(data.dirs)


def velocity_frame(problem: ImpactProblem, data: KernelData) -> tuple[Array, Array, Array]:
    """What `routh.kernels.loop.write_outcome` takes: M^-1 J^T, the velocity before, units of impulse."""
    return np.ascontiguousarray(problem.response), np.array(problem.v), data.impulse


def generator_key(seed: int, row: int = 0) -> tuple[np.uint32, np.uint32, np.uint32]:
    """A 64-bit seed as the generator's two words, and the row of the problem in its batch."""
    return np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32), np.uint32(row)


def empty_outputs(problem: ImpactProblem, n: int) -> Arrays:
    """Arrays for n samples, all pending at their start: v, impulse, steps, status, residual."""
    return (
        np.empty((n, problem.nv)),
        np.zeros((n, problem.nc, 1 + problem.nt)),
        np.zeros(n, dtype=np.int32),
        np.full(n, PENDING, dtype=np.int8),
        np.zeros(n),
    )
