"""The sampler in space with the true cone on an NVIDIA GPU: all samples step by step, sorted by kind of step.

Threads of a warp wait for each other wherever their ways differ, and the ways of two samples soon do. So no
thread has a sample of its own: in each turn samples are sorted by what they do next, and the threads of a
warp take samples that do the same. Beside the turns there are runs, which take longer: of what would be last,
long curves and samples that have had many steps, and of steps that are not usual. Few samples, and those of
very many contacts, stay with one thread each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from threading import Lock
from typing import NamedTuple

import numpy as np

from routh.compiling import find_cuda
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.kernels.gpu_graph import make_stream, repeated
from routh.kernels.gpu_memory import DeviceArray, allocate, of_device, send
from routh.kernels.space_state import state_rows
from routh.kernels.space_step_kernels import (
    CURVE_BLOCK,
    advance_kernel,
    draw_kernel,
    ends_kernel,
    fits_apart,
    lone_kernel,
    several_kernel,
    stops_kernel,
    swift_kernel,
)
from routh.kernels.space_wave_kernels import (
    EACH,
    IN_TURN,
    LONG_BESIDE,
    OTHERS_BESIDE,
    RUNS,
    THE_REST,
    begin_kernel,
    collect_kernel,
    end_kernel,
    list_of,
    sort_kernel,
)
from routh.kernels.space_waves import FRESH, HARD, KINDS, LONG, MOST, TO_THE_END, Waves

BLOCK, SORT_BLOCK = 128, 256  # threads
BLOCKS = 6  # of a multiprocessor
APART_BLOCKS, FEW_BLOCKS = 12, 4  # where each has one thread; the same for what is in haste
RUNS_FROM = 12  # turns before there are runs
AHEAD = 24  # turns after which all is recorded for when few samples are left: the GPU has other work then
LOOK_FROM, LOOK_OFTEN = 32, 8  # turns after which it is looked how many samples are left
FEW = 384  # of a multiprocessor
TURNS = 1000  # after so many what is left goes to its end one by one
HASTE_AT_ONCE = 16  # steps that are not usual, of samples in haste
ROUNDS, RUN_ROUNDS = 4, 48  # draws, and steps of one contact, in a turn when few are left; in a run
SORT_FROM = 2**17  # samples from which on sorting pays
WIDEST = 14  # contacts up to which the board of `routh.kernels.space_crew` has room
STATE_BYTES = 2**30  # of the states of samples at a time, and the lists of them
LISTS = list_of(FRESH - 1, RUNS - 1) + 1


class Pace(NamedTuple):
    """How far turns and runs go, and how often there are runs."""

    few: bool  # few samples are left: each waits for its own next step, and there is room for all
    blocks: int  # of a multiprocessor, for curves in a turn
    steps: int  # of a curve in a turn
    many: int  # of a curve, after which it is long and goes on in runs
    haste: int  # of a sample, after which all of it but first steps of other curves, stops and ends does, too
    often: int  # turns from one such run to the next
    at_once: int  # steps of a curve in it
    others_often: int  # turns from one run of what is not usual to the next
    others_at_once: int  # steps of such a run


EARLY = Pace(
    few=False, blocks=24, steps=1, many=20, haste=64, often=1, at_once=48, others_often=1, others_at_once=4
)
LATE = EARLY._replace(
    few=True, blocks=4, steps=2, many=12, haste=TO_THE_END, often=2, others_often=2, others_at_once=16
)
_STREAMS_IN_USE = Lock()  # what another thread launches in a stream that is recorded would be recorded, too
_LOADED: set[tuple[int, int]] = set()  # GPUs and numbers of contacts whose kernels have run
# streams: where others launch their kernels; turns, and in them curves of one to four contacts, ends, stops;
# runs, and in them what is not usual, curves
DEFAULT, OWN, CURVES, ENDS, STOPPING = 0, 1, 2, 2 + MOST, 3 + MOST
BESIDE = STOPPING + 1
BRANCHES = BESIDE + RUNS


@lru_cache(maxsize=8)
def _streams(device: int) -> tuple[list[DeviceArray], list[DeviceArray]]:
    """Streams of a GPU, and an event for each.

    They are made once: kernels remember with which streams they were launched. Runs come first: they take
    few threads, and long.
    """
    streams = [0, *(make_stream(urgent=stream >= BESIDE) for stream in range(OWN, BRANCHES + MOST + 1))]
    return streams, [find_cuda().event() for _ in streams]


class _Launches:
    """Kernels of a launch, with their arguments."""

    def __init__(
        self, nc: int, rows: Rows, draw: Draw, outputs: Outputs, trace: DeviceArray, waves: Waves, begin: int
    ) -> None:
        self.nc, self.waves = nc, waves
        self.usual = rows, draw, waves, begin
        self.every = rows, draw, outputs, trace, waves, begin
        self.ends = rows, draw, outputs, waves, begin
        self.streams, self.events = _streams(of_device("id", 0))
        self.each = of_device("MULTIPROCESSOR_COUNT", 1)  # blocks, one of each multiprocessor
        self.pushing = range(1, min(nc, MOST) + 1)
        self.curves = {m: several_kernel(nc, m) if m > 1 else lone_kernel(nc) for m in self.pushing}

    def first_turn(self, count: int) -> None:
        """All samples begin: there is nothing else to do yet."""
        own = self.streams[OWN]
        sort_kernel()[-(-count // (SORT_BLOCK * EACH)), SORT_BLOCK, own](self.waves, count)
        ends_kernel(self.nc)[BLOCKS * self.each, BLOCK, own](*self.ends)
        end_kernel()[1, 1, own](self.waves, IN_TURN)

    def turn(self, count: int, pace: Pace) -> None:
        """A step of every sample that is not in a run, or some."""
        own, streams = self.streams[OWN], self.streams
        beside = [ENDS, STOPPING, *(CURVES + m - 1 for m in self.pushing)]
        sort_kernel()[-(-max(count, 1) // (SORT_BLOCK * EACH)), SORT_BLOCK, own](self.waves, count)
        self.follow(OWN, *beside)
        for m in reversed(self.pushing):
            if m > 1 or not pace.few:
                shape = pace.blocks * self.each, CURVE_BLOCK, streams[CURVES + m - 1]
                self.curves[m][shape](*self.usual, IN_TURN, pace.steps, pace.many, pace.haste)
        if pace.few:
            shape = pace.blocks * self.each, CURVE_BLOCK, own
            swift_kernel(self.nc)[shape](*self.usual, IN_TURN, ROUNDS, pace.many)
        else:
            draw_kernel(self.nc)[BLOCKS * self.each, BLOCK, own](*self.usual)
        blocks = self.each if pace.few else BLOCKS * self.each
        ends_kernel(self.nc)[blocks, BLOCK, streams[ENDS]](*self.ends)
        stops_kernel(self.nc)[self.each, BLOCK, streams[STOPPING]](*self.usual)
        for stream in beside:
            self.follow(stream, OWN)
        end_kernel()[1, 1, own](self.waves, IN_TURN)

    def run(self, number: int, count: int, pace: Pace) -> None:
        """A run of what is long, or, from LONG_BESIDE on, of what is not usual."""
        beside, is_long = BESIDE + number, number < LONG_BESIDE
        stream, (first, last) = self.streams[beside], ((LONG, KINDS) if is_long else (HARD, FRESH))
        rows, draw, waves, begin = self.usual
        collecting = collect_kernel()[-(-max(count, 1) // BLOCK), BLOCK, stream]
        collecting(rows.nc, draw.n, waves, begin, count, number, first, last, pace.haste)
        if is_long:
            branches = [BRANCHES, *(BRANCHES + m for m in self.pushing)]
            self.follow(beside, *branches)
            for m in reversed(self.pushing):
                shape = self.each, CURVE_BLOCK, self.streams[BRANCHES + m]
                self.curves[m][shape](*self.usual, number, pace.at_once, pace.many, pace.haste)
            swift_kernel(self.nc)[self.each, CURVE_BLOCK, stream](*self.usual, number, RUN_ROUNDS, pace.many)
            self.advance(FEW_BLOCKS, self.streams[BRANCHES], number, HASTE_AT_ONCE)
            for branch in branches:
                self.follow(branch, beside)
        else:
            self.advance(APART_BLOCKS if pace.few else 0, stream, number, pace.others_at_once)
        end_kernel()[1, 1, stream](self.waves, number)

    def advance(self, apart: int, stream: DeviceArray, what: int, steps: int) -> None:
        """Steps of any kind, of a run or THE_REST; ``apart``: blocks of a thread on each multiprocessor."""
        if not fits_apart(self.nc):
            apart = 0
        shape = (apart * self.each, 1) if apart > 0 else (BLOCKS * self.each, BLOCK)
        advance_kernel(self.nc, apart > 0)[*shape, stream](*self.every, what, steps)

    def load(self) -> None:
        """Run all kernels once, with nothing to do: what is recorded has to have been loaded."""
        for pace in (EARLY, LATE):
            self.turn(0, pace)
            for number in (0, LONG_BESIDE):
                self.follow(OWN, BESIDE + number)
                self.run(number, 0, pace)
                self.follow(BESIDE + number, OWN)

    def follow(self, leader: int, *followers: int) -> None:
        """Let streams wait for all that another one has been given so far."""
        self.events[leader].record(self.streams[leader])
        for follower in followers:
            self.events[leader].wait(self.streams[follower])


class WaveLauncher:
    """Launches of this sampler; ``along``: what is sent to the GPU in the same copy, and is then there."""

    def __init__(self, draw: Draw, nc: int, along: DeviceArray) -> None:
        self.nc, self.waves = nc, Waves(np.empty((0, 0)), (), None, None, None)
        self.draw, self.trace, self.along = send((draw, np.zeros((0, 3 * nc)), along))

    def launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        """See `routh.kernels.events_cuda.Sampler.launch`; most samples have ended when it returns."""
        most = max(SORT_FROM, STATE_BYTES // (8 * state_rows(self.nc) + 4 * LISTS))
        for first in range(begin, end, most):
            with _STREAMS_IN_USE:
                self._launch(rows, wanted, outputs, row, first, min(first + most, end))

    def _launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        count, draw = end - begin, self.draw._replace(row=row)
        in_turns = count >= SORT_FROM and self.nc <= WIDEST
        self._make_room(count, count if in_turns else 1)  # one by one samples need no states
        waves, launches = self.waves, _Launches(self.nc, rows, draw, outputs, self.trace, self.waves, begin)
        own = launches.streams[OWN]
        for stream in range(len(launches.streams)):  # an interrupted call may have left work in any of them
            if stream != OWN:
                launches.follow(stream, OWN)
        blocks = -(-max(count, waves.counts.shape[0]) // BLOCK)
        if in_turns and (of_device("id", 0), self.nc) not in _LOADED:
            begin_kernel()[blocks, BLOCK, own](wanted, draw.n, waves, begin, begin)
            launches.load()
            _LOADED.add((of_device("id", 0), self.nc))
        begin_kernel()[blocks, BLOCK, own](wanted, draw.n, waves, begin, end)
        if not in_turns or not self._take_turns(launches, count):
            sort_kernel()[-(-count // (SORT_BLOCK * EACH)), SORT_BLOCK, own](waves, count)
            launches.advance(APART_BLOCKS if in_turns else 0, own, THE_REST, TO_THE_END)
        launches.follow(OWN, DEFAULT)

    def _take_turns(self, launches: _Launches, count: int) -> bool:
        """Turns, and runs beside them: whether all samples have ended."""
        recorded: dict[tuple[int, Pace], Callable[[], None]] = {}
        pace, left, longs, others = EARLY, count, 0, 0

        def record(what: int, pace: Pace) -> None:
            if (what, pace) not in recorded:
                stream = OWN if what == IN_TURN else BESIDE + what
                kernels = launches.turn if what == IN_TURN else partial(launches.run, what)
                recorded[what, pace] = repeated(partial(kernels, count, pace), launches.streams[stream])

        launches.first_turn(count)
        for number in range(2, TURNS + 1):
            due = []
            if number >= RUNS_FROM and number % pace.often == 0:
                due.append(longs % LONG_BESIDE)
                longs += 1
            if number >= RUNS_FROM and number % pace.others_often == 0:
                due.append(LONG_BESIDE + others % OTHERS_BESIDE)
                others += 1
            for what in (IN_TURN, *due):
                record(what, pace)
                if what != IN_TURN:
                    launches.follow(OWN, BESIDE + what)
                recorded[what, pace]()
            if number == AHEAD:
                for what in (IN_TURN, *range(RUNS)):
                    record(what, LATE)
            if number >= LOOK_FROM and number % LOOK_OFTEN == 0:
                left = self._count_left(launches.streams[OWN])
                pace = LATE if left <= FEW * launches.each else EARLY
                if left == 0:
                    break
        for run in range(RUNS):
            launches.follow(BESIDE + run, OWN)
        return left == 0

    def _make_room(self, count: int, states: int) -> None:
        if len(self.waves.kinds) < count or self.waves.states.shape[1] < states:
            whole = [(count,), (2,), (TURNS + 1 + RUNS, KINDS), (LISTS, count)]
            shapes = [((state_rows(self.nc), states), np.float64), *((shape, np.int32) for shape in whole)]
            self.waves = Waves(*allocate(shapes))

    def _count_left(self, stream: DeviceArray) -> int:
        """Samples that have not ended; waits for the turns so far."""
        turn = self.waves.turn.copy_to_host(stream=stream)
        stream.synchronize()
        return int(turn[1])
