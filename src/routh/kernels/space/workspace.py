"""The scratch of the sampler in space: every vector and number of a sample by name.

Kernels get ``corners``, the friction polygon (k, 2), or None: the true cone; and ``books``, 0 with energetic
and 1 with Poisson's restitution, or None: nothing bounces. What None rules out is not compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling.rows import count_rows, rows

Corners = Array | None
Books = int | None
Custom = int | None  # the address of a user's own function for relative rates


class SpaceArrays(NamedTuple):
    """The arrays of `SpaceWork` for at most nc contacts, n = 3 nc coordinates: normal, two tangents, ..."""

    values: Array  # (rows named below, n)
    marks: np.ndarray  # (rows named below, n) int64
    course: Array  # (ENTRIES,): how far the sample is, entries named below
    series: Array  # (nc + 1, CHANNELS, ORDER + 1): powers of a curve, channels named below
    matrices: Array  # (rows named below, n, n)
    flags: np.ndarray  # (nc,) bool: contacts that may be driven, for a user's own rates
    trace: Array  # (pieces, n): impulses of the pieces, where they are asked for; else none


class SpaceWork(SpaceArrays):
    """Scratch of one thread, with names for the rows of its arrays."""

    __slots__ = ()

    # of coordinates: contact velocities before and now, rates, what they change, total impulse, impulse of a
    # piece, of a trial, a point in between
    start, now, rate, change, total, impulse, trial, point = rows("values", 8)
    # of contacts: data; what is drawn, and was; the books of restitution; of a piece: work, normal velocity
    mu, bounce, weight, kept, uniforms = rows("values", 5)
    budget, stored, returned, worked, trial_work, after = rows("values", 6)
    slide0, slide1 = rows("values", 2)  # direction of slip
    # of the unknowns of linear equations: the row and the column of their contact, right-hand sides, which
    # become the solution
    row0, row1, row2, column0, column1, column2, right = rows("values", 7)
    # of implicit steps, over the coordinates of the contacts that push, three for each in the order of
    # `pushing`: velocities from which a solve begins and those it ends with; rates at the beginning of a step
    # and at its two stages; residuals of a solve, rates before a Newton step; impulses of the step, and those
    # of its first stage; of all contacts: events where none was
    base, speed, begin, stage1, stage2, missed, before, pushed, pushed1, earlier = rows("values", 10)
    # of contacts: role, slip (named below), corner or wall of the polygon, the contacts that push one after
    # the other, what slip does in a piece
    role, slip, corner, pushing, moves = rows("marks", 5)
    whose, pivot = rows("marks", 2)  # of unknowns: contact or coordinate, row of the pivot
    # (n, n): G, G of the contacts that push side by side, linear equations, their inverse
    gram, pushing_gram, equations, inverse = rows("matrices", 4)


# entries of `course`, of the sample: sum of local errors, steps taken, pieces in the trace, by how much a
# piece broke a law at most; what comes next (below), the event, pieces so far, events of the closing phase
ERROR, STEPS, TRACED, VIOLATED, NEXT, EVENT, PIECES, CLOSING = range(8)
# of the stage: the share of the way at which it is cut, the length that is left to there, pieces so far,
# whether its roles are drawn again, whether rates stay where a slip vanishes, sweeps for weights that are
# aimed, sweeps left for rates, whether friction turned out to be stiff
SHARE, CUT, PIECE, REDRAWN, STAYS, AIMED_BY, SWEEPS_LEFT, STIFF = range(CLOSING + 1, CLOSING + 9)
# of the piece: contacts that push, steps so far, whether a slip may end in the next one, entries of the
# record before it, length of the next implicit step, the highest power of the step's series, the normal rate
# at which a held contact jams
PUSHING, TAKEN, MAY_END, WRITTEN, LENGTH, HIGHEST, JAMMED = range(STIFF + 1, STIFF + 8)
ENTRIES = JAMMED + 1

# what comes next in a sample: a stage, the same with fewer roles, rates of a piece, a sweep for them, the
# piece, a step of its curve; NO_RATES: nothing; CREEPS: an implicit step
DRAWS, REDRAWS, RATES, SWEEPS, MOVES_ON, CURVES, NO_RATES, CREEPS = range(8)
UNENDED = -1  # status of a sample before its end

# roles
FREE, DRIVEN, HELD = range(3)

# slip of a contact that pushes; NO_FRICTION where friction does nothing
NO_FRICTION, ZERO, WALL, SLIDE = range(4)

# why a piece ended; OUT_OF_CONE: friction that would keep a contact sticking leaves its cone; JAMS: the rate
# of a held contact grows without bound; STEPPED: it has not ended
CUT_SHORT, NORMAL_ZERO, SLIP_ZERO, LET_GO, BUDGET_ZERO, BROKEN, GO_ON, OUT_OF_CONE, JAMS, STEPPED = range(10)

# channels of `series` of a contact: rates, impulse, slip rates or slips, direction and size of slip, slip
# rate along it, normal velocity, work; behind the contacts: length of the path, an event's value
RATE0, RATE1, RATE2, PUSH0, PUSH1, PUSH2, SLIP0, SLIP1, UNIT0, UNIT1, SIZE, ALONG, NORMAL, WORKED = range(14)
PATH, VALUE = range(2)
CHANNELS = WORKED + 1
ORDER = 12  # highest power


def workspace(nc: int, pieces: int = 0) -> SpaceWork:
    """Scratch arrays of one thread; ``pieces`` of a path are kept."""
    n = 3 * nc
    return SpaceWork(
        np.zeros((count_rows(SpaceWork, "values"), n)),
        np.zeros((count_rows(SpaceWork, "marks"), n), dtype=np.int64),
        np.zeros(ENTRIES),
        np.zeros((nc + 1, CHANNELS, ORDER + 1)),
        np.zeros((count_rows(SpaceWork, "matrices"), n, n)),
        np.zeros(nc, dtype=np.bool_),
        np.zeros((pieces, n)),
    )
