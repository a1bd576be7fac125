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
    STEPS,
    SWEEPS,
    TAKEN,
    UNENDED,
    C,
    SpaceWork,
)
from routh.kernels.space_state import LEFT, STATUS, Column, global_row, load_state, move_row, save_state
from routh.kernels.space_usual_draws import AGAIN, AND_HELD, ENDS, STANDS

# kinds of a sample's next step: a curve of four or more contacts that slide, of three, of two, each without
# and with some held; another curve; a sweep; rates or a draw that is not usual; before the first draw; the
# results; a curve of one; a draw, or rates after a contact was let go; the end of a slip of one that pushes
# alone; a draw, or rates, of one without slip; a long curve of one, of two, of three, of four or more
SEVERAL, HARD, SWEPT, REDREW, FRESH, ENDED, LONE, DREW, STOPS, STOOD, LONG = 0, *range(6, 16)
ELSEWHERE = -1  # it has ended and is written, or is in a run
MOST = 4  # contacts that push by which kinds differ
SWIFT = LONG + MOST  # draws and curves of one contact of a sample that has had many steps
KINDS = SWIFT + 1

WARP = 32
TO_THE_END = 2**31


class Waves(NamedTuple):
    """Samples between their steps."""

    states: DeviceArray  # (rows, samples), see `routh.kernels.space_state`
    kinds: DeviceArray  # (samples,) int32
    turn: DeviceArray  # (2,) int32: turns so far, samples that have begun and not ended
    counts: DeviceArray  # (turns + 1 + runs, KINDS) int32: samples of each kind in a turn, or a run
    lists: DeviceArray  # (lists, samples) int32: which, of each kind in a turn; then those of runs


def column_of(rows: Rows, draw: Draw, states: DeviceArray, begin: int, slot: int) -> Column:
    """The sample in a slot, of which the first is number ``begin``."""
    row = (begin + slot) // draw.n
    return Column(states, slot, rows.nc[row], rows.G, rows.contact, row, draw.tolerance)


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
    """Steps of a sample, as many as are not usual and at most so many, or TO_THE_END: its next kind.

    FRESH and ENDED ones come here only TO_THE_END: otherwise they are another kernel's.
    """
    row = number // draw.n
    sample = number - row * draw.n
    nc, last = rows.nc[row], steps == TO_THE_END
    if kind != FRESH:
        load_state(work, nc, states, slot)
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
        if not last and status == UNENDED:
            kind = kind_of(work)
            steps = steps if is_unusual(kind) else 0
    if last:
        write_sample(rows, outputs, work, None, row, sample, status)
        return ELSEWHERE
    work.values[MOVE, STATUS] = status
    save_state(work, nc, states, slot)
    return kind if status == UNENDED else ENDED


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


def is_unusual(kind: int) -> bool:
    """Whether a step of this kind has no kernel of its own."""
    return HARD <= kind < FRESH


def is_for_runs(kind: int) -> bool:
    """Whether samples of this kind go on beside the turns."""
    return kind >= LONG or is_unusual(kind)


def kind_after(following: int, kind: int) -> int:
    """Of the next step, after one that `lone_step`, `several_step` or `stop_step` took."""
    if following == LEFT:
        return STOPS if kind == LONE else HARD
    if following == CURVES:
        return LONE if kind == STOPS else kind
    return STOOD if kind == STOPS and following == RATES else DREW


def kind_drawn(pushing: int) -> int:
    """Of the next step, after `usual_draw` or `straight_draw`."""
    if pushing == LEFT:
        return REDREW
    if pushing == STANDS:
        return STOOD
    if pushing == ENDS:
        return ENDED
    if pushing == AGAIN:
        return DREW
    held = 1 if pushing > AND_HELD else 0
    pushing -= held * AND_HELD
    return LONE if pushing == 1 else SEVERAL + 2 * (MOST - min(pushing, MOST)) + held


def kind_long(of: Column, following: int, kind: int, many: int, haste: int) -> int:
    """`kind_after`, or that of a long curve, of so many steps, or of a sample that has had others."""
    hasty = following != LEFT and of.states[global_row(of.nc, STEPS), of.slot] >= haste
    if hasty and (following != CURVES or kind == LONE):
        return SWIFT
    if following == CURVES and (hasty or of.states[move_row(of.nc, TAKEN), of.slot] >= many):
        return LONG if kind == LONE else LONG + MOST - 1 - (kind - SEVERAL) // 2
    return kind_after(following, kind)
