"""The same kernels on an NVIDIA GPU: one thread per sample, compiled from the same scalar source.

Local arrays need sizes that are known when a kernel is compiled, so there is one kernel per number of
contacts and friction directions. The table of vertices is grown on the CPU and copied.
"""

from __future__ import annotations

import types
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from routh import tolerances
from routh.kernels.cone import run_cone_samples
from routh.kernels.gpu import find_cuda
from routh.kernels.loop import run_samples
from routh.kernels.prepare import KernelData, facet_normals, tangential_axes, workspace_sizes
from routh.problem import ImpactProblem

THREADS = 128
cuda: Any = None  # numba.cuda, once `_cuda` has found it; a global, as its simulator needs


def _cuda() -> Any:
    """numba.cuda, or an error that says what is missing."""
    global cuda
    cuda = find_cuda()
    return cuda


@cache
def _on_device(kernel: Any) -> Any:
    """A CPU kernel's Python source as a device function, and so all that it calls."""
    function = kernel.py_func
    callees = {
        name: _on_device(value)
        for name in function.__code__.co_names
        if isinstance(value := function.__globals__.get(name), Dispatcher)
    }
    copy = types.FunctionType(function.__code__, {**function.__globals__, **callees}, function.__name__)
    return _cuda().jit(device=True)(copy)


@lru_cache(maxsize=16)
def _polyhedral_kernel(nc: int, nt: int, k: int) -> Any:
    """The sampling loop for one shape; its scratch arrays are local to a thread."""
    _cuda()
    samples = _on_device(run_samples)
    n, inputs = nc * (1 + nt), nc * (2 + nt)
    a, b, c, d, e, f, g, h = (size for size, _ in workspace_sizes(nc, nt, k))

    def entry(
        data: Any, normals: Any, table: Any, settings: Any, key: Any, points: Any, first: int, count: int,
        size: Any, start: Any, frame: Any, outputs: Any,
    ) -> None:  # fmt: skip
        row = cuda.grid(1)
        if row < count:
            work = (
                cuda.local.array(a, np.int64),
                cuda.local.array(b, np.int64),
                cuda.local.array(c, np.int64),
                cuda.local.array(d, np.float64),
                cuda.local.array(e, np.float64),
                cuda.local.array(f, np.float64),
                cuda.local.array(g, np.float64),
                cuda.local.array(h, np.float64),
            )
            vectors = (
                cuda.local.array(inputs, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
            )
            total = cuda.local.array(n, np.float64)
            samples(
                (nc, nt), data, normals, table, False, settings, key, points, first, row, row + 1, size,
                start, frame, outputs, vectors, total, work,
            )  # fmt: skip

    return cuda.jit(entry)


@lru_cache(maxsize=16)
def _cone_kernel(nc: int) -> Any:
    """The loop with the true cone for one number of contacts."""
    _cuda()
    samples = _on_device(run_cone_samples)
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
            )
            total = cuda.local.array(n, np.float64)
            samples(
                (nc, 2), G, axes, mu, settings, key, points, first, row, row + 1, size, start, frame,
                outputs, vectors, total,
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
    shared = (settings, generator_key(seed), *send((points,)), first, count, *send((size, data.c)))
    results = tuple(cuda.device_array(array.shape, array.dtype) for array in outputs)
    constants: Any
    if friction == "cone" and nt == 2:
        kernel = _cone_kernel(nc)
        constants = send((data.G, tangential_axes(data.G), data.mu))
    else:
        kernel = _polyhedral_kernel(nc, nt, len(data.dirs))
        table = send(vertex_table(problem, data, size, max_steps))
        constants = (send(data.solver), *send((facet_normals(data.dirs),)), table)
    blocks = -(-count // THREADS)

    def launch() -> None:
        kernel[blocks, THREADS](*constants, *shared, frame, results)

    return launch, results


def run_on_gpu(problem: ImpactProblem, draw: Any, friction: str, outputs: Any) -> None:
    """`routh.kernels.sampling.run` for ``device="cuda"``: fill the outputs."""
    launch, results = prepare_launch(problem, draw, friction, outputs)
    launch()
    for array, result in zip(outputs, results, strict=True):
        result.copy_to_host(array)
