"""A sample in space between two steps: a column of a matrix, so that any thread can take its next step.

`routh.kernels.events_space.advance` takes it in a workspace; `space_usual_draws`, `space_lone`,
`space_several` and `space_stops` take the usual steps in the column itself, `space_ends` what comes before
and after them, and touch less memory: on a GPU that is what steps wait for.
"""

from __future__ import annotations

from typing import NamedTuple

from routh.compiling import kernel
from routh.kernels.arrays import MU as ROW_MU
from routh.kernels.space_curve import FINE, FINE_LIMIT, STEP_LIMIT
from routh.kernels.space_names import (
    BUDGET,
    CHANGE,
    COURSE,
    CURVES,
    CUT,
    DRAWS,
    ERROR,
    EVENT,
    GLOBAL,
    GLOBALS,
    HELD,
    KEPT,
    LIST,
    MAY_END,
    MOVE,
    MOVES,
    NEXT,
    PIECE,
    PIECES,
    RATE,
    RATES,
    ROLE,
    SLIDE0,
    SLIDE1,
    SLIP,
    STEPS,
    SWEEPS,
    TAKEN,
    TOTAL,
    WEIGHT,
    C,
    SpaceWork,
    named,
)
from routh.kernels.space_pieces import MOST_PIECES
from routh.validation import Array

# first rows, over nc, of what each contact has: velocities, total impulse, the rest; BEHIND all that the rows
# GLOBAL, COURSE and MOVE of the workspace
(TOTALS,), (CONTACTS,), (BEHIND,) = named(1, 3), named(1, 6), named(1, 11)
# of a contact: weight, that of the stage before, direction of slip, marks: role + 4 slip + 16 moves + 64 list
EACH = 5
WEIGHTS, KEEPS, SLIDES0, SLIDES1, MARKS = named(5)
MOVE_ENTRIES = 5
(STATUS,) = named(1, 4)  # an entry of the row MOVE: with which status a sample has ended
(LEFT,) = named(1, -1)  # what a step returns that is left to `advance`


class Column(NamedTuple):
    """A sample, and its problem."""

    states: Array  # (rows, samples)
    slot: int  # the sample's column
    nc: int
    G: Array  # (problems, n, n), symmetric
    contact: Array  # (problems, 3, nc), see `routh.kernels.arrays.Rows`
    row: int  # the problem
    tolerance: float


def state_rows(nc: int) -> int:
    """Rows of a matrix of states; rates of sweeps come last."""
    return 17 * nc + 2 * GLOBALS + MOVE_ENTRIES


@kernel
def save_state(work: SpaceWork, nc: int, states: Array, slot: int) -> None:
    """The workspace into a column."""
    values, marks = work.values, work.marks
    for column in range(3 * nc):
        states[column, slot], states[TOTALS * nc + column, slot] = values[C, column], values[TOTAL, column]
    at = CONTACTS * nc
    for i in range(nc):
        states[at + WEIGHTS, slot], states[at + KEEPS, slot] = values[WEIGHT, i], values[KEPT, i]
        states[at + SLIDES0, slot], states[at + SLIDES1, slot] = values[SLIDE0, i], values[SLIDE1, i]
        packed = marks[ROLE, i] + 4 * marks[SLIP, i] + 16 * marks[MOVES, i] + 64 * marks[LIST, i]
        states[at + MARKS, slot] = packed
        at += EACH
    for row in range(GLOBAL, MOVE + 1):
        for column in range(GLOBALS if row < MOVE else MOVE_ENTRIES):
            states[at, slot] = values[row, column]
            at += 1
    if values[COURSE, NEXT] == SWEEPS:
        for column in range(3 * nc):
            states[at, slot], states[at + 1, slot] = values[RATE, column], values[CHANGE, column]
            at += 2


@kernel
def load_state(work: SpaceWork, nc: int, states: Array, slot: int) -> None:
    """A column into the workspace."""
    values, marks = work.values, work.marks
    for column in range(3 * nc):
        values[C, column], values[TOTAL, column] = states[column, slot], states[TOTALS * nc + column, slot]
    at = CONTACTS * nc
    for i in range(nc):
        values[WEIGHT, i], values[KEPT, i] = states[at + WEIGHTS, slot], states[at + KEEPS, slot]
        values[SLIDE0, i], values[SLIDE1, i] = states[at + SLIDES0, slot], states[at + SLIDES1, slot]
        packed = int(states[at + MARKS, slot])
        marks[ROLE, i], marks[SLIP, i] = packed & 3, (packed >> 2) & 3
        marks[MOVES, i], marks[LIST, i] = (packed >> 4) & 3, packed >> 6
        values[BUDGET, i] = 0.0
        at += EACH
    for row in range(GLOBAL, MOVE + 1):
        for column in range(GLOBALS if row < MOVE else MOVE_ENTRIES):
            values[row, column] = states[at, slot]
            at += 1
    if values[COURSE, NEXT] == SWEEPS:
        for column in range(3 * nc):
            values[RATE, column], values[CHANGE, column] = states[at, slot], states[at + 1, slot]
            at += 2


@kernel
def global_row(nc: int, entry: int) -> int:
    """The row with an entry of GLOBAL."""
    return BEHIND * nc + entry


@kernel
def course_row(nc: int, entry: int) -> int:
    """The row with an entry of COURSE."""
    return BEHIND * nc + GLOBALS + entry


@kernel
def move_row(nc: int, entry: int) -> int:
    """The row with an entry of MOVE."""
    return BEHIND * nc + 2 * GLOBALS + entry


@kernel
def pusher(of: Column, a: int) -> int:
    """The a-th contact that pushes."""
    return int(of.states[CONTACTS * of.nc + EACH * a + MARKS, of.slot]) >> 6


@kernel
def role(of: Column, i: int) -> int:
    """What contact i does."""
    return int(of.states[CONTACTS * of.nc + EACH * i + MARKS, of.slot]) & 3


@kernel
def weight_of(of: Column, i: int) -> float:
    """Weight of contact i."""
    return of.states[CONTACTS * of.nc + EACH * i + WEIGHTS, of.slot]


@kernel
def friction_of(of: Column, i: int) -> float:
    """Coefficient of friction of contact i."""
    return of.contact[of.row, ROW_MU, i]


@kernel
def keep_weights(of: Column) -> None:
    """The weights of a stage for the next one; four are read at a time."""
    states, slot, at, last = of.states, of.slot, CONTACTS * of.nc, of.nc - 1
    for i in range(0, of.nc, 4):
        i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        w0, w1 = states[at + EACH * i + WEIGHTS, slot], states[at + EACH * i1 + WEIGHTS, slot]
        w2, w3 = states[at + EACH * i2 + WEIGHTS, slot], states[at + EACH * i3 + WEIGHTS, slot]
        states[at + EACH * i + KEEPS, slot], states[at + EACH * i1 + KEEPS, slot] = w0, w1
        states[at + EACH * i2 + KEEPS, slot], states[at + EACH * i3 + KEEPS, slot] = w2, w3


@kernel
def let_go(of: Column, i: int) -> None:
    """A held contact is free from now on."""
    of.states[CONTACTS * of.nc + EACH * i + MARKS, of.slot] -= HELD


@kernel
def step_taken(of: Column, pushed: float, error: float, goes_on: bool, stays: bool) -> int:
    """Write down a step of a curve whose first contact has pushed so much: what comes next.

    See `step_curve`, `step_on` and `after_piece`. ``goes_on``: there was no event; ``stays``: there was one
    with which the stage goes on.
    """
    states, slot, nc = of.states, of.slot, of.nc
    # all is read before anything is written: a GPU then waits once for all of it
    errors, steps = states[global_row(nc, ERROR), slot], states[global_row(nc, STEPS), slot]
    may_end, taken = states[move_row(nc, MAY_END), slot], states[move_row(nc, TAKEN), slot] + 1.0
    left = states[global_row(nc, CUT), slot] - pushed
    piece, pieces = states[course_row(nc, PIECE), slot] + 1.0, states[course_row(nc, PIECES), slot]
    event = states[course_row(nc, EVENT), slot]
    states[global_row(nc, ERROR), slot] = errors + error
    if may_end > 0.0:
        states[global_row(nc, STEPS), slot] = steps + 1.0
    states[global_row(nc, CUT), slot], states[move_row(nc, TAKEN), slot] = left, taken
    states[move_row(nc, MAY_END), slot] = 1.0
    if goes_on and taken < (STEP_LIMIT if of.tolerance > FINE else FINE_LIMIT):
        return CURVES
    states[course_row(nc, PIECE), slot] = piece
    following = RATES if stays and not left <= 0.0 and piece < MOST_PIECES else DRAWS
    if following == DRAWS:
        keep_weights(of)
        states[course_row(nc, PIECES), slot] = pieces + piece
        states[course_row(nc, EVENT), slot] = event + 1.0
    states[course_row(nc, NEXT), slot] = following
    return following
