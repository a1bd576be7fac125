"""Many outcomes of one impact with restitution on an NVIDIA GPU: one thread per sample."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from routh.compiling import cuda_kernel, on_device
from routh.kernels import cuda as gpu
from routh.kernels.elastic import run_range
from routh.kernels.elastic_arrays import Drawing, Elastic, ElasticSamples, Scratch
from routh.kernels.gpu_memory import CudaKernel, DeviceArray

if TYPE_CHECKING:
    from numba import cuda  # at run time `cuda_kernel` puts it here

BLOCK, MOST_THREADS = 64, 16384  # each thread keeps its tableau in the GPU's memory


@cache
def _kernel() -> CudaKernel:
    sampled = on_device(run_range)

    def entry(problem: DeviceArray, drawing: DeviceArray, samples: DeviceArray, scratch: DeviceArray) -> None:
        thread = cuda.grid(1)
        if thread >= scratch.T.shape[0]:
            return
        own = Scratch(
            scratch.T[thread],
            scratch.basis[thread],
            scratch.q[thread],
            scratch.z[thread],
            scratch.flat[thread],
            scratch.ledger[thread],
            scratch.residual[thread],
        )
        for i in range(thread, samples.status.shape[0], scratch.T.shape[0]):
            sampled(problem, drawing, samples, own, i, i + 1)

    return cuda_kernel(entry, fused=True)


def run_on_gpu(problem: Elastic, drawing: Drawing, samples: ElasticSamples, scratch: Scratch) -> None:
    """Fill the samples; ``scratch`` is one thread's."""
    launch = _kernel()
    threads = min(len(samples.status), MOST_THREADS)
    held = gpu.send(Scratch(*(np.zeros((threads, *array.shape), array.dtype) for array in scratch)))
    results = gpu.send(samples)
    blocks = (threads + BLOCK - 1) // BLOCK
    launch[blocks, BLOCK](gpu.send(problem), gpu.send(drawing), results, held)
    for host, device in zip(samples, results, strict=True):
        device.copy_to_host(host)
