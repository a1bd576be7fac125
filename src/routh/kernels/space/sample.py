"""Sampling by events in space: the loop over samples, for friction polygons and, with no corner, the cone."""

from __future__ import annotations

import math

from routh.base import tolerances
from routh.base.status import Status
from routh.compiling import apart, kernel
from routh.kernels.common.arrays import Draw, Outputs, Verdict, load_problem, start_state, write_outcome
from routh.kernels.common.random import event_key, event_number
from routh.kernels.common.record import Record, begin_record, note_aim
from routh.kernels.space.advance import list_pushing, outside_cone
from routh.kernels.space.curve import FINE
from routh.kernels.space.draws import (
    AIMED,
    AIMS,
    AS_DRAWN,
    CUT_AT,
    FINE_AIMS,
    IS_CUT,
    NOTHING_HELD,
    ONE_BY_ONE,
    draw_roles,
    fewer_roles,
)
from routh.kernels.space.pieces import advance_stage
from routh.kernels.space.straight import NOTHING
from routh.kernels.space.workspace import (
    AIMED_BY,
    CLOSING,
    DRAWS,
    ERROR,
    EVENT,
    NEXT,
    NO_RATES,
    PIECE,
    PIECES,
    RATES,
    REDRAWN,
    REDRAWS,
    SHARE,
    STAYS,
    STEPS,
    STIFF,
    TRACED,
    UNENDED,
    VIOLATED,
    Books,
    Corners,
    Custom,
    SpaceWork,
)
from routh.problem.rows import Rows

SOLVED, NO_IMPACT = int(Status.SOLVED), int(Status.NO_IMPACT)
MAX_STEPS, NUMERICAL = int(Status.MAX_STEPS), int(Status.NUMERICAL)
# stages as drawn; one contact at a time, zeros held; the closing phase, a cycle of: all aimed to come to rest
# together, several times; one contact, zeros held; one, nothing held; times nc / 4 beyond four contacts
STAGES_DRAWN, STAGES_ONE_BY_ONE, STAGES_CLOSING, CYCLE = 16, 16, 600, 10
PERSISTENCE = 0.6  # the default: how often drawn rates stay until something happens
STEP_BUDGET = 800.0  # steps of curves in one sample, times nc / 4, before only the closing phase is left
FINE_BUDGET = 8000.0  # the same with tolerances up to FINE
NEARLY = 1e-10  # approach that is none once a sample is in its closing phase
SLACK = 10.0  # by how many times its own error a curve may leave the laws
EPSILON = 2.3e-16  # of float64
TOLD = 1.001  # times its residual: the least error of such a sample, so that others who ask find no more
MOST_ERROR = 0.01  # of the speed: a curve with a larger error is no outcome


@kernel
def load_row(rows: Rows, row: int, work: SpaceWork) -> None:
    """Copy a problem into the scratch."""
    # reads work.bounce; writes work.bounce, work.gram, work.mu, work.start; hands on rows
    load_problem(rows, row, work.gram, work.start, work.mu, work.bounce)


@kernel
def begin(work: SpaceWork, nc: int) -> int:
    """The state before the impact; UNENDED, or NO_IMPACT: nothing approaches."""
    # reads now; writes course, kept, now, weight; hands on work
    approaches = start_state(work, nc, 3)
    for i in range(nc):
        work.kept[i] = work.weight[i] = 0.0
        if abs(work.now[3 * i]) <= NOTHING:
            work.now[3 * i] = 0.0
    work.course[ERROR] = work.course[STEPS] = work.course[TRACED] = work.course[VIOLATED] = 0.0
    work.course[EVENT] = work.course[PIECES] = work.course[CLOSING] = 0.0
    work.course[NEXT] = DRAWS
    return UNENDED if approaches else NO_IMPACT


@kernel
def has_ended(work: SpaceWork, nc: int, slack: float) -> bool:
    """Whether nothing approaches (faster than the slack) and no budget is left."""
    # reads budget, now
    for i in range(nc):
        if not (work.now[3 * i] >= -slack and work.budget[i] == 0.0):
            return False
    return True


@apart
def draw_stage(
    work: SpaceWork, nc: int, record: Record | None, draw: Draw, custom: Custom, row: int, sample: int
) -> int:
    """Roles, weights and length of the next stage, or of the same with fewer roles; its status at an end."""
    # reads draw.keys, draw.persistence, draw.rates, draw.seed, draw.tolerance, work.course, work.now
    # writes work.course, work.now
    # hands on record, work
    event = int(work.course[EVENT])
    key = event_key(draw.seed, row, sample, event)
    if sample < draw.keys.shape[0] and event < draw.keys.shape[1]:
        key = draw.keys[sample, event]
    drawn = False
    for i in range(nc):  # what is rounding does not approach: alone it would have nothing to push
        if abs(work.now[3 * i]) <= NOTHING:
            work.now[3 * i] = 0.0
    if work.course[NEXT] == DRAWS:
        scale = max(1.0, nc / 4.0)
        budget = scale * (STEP_BUDGET if draw.tolerance > FINE else FINE_BUDGET)
        as_drawn = int(scale * STAGES_DRAWN)
        stages = as_drawn + int(scale * STAGES_ONE_BY_ONE)
        phase = AS_DRAWN if event < as_drawn else ONE_BY_ONE
        if event >= stages or work.course[STEPS] > budget:
            work.course[CLOSING] += 1.0
            number = (int(work.course[CLOSING]) + 1) % CYCLE
            phase = ONE_BY_ONE if number == 0 else (NOTHING_HELD if number == 1 else AIMED)
        if has_ended(work, nc, NEARLY if work.course[CLOSING] > 0.0 else 0.0):
            return SOLVED
        if event >= stages + int(scale * STAGES_CLOSING) or work.course[STEPS] > 3.0 * budget:
            return MAX_STEPS
        work.course[SHARE], work.course[REDRAWN], work.course[STIFF] = 1.0, 0.0, 0.0
        persistence = draw.persistence if draw.persistence > 0.0 else PERSISTENCE
        if phase == AS_DRAWN and event_number(key, IS_CUT) > persistence:
            work.course[SHARE] = event_number(key, CUT_AT)
        # rates drawn stay where a slip vanishes, as with polygons; what ends a sample looks again
        work.course[STAYS] = 1.0 if phase == AS_DRAWN or phase == NOTHING_HELD else 0.0
        work.course[AIMED_BY] = AIMS if draw.tolerance > FINE else FINE_AIMS
        drawn = draw_roles(work, nc, draw.rates, custom, key, phase)
        if record is not None and drawn and phase == AIMED and list_pushing(work, nc) > 1:
            note_aim(record)
    if not drawn:
        if has_ended(work, nc, 0.0):
            return SOLVED
        work.course[REDRAWN] = 1.0
        fewer_roles(work, nc, key)
    work.course[PIECE] = 0.0
    return UNENDED


@kernel
def advance(
    work: SpaceWork, nc: int, corners: Corners, books: Books, record: Record | None, draw: Draw,
    custom: Custom, row: int, sample: int,
) -> int:  # fmt: skip
    """A sample one step further, see `advance_stage`: its status, UNENDED before its end.

    On the GPU the threads of a warp, each with a sample, meet after every step: as loops in loops
    they would wait for the longest of each.
    """
    # reads draw.tolerance, work.course; writes work.course; hands on draw, record, work
    state = int(work.course[NEXT])
    if state == DRAWS or state == REDRAWS:
        status = draw_stage(work, nc, record, draw, custom, row, sample)
        if status != UNENDED:
            return status
        state = RATES
    state = advance_stage(work, nc, corners, books, record, draw.tolerance, state)
    work.course[NEXT] = state
    return NUMERICAL if state == NO_RATES else UNENDED


@kernel
def run_sample(
    work: SpaceWork, nc: int, corners: Corners, books: Books, record: Record | None, draw: Draw,
    custom: Custom, row: int, sample: int,
) -> int:  # fmt: skip
    """One outcome: its status; `total` holds its impulse. None for ``record``: pieces are not written."""
    # reads work.mu, work.start; hands on draw, record, work
    if record is not None:
        begin_record(record, work.start, work.mu, nc)
    status = begin(work, nc)
    while status == UNENDED:
        status = advance(work, nc, corners, books, record, draw, custom, row, sample)
    return status


@kernel
def finish(work: SpaceWork, nc: int, books: Books) -> float:
    """Residual: laws that a piece breaks; momentum, cones and energy of the whole; dimensionless, NaN is inf.

    With restitution also what a contact returns beyond its share, and what rounding does to the work of
    contacts that jam: their impulses are so large that it decides who returns what.
    """
    # reads bounce, course, gram, now, returned, start, stored, total; hands on work
    worst, gained, rounded, outside = work.course[VIOLATED], 0.0, 0.0, 0.0
    for i in range(nc):
        first = 3 * i
        for row in range(first, first + 3):
            value = work.start[row]
            for column in range(3 * nc):
                term = work.gram[row, column] * work.total[column]
                value += term
                rounded += abs(work.total[row] * term)
            worst = max(worst, abs(value - work.now[row]))
            gained += 0.5 * work.total[row] * (value + work.start[row])
        f0, f1 = work.total[first + 1], work.total[first + 2]
        outside += outside_cone(work, i, work.total[first], f0, f1)
        if books is not None:
            gained += work.stored[i] - work.returned[i]
            if books == 0:
                worst = max(worst, work.returned[i] - work.bounce[i] ** 2 * work.stored[i])
    worst = max(worst, max(gained, outside))
    if books is not None:
        worst = max(worst, EPSILON * rounded)
    return worst if worst == worst and gained == gained and outside == outside else math.inf


@kernel
def residual_limit(work: SpaceWork, nc: int) -> float:
    """The residual that rounding leaves: more with huge friction."""
    # reads mu
    largest = 1.0
    for i in range(nc):
        largest = max(largest, work.mu[i])
    return tolerances.RESIDUAL if largest <= tolerances.HUGE_FRICTION else tolerances.RESIDUAL_HUGE_FRICTION


@kernel
def judged(work: SpaceWork, nc: int, books: Books, status: int) -> Verdict:
    """Status, residual and error of a sample that has ended."""
    # reads course; hands on work
    error, residual = work.course[ERROR], 0.0
    if status != NO_IMPACT:
        residual = finish(work, nc, books)
    limit = residual_limit(work, nc)
    if status == SOLVED and not (residual <= limit + SLACK * error and error <= MOST_ERROR):
        status = NUMERICAL
    if residual > limit:  # laws hold to the error that is told
        error = max(error, TOLD * residual)
    return status, residual, error


@apart
def write_sample(
    rows: Rows, outputs: Outputs, work: SpaceWork, books: Books, row: int, sample: int, status: int
) -> None:
    """A sample that has ended into the outputs."""
    # reads rows.nc, work.course; hands on outputs, rows, work
    verdict = judged(work, rows.nc[row], books, status)
    write_outcome(rows, outputs, row, sample, verdict, int(work.course[PIECES]), work, 3)


@kernel
def run_range(
    rows: Rows, draw: Draw, outputs: Outputs, work: SpaceWork, corners: Corners, books: Books, custom: Custom,
    first: int, last: int,
) -> None:  # fmt: skip
    """The pairs (row, sample) with numbers ``first`` to ``last``, all samples of a row after each other."""
    # reads draw.n, draw.row, rows.nc; hands on draw, outputs, rows, work
    loaded = -1
    for number in range(first, last):
        row = number // draw.n
        sample = number - row * draw.n
        if row != loaded:
            load_row(rows, row, work)
            loaded = row
        status = run_sample(work, rows.nc[row], corners, books, None, draw, custom, draw.row + row, sample)
        write_sample(rows, outputs, work, books, row, sample, status)
