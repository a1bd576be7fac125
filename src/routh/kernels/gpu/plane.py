"""The sampler in the plane on an NVIDIA GPU: one thread per sample, compiled from the CPU's scalar source.

Threads of a warp wait for each other, so that one sample in thirty whose rates must be computed makes all of
them slow. The quick kernel therefore only looks rates up, among those that the CPU found for the first
samples of a problem, and leaves every sample that needs others to the full kernel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from routh.compiling import gpu_kernel, on_device
from routh.compiling.threads import add_atomically, own_array, thread_count, thread_number
from routh.kernels.common.arrays import EXTREME, MIXED, Draw, Outputs, Rows, make_outputs
from routh.kernels.common.integers import wide
from routh.kernels.gpu.memory import CudaKernel, DeviceArray, allocate, send
from routh.kernels.plane import sample as plane_sample
from routh.kernels.plane.rates import BUDGET, GRAM, NOW, find_rates
from routh.kernels.plane.roles import NAMED, NOWHERE, PUSHES, find_known_rates, find_slot
from routh.validation import Array

BLOCK = 384  # a fifth faster than 128 on an H200
REGISTERS = 128  # of a thread: more would leave the multiprocessors idle
QUICK_REGISTERS = 128
FEW_BLOCKS = 2**10  # of the full kernel after the quick one
LAUNCHES = 64  # whose lists are counted in one array
FIRST = 512  # samples of a problem that the CPU draws
SHORT = 6.0  # pieces of a sample up to which the quick kernel pays: each may need rates that are not known
FAR = 1.0  # normal velocity with which the contacts of a sample that is given up separate


class Patterns(NamedTuple):
    """Patterns that the first samples of a single problem met, see `PlaneWork`."""

    names: np.ndarray  # (slots,)
    table: Array  # (slots + 2, ...)
    short: bool  # whether samples have few pieces


class Listed(NamedTuple):
    """Numbers of the samples that the quick kernel left, in any order."""

    counts: DeviceArray  # (LAUNCHES,) how many, of each launch
    numbers: DeviceArray  # of this launch
    launch: int  # -1: there is no list


class PlaneThread(NamedTuple):
    """`routh.kernels.plane.rates.PlaneWork` of a thread on the GPU: patterns are known to all of them."""

    values: DeviceArray
    marks: DeviceArray
    flags: DeviceArray  # the quick kernel's first: whether the sample was given up
    known: DeviceArray  # (2, as wide as the table): rates of two pieces; the quick kernel's: the table
    names: DeviceArray  # (slots,) the patterns of the table, which no thread changes
    table: DeviceArray  # (slots + 2, ...) their rates, see `PlaneWork.known`


def find_shared_rates(work: DeviceArray, nc: int, unit: bool, busy: int, key: np.uint64) -> int:
    """`find_known_rates` with a table that is only read: the place of the rates among the thread's own."""
    known, at = work.known, wide(int(busy >= 0))
    if unit and len(work.names) > 0 and nc <= NAMED:
        slot = find_slot(work, work.table, nc, key)
        if slot >= 0:
            for column in range(4 * nc + 1):
                known[at, column] = work.table[slot, column]
            return at if known[at, 4 * nc] == PUSHES else NOWHERE
    found, _ = find_rates(work, nc, at, key)
    return at if found else NOWHERE


def find_listed_rates(work: DeviceArray, nc: int, unit: bool, busy: int, key: np.uint64) -> int:
    """`find_known_rates` from the table alone; where that fails all contacts separate: the sample ends."""
    if unit:
        slot = find_slot(work, work.known, nc, key)
        if slot >= 0:
            return slot if work.known[slot, 4 * nc] == PUSHES else NOWHERE
    work.flags[0] = True
    for i in range(nc):
        work.values[NOW, 2 * i] = FAR
        work.values[BUDGET, i] = 0.0
    return NOWHERE


def keep_patterns(work: DeviceArray) -> None:
    """Instead of `plane_sample.forget_patterns`: the table is that of this problem, or empty."""


def first_patterns(rows: Rows, draw: Draw) -> Patterns:
    """The patterns of the first samples, found by the CPU."""
    nc, few = rows.contact.shape[2], draw._replace(n=min(draw.n, FIRST))
    work = plane_sample.workspace(nc, FIRST)
    outputs = make_outputs(rows, few.n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    plane_sample.run_range(rows, few, outputs, work, None, 0, few.n)
    listed = draw.rates in (MIXED, EXTREME) and nc <= NAMED
    return Patterns(work.names, work.known, listed and bool(outputs.events.mean() <= SHORT))


@lru_cache(maxsize=16)
def _full_kernel(nc: int) -> CudaKernel:
    """All samples, or those of a list, for at most so many contacts."""
    instead = ((find_known_rates, find_shared_rates), (plane_sample.forget_patterns, keep_patterns))
    sampled = on_device(plane_sample.run_range, instead=instead)
    values, marks, flags, _, known = (array.shape for array in plane_sample.workspace(nc, 1))

    def entry(
        rows: Rows,
        wanted: DeviceArray,
        draw: Draw,
        outputs: Outputs,
        names: DeviceArray,
        table: DeviceArray,
        listed: Listed,
        begin: int,
        end: int,
    ) -> None:
        work = PlaneThread(
            own_array(values, np.float64),
            own_array(marks, np.int64),
            own_array(flags, np.bool_),
            own_array(known, np.float64),
            names,
            table,
        )
        last = listed.counts[listed.launch] if listed.launch >= 0 else end - begin
        for place in range(thread_number(), last, thread_count()):
            number = listed.numbers[place] if listed.launch >= 0 else begin + place
            if wanted[number // draw.n]:
                sampled(rows, draw, outputs, work, None, number, number + 1)

    return gpu_kernel(entry, registers=REGISTERS)


@lru_cache(maxsize=16)
def _quick_kernel(nc: int) -> CudaKernel:
    """The samples of one problem whose rates are all in the table; the others' numbers into a list."""
    instead = ((find_known_rates, find_listed_rates), (plane_sample.forget_patterns, keep_patterns))
    sampled = on_device(plane_sample.run_range, instead=instead)
    _, marks, flags, _, _ = (array.shape for array in plane_sample.workspace(nc, 1))
    values = GRAM + 2 * nc, 2 * nc  # no linear equations

    def entry(
        rows: Rows,
        draw: Draw,
        outputs: Outputs,
        names: DeviceArray,
        table: DeviceArray,
        listed: Listed,
        begin: int,
        end: int,
    ) -> None:
        work = PlaneThread(
            own_array(values, np.float64),
            own_array(marks, np.int64),
            own_array(flags, np.bool_),
            table,
            names,
            table,
        )
        for number in range(begin + thread_number(), end, thread_count()):
            work.flags[0] = False
            sampled(rows, draw, outputs, work, None, number, number + 1)
            if work.flags[0]:
                listed.numbers[add_atomically(listed.counts, listed.launch, 1)] = number

    return gpu_kernel(entry, registers=QUICK_REGISTERS)


class PlaneLauncher:
    """Launches of the sampler in the plane; ``patterns``: of a single problem, None for a batch.

    ``along``: what is sent to the GPU in the same copy, and is then there.
    """

    def __init__(self, draw: Draw, nc: int, patterns: Patterns | None, along: DeviceArray) -> None:
        none = Patterns(np.zeros(0, np.uint64), np.zeros((0, 4 * nc + 1)), False)
        found = none if patterns is None else patterns
        listed = Listed(np.zeros(LAUNCHES, np.int64), np.zeros(1, np.int64), -1)
        parts = draw, found.names, found.table, listed, along
        self.draw, self.names, self.table, self.listed, self.along = send(parts)
        self.full, self.quick = _full_kernel(nc), _quick_kernel(nc) if found.short else None

    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """See `routh.kernels.gpu.events.Sampler.launch`."""
        draw = self.draw._replace(row=row)
        blocks = -(-(end - begin) // BLOCK)
        if self.quick is not None:
            self.listed = listed = self._next_list(end - begin)
            self.quick[blocks, BLOCK](rows, draw, outputs, self.names, self.table, listed, begin, end)
            blocks = min(blocks, FEW_BLOCKS)
        known = self.names, self.table, self.listed
        self.full[blocks, BLOCK](rows, wanted, draw, outputs, *known, begin, end)

    def _next_list(self, count: int) -> Listed:
        """An empty list for one launch, with room for ``count`` numbers."""
        counts, numbers, launch = self.listed
        if launch + 1 == LAUNCHES:
            counts, launch = send(np.zeros(LAUNCHES, np.int64)), -1
        if len(numbers) < count:
            (numbers,) = allocate([((count,), np.int64)])
        return Listed(counts, numbers, launch + 1)
