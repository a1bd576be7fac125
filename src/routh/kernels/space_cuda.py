"""The sampler in space with the true cone on an NVIDIA GPU: all samples step by step, sorted by kind of step.

Threads of a warp wait for each other wherever their ways differ, and the ways of two samples soon do. So no
thread has a sample of its own: before each step samples are sorted by what they do next, and the threads of a
warp take samples that do the same. Few samples, and those left when most have ended, stay with one thread.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.compiling import cuda_kernel, find_cuda, on_device
from routh.kernels.arrays import MU as ROW_MU
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.kernels.events_space import advance, begin, write_sample
from routh.kernels.gpu_memory import CudaKernel, DeviceArray, allocate, of_device, send
from routh.kernels.space_lone import LONE_ROWS, SHARE, lone_step
from routh.kernels.space_names import (
    COURSE,
    CURVES,
    FREE,
    GRAM,
    HELD,
    LIST,
    MOVE,
    MOVES,
    MU,
    NEXT,
    ORDER,
    PUSHING,
    RATES,
    ROLE,
    SLIDE,
    SLIDE0,
    SLIDE1,
    START,
    SWEEPS,
    UNENDED,
    C,
    SpaceWork,
    workspace,
)
from routh.kernels.space_several import several_step
from routh.kernels.space_several_events import SeveralWork, several_work
from routh.kernels.space_state import LEFT, STATUS, Column, load_state, save_state, state_rows

if TYPE_CHECKING:
    from numba import cuda  # at run time `cuda_kernel` puts it here

# kinds of a sample's next step: a curve of four or more contacts that slide, of three, of two, each without
# and with some held; another curve; a sweep; rates or a draw; the first draw; the results; a curve of one
ENDED_AND_WRITTEN, SEVERAL, HARD, SWEPT, DREW, FRESH, ENDED, LONE = -1, 0, 6, 7, 8, 9, 10, 11
KINDS = 12
MOST = 4  # contacts that push by which kinds differ

WARP, BLOCK = 32, 128
REGISTERS, BLOCKS = 80, 6  # of a thread; blocks of a multiprocessor
SORT_BLOCK, SORTED = 256, 2048  # samples that a block sorts
STEPS = 96  # after so many samples go to their ends one by one
SELDOM = 8  # other curves are taken so seldom: each takes as long as all the others together
SORT_FROM = 2**17  # samples from which on sorting pays
STATE_BYTES = 2**30  # of the states of samples at a time
TO_THE_END = 2**31


class Waves(NamedTuple):
    """Samples between their steps."""

    states: DeviceArray  # (rows, samples), see `routh.kernels.space_state`
    kinds: DeviceArray  # (samples,) int8
    counts: DeviceArray  # (STEPS + 1, KINDS) int32: how many of each kind there were before a step
    lists: DeviceArray  # (KINDS, samples) int32: which


def load_problem(rows: Rows, row: int, work: SpaceWork, kind: int) -> None:
    """What of a problem a step needs: of G the columns of contacts that push, or may."""
    values, nc = work.values, rows.nc[row]
    drawn = kind == DREW and values[COURSE, NEXT] != RATES
    for i in range(nc):
        values[MU, i] = rows.contact[row, ROW_MU, i]
        pushes = values[C, 3 * i] <= 0.0 if drawn else work.marks[ROLE, i] != FREE
        if pushes or kind >= FRESH:
            for a in range(3 * nc):
                for b in range(3 * i, 3 * i + 3):
                    values[GRAM + a, b] = rows.G[row, b, a]
        if kind >= FRESH:
            for a in range(3 * i, 3 * i + 3):
                values[START, a] = rows.start[row, a]


def kind_of(work: SpaceWork) -> int:
    """Of the next step of a sample that has not ended."""
    values, marks = work.values, work.marks
    if values[COURSE, NEXT] == SWEEPS:
        return SWEPT
    if values[COURSE, NEXT] != CURVES:
        return DREW
    m, held = int(values[MOVE, PUSHING]), 0
    for a in range(m):
        i = marks[LIST, a]
        if marks[MOVES, i] != SLIDE or (values[C, 3 * i + 1] == 0.0 and values[C, 3 * i + 2] == 0.0):
            return HARD
        if marks[ROLE, i] == HELD:
            held = 1
    return LONE if m == 1 else SEVERAL + 2 * (MOST - min(m, MOST)) + held


def advance_sample(
    rows: Rows, draw: Draw, outputs: Outputs, work: SpaceWork, states: DeviceArray, slot: int, kind: int,
    number: int, steps: int,
) -> int:  # fmt: skip
    """So many steps of a sample, or, where they are more than one, all that it takes: its next kind."""
    row = number // draw.n
    sample = number - row * draw.n
    nc, last = rows.nc[row], kind == ENDED or steps > 1
    if kind != FRESH:
        load_state(work, nc, states, slot, last)
    load_problem(rows, row, work, FRESH if last else kind)
    status = int(work.values[MOVE, STATUS]) if kind == ENDED else UNENDED
    if kind == FRESH:
        for i in range(nc):  # a thread's memory holds whatever was there before
            work.values[SLIDE0, i] = work.values[SLIDE1, i] = 0.0
            for mark in range(ROLE, MOVES + 1):
                work.marks[mark, i] = 0
        status = begin(work, nc)
    while status == UNENDED and steps > 0:
        status = advance(work, nc, None, None, None, draw, None, draw.row + row, sample)
        steps -= 1
    if last:
        write_sample(rows, outputs, work, None, row, sample, status)
        return ENDED_AND_WRITTEN
    work.values[MOVE, STATUS] = status
    save_state(work, nc, states, slot, kind == FRESH)
    return kind_of(work) if status == UNENDED else ENDED


def listed(counts: DeviceArray, turn: int, chunk: int, first: int, last: int) -> tuple[int, int]:
    """The kind of a warp's samples, from ``first`` to before ``last``, and where in the list they begin.

    Kinds come one after the other, each with the warps that it needs; ``last``: there are no more.
    """
    for kind in range(first, last):
        chunks = (counts[turn, kind] + WARP - 1) // WARP
        if chunk < chunks:
            return kind, WARP * chunk
        chunk -= chunks
    return last, 0


def kind_after(following: int, kind: int) -> int:
    """Of the next step, after one that `lone_step` or `several_step` took."""
    if following == LEFT:
        return HARD
    return kind if following == CURVES else DREW


@lru_cache(maxsize=1)
def _begin_kernel() -> CudaKernel:
    """All samples before their first draw; those not wanted have ended."""

    def entry(wanted: DeviceArray, n: int, waves: Waves, begin: int, end: int) -> None:
        place = cuda.grid(1)
        if place < end - begin:
            waves.kinds[place] = FRESH if wanted[(begin + place) // n] else ENDED_AND_WRITTEN
        if place < waves.counts.shape[0]:
            for kind in range(KINDS):
                waves.counts[place, kind] = 0

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def _sort_kernel() -> CudaKernel:
    """Lists of the samples of each kind, nearly in order: what lies side by side is read together."""

    def entry(waves: Waves, count: int, turn: int) -> None:
        own = cuda.shared.array(KINDS, np.int32)
        places = cuda.shared.array(KINDS, np.int32)
        thread, threads, first = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.x * SORTED
        last = min(first + SORTED, count)
        if thread < KINDS:
            own[thread] = 0
        cuda.syncthreads()
        for slot in range(first + thread, last, threads):
            if waves.kinds[slot] >= 0:
                cuda.atomic.add(own, waves.kinds[slot], 1)
        cuda.syncthreads()
        if thread < KINDS:
            places[thread] = cuda.atomic.add(waves.counts, (turn, thread), own[thread])
        cuda.syncthreads()
        for slot in range(first + thread, last, threads):
            if waves.kinds[slot] >= 0:
                waves.lists[waves.kinds[slot], cuda.atomic.add(places, waves.kinds[slot], 1)] = slot

    return cuda_kernel(entry)


@lru_cache(maxsize=16)
def _advance_kernel(nc: int) -> CudaKernel:
    """Steps of the kinds from ``first`` on to before LONE, or to the end of all samples."""
    advanced, chunked = on_device(advance_sample), on_device(listed)
    values, marks, series, flags, _ = (array.shape for array in workspace(nc))

    def entry(
        rows: Rows,
        draw: Draw,
        outputs: Outputs,
        trace: DeviceArray,
        waves: Waves,
        turn: int,
        begin: int,
        first: int,
        steps: int,
    ) -> None:
        work = SpaceWork(
            cuda.local.array(values, np.float64),
            cuda.local.array(marks, np.int64),
            cuda.local.array(series, np.float64),
            cuda.local.array(flags, np.bool_),
            trace,
        )
        last = LONE if steps == 1 else KINDS
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, first, last)
            if kind == last:
                break
            place += cuda.grid(1) % WARP
            if place < waves.counts[turn, kind]:
                slot = waves.lists[kind, place]
                waves.kinds[slot] = advanced(
                    rows, draw, outputs, work, waves.states, slot, kind, begin + slot, steps
                )
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, max_registers=REGISTERS)


@lru_cache(maxsize=16)
def _lone_kernel(nc: int) -> CudaKernel:
    """Steps of one contact that slides."""
    stepped, chosen = on_device(lone_step), on_device(kind_after)
    of_powers, of_points = (LONE_ROWS, int(ORDER) + 1), (2, nc)

    def entry(rows: Rows, draw: Draw, waves: Waves, turn: int, begin: int) -> None:
        powers, points = cuda.local.array(of_powers, np.float64), cuda.local.array(of_points, np.float64)
        for k in range(1, ORDER + 1):
            powers[SHARE, k] = 1.0 / k
        for place in range(cuda.grid(1), waves.counts[turn, LONE], cuda.gridsize(1)):
            slot = waves.lists[LONE, place]
            row = (begin + slot) // draw.n
            column = Column(waves.states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)
            waves.kinds[slot] = chosen(stepped(column, powers, points), LONE)

    return cuda_kernel(entry, rolled=True, cleared=False, max_registers=REGISTERS)


@lru_cache(maxsize=16)
def _several_kernel(nc: int) -> CudaKernel:
    """Steps of several contacts that slide."""
    stepped, chosen, chunked = on_device(several_step), on_device(kind_after), on_device(listed)
    powers, gram, numbers, points, who, values, marks = (array.shape for array in several_work(nc))

    def entry(rows: Rows, draw: Draw, waves: Waves, turn: int, begin: int) -> None:
        work = SeveralWork(
            cuda.local.array(powers, np.float64),
            cuda.local.array(gram, np.float64),
            cuda.local.array(numbers, np.float64),
            cuda.local.array(points, np.float64),
            cuda.local.array(who, np.int64),
            cuda.local.array(values, np.float64),
            cuda.local.array(marks, np.int64),
        )
        for k in range(1, ORDER + 1):
            work.powers[SHARE, k] = 1.0 / k
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, SEVERAL, HARD)
            if kind == HARD:
                break
            place += cuda.grid(1) % WARP
            if place < waves.counts[turn, kind]:
                slot = waves.lists[kind, place]
                row = (begin + slot) // draw.n
                column = Column(waves.states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)
                waves.kinds[slot] = chosen(stepped(column, work), kind)
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, max_registers=REGISTERS)


@lru_cache(maxsize=8)
def _streams(device: int) -> tuple[list[DeviceArray], list[DeviceArray]]:
    """Streams of a GPU, the first the one where others launch their kernels, and an event for each.

    They are made once: kernels remember with which streams they were launched.
    """
    streams = [0, *(find_cuda().stream() for _ in range(3))]
    return streams, [find_cuda().event() for _ in streams]


class WaveLauncher:
    """Launches of this sampler; ``along``: what is sent to the GPU in the same copy, and is then there."""

    def __init__(self, draw: Draw, nc: int, along: DeviceArray) -> None:
        self.nc, self.waves = nc, Waves(np.empty((0, 0)), (), None, None)
        self.draw, self.trace, self.along = send((draw, np.zeros((0, 3 * nc)), along))
        self.streams, self.events = _streams(of_device("id", 0))

    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """See `routh.kernels.events_cuda.Sampler.launch`."""
        most = max(SORT_FROM, STATE_BYTES // (8 * state_rows(self.nc)))
        for first in range(begin, end, most):
            self._launch(rows, wanted, outputs, row, first, min(first + most, end))

    def _launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        count, draw = end - begin, self.draw._replace(row=row)
        turns = STEPS if count >= SORT_FROM else 0
        columns = count if turns > 0 else 1  # one by one samples need none
        if len(self.waves.kinds) < count or self.waves.states.shape[1] < columns:
            shapes = [((state_rows(self.nc), columns), np.float64), ((count,), np.int8)]
            shapes += [((STEPS + 1, KINDS), np.int32), ((KINDS, count), np.int32)]
            self.waves = Waves(*allocate(shapes))
        waves, (_, own, of_several, of_lone) = self.waves, self.streams
        everywhere = BLOCKS * of_device("MULTIPROCESSOR_COUNT", 1)
        self._follow(0, 1)
        _begin_kernel()[-(-max(count, STEPS + 1) // BLOCK), BLOCK, own](wanted, draw.n, waves, begin, end)
        for turn in range(turns + 1):
            _sort_kernel()[-(-count // SORTED), SORT_BLOCK, own](waves, count, turn)
            first, steps = (HARD if turn % SELDOM == SELDOM - 1 else SWEPT), 1
            if turn < turns:
                self._follow(1, 2, 3)
                _several_kernel(self.nc)[everywhere, BLOCK, of_several](rows, draw, waves, turn, begin)
                _lone_kernel(self.nc)[everywhere, BLOCK, of_lone](rows, draw, waves, turn, begin)
            else:
                first, steps = SEVERAL, TO_THE_END
            _advance_kernel(self.nc)[everywhere, BLOCK, own](
                rows, draw, outputs, self.trace, waves, turn, begin, first, steps
            )
            self._follow(2, 1)
            self._follow(3, 1)
        self._follow(1, 0)

    def _follow(self, leader: int, *followers: int) -> None:
        """Let streams wait for all that another one has been given so far."""
        self.events[leader].record(self.streams[leader])
        for follower in followers:
            self.events[leader].wait(self.streams[follower])
