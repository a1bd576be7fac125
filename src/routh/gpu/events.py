"""Sampling by events on an NVIDIA GPU, compiled from the CPU's scalar source: one thread per sample.

Local arrays need sizes that are known when a kernel is compiled, so there is one kernel per number of
contacts. Problems of a batch are prepared on the GPU too.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np

from routh.base.status import Status
from routh.base.validation import Array
from routh.compiling import elementary
from routh.compiling.foreign import Foreign
from routh.compiling.threads import any_in_warp, layout_of, own_arrays, thread_count, thread_number
from routh.gpu.driver import gpu
from routh.gpu.memory import CudaKernel, DeviceArray, allocate, send
from routh.gpu.ptx import gpu_kernel
from routh.kernels.common.arrays import Draw, Outputs, output_shapes
from routh.kernels.common.small_linear import invert_rows
from routh.kernels.space import newton
from routh.kernels.space.sample import NO_IMPACT, advance, load_row, run_range, write_sample
from routh.kernels.space.sample import begin as begin_sample
from routh.kernels.space.workspace import CREEPS, CURVES, NEXT, UNENDED, SpaceWork, workspace
from routh.problem.rows import Problems, Rows, RowScratch, prepare_row, row_shapes, scratch_for

BLOCK = 128
REGISTERS = 96  # of a thread in space with polygons
# threads of a block, and blocks of a multiprocessor, with the cone: what more of them keep in memory, some 17
# kB each with four contacts, takes longer to fetch than it does to wait for them
CURVED_BLOCK, CURVED_BLOCKS = 64, 4
LAUNCH = 2**20  # samples of one launch: between launches a budget may end and Ctrl-C comes through
ROWS_BYTES = 4 * 2**30  # of prepared rows at a time
MANY = 2**14  # from so many samples of a problem on, the CPU draws some first, see `first_patterns`


@gpu_kernel
def _begin(before: Array, status: Array, refused: int, outputs: Outputs) -> None:
    """Every sample as it stands before it is drawn; NaN for velocities of which nothing is known."""
    n = outputs.status.shape[1]
    row, sample = thread_number() // n, thread_number() % n
    if row >= outputs.status.shape[0]:
        return
    outputs.status[row, sample] = status[row]
    outputs.events[row, sample] = 0
    outputs.residual[row, sample] = 0.0
    if outputs.error.shape[1] > 0:
        outputs.error[row, sample] = 0.0
    for r in range(outputs.v.shape[2]):
        outputs.v[row, sample, r] = math.nan if status[row] == refused else before[row, r]
    for i in range(outputs.impulse.shape[2]):
        for part in range(outputs.impulse.shape[3]):
            outputs.impulse[row, sample, i, part] = 0.0
    for i in range(outputs.work.shape[3]):
        outputs.work[row, sample, 0, i] = outputs.work[row, sample, 1, i] = 0.0


@lru_cache(maxsize=16)
def _prepare_kernel(nv: int, nc: int, nt: int) -> CudaKernel:
    """Rows ``begin``, ``begin + 1``, ... of a batch that are wanted into their own units."""
    layout = layout_of(scratch_for(nc, nt, nv))

    def entry(problems: Problems, wanted: Array, begin: int, rows: Rows) -> None:
        place = thread_number()
        if place < rows.nc.shape[0]:
            own = own_arrays(RowScratch, layout)
            rows.nc[place] = 0
            if wanted[begin + place]:
                prepare_row(problems, begin + place, own, rows, place)

    return gpu_kernel(entry)


@lru_cache(maxsize=16)
def _space_kernel(nc: int, curved: bool, books: int | None) -> CudaKernel:
    """The sampler in space for at most so many contacts; ``curved``: with the true cone.

    There steps differ most in length, so a thread goes on with its next sample at once, and steps of curves
    wait until all threads that run together are at one.
    """
    layout = layout_of(workspace(nc)[:-1])

    def entry(
        rows: Rows, wanted: Array, draw: Draw, outputs: Outputs, corners: Array | None, trace: Array,
        begin: int, end: int,
    ) -> None:  # fmt: skip
        work = own_arrays(SpaceWork, layout, trace)
        if not curved:
            for number in range(begin + thread_number(), end, thread_count()):
                if wanted[number // draw.n]:
                    run_range(rows, draw, outputs, work, corners, books, None, number, number + 1)
            return
        number, status, loaded = begin + thread_number(), UNENDED, False
        while any_in_warp(number < end):
            row = min(number, end - 1) // draw.n
            sample = number - row * draw.n
            if number < end and not loaded:
                loaded, status = True, NO_IMPACT
                if wanted[row]:
                    load_row(rows, row, work)
                    status = begin_sample(work, rows.nc[row])
            runs = number < end and status == UNENDED
            is_slow = work.course[NEXT] == CURVES or work.course[NEXT] == CREEPS
            others_are_quick = any_in_warp(runs and not is_slow)
            if runs and not (is_slow and others_are_quick):
                nc, whose = rows.nc[row], draw.row + row
                status = advance(work, nc, corners, books, None, draw, None, whose, sample)
            if number < end and status != UNENDED:
                if wanted[row]:
                    write_sample(rows, outputs, work, books, row, sample, status)
                number, loaded = number + thread_count(), False

    if not curved:
        return gpu_kernel(entry, registers=REGISTERS, unrolled=False)
    return gpu_kernel(entry, called=(newton.solve, invert_rows, elementary.pow), unrolled=False)


def make_gpu_outputs(*given: Foreign, **options: Foreign) -> Outputs:
    """Arrays on the GPU, see `output_shapes`."""
    return Outputs(*allocate(output_shapes(*given, **options)))


def begin_samples(before: DeviceArray, status: DeviceArray, outputs: Outputs) -> None:
    """Begin all samples with the velocity ``before`` (rows, nv) and ``status`` (rows,) of their row."""
    _begin[_blocks(outputs.status.size), BLOCK](before, status, int(Status.REFUSED), outputs)


def _blocks(count: int) -> int:
    return -(-count // BLOCK)


class Sampler(ABC):
    """A sampler on the GPU, with what does not change between the pieces of a batch."""

    nt: int  # tangents of a contact

    @abstractmethod
    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """Draw the samples ``begin`` to ``end`` of the flat range over rows and samples, where wanted.

        ``row``: the number of the first row, on which the random numbers depend.
        """

    def run(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, deadline: float | None
    ) -> bool:
        """Launch after launch until all samples are drawn, or time is over; whether all were."""
        total = outputs.status.size
        for begin in range(0, total, LAUNCH):
            if deadline is not None and time.monotonic() >= deadline:
                return False
            self.launch(rows, wanted, outputs, row, begin, min(begin + LAUNCH, total))
            if total > LAUNCH or deadline is not None:
                gpu().wait()
        return True


class SpaceSampler(Sampler):
    """Events in space; ``corners`` (k, 2): directions of friction, None: the true cone.

    ``along``: arrays, and tuples of them, that are sent to the GPU in the same copy, and are then there.
    """

    nt = 2

    def __init__(
        self, draw: Draw, nc: int, corners: Array | None, along: DeviceArray, *, elastic: bool
    ) -> None:
        self.curved = corners is None
        self.kernel = _space_kernel(nc, self.curved, int(draw.poisson) if elastic else None)
        self.draw, *self.more, self.along = send((draw, corners, np.zeros((0, 3 * nc)), along))

    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """See `Sampler.launch`."""
        draw, threads, blocks = self.draw._replace(row=row), BLOCK, _blocks(end - begin)
        if self.curved:
            threads, blocks = CURVED_BLOCK, min(2 * blocks, CURVED_BLOCKS * gpu().processors)
        self.kernel[blocks, threads](rows, wanted, draw, outputs, *self.more, begin, end)


def prepared_rows(problems: Problems, wanted: DeviceArray, begin: int, end: int, nt: int) -> Rows:
    """Rows ``begin`` to ``end`` of a batch on the GPU in their own units; no contacts where not wanted."""
    count, nc, nv = end - begin, problems.Jt.shape[1], problems.Jt.shape[3]
    rows = Rows(*allocate(row_shapes(count, nv, nc, nt)))
    _prepare_kernel(nv, nc, nt)[_blocks(count), BLOCK](problems, wanted, begin, rows)
    return rows


def run_batch(
    problems: Problems,
    wanted: np.ndarray,
    outputs: Outputs,
    sampler: Sampler,
    row: int,
    deadline: float | None,
) -> None:
    """Prepare and draw the wanted rows of a batch whose arrays are on the GPU.

    ``row``: the number of the batch's first row, on which the random numbers depend.
    """
    count, nc, _, nv = tuple(problems.Jt.shape)
    n = nc * (1 + sampler.nt)
    length = max(1, min(count, ROWS_BYTES // (8 * (n * n + nv * (n + 1) + 4 * n))))
    mask = send(wanted)
    for begin in range(0, count, length):
        end = min(begin + length, count)
        if not wanted[begin:end].any():
            continue
        rows = prepared_rows(problems, mask, begin, end, sampler.nt)
        piece = Outputs(*(array[begin:end] for array in outputs))
        if not sampler.run(rows, mask[begin:end], piece, row + begin, deadline):
            return
