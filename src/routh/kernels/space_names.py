"""Names of rows in the workspace of the sampler in space, so that no kernel counts positions.

One sample has these arrays:

- ``x (ROWS, n)``: contact coordinates, contact by contact: normal, two tangents
- ``s (CONTACT_ROWS, nc)``: numbers per contact
- ``k (INTEGER_ROWS, nc)``: integers per contact
- ``d (n, n + 2)``: a linear system
- ``g (GLOBALS,)``: numbers of the sample

The names are 64-bit integers of NumPy: a function that gets a plain one is compiled anew for each value.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _named(count: int, first: int = 0) -> Any:
    return tuple(np.int64(first + k) for k in range(count))


# rows of x: contact velocities, rates, their effect, total impulse, offset of the rates' equations; impulses
# of the curve so far, at the end of a trial step and where a slope is wanted
C, RATE, CHANGE, TOTAL, OFFSET, IMPULSE, TRY, POINT = _named(8)
(SLOPE,) = _named(1, 8)  # seven rows: slopes of a Runge-Kutta step
ONCE, TWICE, THRICE = _named(3, 15)  # impulses of one, two and three implicit steps
(BASE,) = _named(1, 18)  # rates at the beginning of a curve
ROWS = 19

# rows of s
WEIGHT, BUDGET, STORED, RETURNED, LENGTH, UNIT0, UNIT1, WORK, TRY_WORK, MIDDLE, KEPT = _named(11)
(WORK_SLOPE,) = _named(1, 11)  # seven rows
CONTACT_ROWS = 18

# rows of k
ROLE, SLIP, CORNER, LIST, MOVES = _named(5)
INTEGER_ROWS = 5

# entries of g: sum of local errors, steps taken, length at which the stage is cut, next implicit step,
# whether rates of an implicit step are sought
ERROR, STEPS, CUT, IMPLICIT_STEP, IMPLICIT = _named(5)
GLOBALS = 5

# roles; LEFT: was held in an implicit step and left in it
FREE, DRIVEN, HELD, LEFT = _named(4)

# slip of a contact that pushes; NO_FRICTION where friction does nothing
NO_FRICTION, ZERO, WALL, SLIDE = _named(4)

# why a piece ended
CUT_SHORT, NORMAL_ZERO, SLIP_ZERO, LET_GO, BUDGET_ZERO, BROKEN, GO_ON, STIFF_PATH = _named(8)
