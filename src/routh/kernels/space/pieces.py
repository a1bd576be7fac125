"""Pieces of a path in space for drawn roles: straight, curved or implicit, each up to its first event."""

from __future__ import annotations

import math

from routh.compiling import apart, kernel
from routh.kernels.gradients.record import ENTRIES, NOBODY, Record, note_margin
from routh.kernels.gradients.record_space import finish_straight, write_stage, write_straight
from routh.kernels.space.advance import advance_straight, list_pushing
from routh.kernels.space.curve import ALWAYS, FINE, step_curve
from routh.kernels.space.implicit import begin_stiff, step_stiff
from routh.kernels.space.rates import first_rates, next_rates
from routh.kernels.space.straight import (
    STILL,
    classify,
    largest_rate,
    normal_length,
    settle,
    wall_length,
)
from routh.kernels.space.workspace import (
    BROKEN,
    BUDGET,
    BUDGET_ZERO,
    CHANGE,
    COURSE,
    CREEPS,
    CURVES,
    CUT,
    CUT_SHORT,
    DRAWS,
    DRIVEN,
    EVENT,
    FREE,
    GLOBAL,
    GO_ON,
    HELD,
    JAMMED,
    JAMS,
    KEPT,
    LET_GO,
    MAY_END,
    MOVE,
    MOVES_ON,
    NO_RATES,
    NORMAL_ZERO,
    OUT_OF_CONE,
    PIECE,
    PIECES,
    PUSHING,
    RATE,
    RATES,
    REDRAWN,
    REDRAWS,
    ROLE,
    SHARE,
    SLIDE,
    SLIP,
    SLIP_ZERO,
    STAYS,
    STEPPED,
    STIFF,
    SWEEPS,
    TAKEN,
    WEIGHT,
    WRITTEN,
    Books,
    C,
    Corners,
    SpaceWork,
)

MOST_PIECES = 32.0  # of one stage
JAMMING, FARTHER = 100.0, 10.0  # normal rate at which a held contact jams; times this if it begins beyond


@kernel
def drop_idle(work: SpaceWork, nc: int, still: float) -> bool:
    """Leave held contacts that need no push alone; whether no driven contact would push while separating."""
    values, marks = work.values, work.marks
    for i in range(nc):
        if marks[ROLE, i] == HELD and not values[RATE, 3 * i] > 0.0:
            marks[ROLE, i] = FREE
        if marks[ROLE, i] == DRIVEN and values[C, 3 * i] >= 0.0 and not values[BUDGET, i] > 0.0:
            if values[CHANGE, 3 * i] > still:
                return False
            values[CHANGE, 3 * i] = min(values[CHANGE, 3 * i], 0.0)
    return True


@kernel
def is_curved(work: SpaceWork, nc: int) -> bool:
    """Whether a contact that slides already pushes; those that begin to slip go straight on."""
    for i in range(nc):
        if work.marks[ROLE, i] != FREE and work.marks[SLIP, i] == SLIDE:
            return True
    return False


@kernel
def budget_length(work: SpaceWork, nc: int, books: int) -> float:
    """Length of a straight piece until a budget is used up: work is quadratic in the length."""
    values = work.values
    least = math.inf
    for i in range(nc):
        if work.marks[ROLE, i] != DRIVEN or not values[BUDGET, i] > 0.0:
            continue
        y, rate, left = values[C, 3 * i], values[CHANGE, 3 * i], values[BUDGET, i] / values[RATE, 3 * i]
        if y < 0.0 or (y == 0.0 and rate <= 0.0):
            continue
        length = left
        if books == 0:
            square = y * y + 2.0 * rate * left
            length = 2.0 * left / (y + math.sqrt(square)) if square > 0.0 else math.inf
        least = min(least, length)
    return least


@kernel
def straight_piece(work: SpaceWork, nc: int, corners: Corners, books: Books, record: Record | None) -> int:
    """A straight piece: why it ended."""
    values = work.values
    m, entry = int(values[MOVE, PUSHING]), NOBODY
    length, who = normal_length(values, nc)
    kind = NORMAL_ZERO
    if corners is not None:
        wall = wall_length(work, nc, corners)
        if wall < length:
            length, who, kind = wall, -1, GO_ON
    if books is not None:
        spent = budget_length(work, nc, books)
        if spent < length:
            length, who, kind = spent, -1, BUDGET_ZERO
    if values[GLOBAL, CUT] < length:
        length, who, kind = values[GLOBAL, CUT], -1, CUT_SHORT
    if not length < math.inf:
        return BROKEN
    if record is not None:
        entry = write_straight(record, work, nc, corners, books, kind, who, length)
    if length > 0.0:
        advance_straight(work, nc, m, books, length, who)
    if record is not None:
        finish_straight(record, entry, work, nc, books)
    values[GLOBAL, CUT] -= length
    return kind


@kernel
def jamming_rate(work: SpaceWork, nc: int) -> float:
    """The normal rate at which a held contact jams: its slip turns to where friction presses it on.

    There its rate is infinite, and the path has an end before which every rate is reached.
    """
    limit = JAMMING
    for i in range(nc):
        if work.marks[ROLE, i] == HELD:
            while limit < 2.0 * work.values[RATE, 3 * i] < math.inf:
                limit *= FARTHER
    return limit


@apart
def step_on(work: SpaceWork, nc: int, books: Books, record: Record | None, tolerance: float) -> int:
    """A step of a piece of the true cone's curve: why the piece ended, or STEPPED.

    Friction that leaves its cone cuts the stage short, which is always allowed: slip would begin there
    with the square of the length, too slowly for a series.
    """
    values, marks = work.values, work.marks
    kind, who = step_curve(work, nc, int(values[MOVE, PUSHING]), books, record, tolerance)
    if kind == SLIP_ZERO:
        values[C, 3 * who + 1] = values[C, 3 * who + 2] = 0.0
        kind = GO_ON if values[GLOBAL, STAYS] > 0.0 else SLIP_ZERO
    if kind == JAMS:
        return CUT_SHORT
    if kind == LET_GO or kind == OUT_OF_CONE:
        kind = GO_ON if marks[ROLE, who] == HELD else CUT_SHORT
        if marks[ROLE, who] == HELD:
            marks[ROLE, who] = FREE
    return kind


@kernel
def begin_piece(work: SpaceWork, nc: int, corners: Corners, record: Record | None) -> bool:
    """What pushes and where it slips, after the rates are known; whether they can be."""
    values = work.values
    still = STILL * largest_rate(values, nc)
    if not drop_idle(work, nc, still):
        return False
    settle(work, nc, corners, still)
    values[MOVE, PUSHING] = list_pushing(work, nc)
    values[MOVE, TAKEN], values[MOVE, MAY_END] = 0.0, 1.0
    if values[COURSE, PIECE] == 0.0:
        values[GLOBAL, CUT] = math.inf
        if values[COURSE, SHARE] < 1.0:
            values[GLOBAL, CUT] = values[COURSE, SHARE] * min(normal_length(values, nc)[0], 4.0)
    if record is not None:
        values[MOVE, WRITTEN] = record.total[ENTRIES]
    return True


@kernel
def after_piece(work: SpaceWork, nc: int, kind: int, counts: bool) -> int:
    """What comes after a piece that ended, or has not even begun; ``counts``: it is one."""
    values = work.values
    if counts:
        values[COURSE, PIECE] += 1.0
    piece = values[COURSE, PIECE]
    if kind == GO_ON and not values[GLOBAL, CUT] <= 0.0 and piece < MOST_PIECES:
        return RATES
    if kind == BROKEN and piece == 0.0:
        return REDRAWS if values[COURSE, REDRAWN] == 0.0 else NO_RATES
    for i in range(nc):
        values[KEPT, i] = values[WEIGHT, i]
    values[COURSE, PIECES] += piece
    values[COURSE, EVENT] += 1.0
    return DRAWS


@apart
def advance_stage(
    work: SpaceWork,
    nc: int,
    corners: Corners,
    books: Books,
    record: Record | None,
    tolerance: float,
    state: int,
) -> int:
    """A stage one step further, with at most one sweep for rates and one step of a curve; what comes next.

    The drawn roles are followed piece by piece to the next event. SHARE < 1 cuts the stage short at this
    share of the way, on a straight line, to the next zero. NO_RATES: roles that cannot be.
    """
    values = work.values
    if state == RATES:
        classify(work, nc, corners)
        state = first_rates(work, nc)
    if state == SWEEPS:
        state = next_rates(work, nc, corners)
        if state == SWEEPS:
            return state
    kind, moved = BROKEN, False
    if state == MOVES_ON and begin_piece(work, nc, corners, record):
        if corners is None and is_curved(work, nc):
            if values[COURSE, STIFF] >= (1.0 if tolerance > FINE else ALWAYS):
                begin_stiff(work, nc, int(values[MOVE, PUSHING]))
                return CREEPS
            values[GLOBAL, JAMMED] = jamming_rate(work, nc)
            return CURVES
        kind, moved = straight_piece(work, nc, corners, books, record), True
    if corners is None and state == CURVES:
        kind, moved = step_on(work, nc, books, record, tolerance), True
        if kind == STEPPED:
            return state
    if corners is None and state == CREEPS:
        kind, moved = step_stiff(work, nc, int(values[MOVE, PUSHING]), books, tolerance)[0], True
        if record is not None:
            note_margin(record, 0.0)  # these steps have no derivatives
        if kind == STEPPED:
            return state
    if record is not None and moved and values[COURSE, PIECE] == 0.0:
        write_stage(record, nc, values[COURSE, SHARE], int(values[MOVE, WRITTEN]))
    return after_piece(work, nc, kind, moved and not (kind == BROKEN and is_curved(work, nc)))
