"""Samples in space between their steps, sorted by what they do next: `routh.kernels.space_cuda`."""

from __future__ import annotations

from typing import NamedTuple

from routh.kernels.arrays import MU as ROW_MU
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.kernels.events_space import advance, begin, write_sample
from routh.kernels.gpu_memory import DeviceArray
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
)
from routh.kernels.space_state import LEFT, STATUS, load_state, save_state
from routh.kernels.space_usual_draws import AGAIN, AND_HELD, ENDS

# kinds of a sample's next step: a curve of four or more contacts that slide, of three, of two, each without
# and with some held; another curve; a sweep; rates or a draw that is not usual; before the first draw; the
# results; a curve of one; a draw, or rates after a contact was let go; a long curve of one, of two, of three,
# of four or more
SEVERAL, HARD, SWEPT, REDREW, FRESH, ENDED, LONE, DREW, LONG = 0, 6, 7, 8, 9, 10, 11, 12, 13
ELSEWHERE = -1  # it has ended and is written, or is in a run
MOST = 4  # contacts that push by which kinds differ
KINDS = LONG + MOST

WARP = 32
TO_THE_END = 2**31


class Waves(NamedTuple):
    """Samples between their steps."""

    states: DeviceArray  # (rows, samples), see `routh.kernels.space_state`
    kinds: DeviceArray  # (samples,) int32
    turn: DeviceArray  # (2,) int32: turns so far, samples that have begun and not ended
    counts: DeviceArray  # (turns + 1 + runs, KINDS) int32: samples of each kind in a turn, or a run
    lists: DeviceArray  # (lists, samples) int32: which, of each kind in a turn; then those of runs


def load_problem(rows: Rows, row: int, work: SpaceWork, kind: int, whole: bool) -> None:
    """What of a problem a step needs: of G the columns of contacts that push, or may, or the ``whole``."""
    values, nc = work.values, rows.nc[row]
    drawn = kind == REDREW and values[COURSE, NEXT] != RATES
    for i in range(nc):
        values[MU, i] = rows.contact[row, ROW_MU, i]
        pushes = values[C, 3 * i] <= 0.0 if drawn else work.marks[ROLE, i] != FREE
        if whole or pushes:
            for a in range(3 * nc):
                for b in range(3 * i, 3 * i + 3):
                    values[GRAM + a, b] = rows.G[row, b, a]
        if whole:
            for a in range(3 * i, 3 * i + 3):
                values[START, a] = rows.start[row, a]


def kind_of(work: SpaceWork) -> int:
    """Of the next step of a sample that has not ended."""
    values, marks = work.values, work.marks
    if values[COURSE, NEXT] == SWEEPS:
        return SWEPT
    if values[COURSE, NEXT] != CURVES:
        return REDREW if values[COURSE, NEXT] == RATES else DREW
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
    """A step of a sample, or, where they are more than one, all that it takes: its next kind.

    That of a FRESH or ENDED one alone is another kernel's.
    """
    row = number // draw.n
    sample = number - row * draw.n
    nc, last = rows.nc[row], steps > 1
    if kind != FRESH:
        load_state(work, nc, states, slot, last)
    load_problem(rows, row, work, kind, last)
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
        return ELSEWHERE
    work.values[MOVE, STATUS] = status
    save_state(work, nc, states, slot)
    return kind_of(work) if status == UNENDED else ENDED


def listed(counts: DeviceArray, turn: int, chunk: int, each: int, first: int, last: int) -> tuple[int, int]:
    """The kind of a warp's ``each`` samples, from ``first`` to before ``last``; where in the list they begin.

    Kinds come one after the other, each with the warps that it needs; ``last``: there are no more.
    """
    for kind in range(first, last):
        chunks = (counts[turn, kind] + each - 1) // each
        if chunk < chunks:
            return kind, each * chunk
        chunk -= chunks
    return last, 0


def kind_after(following: int, kind: int) -> int:
    """Of the next step, after one that `lone_step` or `several_step` took."""
    if following == LEFT:
        return HARD
    if following == CURVES:
        return kind
    return DREW


def kind_drawn(pushing: int) -> int:
    """Of the next step, after `usual_draw`."""
    if pushing == LEFT:
        return REDREW
    if pushing == ENDS:
        return ENDED
    if pushing == AGAIN:
        return DREW
    held = 1 if pushing > AND_HELD else 0
    pushing -= held * AND_HELD
    return LONE if pushing == 1 else SEVERAL + 2 * (MOST - min(pushing, MOST)) + held


def kind_long(following: int, kind: int, taken: float, many: int) -> int:
    """`kind_after`, or that of a long curve."""
    if following != CURVES or taken < many:
        return kind_after(following, kind)
    return LONG if kind == LONE else LONG + MOST - 1 - (kind - SEVERAL) // 2
