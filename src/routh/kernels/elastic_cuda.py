"""Many outcomes of one impact with restitution on an NVIDIA GPU: one thread per sample."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from routh.compiling import find_cuda, on_device
from routh.kernels.elastic import run_range

BLOCK, MOST_THREADS = 64, 16384  # each thread keeps its tableau in the GPU's memory


@cache
def _kernel() -> Any:
    cuda = find_cuda()
    samples = on_device(run_range)

    @cuda.jit
    def launch(
        data: Any, c: Any, restitution: Any, share: Any, step: Any, poisson: bool, limits: Any,
        max_steps: int, key: Any, n: int, table: Any, scratch: Any, outputs: Any,
    ) -> None:  # fmt: skip
        thread = cuda.grid(1)
        if thread >= scratch[0].shape[0]:
            return
        own = (
            scratch[0][thread], scratch[1][thread], scratch[2][thread],
            scratch[3][thread], scratch[4][thread], scratch[5][thread],
        )  # fmt: skip
        for i in range(thread, n, scratch[0].shape[0]):
            samples(
                data, c, restitution, share, step, poisson, limits, max_steps, key, i, i + 1, table,
                own, outputs,
            )  # fmt: skip

    return launch


def run_on_gpu(
    arguments: tuple[Any, ...],
    n: int,
    table: np.ndarray,
    scratch: tuple[np.ndarray, ...],
    outputs: tuple[Any, ...],
) -> None:
    """Fill ``outputs``; ``arguments`` are those of `run_range` up to ``key``, ``scratch`` is one thread's."""
    cuda = find_cuda()
    threads = min(n, MOST_THREADS)
    held = tuple(cuda.to_device(np.zeros((threads, *array.shape), array.dtype)) for array in scratch)
    results = tuple(cuda.to_device(array) for array in outputs)
    moved = tuple(_to_device(cuda, argument) for argument in arguments)
    _kernel()[(threads + BLOCK - 1) // BLOCK, BLOCK](*moved, n, cuda.to_device(table), held, results)
    for host, device in zip(outputs, results, strict=True):
        device.copy_to_host(host)


def _to_device(cuda: Any, argument: Any) -> Any:
    """Arrays, and tuples of arrays, in the GPU's memory; numbers as they are."""
    if isinstance(argument, np.ndarray):
        return cuda.to_device(argument)
    if isinstance(argument, tuple) and argument and isinstance(argument[0], np.ndarray):
        return tuple(cuda.to_device(array) for array in argument)
    return argument
