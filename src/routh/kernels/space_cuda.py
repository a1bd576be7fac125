"""The sampler in space with the true cone on an NVIDIA GPU: all samples step by step, sorted by kind of step.

Threads of a warp wait for each other wherever their ways differ, and the ways of two samples soon do. So no
thread has a sample of its own: in each turn samples are sorted by what they do next, and the threads of a
warp take samples that do the same. Beside the turns there are runs, which take longer: of curves that have
had many steps, which would be the last ones, and of steps that are not usual. Few samples, and those of very
many contacts, stay with one thread each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from threading import Lock

import numpy as np

from routh.compiling import find_cuda
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.kernels.gpu_graph import make_stream, repeated
from routh.kernels.gpu_memory import DeviceArray, allocate, of_device, send
from routh.kernels.space_state import state_rows
from routh.kernels.space_wave_kernels import (
    CURVE_BLOCK,
    EACH,
    IN_TURN,
    THE_REST,
    advance_kernel,
    begin_kernel,
    collect_kernel,
    draw_kernel,
    end_kernel,
    ends_kernel,
    lists_of_run,
    lone_kernel,
    several_kernel,
    sort_kernel,
)
from routh.kernels.space_waves import FRESH, HARD, KINDS, LONG, MOST, Waves

BLOCK, SORT_BLOCK = 128, 256  # threads
BLOCKS = 6  # of a multiprocessor
TURNS = 400  # after so many what is left goes to its end one by one
LOOK_FROM, LOOK_OFTEN = 80, 8  # turns after which it is looked whether all samples have ended
MANY = 12  # steps of a long curve: many more may follow, and are taken in runs
OFTEN, AT_ONCE = 8, 48  # turns between two of them; steps of a run
OTHERS_OFTEN, OTHERS_BESIDE = 4, 4  # turns between two other runs; such runs at a time
RUNS = MOST + OTHERS_BESIDE
SORT_FROM = 2**17  # samples from which on sorting pays
WIDEST = 14  # contacts up to which the board of `routh.kernels.space_crew` has room
STATE_BYTES = 2**30  # of the states of samples at a time
_STREAMS_IN_USE = Lock()  # what another thread launches in a stream that is recorded would be recorded, too
# streams: where others launch their kernels; turns, and in them curves of one to four contacts, ends; runs
DEFAULT, OWN, CURVES, ENDS = 0, 1, 2, 2 + MOST
BESIDE = ENDS + 1


@lru_cache(maxsize=8)
def _streams(device: int) -> tuple[list[DeviceArray], list[DeviceArray]]:
    """Streams of a GPU, and an event for each.

    They are made once: kernels remember with which streams they were launched. Runs come first: they take
    few threads, and long.
    """
    streams = [0, *(make_stream(urgent=stream >= BESIDE) for stream in range(OWN, BESIDE + RUNS))]
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
        """See `routh.kernels.events_cuda.Sampler.launch`; most samples have ended when it returns."""
        most = max(SORT_FROM, STATE_BYTES // (8 * state_rows(self.nc)))
        for first in range(begin, end, most):
            with _STREAMS_IN_USE:
                self._launch(rows, wanted, outputs, row, first, min(first + most, end))

    def _launch(
        self, rows: Rows, wanted: DeviceArray, outputs: Outputs, row: int, begin: int, end: int
    ) -> None:
        count, draw = end - begin, self.draw._replace(row=row)
        turns = TURNS if count >= SORT_FROM and self.nc <= WIDEST else 0
        self._make_room(count, count if turns > 0 else 1)  # one by one samples need no states
        waves, own, everywhere = self.waves, self.streams[OWN], BLOCKS * of_device("MULTIPROCESSOR_COUNT", 1)
        sorting, of_pushing = -(-count // (SORT_BLOCK * EACH)), range(1, min(self.nc, MOST) + 1)
        curves = {m: several_kernel(self.nc, m) if m > 1 else lone_kernel(self.nc) for m in of_pushing}
        of_curves, all_of = (rows, draw, waves, begin), (rows, draw, outputs, self.trace, waves, begin)
        inside = [ENDS, *(CURVES + m - 1 for m in of_pushing)]

        def turn() -> None:
            sort_kernel()[sorting, SORT_BLOCK, own](waves, count)
            self._follow(OWN, *inside)
            for m in reversed(of_pushing):
                stream = self.streams[CURVES + m - 1]
                curves[m][4 * everywhere, CURVE_BLOCK, stream](*of_curves, IN_TURN, 1, MANY)
            draw_kernel(self.nc)[everywhere, BLOCK, own](*of_curves)
            ends_kernel(self.nc)[everywhere, BLOCK, self.streams[ENDS]](rows, draw, outputs, waves, begin)
            for stream in inside:
                self._follow(stream, OWN)
            end_kernel()[1, 1, own](waves, IN_TURN)

        def run(number: int) -> None:
            stream, first, last = self.streams[BESIDE + number], LONG + number, LONG + number + 1
            if number >= MOST:
                first, last = HARD, FRESH
            collect_kernel()[-(-count // BLOCK), BLOCK, stream](waves, count, number, first, last)
            if number < MOST:
                curves[1 + number][2 * everywhere, CURVE_BLOCK, stream](*of_curves, number, AT_ONCE, MANY)
            else:
                advance_kernel(self.nc)[everywhere, BLOCK, stream](*all_of, number)
            end_kernel()[1, 1, stream](waves, number)

        for stream in range(len(self.streams)):  # an interrupted call may have left work in any of them
            if stream != OWN:
                self._follow(stream, OWN)
        most = max(count, waves.counts.shape[0])
        begin_kernel()[-(-most // BLOCK), BLOCK, own](wanted, draw.n, waves, begin, end)
        runs: dict[int, Callable[[], None]] = {}
        for number in range(1, turns + 1):
            turn()
            if number == 1:
                turn = repeated(turn, own)
            due = [m - 1 for m in of_pushing] if number % OFTEN == 0 else []
            if number % OTHERS_OFTEN == 0:
                due.append(MOST + number // OTHERS_OFTEN % OTHERS_BESIDE)
            for one in due:
                self._follow(OWN, BESIDE + one)
                if one in runs:
                    runs[one]()
                else:
                    run(one)
                    runs[one] = repeated(partial(run, one), self.streams[BESIDE + one])
            if number >= LOOK_FROM and number % LOOK_OFTEN == 0 and self._have_ended():
                break
        for one in runs:
            self._follow(BESIDE + one, OWN)
        sort_kernel()[sorting, SORT_BLOCK, own](waves, count)
        advance_kernel(self.nc)[everywhere, BLOCK, own](*all_of, THE_REST)
        self._follow(OWN, DEFAULT)

    def _make_room(self, count: int, states: int) -> None:
        if len(self.waves.kinds) < count or self.waves.states.shape[1] < states:
            lists = lists_of_run(RUNS - 1) + FRESH
            whole = [(count,), (2,), (TURNS + 1 + RUNS, KINDS), (lists, count)]
            shapes = [((state_rows(self.nc), states), np.float64), *((shape, np.int32) for shape in whole)]
            self.waves = Waves(*allocate(shapes))

    def _have_ended(self) -> bool:
        """Whether all samples have; waits for the turns so far."""
        left = self.waves.turn.copy_to_host(stream=self.streams[OWN])
        self.streams[OWN].synchronize()
        return bool(left[1] == 0)

    def _follow(self, leader: int, *followers: int) -> None:
        """Let streams wait for all that another one has been given so far."""
        self.events[leader].record(self.streams[leader])
        for follower in followers:
            self.events[leader].wait(self.streams[follower])
