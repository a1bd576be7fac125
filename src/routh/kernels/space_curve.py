"""Curved pieces of a path: the true cone while something slides, with error control and events.

Each step is a power series (`routh.kernels.space_series`) and ends where its last power is as large as the
error that is allowed, or at the first event, which is a root of a polynomial.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space_moving import advance, copy_row, effect, write_trace
from routh.kernels.space_names import (
    BUDGET,
    BUDGET_ZERO,
    CHANNELS,
    COL0,
    COL1,
    COL2,
    CUT,
    CUT_SHORT,
    DRIVEN,
    ERROR,
    GLOBAL,
    GO_ON,
    GRAM,
    HELD,
    IMPULSE,
    LET_GO,
    LIST,
    MOVES,
    MU,
    NORMAL_ZERO,
    ORDER,
    OUT_OF_CONE,
    POINT,
    PUSH0,
    PUSH1,
    PUSH2,
    RATE,
    RATE0,
    RIGHT,
    ROLE,
    ROW0,
    SIZE,
    SLIDE,
    SLIP_ZERO,
    STEPS,
    STIFF_PATH,
    TRY,
    TRY_WORK,
    TURN0,
    TURN1,
    UNIT0,
    UNIT1,
    WEIGHT,
    WHOSE,
    WORK,
    WORKED,
    ZERO,
    Books,
    C,
    SpaceWork,
)
from routh.kernels.space_series import (
    FIRST,
    alone_series,
    begin_series,
    fill_matrix,
    fill_series,
    first_power,
    invert,
    list_unknown,
    rate_of,
    size_of_power,
    unknown_value,
)
from routh.validation import Array

STEP_LIMIT = 40  # steps of one curve before an implicit one
LOCAL = 0.02  # share of the tolerance that one step may use up
SHORT = 1e-3  # a slip that begins with steps shorter than this is followed implicitly
PLACED = 1e-13  # how near to its zero an event is placed
TINY = 1e-11
FAR = 1e3  # lengths beyond this are none
PLACINGS, NEWTON, BISECTIONS = 8, 60, 60
LAST = 10.0  # slip below this many times what a step may use up, and closing, ends
DEGREE = ORDER
POINTS = 16  # of a step in the trace


@kernel
def power_sum(series: Array, row: int, at: float) -> float:
    """A row's power series at a point."""
    value = series[row, DEGREE]
    for k in range(DEGREE - 1, -1, -1):
        value = value * at + series[row, k]
    return value


@kernel
def rates_at(work: SpaceWork, i: int, at: float) -> None:
    """RATE of one contact at a point of the step."""
    for part in range(3):  # rates have one power less than impulses
        row, value = CHANNELS * i + RATE0 + part, 0.0
        for k in range(DEGREE - 1, -1, -1):
            value = value * at + work.series[row, k]
        work.values[RATE, 3 * i + part] = value


@kernel
def look(work: SpaceWork, nc: int, m: int, books: Books, at: float) -> tuple[float, int, int]:
    """The most advanced event at a point of the step: (value, kind, contact); before it below zero.

    TRY and TRY_WORK are the impulses and the work up to the point.
    """
    values, marks, series = work.values, work.marks, work.series
    for a in range(m):
        i = marks[LIST, a]
        for part in range(3):
            values[TRY, 3 * i + part] = power_sum(series, CHANNELS * i + PUSH0 + part, at)
    value = power_sum(series, CHANNELS * nc, at) - values[GLOBAL, CUT] - 1e-14
    kind, who = CUT_SHORT, -1
    for i in range(nc):
        before = values[C, 3 * i]
        sign = 0.0
        if before < -TINY or (marks[ROLE, i] == DRIVEN and before <= TINY and not values[BUDGET, i] > 0.0):
            sign = 1.0
        elif before > TINY:
            sign = -1.0
        if sign != 0.0 and marks[ROLE, i] != HELD:
            y = sign * (before + effect(work, m, TRY, 3 * i))
            if y > value:
                value, kind, who = y, NORMAL_ZERO, i
    for a in range(m):
        i = marks[LIST, a]
        if marks[ROLE, i] == HELD or marks[MOVES, i] == ZERO:
            rates_at(work, i, at)
            normal = values[RATE, 3 * i]
            if -normal > value and marks[ROLE, i] == HELD:
                value, kind, who = -normal, LET_GO, i
            excess = cone_excess(work, i)
            if marks[MOVES, i] == ZERO and excess > value:
                value, kind, who = excess, OUT_OF_CONE, i
        if books is not None:
            values[TRY_WORK, i] = power_sum(series, CHANNELS * i + WORKED, at)
            if values[BUDGET, i] > 0.0 and marks[ROLE, i] == DRIVEN:
                spent = values[TRY_WORK, i]
                if books == 1:
                    spent = values[TRY, 3 * i] if values[C, 3 * i] >= 0.0 else -1.0
                if spent - values[BUDGET, i] > value:
                    value, kind, who = spent - values[BUDGET, i], BUDGET_ZERO, i
    return value, kind, who


@kernel
def cone_excess(work: SpaceWork, i: int) -> float:
    """By which share of its cone's radius the friction RATE of contact i is outside."""
    values, at = work.values, 3 * i
    friction = math.sqrt(values[RATE, at + 1] ** 2 + values[RATE, at + 2] ** 2)
    return friction / (values[MU, i] * max(values[RATE, at], 1e-300)) - 1.0 - 1e-9


@kernel
def event_polynomial(work: SpaceWork, nc: int, m: int, books: Books, kind: int, who: int) -> int:
    """The row of `series` with an event's value as a power series; -1 where it is none."""
    values, marks, series = work.values, work.marks, work.series
    row, path = CHANNELS * nc + 1, CHANNELS * nc
    first = CHANNELS * who
    if kind == OUT_OF_CONE:
        return -1
    for k in range(DEGREE + 1):
        value = 0.0
        if kind == CUT_SHORT:
            value = series[path, k]
        elif kind == LET_GO:
            value = -series[first + RATE0, k] if k < DEGREE else 0.0
        elif kind == NORMAL_ZERO:
            g = GRAM + 3 * who
            for a in range(m):
                j = CHANNELS * marks[LIST, a]
                at = 3 * marks[LIST, a]
                value += values[g, at] * series[j + PUSH0, k]
                value += values[g, at + 1] * series[j + PUSH1, k] + values[g, at + 2] * series[j + PUSH2, k]
            value = -value if values[C, 3 * who] > TINY else value
        elif books is not None:
            value = series[first + (PUSH0 if books == 1 else WORKED), k]
        series[row, k] = value
    if kind == CUT_SHORT:
        series[row, 0] -= values[GLOBAL, CUT]
    elif kind == NORMAL_ZERO:
        series[row, 0] -= abs(values[C, 3 * who])
    elif kind == BUDGET_ZERO:
        series[row, 0] -= values[BUDGET, who]
    return row


@kernel
def find_root(series: Array, row: int, high: float) -> float:
    """Where a power series that is positive at ``high`` crosses zero: Newton between brackets."""
    low, at = 0.0, high
    if not series[row, 0] < 0.0:
        return 0.0
    value = power_sum(series, row, at)
    at = high * series[row, 0] / (series[row, 0] - value)
    for _ in range(NEWTON):
        value, slope = series[row, DEGREE], 0.0
        for k in range(DEGREE - 1, -1, -1):
            slope = slope * at + value
            value = value * at + series[row, k]
        if value > 0.0:
            high = at
        else:
            low = at
        guess = at - value / slope if slope != 0.0 else low
        if not low < guess < high:
            guess = 0.5 * (low + high)
        if abs(guess - at) <= 4e-16 * high or value == 0.0:
            break
        at = guess
    return at


@kernel
def leaves_cone(work: SpaceWork, who: int, high: float) -> float:
    """Where the friction that keeps a contact sticking leaves its cone, before ``high``: regula falsi."""
    low, below, above, side = 0.0, -1.0, 1.0, 0
    rates_at(work, who, high)
    above = cone_excess(work, who)
    rates_at(work, who, low)
    below = cone_excess(work, who)
    if not below < 0.0:
        return 0.0
    at = high
    for _ in range(BISECTIONS):
        at = (low * above - high * below) / (above - below)
        if not low < at < high:
            at = 0.5 * (low + high)
        rates_at(work, who, at)
        value = cone_excess(work, who)
        if abs(value) <= PLACED or high - low <= 1e-15 * high:
            break
        if value > 0.0:
            high, above = at, value
            below = 0.5 * below if side == 1 else below
            side = 1
        else:
            low, below = at, value
            above = 0.5 * above if side == -1 else above
            side = -1
    return at


@kernel
def only_slows(work: SpaceWork, i: int) -> bool:
    """Whether contact i, pushed alone, slows its approach whichever way it slides."""
    values, at = work.values, 3 * i
    coupling = values[GRAM + at, at + 1] ** 2 + values[GRAM + at, at + 2] ** 2
    return values[MU, i] ** 2 * coupling <= values[GRAM + at, at] ** 2


@kernel
def first_event(
    work: SpaceWork, nc: int, m: int, books: Books, h: float, alone: bool
) -> tuple[float, int, int]:
    """Where the step of length h ends, why (GO_ON: no event), and whose event it is; TRY belongs to it.

    ``alone``: one driven contact pushes. If it slows down in every direction of slip, it never turns back.
    """
    value, kind, who = -1.0, GO_ON, -1
    if not (alone and only_slows(work, work.marks[LIST, 0])):
        value, kind, who = look(work, nc, m, books, 0.5 * h)
    if value > 0.0:
        h *= 0.5
    else:
        value, kind, who = look(work, nc, m, books, h)
        if not value > 0.0:
            return h, GO_ON, -1
    for _ in range(PLACINGS):
        row = event_polynomial(work, nc, m, books, kind, who)
        h = find_root(work.series, row, h) if row >= 0 else leaves_cone(work, who, h)
        value, first, contact = look(work, nc, m, books, h)
        if not value > PLACED or (first == kind and contact == who) or h == 0.0:
            return h, kind, who
        kind, who = first, contact  # another one comes before it
    return h, kind, who


@kernel
def look_at_slips(work: SpaceWork, m: int, allowed: float) -> tuple[float, int, float]:
    """The contact that goes straight on to the end of its slip: (length left, contact or -1, error).

    It does where turning aside can no longer matter: slip times misalignment only falls from there.
    """
    values, series = work.values, work.series
    ending, left, cost = -1, math.inf, 0.0
    for a in range(m):
        i = work.marks[LIST, a]
        first, at = CHANNELS * i, 3 * i
        length = series[first + SIZE, 0]
        if work.marks[MOVES, i] != SLIDE or not length > 0.0:
            continue
        u0, u1 = series[first + UNIT0, 0], series[first + UNIT1, 0]
        d0, d1 = series[first + TURN0, 0], series[first + TURN1, 0]
        closing, aside = -(u0 * d0 + u1 * d1), abs(u0 * d1 - u1 * d0)
        g, h = GRAM + at + 1, GRAM + at + 2
        across = u1 * (values[g, at + 1] * u1 - 2.0 * values[g, at + 2] * u0) + values[h, at + 2] * u0 * u0
        yields = values[MU, i] * series[first + RATE0, 0] * across  # slip turns back at this rate
        missed = math.inf
        if not closing > 0.0:  # it may go far: only the direction itself is good enough
            missed = aside / max(yields - closing, 1e-300)
        elif yields > 2.0 * closing:
            missed = length * min(aside / (yields - closing), 4.0)
        else:
            missed = length * min(aside / closing * max(1.0, closing / max(yields, 1e-300)), 4.0)
        if m > 1:
            missed = missed + length * length if closing > 0.0 else math.inf
        if missed <= allowed or (closing > 0.0 and length <= LAST * allowed) or length <= TINY:
            ending, cost = i, min(missed, length) / math.sqrt(across)
            left = length / closing if closing > 0.0 else (0.0 if length <= TINY else math.inf)
    return left, ending, cost


@kernel
def straighten(work: SpaceWork, nc: int, m: int, books: Books) -> None:
    """The series of motion on with the rates of its beginning."""
    series, marks = work.series, work.marks
    path = CHANNELS * nc
    for k in range(DEGREE + 1):
        series[path, k] = 1.0 if k == 1 else 0.0
        for a in range(m):
            first = CHANNELS * marks[LIST, a]
            for part in range(3):
                rate = series[first + RATE0 + part, 0]
                series[first + PUSH0 + part, k] = rate if k == 1 else 0.0
                if k > 0:
                    series[first + RATE0 + part, k] = 0.0
            if books is not None:
                series[first + WORKED, k] = 0.0
    if books is not None:
        for a in range(m):
            i = marks[LIST, a]
            first = CHANNELS * i
            if marks[ROLE, i] == DRIVEN:  # the normal velocity is linear, so its work is quadratic
                weight = work.values[WEIGHT, i]
                series[first + WORKED, 1] = weight * work.values[C, 3 * i]
                series[first + WORKED, 2] = 0.5 * weight * rate_of(work, m, FIRST, 3 * i)


@kernel
def straight_on(
    work: SpaceWork, nc: int, m: int, books: Books, left: float, slipping: int
) -> tuple[int, int]:
    """Follow the rates until a slip has vanished after the length ``left``, or another event comes first."""
    straighten(work, nc, m, books)
    _, kind, who = first_event(work, nc, m, books, min(left, FAR), m < 2)
    if kind == GO_ON:
        if left >= FAR:
            return CUT_SHORT, -1
        kind, who = SLIP_ZERO, slipping
        stop_slip(work, nc, m, slipping)
    write_trace(work, m, TRY)
    move(work, nc, m, books, kind, who)
    return kind, who


@kernel
def trace_points(work: SpaceWork, m: int, h: float) -> None:
    """Write the impulses of a step to the trace, point by point; TRY stays what it is."""
    values = work.values
    for a in range(m):
        at = 3 * work.marks[LIST, a]
        for row in range(at, at + 3):
            values[POINT, row] = 0.0
    for point in range(1, POINTS + 1):
        for a in range(m):
            i = work.marks[LIST, a]
            for part in range(3):
                row = CHANNELS * i + PUSH0 + part
                now = power_sum(work.series, row, h * point / POINTS)
                values[IMPULSE, 3 * i + part] = now - values[POINT, 3 * i + part]
                values[POINT, 3 * i + part] = now
        write_trace(work, m, IMPULSE)


@kernel
def stop_slip(work: SpaceWork, nc: int, m: int, slipping: int) -> None:
    """Friction takes what is left of a slip, so that velocity and impulse TRY stay one."""
    values, marks = work.values, work.marks
    marks[MOVES, slipping] = ZERO
    size = list_unknown(work, m)
    fill_matrix(work, nc, size, size, FIRST)
    invert(work, nc, size)
    for e in range(size):
        i, value = marks[WHOSE, e], 0.0
        for part in range(3):
            if values[ROW0 + part, e] != 0.0:
                row = 3 * i + part
                value -= values[ROW0 + part, e] * (values[C, row] + effect(work, m, TRY, row))
        values[RIGHT, e] = value
    for e in range(size):
        z, at = unknown_value(work, size, e), 3 * marks[WHOSE, e]
        values[TRY, at] += z * values[COL0, e]
        values[TRY, at + 1] += z * values[COL1, e]
        values[TRY, at + 2] += z * values[COL2, e]


@kernel
def move(work: SpaceWork, nc: int, m: int, books: Books, kind: int, who: int) -> None:
    """Advance to TRY."""
    values, marks = work.values, work.marks
    i = marks[LIST, 0]
    copy_row(values, 3 * nc, TRY, IMPULSE)
    if books is not None:
        copy_row(values, nc, TRY_WORK, WORK)
    advance(work, nc, m, books, who if kind == NORMAL_ZERO else -1)
    values[GLOBAL, CUT] -= values[IMPULSE, 3 * i] / values[WEIGHT, i]


@kernel
def follow_curve(work: SpaceWork, nc: int, m: int, books: Books, tolerance: float) -> tuple[int, int]:
    """Follow a curve to its first event: (kind, contact); STIFF_PATH: only implicit steps lead on.

    LIST holds the m contacts that push, a driven one first; MOVES says what their slip does.
    """
    values = work.values
    allowed = LOCAL * tolerance
    for _ in range(STEP_LIMIT):
        begins = begin_series(work, m, books)
        size = first_power(work, nc, m)
        left, slipping, cost = look_at_slips(work, m, allowed)
        values[GLOBAL, STEPS] += 1.0
        if slipping >= 0:
            values[GLOBAL, ERROR] += cost
            return straight_on(work, nc, m, books, left, slipping)
        alone = m == 1 and size == 0 and not begins
        if alone:
            alone_series(work, nc, work.marks[LIST, 0], books)
        else:
            fill_series(work, nc, m, books, size, begins)
        last = size_of_power(work, m, books, DEGREE)
        second = size_of_power(work, m, books, DEGREE - 1)
        h = (allowed / max(last, 1e-200)) ** (1.0 / DEGREE)
        h = min(h, (allowed / max(second, 1e-200)) ** (1.0 / (DEGREE - 1)))
        if not h > (SHORT if begins else 0.0):
            return STIFF_PATH, -1
        h, kind, who = first_event(work, nc, m, books, h, alone)
        values[GLOBAL, ERROR] += last * h**DEGREE
        if work.trace.shape[0] > 0:
            trace_points(work, m, h)
        move(work, nc, m, books, kind, who)
        if kind != GO_ON:
            return kind, who
    return STIFF_PATH, -1
