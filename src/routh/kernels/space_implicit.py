"""Implicit steps with the true cone, extrapolated: for contacts that begin to slip while others slide.

There the direction of slip follows the rest very quickly, so that explicit steps would have to be tiny, while
an implicit one is a convex problem (`routh.kernels.space_rates` with an offset) that takes no notice.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space_moving import copy_row, effect, write_trace
from routh.kernels.space_names import (
    BROKEN,
    BUDGET,
    BUDGET_ZERO,
    CHANGE,
    CUT,
    DRIVEN,
    ERROR,
    FREE,
    GLOBAL,
    GO_ON,
    HELD,
    IMPLICIT,
    IMPLICIT_STEP,
    IMPULSE,
    LIST,
    MIDDLE,
    MU,
    NORMAL_ZERO,
    OFFSET,
    ONCE,
    POINT,
    RATE,
    ROLE,
    SLIP,
    STEPS,
    THRICE,
    TRY,
    TRY_WORK,
    TWICE,
    WORK,
    ZERO,
    Books,
    C,
    SpaceWork,
)
from routh.kernels.space_rates import solve_rates
from routh.kernels.space_series import energy_norm

ATTEMPTS, PLACINGS = 12, 40
PLACED = 1e-13  # how near to its zero an event is placed


@kernel
def substeps(work: SpaceWork, nc: int, h: float, count: int, to: int) -> bool:
    """``count`` implicit steps over a length h from C: their impulse into row ``to``; whether all solved."""
    values = work.values
    step = h / count
    copy_row(values, 3 * nc, C, POINT)
    for row in range(3 * nc):
        values[to, row] = 0.0
    for number in range(count):
        for row in range(3 * nc):
            values[OFFSET, row] = values[POINT, row] / step
        if not solve_rates(work, nc, None):
            return False
        for row in range(3 * nc):
            values[POINT, row] = step * values[CHANGE, row]
            values[to, row] += step * values[RATE, row]
        if count == 2 and number == 0:
            for i in range(nc):
                values[MIDDLE, i] = values[POINT, 3 * i]
    return True


@kernel
def implicit_step(work: SpaceWork, nc: int, m: int, books: Books, h: float) -> float:
    """TRY after a length h by extrapolation of 1, 2 and 3 steps; the local error, infinite on failure."""
    values = work.values
    solved = True
    values[GLOBAL, IMPLICIT] = 1.0
    values[GLOBAL, STEPS] += 1.0
    for count in range(1, 4):
        solved = solved and substeps(work, nc, h, count, ONCE + count - 1)
    values[GLOBAL, IMPLICIT] = 0.0
    for row in range(3 * nc):
        values[OFFSET, row] = 0.0
    if not solved:
        return math.inf
    for row in range(3 * nc):
        rough = 2.0 * values[TWICE, row] - values[ONCE, row]
        fine = 3.0 * values[THRICE, row] - 2.0 * values[TWICE, row]
        values[TRY, row] = fine + 0.5 * (fine - rough)
        values[POINT, row] = 0.5 * (fine - rough)
    error = energy_norm(work, m, POINT)
    if books is not None:
        for a in range(m):
            i = work.marks[LIST, a]
            before, impulse = values[C, 3 * i], values[TRY, 3 * i]
            after = before + effect(work, m, TRY, 3 * i)
            values[TRY_WORK, i] = impulse * (before + 4.0 * values[MIDDLE, i] + after) / 6.0
            error += abs(impulse * (values[MIDDLE, i] - 0.5 * (before + after)))
    return error


@kernel
def crossing(work: SpaceWork, nc: int, m: int, books: Books) -> tuple[float, int, int]:
    """The most advanced event at TRY: (value, kind, contact); the value is positive after it."""
    values, marks = work.values, work.marks
    value, kind, who = -math.inf, GO_ON, -1
    for i in range(nc):
        y = values[C, 3 * i]
        if marks[ROLE, i] == HELD or y == 0.0:
            continue
        after = y + effect(work, m, TRY, 3 * i)
        passed = after if y < 0.0 else -after
        if passed > value:
            value, kind, who = passed, NORMAL_ZERO, i
        if books is not None and marks[ROLE, i] == DRIVEN and y > 0.0 and values[BUDGET, i] > 0.0:
            spent = values[TRY, 3 * i] if books == 1 else values[TRY_WORK, i]
            if spent - values[BUDGET, i] > value:
                value, kind, who = spent - values[BUDGET, i], BUDGET_ZERO, i
    return value, kind, who


@kernel
def allowed_step(work: SpaceWork, nc: int, m: int, books: Books, allowed: float) -> tuple[float, float]:
    """TRY after an implicit step whose error is allowed: (length, error); infinite where there is none."""
    values, marks = work.values, work.marks
    for i in range(nc):
        if marks[ROLE, i] != FREE and values[MU, i] > 0.0:
            marks[SLIP, i] = ZERO
    h = min(values[GLOBAL, IMPLICIT_STEP], values[GLOBAL, CUT])
    unsolved = 0
    for _ in range(ATTEMPTS):
        error = implicit_step(work, nc, m, books, h)
        if error <= allowed:
            longer = min(3.0, 0.8 * (allowed / max(error, 1e-300)) ** (1.0 / 3.0))
            values[GLOBAL, IMPLICIT_STEP] = h * longer
            return h, error
        unsolved += 1 if error == math.inf else 0
        if unsolved > 1:
            break
        h *= max(0.1, 0.8 * (allowed / error) ** (1.0 / 3.0)) if error < 1e9 else 0.1
    return h, math.inf


@kernel
def implicit_piece(work: SpaceWork, nc: int, m: int, books: Books, allowed: float) -> tuple[int, int]:
    """One implicit step with an error that is allowed, or up to its first event, into IMPULSE and WORK.

    (kind, contact): GO_ON after a whole step, BROKEN where none was found.
    """
    values, marks = work.values, work.marks
    h, error = allowed_step(work, nc, m, books, allowed)
    if not error <= allowed:
        return BROKEN, -1
    value, kind, who = crossing(work, nc, m, books)
    if value > 0.0:
        low, high, value_low, value_high = 0.0, h, -math.inf, value
        for count in range(PLACINGS):
            h = 0.5 * (low + high)
            if value_low > -math.inf and count % 4 != 3:
                h = (low * value_high - high * value_low) / (value_high - value_low)
            error = implicit_step(work, nc, m, books, h)
            if not error <= allowed:
                return BROKEN, -1
            value, kind, who = crossing(work, nc, m, books)
            if abs(value) <= PLACED or high - low <= 1e-15 * high:
                break
            if value > 0.0:
                high, value_high = h, value
            else:
                low, value_low = h, value
        error += abs(value)
    else:
        kind, who = GO_ON, -1
    copy_row(values, 3 * nc, TRY, IMPULSE)
    for a in range(m):
        i = marks[LIST, a]
        values[WORK, i] = values[TRY_WORK, i]
    write_trace(work, m, IMPULSE)
    values[GLOBAL, ERROR] += error
    return kind, who
