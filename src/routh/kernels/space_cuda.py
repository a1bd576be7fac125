"""The sampler in space with the true cone on an NVIDIA GPU: all samples step by step, sorted by kind of step.

Threads of a warp wait for each other wherever their ways differ, and the ways of two samples soon do. So no
thread has a sample of its own: in each turn samples are sorted by what they do next, and the threads of a
warp take samples that do the same. Curves that have had many steps go on in runs, beside the turns: theirs
would be the last samples. Few samples, and those left when most have ended, stay with one thread.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from routh.compiling import cuda_kernel, find_cuda, is_simulated, on_device
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.kernels.gpu_graph import repeated
from routh.kernels.gpu_memory import CudaKernel, DeviceArray, allocate, of_device, send
from routh.kernels.space_crew import Crew, SeveralWork, any_of, several_work, wait
from routh.kernels.space_lone import LoneWork, lone_step, lone_work
from routh.kernels.space_names import CURVES, PUSHING, TAKEN, SpaceWork, workspace
from routh.kernels.space_several import several_step
from routh.kernels.space_state import Column, move_row, state_rows
from routh.kernels.space_usual_draws import DrawWork, draw_work, usual_draw
from routh.kernels.space_waves import (
    DREW,
    ELSEWHERE,
    FRESH,
    HARD,
    KINDS,
    LONE,
    LONG,
    MOST,
    SEVERAL,
    SWEPT,
    TO_THE_END,
    WARP,
    Waves,
    advance_sample,
    kind_drawn,
    kind_long,
    listed,
)

if TYPE_CHECKING:
    from numba import cuda  # at run time `cuda_kernel` puts it here

BLOCK, CURVE_BLOCK = 128, 64
ALL_THREADS = 0xFFFFFFFF  # of a warp
REGISTERS, BLOCKS = 80, 6  # of a thread; blocks of a multiprocessor
CURVE_REGISTERS = 255  # of those that have series in them
LONE_REGISTERS = 255
FEW = 8  # contacts with which loops over all of them are unrolled
SORT_BLOCK, EACH = 256, 8  # samples that each thread of a block sorts
TURNS = 112  # after so many samples go to their ends one by one
MANY = 12  # steps of a long curve: many more may follow, and are taken in runs, beside the turns
OFTEN, AT_ONCE = 8, 48  # turns between two runs; steps of a run
HARD_OFTEN, HARD_AT_ONCE = 4, 4  # the same for other curves: each step takes as long as a turn
IN_TURN, THE_REST = -1, -2  # what kernels do that do not belong to a run
SORT_FROM = 2**17  # samples from which on sorting pays
STATE_BYTES = 2**30  # of the states of samples at a time
_STREAMS_IN_USE = Lock()  # what another thread launches in a stream that is recorded would be recorded, too


@lru_cache(maxsize=1)
def _begin_kernel() -> CudaKernel:
    """All samples before their first draw; those not wanted have ended."""

    def entry(wanted: DeviceArray, n: int, waves: Waves, begin: int, end: int) -> None:
        place = cuda.grid(1)
        if place < end - begin:
            waves.kinds[place] = FRESH if wanted[(begin + place) // n] else ELSEWHERE
        if place < waves.counts.shape[0]:
            for kind in range(KINDS):
                waves.counts[place, kind] = 0
        if place == 0:
            waves.turn[0] = 0

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def _end_kernel() -> CudaKernel:
    """The end of a turn."""

    def entry(waves: Waves) -> None:
        waves.turn[0] += 1

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def _sort_kernel() -> CudaKernel:
    """Lists of the samples of each kind, nearly in order: what lies side by side is read together."""

    def entry(waves: Waves, count: int) -> None:
        own = cuda.shared.array(KINDS, np.int32)
        places = cuda.shared.array(KINDS, np.int32)
        thread, threads, turn = cuda.threadIdx.x, cuda.blockDim.x, waves.turn[0]
        first = cuda.blockIdx.x * threads * EACH
        last = min(first + threads * EACH, count)
        seen = cuda.local.array(EACH, np.int8)  # what runs change meanwhile waits for the next turn
        for kind in range(thread, KINDS, threads):
            own[kind] = 0
        cuda.syncthreads()
        for slot in range(first + thread, last, threads):
            kind = waves.kinds[slot]
            seen[(slot - first) // threads] = kind
            if kind >= 0:
                cuda.atomic.add(own, kind, 1)
        cuda.syncthreads()
        for kind in range(thread, KINDS, threads):
            places[kind] = cuda.atomic.add(waves.counts, (turn, kind), own[kind])
        cuda.syncthreads()
        for slot in range(first + thread, last, threads):
            kind = seen[(slot - first) // threads]
            if kind >= 0:
                waves.lists[kind, cuda.atomic.add(places, kind, 1)] = slot

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def _collect_kernel() -> CudaKernel:
    """The samples of a run: those of a kind; turns leave them alone."""

    def entry(waves: Waves, count: int, run: int, kind: int) -> None:
        slot = cuda.grid(1)
        if slot < count and waves.kinds[slot] == kind:
            waves.kinds[slot] = ELSEWHERE
            place = cuda.atomic.add(waves.counts, (waves.counts.shape[0] - 1 - run, kind), 1)
            waves.lists[KINDS + (kind - LONG if kind >= LONG else MOST), place] = slot

    return cuda_kernel(entry)


@lru_cache(maxsize=16)
def _advance_kernel(nc: int) -> CudaKernel:
    """IN_TURN: steps of the kinds that have no kernel of their own; THE_REST: to the end; a run: HARD."""
    advanced, chunked = on_device(advance_sample), on_device(listed)
    values, marks, series, flags, _ = (array.shape for array in workspace(nc))

    def entry(
        rows: Rows, draw: Draw, outputs: Outputs, trace: DeviceArray, waves: Waves, begin: int, what: int
    ) -> None:
        work = SpaceWork(
            cuda.local.array(values, np.float64),
            cuda.local.array(marks, np.int64),
            cuda.local.array(series, np.float64),
            cuda.local.array(flags, np.bool_),
            trace,
        )
        turn, first, last, shift, steps, times = int(waves.turn[0]), SWEPT, LONE, 0, 1, 1
        if what == THE_REST:
            first, last, steps = SEVERAL, KINDS, TO_THE_END
        elif what >= 0:
            turn, first, last, shift = waves.counts.shape[0] - 1 - what, HARD, HARD + 1, KINDS + MOST - HARD
            times = HARD_AT_ONCE
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, WARP, first, last)
            if kind == last:
                break
            place += cuda.grid(1) % WARP
            if place < waves.counts[turn, kind]:
                slot = waves.lists[kind + shift, place]
                following, left = kind, times
                while following == kind and left > 0:
                    following, left = (
                        advanced(rows, draw, outputs, work, waves.states, slot, kind, begin + slot, steps),
                        left - 1,
                    )
                if what >= 0:  # turns and runs go on beside each other
                    cuda.threadfence()
                waves.kinds[slot] = following
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, max_registers=REGISTERS)


@lru_cache(maxsize=16)
def _lone_kernel(nc: int) -> CudaKernel:
    """Steps of one contact that slides: IN_TURN one, in a run more."""
    stepped, chosen = on_device(lone_step), on_device(kind_long)
    powers, events, normals, points = (array.shape for array in lone_work(nc))

    def entry(rows: Rows, draw: Draw, waves: Waves, begin: int, run: int, most: int, many: int) -> None:
        work = LoneWork(
            cuda.local.array(powers, np.float64),
            cuda.local.array(events, np.float64),
            cuda.local.array(normals, np.float64),
            cuda.local.array(points, np.float64),
        )
        count, of = waves.counts[waves.turn[0], LONE], LONE
        if run >= 0:
            count, of = waves.counts[waves.counts.shape[0] - 1 - run, LONG], KINDS
        for place in range(cuda.grid(1), count, cuda.gridsize(1)):
            slot = waves.lists[of, place]
            row = (begin + slot) // draw.n
            column = Column(waves.states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)
            following, steps = CURVES, most
            while following == CURVES and steps > 0:
                following, steps = stepped(column, work), steps - 1
            kind = chosen(following, LONE, waves.states[move_row(column.nc, TAKEN), slot], many)
            if run >= 0 or kind >= LONG:  # turns and runs go on beside each other
                cuda.threadfence()
            waves.kinds[slot] = kind

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= FEW, max_registers=LONE_REGISTERS)


def _wait() -> None:
    cuda.syncwarp()


def _any_of(here: bool) -> bool:
    return cuda.any_sync(ALL_THREADS, here)


@lru_cache(maxsize=16)
def _several_kernel(nc: int, m: int) -> CudaKernel:
    """Steps of m contacts that slide, for m = MOST of so many or more; see `_lone_kernel`.

    Each thread has one contact, or one of each MOST; the simulator, whose threads do not wait, all of them.
    """
    threads, instead = (1, ()) if is_simulated() else (m, ((wait, _wait), (any_of, _any_of)))
    stepped, any_in_warp = on_device(several_step, instead), on_device(any_of, instead)
    chosen, chunked = on_device(kind_long), on_device(listed)
    widest, or_more = (nc, True) if m == MOST < nc else (m, False)
    crews, beside = WARP // threads, -(-WARP // threads)  # what is left of a warp's threads goes with it
    columns, in_block = beside * CURVE_BLOCK // WARP, 1 if or_more else CURVE_BLOCK
    shapes = [array.shape for array in several_work(nc, widest, threads, columns, in_block)]
    powers, normals, numbers, points, who, values, marks, gram, rates, *board = shapes
    pace, events, push, notes, heights, nearest, equations = board
    without = SEVERAL + 2 * (MOST - m)

    def entry(rows: Rows, draw: Draw, waves: Waves, begin: int, run: int, most: int, many: int) -> None:
        if or_more:
            matrix = cuda.local.array(gram, np.float64)
            series = cuda.local.array(rates, np.float64)
        else:  # a line each: that is how the simulator tells them apart
            matrix = cuda.shared.array(gram, np.float64)
            series = cuda.shared.array(rates, np.float64)
        work = SeveralWork(
            cuda.local.array(powers, np.float64),
            cuda.local.array(normals, np.float64),
            cuda.local.array(numbers, np.float64),
            cuda.local.array(points, np.float64),
            cuda.local.array(who, np.int64),
            cuda.local.array(values, np.float64),
            cuda.local.array(marks, np.int64),
            matrix,
            series,
            cuda.shared.array(pace, np.float64),
            cuda.shared.array(events, np.float64),
            cuda.shared.array(push, np.float64),
            cuda.shared.array(notes, np.float64),
            cuda.shared.array(heights, np.float64),
            cuda.shared.array(nearest, np.float64),
            cuda.shared.array(equations, np.float64),
        )
        turn, first, last, shift = int(waves.turn[0]), without, without + 2, 0
        if run >= 0:
            turn, first, last, shift = waves.counts.shape[0] - 1 - run, LONG + m - 1, LONG + m, KINDS - LONG
        number = cuda.threadIdx.x % WARP
        crew = Crew(
            number % threads,
            threads,
            number // threads + beside * (cuda.threadIdx.x // WARP),
            0 if or_more else cuda.threadIdx.x,
        )
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, crews, first, last)
            if kind == last:
                break
            place += number // threads
            count = waves.counts[turn, kind]
            mine = number // threads < crews and place < count
            slot = waves.lists[kind + shift, min(place, count - 1)]
            row = (begin + slot) // draw.n
            column = Column(waves.states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)
            pushing = int(waves.states[move_row(column.nc, PUSHING), slot]) if or_more else m
            following, steps, going = CURVES, most, mine
            while any_in_warp(going):
                after = stepped(column, work, crew, pushing, going)
                if going:
                    following, steps = after, steps - 1
                    going = following == CURVES and steps > 0
            if mine and crew.first == 0:
                taken = waves.states[move_row(column.nc, TAKEN), slot]
                kind_now = chosen(following, kind if run < 0 else without, taken, many)
                if run >= 0 or kind_now >= LONG:  # turns and runs go on beside each other
                    cuda.threadfence()
                waves.kinds[slot] = kind_now
            chunk += chunks

    registers = REGISTERS if or_more else CURVE_REGISTERS
    return cuda_kernel(entry, rolled=True, cleared=False, long=not or_more, max_registers=registers)


@lru_cache(maxsize=16)
def _draw_kernel(nc: int) -> CudaKernel:
    """Draws, as far as they are usual."""
    drawn, chosen = on_device(usual_draw), on_device(kind_drawn)
    roles, slips, weights, along, rates = (array.shape for array in draw_work(nc))

    def entry(rows: Rows, draw: Draw, waves: Waves, begin: int) -> None:
        work = DrawWork(
            cuda.local.array(roles, np.int64),
            cuda.local.array(slips, np.int64),
            cuda.local.array(weights, np.float64),
            cuda.local.array(along, np.float64),
            cuda.local.array(rates, np.float64),
        )
        for place in range(cuda.grid(1), waves.counts[waves.turn[0], DREW], cuda.gridsize(1)):
            slot = waves.lists[DREW, place]
            row = (begin + slot) // draw.n
            column = Column(waves.states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)
            waves.kinds[slot] = chosen(drawn(column, work, draw, begin + slot - row * draw.n))

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= FEW, max_registers=REGISTERS)


@lru_cache(maxsize=8)
def _streams(device: int) -> tuple[list[DeviceArray], list[DeviceArray]]:
    """Streams of a GPU, the first the one where others launch their kernels, and an event for each.

    They are made once: kernels remember with which streams they were launched.
    """
    streams = [0, *(find_cuda().stream() for _ in range(2 + 2 * MOST))]
    return streams, [find_cuda().event() for _ in streams]


class WaveLauncher:
    """Launches of this sampler; ``along``: what is sent to the GPU in the same copy, and is then there."""

    def __init__(self, draw: Draw, nc: int, along: DeviceArray) -> None:
        self.nc, self.waves = nc, Waves(np.empty((0, 0)), (), None, None, None)
        self.draw, self.trace, self.along = send((draw, np.zeros((0, 3 * nc)), along))
        self.streams, self.events = _streams(of_device("id", 0))

    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """See `routh.kernels.events_cuda.Sampler.launch`."""
        most = max(SORT_FROM, STATE_BYTES // (8 * state_rows(self.nc)))
        for first in range(begin, end, most):
            with _STREAMS_IN_USE:
                self._launch(rows, wanted, outputs, row, first, min(first + most, end))

    def _launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        count, draw = end - begin, self.draw._replace(row=row)
        turns = TURNS if count >= SORT_FROM else 0
        columns = count if turns > 0 else 1  # one by one samples need none
        if len(self.waves.kinds) < count or self.waves.states.shape[1] < columns:
            shapes = [((state_rows(self.nc), columns), np.float64), ((count,), np.int8), ((1,), np.int32)]
            most = TURNS + 1 + TURNS // min(OFTEN, HARD_OFTEN)
            shapes += [((most, KINDS), np.int32), ((KINDS + MOST + 1, count), np.int32)]
            self.waves = Waves(*allocate(shapes))
        waves, own, everywhere = self.waves, self.streams[1], BLOCKS * of_device("MULTIPROCESSOR_COUNT", 1)
        sorting, of_pushing = -(-count // (SORT_BLOCK * EACH)), range(1, min(self.nc, MOST) + 1)
        curves = {m: _several_kernel(self.nc, m) if m > 1 else _lone_kernel(self.nc) for m in of_pushing}
        of_curves, all_of = (rows, draw, waves, begin), (rows, draw, outputs, self.trace, waves, begin)
        advancing = _advance_kernel(self.nc)

        def turn() -> None:
            _sort_kernel()[sorting, SORT_BLOCK, own](waves, count)
            self._follow(1, *(1 + m for m in of_pushing))
            for m in reversed(of_pushing):
                curves[m][2 * everywhere, CURVE_BLOCK, self.streams[1 + m]](*of_curves, IN_TURN, 1, MANY)
            _draw_kernel(self.nc)[everywhere, BLOCK, own](*of_curves)
            advancing[everywhere, BLOCK, own](*all_of, IN_TURN)
            for m in of_pushing:
                self._follow(1 + m, 1)
            _end_kernel()[1, 1, own](waves)

        def begin_run(run: int) -> None:
            self._follow(1, *(1 + MOST + m for m in of_pushing))
            for m in of_pushing:
                beside = self.streams[1 + MOST + m]
                _collect_kernel()[-(-count // BLOCK), BLOCK, beside](waves, count, run, LONG + m - 1)
                curves[m][2 * everywhere, CURVE_BLOCK, beside](*of_curves, run, AT_ONCE, MANY)

        def begin_hard_run(run: int) -> None:
            self._follow(1, 2 + 2 * MOST)
            beside = self.streams[2 + 2 * MOST]
            _collect_kernel()[-(-count // BLOCK), BLOCK, beside](waves, count, run, HARD)
            advancing[everywhere, BLOCK, beside](*all_of, run)

        self._follow(0, 1)
        most = max(count, waves.counts.shape[0])
        _begin_kernel()[-(-most // BLOCK), BLOCK, own](wanted, draw.n, waves, begin, end)
        for number in range(turns):
            turn()
            if number == 0:
                turn = repeated(turn, own)
            if number % OFTEN == OFTEN - 1:
                begin_run(number // OFTEN)
            if number % HARD_OFTEN == HARD_OFTEN - 1:
                begin_hard_run(number // HARD_OFTEN)
        for m in of_pushing:
            self._follow(1 + MOST + m, 1)
        self._follow(2 + 2 * MOST, 1)
        _sort_kernel()[sorting, SORT_BLOCK, own](waves, count)
        advancing[everywhere, BLOCK, own](*all_of, THE_REST)
        self._follow(1, 0)

    def _follow(self, leader: int, *followers: int) -> None:
        """Let streams wait for all that another one has been given so far."""
        self.events[leader].record(self.streams[leader])
        for follower in followers:
            self.events[leader].wait(self.streams[follower])
