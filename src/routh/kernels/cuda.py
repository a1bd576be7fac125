"""Algorithm 1 on an NVIDIA GPU: one thread per sample, compiled from the same scalar source.

Local arrays need sizes that are known when a kernel is compiled, so there is one kernel per number of
contacts and friction directions. The table of vertices is grown on the CPU and copied. Samples along known
vertices come first; what they leave pending is gathered into a list and pivoted by a second kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from routh.compiling import cuda_kernel, find_cuda, on_device
from routh.kernels.algorithm1 import PENDING, run_known, run_pivoted
from routh.kernels.cone import run_cone
from routh.kernels.gpu_memory import CudaKernel, DeviceArray
from routh.kernels.step_arrays import Pivoting, Samples, Sampling, ScaledProblem, Sizes, Table, Vectors
from routh.kernels.step_making import pivoting_shapes, tangential_axes
from routh.kernels.walking import extents

if TYPE_CHECKING:
    from numba import cuda  # at run time `cuda_kernel` puts it here

THREADS = 128
PENDING_BLOCKS = 1024  # the pivoting's; each thread takes every so-manieth pending row
NO_LIMIT = 2**31 - 1


@lru_cache(maxsize=1)
def _reset_kernel() -> CudaKernel:
    """Set a counter to zero, in the order of launches."""

    def entry(left: DeviceArray) -> None:
        left[0] = 0

    return cuda_kernel(entry, fused=True)


@lru_cache(maxsize=1)
def _begin() -> CudaKernel:
    """Make one sample pending at its start."""

    def begin(samples: DeviceArray, row: int) -> None:
        samples.status[row], samples.steps[row], samples.residual[row] = PENDING, 0, 0.0
        for i in range(samples.impulse.shape[1]):
            for d in range(samples.impulse.shape[2]):
                samples.impulse[row, i, d] = 0.0

    return find_cuda().jit(device=True)(begin)


@lru_cache(maxsize=16)
def _known_kernel(nc: int, nt: int, k: int) -> CudaKernel:
    """The loop over known vertices for one shape; rows that it leaves PENDING go to a list."""
    walked, begin = on_device(run_known), _begin()
    lengths = ((0.0,) * nc, (0.0,) * nt, (0.0,) * k)
    n, inputs, places = nc * (1 + nt), nc * (2 + nt), extents((nc, nt, k))[0]

    def entry(
        step: DeviceArray,
        vertices: DeviceArray,
        sampling: DeviceArray,
        samples: DeviceArray,
        left: DeviceArray,
        pending: DeviceArray,
    ) -> None:
        row = cuda.grid(1)
        if row < samples.status.shape[0]:
            vectors = Vectors(
                cuda.local.array(inputs, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(places, np.float64),
                cuda.local.array(n, np.float64),
            )
            for place in range(places):
                vectors.values[place] = 0.0
            begin(samples, row)
            if walked(lengths, step, vertices, sampling, samples, vectors, row, row + 1) > 0:
                pending[cuda.atomic.add(left, 0, 1)] = row

    return cuda_kernel(entry, fused=True)


@lru_cache(maxsize=16)
def _pending_kernel(nc: int, nt: int, k: int) -> CudaKernel:
    """The pivoting loop over the list of pending rows; its scratch arrays are local to a thread."""
    pivoted = on_device(run_pivoted)
    n, inputs, places = nc * (1 + nt), nc * (2 + nt), extents((nc, nt, k))[0]
    a, b, c, d, e, f, g, h, i, j = (shape for shape, _ in pivoting_shapes((nc, nt, k)))

    def entry(
        step: DeviceArray,
        table: DeviceArray,
        sampling: DeviceArray,
        samples: DeviceArray,
        left: DeviceArray,
        pending: DeviceArray,
    ) -> None:
        work = Pivoting(
            cuda.local.array(a, np.int8),
            cuda.local.array(b, np.int64),
            cuda.local.array(c, np.float64),
            cuda.local.array(d, np.float64),
            cuda.local.array(e, np.float64),
            cuda.local.array(f, np.float64),
            cuda.local.array(g, np.int64),
            cuda.local.array(h, np.float64),
            cuda.local.array(i, np.float64),
            cuda.local.array(j, np.float64),
        )
        vectors = Vectors(
            cuda.local.array(inputs, np.float64),
            cuda.local.array(n, np.float64),
            cuda.local.array(n, np.float64),
            cuda.local.array(n, np.float64),
            cuda.local.array(n, np.float64),
            cuda.local.array(places, np.float64),
            cuda.local.array(n, np.float64),
        )
        for place in range(places):
            vectors.values[place] = 0.0
        for number in range(cuda.grid(1), left[0], cuda.gridsize(1)):
            row = pending[number]
            pivoted(step, table, False, sampling, samples, vectors, work, (row, row + 1), NO_LIMIT)

    return cuda_kernel(entry, fused=True)


@lru_cache(maxsize=16)
def _cone_kernel(nc: int) -> CudaKernel:
    """The loop with the true cone for one number of contacts."""
    sampled, begin = on_device(run_cone), _begin()
    n, inputs = 3 * nc, 4 * nc

    def entry(step: DeviceArray, axes: DeviceArray, sampling: DeviceArray, samples: DeviceArray) -> None:
        row = cuda.grid(1)
        if row < samples.status.shape[0]:
            vectors = Vectors(
                cuda.local.array(inputs, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(n, np.float64),
                cuda.local.array(1, np.float64),
                cuda.local.array(1, np.float64),
                cuda.local.array(1, np.float64),
            )
            begin(samples, row)
            sampled(step, axes, sampling, samples, vectors, (row, row + 1), NO_LIMIT)

    return cuda_kernel(entry, fused=True)


def send(data: DeviceArray) -> DeviceArray:
    """Arrays, and named tuples of them, in the GPU's memory; numbers as they are."""
    if isinstance(data, np.ndarray):
        return find_cuda().to_device(np.ascontiguousarray(data))
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(send(part) for part in data))
    return data


def prepare_launch(
    scaled: ScaledProblem, table: Table, sampling: Sampling, true_cone: bool, samples: Samples
) -> tuple[Callable[[], None], Samples]:
    """Copy what a launch needs to the GPU; ``launch()`` only computes into the device's samples."""
    sizes: Sizes = scaled.sizes
    count = len(samples.status)
    step, drawn = send(scaled.step), send(sampling)
    results = Samples(*(find_cuda().device_array(array.shape, array.dtype) for array in samples))
    blocks = -(-count // THREADS)
    if true_cone and sizes[1] == 2:
        axes = send(tangential_axes(scaled.step.G))

        def launch_cone() -> None:
            _cone_kernel(sizes[0])[blocks, THREADS](step, axes, drawn, results)

        return launch_cone, results
    known = send(table)
    left, pending = send(np.zeros(1, np.int32)), find_cuda().device_array(count, np.int32)

    def launch() -> None:
        _reset_kernel()[1, 1](left)
        _known_kernel(*sizes)[blocks, THREADS](step, known.vertices, drawn, results, left, pending)
        _pending_kernel(*sizes)[min(blocks, PENDING_BLOCKS), THREADS](
            step, known, drawn, results, left, pending
        )

    return launch, results


def run_on_gpu(
    scaled: ScaledProblem, table: Table, sampling: Sampling, true_cone: bool, samples: Samples
) -> None:
    """Fill the samples."""
    launch, results = prepare_launch(scaled, table, sampling, true_cone, samples)
    launch()
    arrays: DeviceArray = zip(results, samples, strict=True)
    for result, array in arrays:
        result.copy_to_host(array)
