"""Kernels of `routh.kernels.space_cuda` that take steps, each of samples that do the same next."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from routh.compiling import cuda_kernel, is_simulated, on_device
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.kernels.gpu_memory import CudaKernel, DeviceArray
from routh.kernels.space_crew import Crew, SeveralWork, any_of, several_work, wait
from routh.kernels.space_ends import begin_sample, end_sample
from routh.kernels.space_lone import LoneWork, lone_step, lone_work
from routh.kernels.space_names import CURVES, NEXT, PUSHING, UNENDED, SpaceWork, workspace
from routh.kernels.space_several import several_step
from routh.kernels.space_state import course_row, move_row
from routh.kernels.space_stops import StopWork, stop_step, stop_work, straight_draw
from routh.kernels.space_usual_draws import usual_draw
from routh.kernels.space_usual_rates import DrawWork, draw_work
from routh.kernels.space_wave_kernels import THE_REST, list_of
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
    STOPS,
    SWIFT,
    TO_THE_END,
    WARP,
    Waves,
    advance_sample,
    column_of,
    is_for_runs,
    kind_after,
    kind_drawn,
    kind_long,
    listed,
)

if TYPE_CHECKING:
    from numba import cuda  # at run time `cuda_kernel` puts it here

CURVE_BLOCK = 64  # threads
ALL_THREADS = 0xFFFFFFFF  # of a warp
# of a thread; of one that has a warp to itself; of those that have draws, or series, in them
REGISTERS, APART_REGISTERS, DRAW_REGISTERS, CURVE_REGISTERS = 80, 64, 168, 255
UNROLLED = 8  # contacts with which loops over all of them still are
SHARED = 48 * 1024  # bytes that a block may have without asking


def fits_apart(nc: int) -> bool:
    """Whether the scratch of a sample with so many contacts has room in a block's shared memory."""
    return sum(array.nbytes for array in workspace(nc)) <= SHARED


@cache
def advance_kernel(nc: int, apart: bool) -> CudaKernel:
    """A run: steps of the kinds that have no kernel of their own; THE_REST: of all kinds, to the end.

    ``apart``: a thread is a block's only one, and has its scratch in shared memory. That is for few samples:
    none waits for another that goes another way, nor for a memory that is far away.
    """
    advanced, chunked, list_at = on_device(advance_sample), on_device(listed), on_device(list_of)
    of_values, of_marks, of_series, of_flags, _ = (array.shape for array in workspace(nc))
    each = 1 if apart else WARP

    def entry(
        rows: Rows, draw: Draw, outputs: Outputs, trace: DeviceArray, waves: Waves, begin: int, what: int,
        steps: int,
    ) -> None:  # fmt: skip
        if apart:
            values = cuda.shared.array(of_values, np.float64)
            marks = cuda.shared.array(of_marks, np.int64)
            series = cuda.shared.array(of_series, np.float64)
            flags = cuda.shared.array(of_flags, np.bool_)
        else:
            values = cuda.local.array(of_values, np.float64)
            marks = cuda.local.array(of_marks, np.int64)
            series = cuda.local.array(of_series, np.float64)
            flags = cuda.local.array(of_flags, np.bool_)
        work = SpaceWork(values, marks, series, flags, trace)
        turn, first, last = waves.counts.shape[0] - 1 - what, HARD, FRESH
        if what == THE_REST:
            turn, first, last = int(waves.turn[0]), SEVERAL, KINDS
        chunk, chunks = cuda.grid(1) // each, cuda.gridsize(1) // each
        while True:
            kind, place = chunked(waves.counts, turn, chunk, each, first, last)
            if kind == last:
                break
            place += cuda.grid(1) % each
            if place < waves.counts[turn, kind]:
                slot = waves.lists[list_at(kind, what), place]
                following = advanced(rows, draw, outputs, work, waves.states, slot, kind, begin + slot, steps)
                cuda.threadfence()  # turns and runs go on beside each other
                waves.kinds[slot] = following
            chunk += chunks

    return cuda_kernel(
        entry, rolled=True, cleared=False, max_registers=APART_REGISTERS if apart else REGISTERS
    )


@cache
def lone_kernel(nc: int) -> CudaKernel:
    """Steps of one contact that slides: IN_TURN one, in a run more."""
    stepped, chosen, list_at = on_device(lone_step), on_device(kind_long), on_device(list_of)
    for_runs, column_at = on_device(is_for_runs), on_device(column_of)
    powers, events, normals, points = (array.shape for array in lone_work(nc))

    def entry(
        rows: Rows, draw: Draw, waves: Waves, begin: int, run: int, most: int, many: int, haste: int
    ) -> None:
        work = LoneWork(
            cuda.local.array(powers, np.float64),
            cuda.local.array(events, np.float64),
            cuda.local.array(normals, np.float64),
            cuda.local.array(points, np.float64),
        )
        count, of = waves.counts[waves.turn[0], LONE], LONE
        if run >= 0:
            count, of = waves.counts[waves.counts.shape[0] - 1 - run, LONG], list_at(LONG, run)
        for place in range(cuda.grid(1), count, cuda.gridsize(1)):
            slot = waves.lists[of, place]
            column = column_at(rows, draw, waves.states, begin, slot)
            following, steps = CURVES, most
            while following == CURVES and steps > 0:
                following, steps = stepped(column, work), steps - 1
            kind = chosen(column, following, LONE, many, haste)
            if run >= 0 or for_runs(kind):  # turns and runs go on beside each other
                cuda.threadfence()
            waves.kinds[slot] = kind

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= UNROLLED, max_registers=CURVE_REGISTERS)


def _wait() -> None:
    cuda.syncwarp()


def _any_of(here: bool) -> bool:
    return cuda.any_sync(ALL_THREADS, here)


@cache
def several_kernel(nc: int, m: int) -> CudaKernel:
    """Steps of m contacts that slide, for m = MOST of so many or more; see `lone_kernel`.

    Each thread has one contact, or one of each MOST; the simulator, whose threads do not wait, all of them.
    """
    threads, instead = (1, ()) if is_simulated() else (m, ((wait, _wait), (any_of, _any_of)))
    stepped, any_in_warp = on_device(several_step, instead), on_device(any_of, instead)
    chosen, chunked, list_at = on_device(kind_long), on_device(listed), on_device(list_of)
    for_runs, column_at = on_device(is_for_runs), on_device(column_of)
    widest, or_more = (nc, True) if m == MOST < nc else (m, False)
    crews, beside = WARP // threads, -(-WARP // threads)  # what is left of a warp's threads goes with it
    columns, in_block = beside * CURVE_BLOCK // WARP, 1 if or_more else CURVE_BLOCK
    shapes = [array.shape for array in several_work(nc, widest, threads, columns, in_block)]
    powers, normals, numbers, points, who, values, marks, gram, rates, *board = shapes
    pace, events, push, notes, heights, nearest, equations = board
    without = SEVERAL + 2 * (MOST - m)

    def entry(
        rows: Rows, draw: Draw, waves: Waves, begin: int, run: int, most: int, many: int, haste: int
    ) -> None:
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
        turn, first, last = int(waves.turn[0]), without, without + 2
        if run >= 0:
            turn, first, last = waves.counts.shape[0] - 1 - run, LONG + m - 1, LONG + m
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
            slot = waves.lists[list_at(kind, run), min(place, count - 1)]
            column = column_at(rows, draw, waves.states, begin, slot)
            pushing = int(waves.states[move_row(column.nc, PUSHING), slot]) if or_more else m
            following, steps, going = CURVES, most, mine
            while any_in_warp(going):
                after = stepped(column, work, crew, pushing, going)
                if going:
                    following, steps = after, steps - 1
                    going = following == CURVES and steps > 0
            if mine and crew.first == 0:
                kind_now = chosen(column, following, kind if run < 0 else without, many, haste)
                if run >= 0 or for_runs(kind_now):  # turns and runs go on beside each other
                    cuda.threadfence()
                waves.kinds[slot] = kind_now
            chunk += chunks

    registers = REGISTERS if or_more else CURVE_REGISTERS
    return cuda_kernel(entry, rolled=True, cleared=False, long=not or_more, max_registers=registers)


@cache
def draw_kernel(nc: int) -> CudaKernel:
    """Draws, as far as they are usual."""
    drawn, chosen, column_at = on_device(usual_draw), on_device(kind_drawn), on_device(column_of)
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
            column = column_at(rows, draw, waves.states, begin, slot)
            # what a run takes then has not been changed here, so none has to wait for it
            waves.kinds[slot] = chosen(drawn(column, work, draw, begin + slot - column.row * draw.n))

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= UNROLLED, max_registers=DRAW_REGISTERS)


@cache
def swift_kernel(nc: int) -> CudaKernel:
    """Draws and steps of one contact that slides, so many of each, one after the other: for few samples.

    IN_TURN those of all samples, in a run of those that have had many steps.
    """
    stepped, after_step, chosen = on_device(lone_step), on_device(kind_after), on_device(kind_long)
    drawn, after_draw, column_at = on_device(usual_draw), on_device(kind_drawn), on_device(column_of)
    chunked, list_at, for_runs = on_device(listed), on_device(list_of), on_device(is_for_runs)
    powers, events, normals, points = (array.shape for array in lone_work(nc))
    roles, marks, weights, along, rates, changes = (array.shape for array in draw_work(nc))

    def entry(rows: Rows, draw: Draw, waves: Waves, begin: int, run: int, most: int, many: int) -> None:
        lone = LoneWork(
            cuda.local.array(powers, np.float64),
            cuda.local.array(events, np.float64),
            cuda.local.array(normals, np.float64),
            cuda.local.array(points, np.float64),
        )
        work = DrawWork(
            cuda.local.array(roles, np.int32),
            cuda.local.array(marks, np.int32),
            cuda.local.array(weights, np.float64),
            cuda.local.array(along, np.float64),
            cuda.local.array(rates, np.float64),
            cuda.local.array(changes, np.float64),
        )
        turn, first, last = int(waves.turn[0]), LONE, STOPS
        if run >= 0:
            turn, first, last = waves.counts.shape[0] - 1 - run, SWIFT, SWIFT + 1
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, WARP, first, last)
            if kind == last:
                break
            place += cuda.grid(1) % WARP
            if place < waves.counts[turn, kind]:
                slot = waves.lists[list_at(kind, run), place]
                column = column_at(rows, draw, waves.states, begin, slot)
                left = most
                if run >= 0:
                    kind = LONE if waves.states[course_row(column.nc, NEXT), slot] == CURVES else DREW
                while left > 0 and LONE <= kind <= DREW:
                    left -= 1
                    if kind == DREW:
                        kind = after_draw(drawn(column, work, draw, begin + slot - column.row * draw.n))
                    if kind == LONE:
                        kind = after_step(stepped(column, lone), LONE)
                if run >= 0 and LONE <= kind <= DREW:
                    kind = SWIFT
                elif kind == LONE:
                    kind = chosen(column, CURVES, LONE, many, TO_THE_END)
                if run >= 0 or for_runs(kind):  # turns and runs go on beside each other
                    cuda.threadfence()
                waves.kinds[slot] = kind
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= UNROLLED, max_registers=CURVE_REGISTERS)


@cache
def stops_kernel(nc: int) -> CudaKernel:
    """One contact that pushes and stops sliding, and what comes after that."""
    stepped, after, drawn = on_device(stop_step), on_device(kind_after), on_device(straight_draw)
    chosen, chunked, column_at = on_device(kind_drawn), on_device(listed), on_device(column_of)
    powers, events, normals, points = (array.shape for array in lone_work(nc))
    roles, marks, weights, along, rates, changes = (array.shape for array in draw_work(nc))
    values, pivots = (array.shape for array in stop_work())

    def entry(rows: Rows, draw: Draw, waves: Waves, begin: int) -> None:
        lone = LoneWork(
            cuda.local.array(powers, np.float64),
            cuda.local.array(events, np.float64),
            cuda.local.array(normals, np.float64),
            cuda.local.array(points, np.float64),
        )
        equations = StopWork(cuda.local.array(values, np.float64), cuda.local.array(pivots, np.int64))
        work = DrawWork(
            cuda.local.array(roles, np.int32),
            cuda.local.array(marks, np.int32),
            cuda.local.array(weights, np.float64),
            cuda.local.array(along, np.float64),
            cuda.local.array(rates, np.float64),
            cuda.local.array(changes, np.float64),
        )
        turn = int(waves.turn[0])
        chunk, chunks = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        while True:
            kind, place = chunked(waves.counts, turn, chunk, WARP, STOPS, LONG)
            if kind == LONG:
                break
            place += cuda.grid(1) % WARP
            if place < waves.counts[turn, kind]:
                slot = waves.lists[kind, place]
                column = column_at(rows, draw, waves.states, begin, slot)
                if kind == STOPS:
                    kind = after(stepped(column, lone, equations), STOPS)
                else:
                    kind = chosen(drawn(column, work, draw, begin + slot - column.row * draw.n))
                waves.kinds[slot] = kind  # as in `draw_kernel`
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= UNROLLED, max_registers=DRAW_REGISTERS)


@cache
def ends_kernel(nc: int) -> CudaKernel:
    """Samples before their first draw, and the results of those that have ended."""
    begun, ended = on_device(begin_sample), on_device(end_sample)
    chunked, column_at = on_device(listed), on_device(column_of)
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
                column = column_at(rows, draw, waves.states, begin, slot)
                following = ELSEWHERE
                if kind == ENDED:
                    ended(column, rows, outputs, totals, begin + slot - column.row * draw.n)
                else:
                    following = DREW if begun(column, rows.start) == UNENDED else ENDED
                waves.kinds[slot] = following
            chunk += chunks

    return cuda_kernel(entry, rolled=True, cleared=False, long=nc <= UNROLLED, max_registers=REGISTERS)
