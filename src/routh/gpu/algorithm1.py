"""Algorithm 1 on an NVIDIA GPU: one thread per sample, compiled from the same scalar source.

Local arrays need sizes that are known when a kernel is compiled, so there is one kernel per number of
contacts and friction directions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from routh.base.validation import Array
from routh.compiling.threads import layout_of, own_arrays, thread_number
from routh.gpu.events import Sampler
from routh.gpu.memory import CudaKernel, DeviceArray, send
from routh.gpu.ptx import gpu_kernel
from routh.kernels.algorithm1.loop import run_range
from routh.kernels.algorithm1.work import PENDING, Directions, StepDraw, Work, make_work
from routh.kernels.common.arrays import Outputs
from routh.problem.rows import Rows

THREADS = 128
NO_LIMIT = 2**31 - 1
REGISTERS = 64  # of a thread: with more, fewer run at a time (cone, 2^20 robots: 64 ms; all 255: 109)


@lru_cache(maxsize=16)
def _kernel(nc: int, nt: int, k: int) -> CudaKernel:
    """The loop for at most so many contacts, each sample to its end; no direction: the true cone."""
    layout = layout_of(make_work(nc, nt, k))

    def entry(
        rows: Rows,
        wanted: Array,
        draw: StepDraw,
        outputs: Outputs,
        directions: Directions,
        begin: int,
        end: int,
    ) -> None:
        number = begin + thread_number()
        if number < end and wanted[number // draw.n]:
            row, sample = number // draw.n, number % draw.n
            outputs.status[row, sample], outputs.events[row, sample] = PENDING, 0
            outputs.residual[row, sample] = 0.0
            work = own_arrays(Work, layout)
            run_range(rows, draw, directions, outputs, work, number, number + 1, NO_LIMIT)

    return gpu_kernel(entry, registers=REGISTERS)


class StepSampler(Sampler):
    """Algorithm 1 for rows of at most ``nc`` contacts, see `Sampler`; ``directions`` None: the true cone."""

    def __init__(self, draw: StepDraw, nc: int, directions: Directions) -> None:
        k, self.nt = (0, 2) if directions is None else directions.shape
        self.draw, self.directions = send((draw, directions))
        self.kernel = _kernel(nc, self.nt, k)

    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """See `Sampler.launch`."""
        draw = self.draw._replace(row=row)
        if draw.boxes.shape[0] > 1:
            draw = draw._replace(boxes=draw.boxes[row - self.draw.row :])
        blocks = -(-(end - begin) // THREADS)
        self.kernel[blocks, THREADS](rows, wanted, draw, outputs, self.directions, begin, end)


def run_steps(rows: Rows, draw: StepDraw, directions: Directions, outputs: Outputs) -> None:
    """Fill the outputs of the host."""
    sampler, on_gpu = StepSampler(draw, rows.contact.shape[2], directions), send(outputs)
    given, wanted = send((rows, np.ones(len(rows.nc), dtype=bool)))
    sampler.run(given, wanted, on_gpu, draw.row, None)
    arrays: DeviceArray = zip(on_gpu, outputs, strict=True)
    for result, array in arrays:
        result.copy_to_host(array)
