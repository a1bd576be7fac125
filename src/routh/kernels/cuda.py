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
from routh.kernels.arrays import Outputs, Rows
from routh.kernels.cone import ConeDraw, ConeWork, run_cone, work_shapes
from routh.kernels.events_cuda import Sampler
from routh.kernels.gpu_memory import CudaKernel, DeviceArray, send
from routh.kernels.step_arrays import Pivoting, Samples, Sampling, ScaledProblem, Sizes, Table, Vectors
from routh.kernels.step_making import pivoting_shapes
from routh.kernels.walking import extents

if TYPE_CHECKING:
    from numba import cuda  # at run time `cuda_kernel` puts it here

THREADS = 128
PENDING_BLOCKS = 1024  # the pivoting's; each thread takes every so-manieth pending row
NO_LIMIT = 2**31 - 1
CONE_REGISTERS = 64  # of a thread: with more, fewer run at a time (64 ms for 2^20 robots; all 255: 109)


@lru_cache(maxsize=1)
def _reset_kernel() -> CudaKernel:
    """Set a counter to zero, in the order of launches."""

    def entry(left: DeviceArray) -> None:
        left[0] = 0

    return cuda_kernel(entry, fused=True)


@lru_cache(maxsize=16)
def _known_kernel(nc: int, nt: int, k: int) -> CudaKernel:
    """The loop over known vertices for one shape; rows that it leaves PENDING go to a list."""
    walked = on_device(run_known)
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
            samples.status[row], samples.steps[row], samples.residual[row] = PENDING, 0, 0.0
            for i in range(nc):
                for d in range(1 + nt):
                    samples.impulse[row, i, d] = 0.0
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
    """The loop with the true cone for at most so many contacts, each sample to its end."""
    sampled = on_device(run_cone)
    a, b, c, d, e, f = work_shapes(nc)

    def entry(
        rows: Rows, wanted: DeviceArray, draw: ConeDraw, outputs: Outputs, begin: int, end: int
    ) -> None:
        number = begin + cuda.grid(1)
        if number < end and wanted[number // draw.n]:
            work = ConeWork(
                cuda.local.array(a, np.float64),
                cuda.local.array(b, np.float64),
                cuda.local.array(c, np.float64),
                cuda.local.array(d, np.float64),
                cuda.local.array(e, np.float64),
                cuda.local.array(f, np.float64),
            )
            row, sample = number // draw.n, number % draw.n
            outputs.status[row, sample], outputs.events[row, sample] = PENDING, 0
            outputs.residual[row, sample] = 0.0
            for i in range(outputs.impulse.shape[2]):
                for part in range(3):
                    outputs.impulse[row, sample, i, part] = 0.0
            sampled(rows, draw, outputs, work, number, number + 1, NO_LIMIT)

    return cuda_kernel(entry, fused=True, max_registers=CONE_REGISTERS)


class ConeSampler(Sampler):
    """Algorithm 1 with the true cone for rows of at most ``nc`` contacts, see `Sampler`."""

    def __init__(self, draw: ConeDraw, nc: int) -> None:
        self.nt, self.draw, self.kernel = 2, send(draw), _cone_kernel(nc)

    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """See `Sampler.launch`."""
        draw = self.draw._replace(row=row)
        if draw.steps.shape[0] > 1:
            draw = draw._replace(steps=draw.steps[row - self.draw.row :])
        self.kernel[-(-(end - begin) // THREADS), THREADS](rows, wanted, draw, outputs, begin, end)


def run_cone_on_gpu(rows: Rows, draw: ConeDraw, outputs: Outputs) -> None:
    """Fill the outputs of the host."""
    sampler, on_gpu = ConeSampler(draw, rows.contact.shape[2]), send(outputs)
    given, wanted = send((rows, np.ones(len(rows.nc), dtype=bool)))
    sampler.run(given, wanted, on_gpu, draw.row, None)
    arrays: DeviceArray = zip(on_gpu, outputs, strict=True)
    for result, array in arrays:
        result.copy_to_host(array)


def prepare_launch(
    scaled: ScaledProblem, table: Table, sampling: Sampling, samples: Samples
) -> tuple[Callable[[], None], Samples]:
    """Copy what a launch needs to the GPU; ``launch()`` only computes into the device's samples."""
    sizes: Sizes = scaled.sizes
    count = len(samples.status)
    step, drawn = send(scaled.step), send(sampling)
    results = Samples(*(find_cuda().device_array(array.shape, array.dtype) for array in samples))
    blocks = -(-count // THREADS)
    known = send(table)
    left, pending = send(np.zeros(1, np.int32)), find_cuda().device_array(count, np.int32)

    def launch() -> None:
        _reset_kernel()[1, 1](left)
        _known_kernel(*sizes)[blocks, THREADS](step, known.vertices, drawn, results, left, pending)
        _pending_kernel(*sizes)[min(blocks, PENDING_BLOCKS), THREADS](
            step, known, drawn, results, left, pending
        )

    return launch, results


def run_on_gpu(scaled: ScaledProblem, table: Table, sampling: Sampling, samples: Samples) -> None:
    """Fill the samples."""
    launch, results = prepare_launch(scaled, table, sampling, samples)
    launch()
    arrays: DeviceArray = zip(results, samples, strict=True)
    for result, array in arrays:
        result.copy_to_host(array)
