"""Pieces of a path in space for drawn roles: straight, curved or implicit, each up to its first event."""

from __future__ import annotations

import math

from routh.compiling import apart, kernel
from routh.kernels.common.record import ENTRIES, NOBODY, Record, finish_piece, note_margin
from routh.kernels.space.advance import advance, list_pushing, write_trace
from routh.kernels.space.curve import ALWAYS, FINE, step_curve
from routh.kernels.space.implicit import begin_stiff, step_stiff
from routh.kernels.space.rates import first_rates, next_rates
from routh.kernels.space.record import write_instant, write_stage, write_straight
from routh.kernels.space.straight import (
    LONGEST,
    ROUNDED,
    STILL,
    classify,
    largest_rate,
    normal_length,
    settle,
    wall_length,
)
from routh.kernels.space.workspace import (
    BROKEN,
    BUDGET_ZERO,
    CREEPS,
    CURVES,
    CUT,
    CUT_SHORT,
    DRAWS,
    DRIVEN,
    EVENT,
    FREE,
    GO_ON,
    HELD,
    JAMMED,
    JAMS,
    LET_GO,
    MAY_END,
    MOVES_ON,
    NO_RATES,
    NORMAL_ZERO,
    OUT_OF_CONE,
    PIECE,
    PIECES,
    PUSHING,
    RATES,
    REDRAWN,
    REDRAWS,
    SHARE,
    SLIDE,
    SLIP_ZERO,
    STAYS,
    STEPPED,
    STIFF,
    SWEEPS,
    TAKEN,
    WRITTEN,
    Books,
    Corners,
    SpaceWork,
)

MOST_PIECES = 32.0  # of one stage
JAMMING, FARTHER = 100.0, 10.0  # normal rate at which a held contact jams; times this if it begins beyond


@kernel
def drop_idle(work: SpaceWork, nc: int, still: float) -> bool:
    """Leave held contacts that need no push alone; whether no driven contact would push while separating."""
    # reads budget, change, now, rate, role; writes change, role
    for i in range(nc):
        if work.role[i] == HELD and not work.rate[3 * i] > ROUNDED * still:
            work.role[i] = FREE
        if work.role[i] == DRIVEN and work.now[3 * i] >= 0.0 and not work.budget[i] > 0.0:
            if work.change[3 * i] > still:
                return False
            work.change[3 * i] = min(work.change[3 * i], 0.0)
    return True


@kernel
def is_curved(work: SpaceWork, nc: int) -> bool:
    """Whether a contact that slides already pushes; those that begin to slip go straight on."""
    # reads role, slip
    for i in range(nc):
        if work.role[i] != FREE and work.slip[i] == SLIDE:
            return True
    return False


@kernel
def budget_length(work: SpaceWork, nc: int, books: int) -> tuple[float, int]:
    """Length of a straight piece until a budget is used up, and whose: work is quadratic in the length."""
    # reads budget, change, now, rate, role
    least, who = math.inf, -1
    for i in range(nc):
        if work.role[i] != DRIVEN or not work.budget[i] > 0.0:
            continue
        y, rate, left = work.now[3 * i], work.change[3 * i], work.budget[i] / work.rate[3 * i]
        if y < 0.0 or (y == 0.0 and rate <= 0.0):
            continue
        length = left
        if books == 0:
            square = y * y + 2.0 * rate * left
            length = 2.0 * left / (y + math.sqrt(square)) if square > 0.0 else math.inf
        if length < least:
            least, who = length, i
    return least, who


@kernel
def straight_piece(work: SpaceWork, nc: int, corners: Corners, books: Books, record: Record | None) -> int:
    """A straight piece: why it ended."""
    # reads work.budget, work.course, work.impulse, work.mu, work.now, work.rate
    # writes work.course, work.impulse
    # hands on record, work
    m, entry = int(work.course[PUSHING]), NOBODY
    length, who = normal_length(work, nc)
    kind, n0, n1 = NORMAL_ZERO, 0.0, 0.0
    if corners is not None:
        wall, other, n0, n1 = wall_length(work, nc, corners)
        if wall < length:
            length, who, kind = wall, other, GO_ON
    if books is not None:
        spent, other = budget_length(work, nc, books)
        if spent < length:
            length, who, kind = spent, other, BUDGET_ZERO
    if work.course[CUT] < length:
        length, who, kind = work.course[CUT], -1, CUT_SHORT
    if not length < LONGEST:
        return BROKEN
    if record is not None:
        entry = write_straight(record, work, nc, corners, books, (kind, who, n0, n1), length)
    if length > 0.0:
        for row in range(3 * nc):
            work.impulse[row] = length * work.rate[row]
        write_trace(work, m, work.impulse)
        advance(work, nc, m, books, length, who if kind == NORMAL_ZERO else -1, True)
    if record is not None:
        finish_piece(record, entry, work.now, work.budget, work.mu, books)
    work.course[CUT] -= length
    return kind


@kernel
def jamming_rate(work: SpaceWork, nc: int) -> float:
    """The normal rate at which a held contact jams: its slip turns to where friction presses it on.

    There its rate is infinite, and the path has an end before which every rate is reached.
    """
    # reads rate, role
    limit = JAMMING
    for i in range(nc):
        if work.role[i] == HELD:
            while limit < 2.0 * work.rate[3 * i] < math.inf:
                limit *= FARTHER
    return limit


@apart
def step_on(work: SpaceWork, nc: int, books: Books, record: Record | None, tolerance: float) -> int:
    """A step of a piece of the true cone's curve: why the piece ended, or STEPPED.

    Friction that leaves its cone cuts the stage short, which is always allowed: slip would begin there
    with the square of the length, too slowly for a series.
    """
    # reads work.course, work.role; writes work.now, work.role; hands on record, work
    kind, who = step_curve(work, nc, int(work.course[PUSHING]), books, record, tolerance)
    if kind == SLIP_ZERO:
        work.now[3 * who + 1] = work.now[3 * who + 2] = 0.0
        kind = GO_ON if work.course[STAYS] > 0.0 else SLIP_ZERO
    if kind == JAMS:
        return CUT_SHORT
    if kind == LET_GO or kind == OUT_OF_CONE:
        kind = GO_ON if work.role[who] == HELD else CUT_SHORT
        if work.role[who] == HELD:
            work.role[who] = FREE
    return kind


@kernel
def begin_piece(work: SpaceWork, nc: int, corners: Corners, record: Record | None) -> bool:
    """What pushes and where it slips, after the rates are known; whether they can be."""
    # reads record.total, work.course; writes work.course; hands on work
    still = STILL * largest_rate(work, nc)
    if not drop_idle(work, nc, still):
        return False
    settle(work, nc, corners, still)
    work.course[PUSHING] = list_pushing(work, nc)
    work.course[TAKEN], work.course[MAY_END] = 0.0, 1.0
    if work.course[PIECE] == 0.0:
        work.course[CUT] = math.inf
        if work.course[SHARE] < 1.0:
            work.course[CUT] = work.course[SHARE] * min(normal_length(work, nc)[0], 4.0)
    if record is not None and work.course[PIECE] == 0.0:
        work.course[WRITTEN] = record.total[ENTRIES]
    return True


@kernel
def after_piece(work: SpaceWork, nc: int, kind: int, counts: bool) -> int:
    """What comes after a piece that ended, or has not even begun; ``counts``: it is one."""
    # reads course, weight; writes course, kept
    if counts:
        work.course[PIECE] += 1.0
    piece = work.course[PIECE]
    if kind == GO_ON and not work.course[CUT] <= 0.0 and piece < MOST_PIECES:
        return RATES
    if kind == BROKEN and piece == 0.0:
        return REDRAWS if work.course[REDRAWN] == 0.0 else NO_RATES
    for i in range(nc):
        work.kept[i] = work.weight[i]
    work.course[PIECES] += piece
    work.course[EVENT] += 1.0
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
    # reads work.course; writes work.course; hands on record, work
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
            if work.course[STIFF] >= (1.0 if tolerance > FINE else ALWAYS):
                begin_stiff(work, nc, int(work.course[PUSHING]))
                if record is not None:
                    write_instant(record, work, nc, NOBODY, NOBODY)
                return CREEPS
            work.course[JAMMED] = jamming_rate(work, nc)
            return CURVES
        kind, moved = straight_piece(work, nc, corners, books, record), True
    if corners is None and state == CURVES:
        kind, moved = step_on(work, nc, books, record, tolerance), True
        if kind == STEPPED:
            return state
    if corners is None and state == CREEPS:
        kind, moved = step_stiff(work, nc, int(work.course[PUSHING]), books, record, tolerance)[0], True
        if kind == STEPPED:
            return state
        if record is not None and (kind == GO_ON or kind == BROKEN):
            note_margin(record, 0.0)  # a solve failed: what was let go is no event
    if record is not None and moved:  # a first piece that turned out to be stiff wrote nothing
        write_stage(record, nc, work.course[SHARE], int(work.course[WRITTEN]))
    return after_piece(work, nc, kind, moved and not (kind == BROKEN and is_curved(work, nc)))
