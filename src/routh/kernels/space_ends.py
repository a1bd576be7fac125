"""What comes before the first and after the last step of a sample in space, in its column."""

from __future__ import annotations

import math

from routh import tolerances
from routh.compiling import kernel, written_out
from routh.kernels.arrays import IMPULSE as UNIT
from routh.kernels.arrays import Outputs, Rows
from routh.kernels.events_space import MOST_ERROR, NO_IMPACT, NUMERICAL, ROUNDING, SLACK, SOLVED
from routh.kernels.space_names import ERROR, GLOBALS, PIECES, UNENDED
from routh.kernels.space_state import (
    BEHIND,
    MOVE_ENTRIES,
    STATUS,
    TOTALS,
    Column,
    course_row,
    friction_of,
    global_row,
    move_row,
)
from routh.validation import Array


@kernel
def begin_sample(of: Column, start: Array) -> int:
    """The state before the impact: UNENDED, or NO_IMPACT, see `routh.kernels.events_space.begin`."""
    states, slot, nc, approaches = of.states, of.slot, of.nc, False
    for row in range(3 * nc):
        states[row, slot] = start[of.row, row]
    for row in range(TOTALS * nc, BEHIND * nc + 2 * GLOBALS + MOVE_ENTRIES):
        states[row, slot] = 0.0  # also what comes next: a draw
    for i in range(nc):
        y = start[of.row, 3 * i]
        approaches = approaches or not y >= -tolerances.APPROACH
        if abs(y) <= ROUNDING:
            states[3 * i, slot] = 0.0
    status = UNENDED if approaches else NO_IMPACT
    states[move_row(nc, STATUS), slot] = status
    return status


@written_out
def response(of: Column, matrix: Array, at: int, totals: Array, value: float) -> float:
    """What the total impulse makes of a velocity by row ``at`` of a problem's matrix."""
    for column in range(totals.shape[0]):
        if column < 3 * of.nc:
            value += matrix[of.row, at, column] * totals[column]
    return value


@kernel
def residual_of(of: Column, start: Array, totals: Array) -> float:
    """See `routh.kernels.events_space.finish`."""
    states, slot, nc = of.states, of.slot, of.nc
    worst, gained = 0.0, 0.0
    for i in range(nc):
        first = 3 * i
        for row in range(first, first + 3):
            before, total = start[of.row, row], states[TOTALS * nc + row, slot]
            value = response(of, of.G, row, totals, before)
            worst = max(worst, abs(value - states[row, slot]))
            gained += 0.5 * total * (value + before)
        normal, t0, t1 = (
            states[TOTALS * nc + first, slot],
            states[TOTALS * nc + first + 1, slot],
            states[TOTALS * nc + first + 2, slot],
        )
        friction, mu = math.sqrt(t0**2 + t1**2), friction_of(of, i)
        worst = max(worst, max(-normal, (friction - mu * normal) / max(1.0, mu)))
    worst = max(worst, gained)
    return worst if worst == worst and gained == gained else math.inf


@written_out
def load_totals(of: Column, totals: Array) -> None:
    """The total impulse, where steps of loops that are written out find it."""
    for row in range(totals.shape[0]):
        totals[row] = of.states[TOTALS * of.nc + row, of.slot] if row < 3 * of.nc else 0.0


@kernel
def end_sample(of: Column, rows: Rows, outputs: Outputs, totals: Array, sample: int) -> None:
    """A sample that has ended into the outputs, see `routh.kernels.events_space.write_sample`."""
    states, slot, nc, row, residual, largest = of.states, of.slot, of.nc, of.row, 0.0, 1.0
    status, error = int(states[move_row(nc, STATUS), slot]), states[global_row(nc, ERROR), slot]
    load_totals(of, totals)
    if status != NO_IMPACT:
        residual = residual_of(of, rows.start, totals)
    for i in range(nc):
        largest = max(largest, friction_of(of, i))
    limit = tolerances.RESIDUAL if largest <= tolerances.HUGE_FRICTION else tolerances.RESIDUAL_HUGE_FRICTION
    if status == SOLVED and not (residual <= limit + SLACK * error and error <= MOST_ERROR):
        status = NUMERICAL
    sample = min(sample, outputs.status.shape[1] - 1)
    outputs.status[row, sample] = status
    outputs.events[row, sample] = int(states[course_row(nc, PIECES), slot])
    outputs.error[row, sample], outputs.residual[row, sample] = error, residual
    if status == NO_IMPACT:
        return
    for r in range(outputs.v.shape[2]):
        outputs.v[row, sample, r] = response(of, rows.response, r, totals, rows.before[row, r])
    for i in range(nc):
        for part in range(3):
            total = states[TOTALS * nc + 3 * i + part, slot]
            outputs.impulse[row, sample, i, part] = total * rows.contact[row, UNIT, i]
