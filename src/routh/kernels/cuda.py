"""The same kernels on an NVIDIA GPU: one thread per sample, compiled from the same scalar source.

Local arrays need sizes that are known when a kernel is compiled, so there is one kernel per number of
contacts and friction directions. The table of vertices is grown on the CPU and copied. Samples along known
vertices come first; what they leave pending is gathered into a list and pivoted by a second kernel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from routh import tolerances
from routh.compiling import find_cuda, on_device
from routh.kernels.cone import run_cone_samples
from routh.kernels.loop import PENDING, run_known, run_samples
from routh.kernels.prepare import KernelData, facet_normals, tangential_axes, workspace_sizes
from routh.kernels.walking import extents
from routh.problem import ImpactProblem

THREADS = 128
PENDING_BLOCKS = 1024  # the pivoting's; each thread takes every so-manieth pending row
cuda: Any = None  # numba.cuda, once `_cuda` has found it; a global, as its simulator needs


def _cuda() -> Any:
    """numba.cuda, or an error that says what is missing."""
    global cuda
    cuda = find_cuda()
    return cuda


@lru_cache(maxsize=1)
def _reset_kernel() -> Any:
    """Set a counter to zero, in the order of launches."""
    _cuda()

    def entry(left: Any) -> None:
        left[0] = 0

    return cuda.jit(entry)


@lru_cache(maxsize=16)
def _known_kernel(nc: int, nt: int, k: int) -> Any:
    """The loop over known vertices for one shape; rows that it leaves PENDING go to a list."""
    _cuda()
    samples = on_device(run_known)
    lengths = ((0.0,) * nc, (0.0,) * nt, (0.0,) * k)
    n, inputs, length = nc * (1 + nt), nc * (2 + nt), extents((nc, nt, k))[0]

    def entry(
        data: Any, normals: Any, vertices: Any, settings: Any, key: Any, points: Any, first: int, count: int,
        size: Any, start: Any, frame: Any, outputs: Any, left: Any, pending: Any,
    ) -> None:  # fmt: skip
        row = cuda.grid(1)
        if row < count:
            vectors = (
                cuda.local.array(inputs, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(length, np.float64),
            )
            for place in range(length):
                vectors[4][place] = 0.0
            samples(
                lengths, data, normals, vertices, settings, key, points, first, row, row + 1, size, start,
                frame, outputs, vectors,
            )  # fmt: skip
            if outputs[3][row] == PENDING:
                pending[cuda.atomic.add(left, 0, 1)] = row

    return cuda.jit(entry)


@lru_cache(maxsize=16)
def _pending_kernel(nc: int, nt: int, k: int) -> Any:
    """The pivoting loop over the list of pending rows; its scratch arrays are local to a thread."""
    _cuda()
    samples = on_device(run_samples)
    n, inputs, length = nc * (1 + nt), nc * (2 + nt), extents((nc, nt, k))[0]
    a, b, c, d, e, f, g, h, i = (size for size, _ in workspace_sizes(nc, nt, k))

    def entry(
        data: Any, normals: Any, table: Any, settings: Any, key: Any, points: Any, first: int, size: Any,
        start: Any, frame: Any, outputs: Any, left: Any, pending: Any,
    ) -> None:  # fmt: skip
        work = (
            cuda.local.array(a, np.int8),
            cuda.local.array(b, np.int64),
            cuda.local.array(c, np.int64),
            cuda.local.array(d, np.float64),
            cuda.local.array(e, np.float64),
            cuda.local.array(f, np.float64),
            cuda.local.array(g, np.float64),
            cuda.local.array(h, np.float64),
            cuda.local.array(i, np.float64),
        )
        vectors = (
            cuda.local.array(inputs, np.float64),
            cuda.local.array(n, np.float64),
            cuda.local.array(n, np.float64),
            cuda.local.array(n, np.float64),
            cuda.local.array(1, np.float64),
        )
        for place in range(length):
            work[8][place] = 0.0
        for number in range(cuda.grid(1), left[0], cuda.gridsize(1)):
            row = pending[number]
            samples(
                (nc, nt), data, normals, table, False, settings, key, points, first, row, row + 1, size,
                start, frame, outputs, vectors, work,
            )  # fmt: skip

    return cuda.jit(entry)


@lru_cache(maxsize=16)
def _cone_kernel(nc: int) -> Any:
    """The loop with the true cone for one number of contacts."""
    _cuda()
    samples = on_device(run_cone_samples)
    n, inputs = 3 * nc, 4 * nc

    def entry(
        G: Any, axes: Any, mu: Any, settings: Any, key: Any, points: Any, first: int, count: int, size: Any,
        start: Any, frame: Any, outputs: Any,
    ) -> None:  # fmt: skip
        row = cuda.grid(1)
        if row < count:
            vectors = (
                cuda.local.array(inputs, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(1, np.float64),
            )
            samples(
                (nc, 2), G, axes, mu, settings, key, points, first, row, row + 1, size, start, frame,
                outputs, vectors,
            )  # fmt: skip

    return cuda.jit(entry)


def prepare_launch(problem: ImpactProblem, draw: Any, friction: str, outputs: Any) -> Any:
    """Copy what a launch needs to the GPU; returns (launch, device outputs): ``launch()`` only computes."""
    from routh.kernels.sampling import generator_key, vertex_table

    _cuda()
    data: KernelData
    data, size, max_steps, seed, points, first = draw
    nc, nt = data.shape
    count = len(points)

    def send(arrays: Any) -> Any:
        return tuple(cuda.to_device(np.ascontiguousarray(array)) for array in arrays)

    frame = send((problem.response, problem.v, data.impulse))
    settings = (max_steps, tolerances.APPROACH, data.limit)
    common = (settings, generator_key(seed), *send((points,)), first)
    ends = (*send((size, data.c)), frame)
    results = tuple(cuda.device_array(array.shape, array.dtype) for array in outputs)
    blocks = -(-count // THREADS)
    if friction == "cone" and nt == 2:
        constants = send((data.G, tangential_axes(data.G), data.mu))

        def launch_cone() -> None:
            _cone_kernel(nc)[blocks, THREADS](*constants, *common, count, *ends, results)

        return launch_cone, results
    shape = (nc, nt, len(data.dirs))
    table = tuple(send(part) for part in vertex_table(problem, data, size, max_steps))
    solver, normals = send(data.solver), cuda.to_device(facet_normals(data.dirs))
    left, pending = cuda.to_device(np.zeros(1, np.int32)), cuda.device_array(count, np.int32)

    def launch() -> None:
        _reset_kernel()[1, 1](left)
        _known_kernel(*shape)[blocks, THREADS](
            solver, normals, table[0], *common, count, *ends, results, left, pending
        )
        _pending_kernel(*shape)[min(blocks, PENDING_BLOCKS), THREADS](
            solver, normals, table, *common, *ends, results, left, pending
        )

    return launch, results


def run_on_gpu(problem: ImpactProblem, draw: Any, friction: str, outputs: Any) -> None:
    """`routh.kernels.sampling.run` for ``device="cuda"``: fill the outputs."""
    launch, results = prepare_launch(problem, draw, friction, outputs)
    launch()
    for array, result in zip(outputs, results, strict=True):
        result.copy_to_host(array)
