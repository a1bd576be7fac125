"""The sampler in the plane on an NVIDIA GPU: one thread per sample, compiled from the CPU's scalar source.

Threads of a warp wait for each other, so that one sample in thirty whose rates must be computed makes all of
them slow. The quick kernel therefore only looks rates up, among those that the CPU found for the first
samples of a problem, and leaves every sample that needs others to the full kernel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import compiled
from routh.compiling.threads import (
    add_atomically,
    layout_of,
    own_array,
    own_arrays,
    thread_count,
    thread_number,
)
from routh.gpu.events import Sampler, SpaceSampler
from routh.gpu.memory import CudaKernel, DeviceArray, allocate, send
from routh.gpu.ptx import gpu_kernel
from routh.kernels.common.arrays import EXTREME, MIXED, Draw, Outputs, make_outputs
from routh.kernels.plane import sample as plane_sample
from routh.kernels.plane.rates import CODES, PlaneWork, find_rates
from routh.kernels.plane.roles import NAMED, NOWHERE, PUSHES, find_known_rates, find_slot
from routh.problem.rows import Rows

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


def find_shared_rates(work: PlaneWork, nc: int, unit: bool, busy: int, key: np.uint64) -> int:
    """`find_known_rates` with a table that is only read: the place of the rates among the thread's own."""
    known, at = work.known, int(busy >= 0)
    if unit and len(work.names) > 0 and nc <= NAMED:
        slot = find_slot(work, work.shared, nc, key)
        if slot >= 0:
            for column in range(4 * nc + 1):
                known[at, column] = work.shared[slot, column]
            return at if known[at, 4 * nc] == PUSHES else NOWHERE
    found, _ = find_rates(work, nc, at, key)
    return at if found else NOWHERE


def find_listed_rates(work: PlaneWork, nc: int, unit: bool, busy: int, key: np.uint64) -> int:
    """`find_known_rates` from the table alone; where that fails all contacts separate: the sample ends."""
    if unit:
        slot = find_slot(work, work.known, nc, key)
        if slot >= 0:
            return slot if work.known[slot, 4 * nc] == PUSHES else NOWHERE
    work.approaching[0] = True
    for i in range(nc):
        work.now[2 * i] = FAR
        work.budget[i] = 0.0
    return NOWHERE


def keep_patterns(work: PlaneWork) -> None:
    """Keep the table, unlike `plane_sample.forget_patterns`: it is that of this problem, or empty."""


def first_patterns(rows: Rows, draw: Draw) -> Patterns:
    """The patterns of the first samples, found by the CPU."""
    nc, few = rows.contact.shape[2], draw._replace(n=min(draw.n, FIRST))
    work = plane_sample.workspace(nc, samples=FIRST)
    outputs = make_outputs(rows, few.n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    plane_sample.run_range(rows, few, outputs, work, None, 0, few.n)
    listed = draw.rates in (MIXED, EXTREME) and nc <= NAMED
    return Patterns(work.names, work.known, listed and bool(outputs.events.mean() <= SHORT))


@lru_cache(maxsize=16)
def _full_kernel(nc: int) -> CudaKernel:
    """The kernel for all samples, or those of a list, for at most so many contacts."""
    instead = ((find_known_rates, find_shared_rates), (plane_sample.forget_patterns, keep_patterns))
    sampled = compiled(plane_sample.run_range, instead=instead)
    own, known = layout_of(plane_sample.workspace(nc)[:5]), (2, 5 * nc + CODES)

    def entry(
        rows: Rows, wanted: Array, draw: Draw, outputs: Outputs, names: np.ndarray, table: Array,
        listed: Listed, begin: int, end: int,
    ) -> None:  # fmt: skip
        work = own_arrays(PlaneWork, own, names, own_array(known, np.float64), table, table[0:0])
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
    sampled = compiled(plane_sample.run_range, instead=instead)
    values, marks, gram, _, flags = layout_of(plane_sample.workspace(nc)[:5])

    def entry(
        rows: Rows, draw: Draw, outputs: Outputs, names: np.ndarray, table: Array, listed: Listed,
        begin: int, end: int,
    ) -> None:  # fmt: skip
        G = own_array(gram[0], gram[1])  # there are no linear equations
        flagged = own_array(flags[0], flags[1])
        work = own_arrays(PlaneWork, (values, marks), G, G, flagged, names, table, table, table[0:0])
        for number in range(begin + thread_number(), end, thread_count()):
            work.approaching[0] = False
            sampled(rows, draw, outputs, work, None, number, number + 1)
            if work.approaching[0]:
                listed.numbers[add_atomically(listed.counts, listed.launch, 1)] = number

    return gpu_kernel(entry, registers=QUICK_REGISTERS)


class PlaneSampler(Sampler):
    """Events in the plane; ``patterns``: `first_patterns` of a single problem, None for a batch.

    ``along``: see `SpaceSampler`.
    """

    nt = 1

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
        """See `Sampler.launch`."""
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


def event_sampler(
    draw: Draw,
    nc: int,
    corners: Array | None,
    *,
    elastic: bool,
    patterns: Patterns | None = None,
    along: DeviceArray = (),
) -> PlaneSampler | SpaceSampler:
    """The sampler for at most so many contacts; ``corners`` (k, nt): None for the true cone in space."""
    if corners is not None and corners.shape[1] == 1:
        return PlaneSampler(draw, nc, patterns, along)
    return SpaceSampler(draw, nc, corners, along, elastic=elastic)
