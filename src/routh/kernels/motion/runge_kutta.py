"""The Runge-Kutta method of order 8 (DOP853) on the smooth motion in one contact mode, compiled.

Error control, initial step and dense output are those of SciPy's `DOP853`. Its coefficients stand in
``dop853.csv``, since importing SciPy's integrators takes longer than loading this from disk.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel, vectors
from routh.kernels.motion.forces import Found, Held, ModeArrays, fill_forces, solve_mode
from routh.kernels.motion.place import Place, fill_place

if TYPE_CHECKING:
    from routh.models.planar.kinematics import PlanarArrays

DONE, FAILED, UNKNOWN = 0, 1, 2
BEFORE, NOW, NEXT, END, LONGEST, RTOL, ATOL = range(7)  # of `ModePath.clock`: times, steps, tolerances
STAGES, ALL_STAGES, POWERS = 12, 16, 7
# rows of a tableau (22, 16): stages (12: the end of the step), weights of two errors, four of dense output
FIFTH, THIRD, DENSE, TABLEAU_ROWS = 16, 17, 18, 22
SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0
FEW_DIGITS = 1e3  # by which impulses may be less accurate than what they move: redundant contacts share them
ORDER = 8.0
ROUNDING, SMALLEST = 2.0**-52, 5e-324


@cache
def tableau() -> Array:
    """The method's coefficients, (TABLEAU_ROWS, ALL_STAGES)."""
    return np.loadtxt(Path(__file__).with_name("dop853.csv"), delimiter=",")


class Short(NamedTuple):
    """A step so short that what a model says there is a parabola: at its start, its middle and its end."""

    held: Held  # the m contacts of the mode; h = m (1 + nt)
    slowest: float  # m/s, below which slip turns to the way that it began with
    still: Array  # (m,) m/s, below which slip that slows down is none
    length: Array  # (1,) s
    told: Array  # (3, n) what the model says: all of the next
    # (n,) at the time that was last looked at: rows, response, delassus and at of `Found`, which are parts of
    # it, then the acceleration without forces
    mixed: Array
    now: Array  # (nv,) the last of these
    normals: Array  # (3, nc, nv) Jacobians of the gaps of all contacts
    height: Array  # (3, nc) m, gaps less what the first normals say of the way


class ModePath(NamedTuple):
    """A motion under way: ``y = [q, v, impulses of the mode's contacts]``, N numbers.

    Of a planar mechanism, or of any model over a ``short`` step: then model, mode and place are None, q is
    the way since the step began, and the last number of y the share of the step that is over.
    """

    model: PlanarArrays
    mode: ModeArrays
    tableau: Array  # (TABLEAU_ROWS, ALL_STAGES)
    clock: Array  # (7,)
    y: Array  # (N,) at the end of a step
    slope: Array  # (N,) dy/dt there
    begun: Array  # (N,) y at its beginning
    tried: Array  # (N,) y at the end of one that is tried
    way: Array  # (N,) y on the way
    dense: Array  # (POWERS, N) polynomial of the step
    stages: Array  # (ALL_STAGES, N) slopes
    place: Place  # of the state last looked at
    found: Found  # there
    short: Short | None


@kernel
def advance(motion: ModePath) -> int:
    """One step, with its dense output."""
    # reads clock; writes clock; hands on motion
    clock = motion.clock
    if clock[NEXT] == 0.0 and not _initial_step(motion):
        return UNKNOWN
    t = clock[NOW]
    least_step = 10.0 * max(abs(t) * ROUNDING, SMALLEST)
    step = max(min(clock[NEXT], clock[LONGEST]), least_step)
    rejected = False
    while True:
        if step < least_step:
            return FAILED
        t_new = min(t + step, clock[END])
        h = t_new - t
        if not _stages(motion, h, 1, STAGES + 1):
            return UNKNOWN
        error = _error(motion, h)
        if error < 1.0:
            factor = MOST_FACTOR if error == 0.0 else min(MOST_FACTOR, SAFETY * math.pow(error, -1.0 / ORDER))
            clock[NEXT] = h * (min(1.0, factor) if rejected else factor)
            break
        factor = SAFETY * math.pow(error, -1.0 / ORDER)
        step = h * (factor if factor > LEAST_FACTOR else LEAST_FACTOR)
        rejected = True
    if not _stages(motion, h, STAGES + 1, ALL_STAGES):
        return UNKNOWN
    _dense(motion, h)
    clock[BEFORE], clock[NOW] = t, t_new
    return DONE


@kernel
def write_slope(motion: ModePath, y: Array, slope: Array) -> None:
    """``dy/dt`` under forces that were found, HP23 (9) and (10)."""
    # reads found.acceleration, found.force, short.length
    found, short = motion.found, motion.short
    nv, width = len(found.acceleration), found.force.shape[1]
    for i in range(nv):
        slope[i], slope[nv + i] = y[nv + i], found.acceleration[i]
    for i in range(len(found.force)):
        for a in range(width):
            slope[2 * nv + i * width + a] = found.force[i, a]
    if short is not None:
        slope[len(y) - 1] = 1.0 / short.length[0]


@kernel
def find_forces(motion: ModePath, q: Array, v: Array) -> bool:
    """Place and forces of a planar mechanism at a state; False where they are not known."""
    # hands on found, mode, model, place
    place = motion.place
    return fill_place(motion.model, q, v, place) and fill_forces(motion.mode, place, motion.found)


@kernel
def find_short_forces(short: Short, y: Array, found: Found) -> bool:
    """Forces within a short step; False where they are not known."""
    # reads short.mixed, short.now, short.slowest, short.told; writes short.mixed; hands on found, short.held
    nv = len(short.now)
    _mix(short.told, y[len(y) - 1], short.mixed)
    return solve_mode(short.held, y[nv : 2 * nv], short.now, short.slowest, found)


@vectors
def _mix(told: Array, x: float, mixed: Array) -> None:
    """`parabola` of many values."""
    first, middle, last = (1.0 - 2.0 * x) * (1.0 - x), 4.0 * x * (1.0 - x), x * (2.0 * x - 1.0)
    for i in range(len(mixed)):
        mixed[i] = first * told[0, i] + middle * told[1, i] + last * told[2, i]


@kernel
def parabola(x: float, first: float, middle: float, last: float) -> float:
    """The parabola through three values at 0, 1/2 and 1."""
    return (1.0 - 2.0 * x) * (1.0 - x) * first + 4.0 * x * (1.0 - x) * middle + x * (2.0 * x - 1.0) * last


@kernel
def _slope(motion: ModePath, y: Array, slope: Array) -> bool:
    """``dy/dt``, HP23 (9) and (10); False where forces are not known."""
    # reads found.acceleration; hands on found, motion, short
    short = motion.short
    if short is not None:
        known = find_short_forces(short, y, motion.found)
    else:
        nv = len(motion.found.acceleration)
        known = find_forces(motion, y[:nv], y[nv : 2 * nv])
    write_slope(motion, y, slope)
    return known


@kernel
def _weigh(motion: ModePath, row: int, end: int, total: Array) -> None:
    """The sum of the first stages with the weights of a row of the tableau, many of which are zero."""
    # reads stages, tableau
    for i in range(len(total)):
        total[i] = 0.0
    for stage in range(end):
        weight = motion.tableau[row, stage]
        for i in range(len(total) if weight != 0.0 else 0):
            total[i] += weight * motion.stages[stage, i]


@kernel
def _stages(motion: ModePath, h: float, first: int, end: int) -> bool:
    """Slopes of the stages first to end - 1; stage 12 is the end of the step, which becomes TRIED."""
    # reads slope, way, y; writes stages, tried, way; hands on motion
    N = len(motion.y)
    if first == 1:
        for i in range(N):
            motion.stages[0, i] = motion.slope[i]
    for stage in range(first, end):
        _weigh(motion, stage, stage, motion.way)
        for i in range(N):
            motion.way[i] = motion.y[i] + h * motion.way[i]
            if stage == STAGES:
                motion.tried[i] = motion.way[i]
        if not _slope(motion, motion.way, motion.stages[stage]):
            return False
    return True


@kernel
def _atol(motion: ModePath, i: int) -> float:
    """The absolute tolerance of a number of y."""
    # reads clock, found.acceleration
    return motion.clock[ATOL] * (1.0 if i < 2 * len(motion.found.acceleration) else FEW_DIGITS)


@kernel
def _error(motion: ModePath, h: float) -> float:
    """The error of a step over what is allowed: one is the limit."""
    # reads clock, stages, tableau, tried, y; hands on motion
    tableau, clock = motion.tableau, motion.clock
    N = len(motion.y)
    fifth, third = 0.0, 0.0
    for i in range(N):
        size = max(abs(motion.y[i]), abs(motion.tried[i]))
        scale = _atol(motion, i) + clock[RTOL] * size
        a, b = 0.0, 0.0
        for stage in range(STAGES + 1):
            a += tableau[FIFTH, stage] * motion.stages[stage, i]
            b += tableau[THIRD, stage] * motion.stages[stage, i]
        fifth += (a / scale) ** 2
        third += (b / scale) ** 2
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return abs(h) * fifth / math.sqrt((fifth + 0.01 * third) * N)


@kernel
def _dense(motion: ModePath, h: float) -> None:
    """The polynomial of the step; y and slope move to its end."""
    # reads dense, stages, tried, y; writes begun, dense, slope, y; hands on motion
    N = len(motion.y)
    for i in range(N):
        change = motion.tried[i] - motion.y[i]
        motion.begun[i], motion.y[i] = motion.y[i], motion.tried[i]
        motion.slope[i] = motion.stages[STAGES, i]
        motion.dense[0, i] = change
        motion.dense[1, i] = h * motion.stages[0, i] - change
        motion.dense[2, i] = 2.0 * change - h * (motion.stages[STAGES, i] + motion.stages[0, i])
    for power in range(4):
        _weigh(motion, DENSE + power, ALL_STAGES, motion.dense[3 + power])
        for i in range(N):
            motion.dense[3 + power, i] *= h


@kernel
def interpolate(motion: ModePath, t: float, y: Array) -> None:
    """The state at a time of the last step; where it stands, before the first."""
    # reads begun, clock, dense
    clock = motion.clock
    length = clock[NOW] - clock[BEFORE]
    x = (t - clock[BEFORE]) / length if length > 0.0 else 0.0
    for i in range(len(y)):
        value = 0.0
        for power in range(POWERS):
            value += motion.dense[POWERS - 1 - power, i]
            value *= x if power % 2 == 0 else 1.0 - x
        y[i] = value + motion.begun[i]


@kernel
def _initial_step(motion: ModePath) -> bool:
    """A first step by the sizes of y, its slope and that slope's change (Hairer, Norsett, Wanner, II.4)."""
    # reads clock, slope, stages, way, y; writes clock, stages, way; hands on motion
    clock = motion.clock
    N = len(motion.y)
    left = clock[END] - clock[NOW]
    size, speed = 0.0, 0.0
    for i in range(N):
        scale = _atol(motion, i) + clock[RTOL] * abs(motion.y[i])
        size += (motion.y[i] / scale) ** 2
        speed += (motion.slope[i] / scale) ** 2
    size, speed = math.sqrt(size / N), math.sqrt(speed / N)
    first = 1e-6 if size < 1e-5 or speed < 1e-5 else 0.01 * size / speed
    first = min(first, left)
    for i in range(N):
        motion.way[i] = motion.y[i] + first * motion.slope[i]
    if not _slope(motion, motion.way, motion.stages[1]):
        return False
    change = 0.0
    for i in range(N):
        scale = _atol(motion, i) + clock[RTOL] * abs(motion.y[i])
        change += ((motion.stages[1, i] - motion.slope[i]) / scale) ** 2
    change = math.sqrt(change / N) / first
    second = max(1e-6, 1e-3 * first)
    if speed > 1e-15 or change > 1e-15:
        second = math.pow(0.01 / max(speed, change), 1.0 / ORDER)
    clock[NEXT] = min(min(100.0 * first, second), min(left, clock[LONGEST]))
    return True
