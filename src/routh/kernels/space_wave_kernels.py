"""Kernels of `routh.kernels.space_cuda`, each for samples that do the same next."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from routh.compiling import cuda_kernel, is_simulated, on_device
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.kernels.gpu_memory import CudaKernel, DeviceArray
from routh.kernels.space_crew import Crew, SeveralWork, any_of, several_work, wait
from routh.kernels.space_ends import begin_sample, end_sample
from routh.kernels.space_lone import LoneWork, lone_step, lone_work
from routh.kernels.space_names import CURVES, PUSHING, TAKEN, UNENDED, SpaceWork, workspace
from routh.kernels.space_several import several_step
from routh.kernels.space_state import Column, move_row
from routh.kernels.space_usual_draws import usual_draw
from routh.kernels.space_usual_rates import DrawWork, draw_work
from routh.kernels.space_waves import (
    DREW,
    ELSEWHERE,
    ENDED,
    FRESH,
    HARD,
    KINDS,
    LONE,
    LONG,
    MOST,
    SEVERAL,
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

CURVE_BLOCK = 64  # threads
ALL_THREADS = 0xFFFFFFFF  # of a warp
REGISTERS, DRAW_REGISTERS, CURVE_REGISTERS = 80, 168, 255  # of a thread; of those that have series in them
FEW = 8  # contacts with which loops over all of them are unrolled
EACH = 8  # samples that each thread of a block sorts
OTHERS_AT_ONCE = 4  # steps of a run that are not usual
IN_TURN, THE_REST = -1, -2  # what kernels do that do not belong to a run


def lists_of_run(run: int) -> int:
    """From the kinds of a run's samples to their lists, behind those of turns: one each, or three."""
    return KINDS - LONG if run < MOST else KINDS + MOST - HARD + (FRESH - HARD) * (run - MOST)


@lru_cache(maxsize=1)
def begin_kernel() -> CudaKernel:
    """All samples before their first draw; those not wanted have ended."""

    def entry(wanted: DeviceArray, n: int, waves: Waves, begin: int, end: int) -> None:
        place = cuda.grid(1)
        if place < end - begin:
            waves.kinds[place] = FRESH if wanted[(begin + place) // n] else ELSEWHERE
        if place < waves.counts.shape[0]:
            for kind in range(KINDS):
                waves.counts[place, kind] = 0
        if place == 0:
            waves.turn[0] = waves.turn[1] = 0

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def end_kernel() -> CudaKernel:
    """The end of a turn, in which some samples began and some ended, or of a run."""

    def entry(waves: Waves, run: int) -> None:
        if run >= 0:
            for kind in range(KINDS):
                waves.counts[waves.counts.shape[0] - 1 - run, kind] = 0
        else:
            turn = waves.turn[0]
            waves.turn[1] += waves.counts[turn, FRESH] - waves.counts[turn, ENDED]
            waves.turn[0] = turn + 1

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def sort_kernel() -> CudaKernel:
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
def collect_kernel() -> CudaKernel:
    """The samples of a run: those of some kinds; turns, and runs that begin meanwhile, leave them alone."""
    place_of = on_device(lists_of_run)

    def entry(waves: Waves, count: int, run: int, first: int, last: int) -> None:
        slot = cuda.grid(1)
        kind = waves.kinds[slot] if slot < count else ELSEWHERE
        if first <= kind < last and cuda.atomic.cas(waves.kinds, slot, kind, ELSEWHERE) == kind:
            place = cuda.atomic.add(waves.counts, (waves.counts.shape[0] - 1 - run, kind), 1)
            waves.lists[kind + place_of(run), place] = slot

    return cuda_kernel(entry)


@lru_cache(maxsize=16)
def advance_kernel(nc: int) -> CudaKernel:
    """A run: steps of the kinds that have no kernel of their own; THE_REST: of all kinds, to the end."""
    advanced, chunked, place_of = on_device(advance_sample), on_device(listed), on_device(lists_of_run)
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
        turn, first, last, shift = waves.counts.shape[0] - 1 - what, HARD, FRESH, place_of(what)
        steps, times = 1, OTHERS_AT_ONCE
        if what == THE_REST:
            turn, first, last, shift, steps = int(waves.turn[0]), SEVERAL, KINDS, 0, TO_THE_END
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, WARP, first, last)
            if kind == last:
                break
            place += cuda.grid(1) % WARP
            if place < waves.counts[turn, kind]:
                slot = waves.lists[kind + shift, place]
                following, left = kind, times
                while (HARD <= following < FRESH and left > 0) or left == times:
                    following, left = (
                        advanced(
                            rows, draw, outputs, work, waves.states, slot, following, begin + slot, steps
                        ),
                        left - 1,
                    )
                cuda.threadfence()  # turns and runs go on beside each other
                waves.kinds[slot] = following
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, max_registers=REGISTERS)


@lru_cache(maxsize=16)
def lone_kernel(nc: int) -> CudaKernel:
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

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= FEW, max_registers=CURVE_REGISTERS)


def _wait() -> None:
    cuda.syncwarp()


def _any_of(here: bool) -> bool:
    return cuda.any_sync(ALL_THREADS, here)


@lru_cache(maxsize=16)
def several_kernel(nc: int, m: int) -> CudaKernel:
    """Steps of m contacts that slide, for m = MOST of so many or more; see `lone_kernel`.

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
def draw_kernel(nc: int) -> CudaKernel:
    """Draws, as far as they are usual."""
    drawn, chosen = on_device(usual_draw), on_device(kind_drawn)
    roles, marks, weights, along, rates, changes = (array.shape for array in draw_work(nc))

    def entry(rows: Rows, draw: Draw, waves: Waves, begin: int) -> None:
        work = DrawWork(
            cuda.local.array(roles, np.int32),
            cuda.local.array(marks, np.int32),
            cuda.local.array(weights, np.float64),
            cuda.local.array(along, np.float64),
            cuda.local.array(rates, np.float64),
            cuda.local.array(changes, np.float64),
        )
        for place in range(cuda.grid(1), waves.counts[waves.turn[0], DREW], cuda.gridsize(1)):
            slot = waves.lists[DREW, place]
            row = (begin + slot) // draw.n
            column = Column(waves.states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)
            waves.kinds[slot] = chosen(drawn(column, work, draw, begin + slot - row * draw.n))

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= FEW, max_registers=DRAW_REGISTERS)


@lru_cache(maxsize=16)
def ends_kernel(nc: int) -> CudaKernel:
    """Samples before their first draw, and the results of those that have ended."""
    begun, ended, chunked = on_device(begin_sample), on_device(end_sample), on_device(listed)
    size = 3 * nc

    def entry(rows: Rows, draw: Draw, outputs: Outputs, waves: Waves, begin: int) -> None:
        totals, turn = cuda.local.array(size, np.float64), int(waves.turn[0])
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, WARP, FRESH, LONE)
            if kind == LONE:
                break
            place += cuda.grid(1) % WARP
            if place < waves.counts[turn, kind]:
                slot = waves.lists[kind, place]
                row = (begin + slot) // draw.n
                column = Column(waves.states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)
                following = ELSEWHERE
                if kind == ENDED:
                    ended(column, rows, outputs, totals, begin + slot - row * draw.n)
                else:
                    following = DREW if begun(column, rows.start) == UNENDED else ENDED
                waves.kinds[slot] = following
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= FEW, max_registers=REGISTERS)
