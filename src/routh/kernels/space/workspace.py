"""The workspace of the sampler in space, with names for its rows, so that no kernel counts positions.

The names are 64-bit integers of NumPy: a function that gets a plain one is compiled anew for each value.
Kernels get ``corners``, the friction polygon (k, 2), or None: the true cone; and ``books``, 0 with energetic
and 1 with Poisson's restitution, or None: nothing bounces. What None rules out is not compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from routh.validation import Array

Corners = Array | None
Books = int | None
Custom = int | None  # the address of a user's own function for relative rates


class SpaceWork(NamedTuple):
    """Scratch of one thread for at most nc contacts, with n = 3 nc coordinates: normal, two tangents, ..."""

    values: Array  # (VALUE_ROWS + 3 n, max(n, GLOBALS)): rows named below; G; linear equations; their inverse
    marks: np.ndarray  # (MARK_ROWS, n) int64
    series: Array  # (CHANNELS nc + 2, ORDER + 1): powers of a curve, `routh.kernels.space.series`
    stiff: Array  # (16 + 2 n, n): implicit steps, `routh.kernels.space.implicit`
    flags: np.ndarray  # (nc,) bool: contacts that may be driven, for a user's own rates
    trace: Array  # (pieces, n): impulses of the pieces, where they are asked for; else none


def named(count: int, first: int = 0) -> Any:
    """Consecutive numbers as 64-bit integers."""
    return tuple(np.int64(first + k) for k in range(count))


# rows of `values`, of coordinates: contact velocities before and now, rates, what they change, total impulse,
# impulse of a piece, of a trial, a point in between
START, C, RATE, CHANGE, TOTAL, IMPULSE, TRY, POINT = named(8)
# of contacts
MU, BOUNCE, WEIGHT, BUDGET, STORED, RETURNED, WORK, TRY_WORK, KEPT, AFTER = named(10, 8)
SLIDE0, SLIDE1, UNIFORMS = named(3, 18)  # direction of slip; random numbers
# of the unknowns of linear equations: the row and the column of their contact, right-hand sides
ROW0, ROW1, ROW2, COL0, COL1, COL2, RIGHT = named(7, 21)
GLOBAL, COURSE, MOVE = named(3, 28)  # numbers of the sample, named below
(GRAM,) = named(1, 31)  # the matrix G; after it the linear equations, and beside what their inverse becomes
VALUE_ROWS = 31

# entries of the row GLOBAL: sum of local errors, steps taken, length at which the stage is cut, pieces in the
# trace, the highest power of the step's series, whether rates stay where a slip vanishes, the normal rate at
# which a held contact jams, sweeps for weights that are aimed, by how much a piece broke a law at most
ERROR, STEPS, CUT, TRACED, HIGHEST, STAYS, JAMMED, AIMED_BY, VIOLATED = named(9)
# entries of the row COURSE, how far the sample is: what comes next (below), the event, pieces so far, events
# of the last phase, the share of the stage, its pieces so far, whether its roles are drawn again, sweeps
# left, whether friction turned out to be stiff
NEXT, EVENT, PIECES, LATE, SHARE, PIECE, REDRAWN, SWEEPS_LEFT, STIFF = named(9)
# entries of the row MOVE, of the piece: contacts that push, steps of its curve, whether a slip may end in the
# next one, entries of the record before it, length of the next implicit step
PUSHING, TAKEN, MAY_END, WRITTEN, LENGTH = named(5)
GLOBALS = 9

# what comes next in a sample: a stage, the same with fewer roles, rates of a piece, a sweep for them, the
# piece, a step of its curve; NO_RATES: nothing; CREEPS: an implicit step
DRAWS, REDRAWS, RATES, SWEEPS, MOVES_ON, CURVES, NO_RATES, CREEPS = named(8)
UNENDED = -1  # status of a sample before its end

# rows of `marks`: of contacts; then of unknowns
ROLE, SLIP, CORNER, LIST, MOVES = named(5)
WHOSE, PIVOT = named(2, 5)
MARK_ROWS = 7

# roles
FREE, DRIVEN, HELD = named(3)

# slip of a contact that pushes; NO_FRICTION where friction does nothing
NO_FRICTION, ZERO, WALL, SLIDE = named(4)

# why a piece ended; OUT_OF_CONE: friction that would keep a contact sticking leaves its cone; JAMS: the rate
# of a held contact grows without bound; STEPPED: it has not ended
CUT_SHORT, NORMAL_ZERO, SLIP_ZERO, LET_GO, BUDGET_ZERO, BROKEN, GO_ON, OUT_OF_CONE, JAMS, STEPPED = named(10)

# rows of `series` of contact i, from CHANNELS i on: rates, impulse, slip rates, direction and size of slip,
# slip rate along it, normal velocity, work
CHANNELS = 14
RATE0, RATE1, RATE2, PUSH0, PUSH1, PUSH2, TURN0, TURN1, UNIT0, UNIT1, SIZE, ALONG = named(12)
NORMAL, WORKED = named(2, 12)
ORDER = 12  # highest power


def workspace(nc: int, pieces: int = 0) -> SpaceWork:
    """Scratch arrays of one thread; ``pieces`` of a path are kept."""
    n = 3 * nc
    return SpaceWork(
        np.zeros((VALUE_ROWS + 3 * n, max(n, GLOBALS))),
        np.zeros((MARK_ROWS, n), dtype=np.int64),
        np.zeros((CHANNELS * nc + 2, ORDER + 1)),
        np.zeros((16 + 2 * n, n)),
        np.zeros(nc, dtype=np.bool_),
        np.zeros((pieces, n)),
    )
