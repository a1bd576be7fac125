"""Events of a step along a curve: roots of the power series of `routh.kernels.space.series`."""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space.advance import effect
from routh.kernels.space.workspace import (
    BUDGET,
    BUDGET_ZERO,
    CHANNELS,
    CUT,
    CUT_SHORT,
    DRIVEN,
    GLOBAL,
    GO_ON,
    GRAM,
    HELD,
    HIGHEST,
    JAMMED,
    JAMS,
    LET_GO,
    LIST,
    MOVES,
    MU,
    NORMAL_ZERO,
    OUT_OF_CONE,
    POINT,
    PUSH0,
    PUSH1,
    PUSH2,
    RATE,
    RATE0,
    RATE1,
    RATE2,
    ROLE,
    SIZE,
    SLIDE,
    TRY,
    TRY_WORK,
    WORKED,
    ZERO,
    Books,
    C,
    SpaceWork,
)
from routh.validation import Array

PLACED = 1e-13  # how near to its zero an event is placed
TINY = 1e-11
PLACINGS, NEWTON, BISECTIONS = 8, 60, 60
EARLY = 0.125  # of the way to the first of these points: where friction is looked at before
LOOKS, SHORTER = 8, 4  # points of a step at which slips and friction are looked at; shorter steps tried
MIDDLE, END, PEAK, END_AGAIN = 0, 1, 2, 3  # where `first_event` looks, one after the other

Three = tuple[float, float, float]


@kernel
def highest_power(work: SpaceWork) -> int:
    """Of the step's series; rates have one less."""
    return int(work.values[GLOBAL, HIGHEST])


@kernel
def power_sum(series: Array, row: int, at: float, degree: int) -> float:
    """A row's power series at a point."""
    value = 0.0
    for k in range(degree, -1, -1):
        value = value * at + series[row, k]
    return value


@kernel
def three_sums(series: Array, row: int, at: float, degree: int) -> Three:
    """`power_sum` of three rows, which takes hardly longer than one."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(degree, -1, -1):
        x, y, z = x * at + series[row, k], y * at + series[row + 1, k], z * at + series[row + 2, k]
    return x, y, z


@kernel
def rates_at(work: SpaceWork, i: int, at: float) -> None:
    """RATE of one contact at a point of the step."""
    first, values = 3 * i, work.values
    values[RATE, first], values[RATE, first + 1], values[RATE, first + 2] = three_sums(
        work.series, CHANNELS * i + RATE0, at, highest_power(work) - 1
    )


@kernel
def look(work: SpaceWork, nc: int, m: int, books: Books, at: float) -> tuple[float, int, int]:
    """The most advanced event at a point of the step: (value, kind, contact); before it below zero.

    TRY and TRY_WORK are the impulses and the work up to the point; POINT keeps how far each contact is from
    turning its normal velocity around, and behind that how far it was when looked at before.
    """
    values, marks, series, degree = work.values, work.marks, work.series, highest_power(work)
    for a in range(m):
        i = marks[LIST, a]
        values[TRY, 3 * i], values[TRY, 3 * i + 1], values[TRY, 3 * i + 2] = three_sums(
            series, CHANNELS * i + PUSH0, at, degree
        )
    value = power_sum(series, CHANNELS * nc, at, degree) - values[GLOBAL, CUT] - 1e-14
    kind, who = CUT_SHORT, -1
    for i in range(nc):
        before = values[C, 3 * i]
        sign = 0.0
        if before < -TINY or (marks[ROLE, i] == DRIVEN and before <= TINY and not values[BUDGET, i] > 0.0):
            sign = 1.0
        elif before > TINY:
            sign = -1.0
        values[POINT, 3 * i + 1], values[POINT, 3 * i] = values[POINT, 3 * i], -math.inf
        if sign != 0.0 and marks[ROLE, i] != HELD:
            y = sign * (before + effect(work, m, TRY, 3 * i))
            values[POINT, 3 * i] = y
            if y > value:
                value, kind, who = y, NORMAL_ZERO, i
    for a in range(m):
        i = marks[LIST, a]
        if marks[ROLE, i] == HELD or marks[MOVES, i] == ZERO:
            rates_at(work, i, at)
            normal = values[RATE, 3 * i]
            if -normal > value and marks[ROLE, i] == HELD:
                value, kind, who = -normal, LET_GO, i
            growth = normal / values[GLOBAL, JAMMED] - 1.0
            if growth > value and marks[ROLE, i] == HELD:
                value, kind, who = growth, JAMS, i
            excess = cone_excess(work, i)
            if marks[MOVES, i] == ZERO and excess > value:
                value, kind, who = excess, OUT_OF_CONE, i
        if books is not None:
            values[TRY_WORK, i] = power_sum(series, CHANNELS * i + WORKED, at, degree)
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
    values, marks, series, degree = work.values, work.marks, work.series, highest_power(work)
    row, path = CHANNELS * nc + 1, CHANNELS * nc
    first = CHANNELS * who
    if kind == OUT_OF_CONE:
        return -1
    for k in range(degree + 1):
        value = 0.0
        if kind == CUT_SHORT:
            value = series[path, k]
        elif kind == LET_GO:
            value = -series[first + RATE0, k] if k < degree else 0.0
        elif kind == JAMS:
            value = series[first + RATE0, k] / values[GLOBAL, JAMMED] if k < degree else 0.0
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
    elif kind == JAMS:
        series[row, 0] -= 1.0
    return row


@kernel
def value_and_slope(series: Array, row: int, at: float, degree: int) -> tuple[float, float]:
    """A row's power series at a point, and its derivative."""
    value, slope = series[row, degree], 0.0
    for k in range(degree - 1, -1, -1):
        slope = slope * at + value
        value = value * at + series[row, k]
    return value, slope


@kernel
def find_root(series: Array, row: int, high: float, degree: int) -> float:
    """Where a power series that is positive at ``high`` crosses zero: Newton between brackets.

    A velocity that is rounding all along may not be: then ``high`` is its zero as well as any other place.
    """
    low, at = 0.0, high
    if not series[row, 0] < 0.0:
        return 0.0
    value = power_sum(series, row, at, degree)
    if not value > 0.0:
        return high
    at = high * series[row, 0] / (series[row, 0] - value)
    for _ in range(NEWTON):
        value, slope = value_and_slope(series, row, at, degree)
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
    low, below, above, side, at = 0.0, -1.0, 1.0, 0, high
    for turn in range(2 + BISECTIONS):  # both ends first; one place of call, as in `first_event`
        if turn == 1:
            at = low
        elif turn > 1:
            at = (low * above - high * below) / (above - below)
            if not low < at < high:
                at = 0.5 * (low + high)
        rates_at(work, who, at)
        value = cone_excess(work, who)
        if turn == 0:
            above = value
            continue
        if turn == 1:
            below = value
            if not below < 0.0:
                break
            continue
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
def at_three(series: Array, row: int, at: Three, degree: int) -> Three:
    """`power_sum` of a row at three points, which takes hardly longer than one."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(degree, -1, -1):
        value = series[row, k]
        x, y, z = x * at[0] + value, y * at[1] + value, z * at[2] + value
    return x, y, z


@kernel
def is_clear(work: SpaceWork, m: int, h: float) -> bool:
    """Whether nothing shows at all the points where `clear_length` looks; three of them at a time."""
    series, marks, degree = work.series, work.marks, highest_power(work)
    for point in range(0, LOOKS + 1, 3):
        at = h * max(point, EARLY) / LOOKS, h * (point + 1) / LOOKS, h * (point + 2) / LOOKS
        for a in range(m):
            i = marks[LIST, a]
            first, held, sticks = CHANNELS * i, marks[ROLE, i] == HELD, marks[MOVES, i] == ZERO
            if marks[MOVES, i] == SLIDE:
                x, y, z = at_three(series, first + SIZE, at, degree)
                if not (x > 0.0 and y > 0.0 and z > 0.0):
                    return False
            if held or sticks:
                x, y, z = at_three(series, first + RATE0, at, degree - 1)
                if not (x > 0.0 and y > 0.0 and z > 0.0):
                    return False
                if sticks:
                    mu = work.values[MU, i]
                    p, q, r = at_three(series, first + RATE1, at, degree - 1)
                    s, t, u = at_three(series, first + RATE2, at, degree - 1)
                    x, y, z = mu * x, mu * y, mu * z
                    if not (p * p + s * s < x * x and q * q + t * t < y * y and r * r + u * u < z * z):
                        return False
    return True


@kernel
def clear_length(work: SpaceWork, m: int, h: float) -> float:
    """How much of a step of length h shows its events at its middle and its end, where they are looked for.

    The series of a slip that vanishes goes on through zero with friction along the slip: the step ends
    before that. Friction of a sticking contact may leave its cone and come back, or a held contact pull for
    a while: the step ends meanwhile.
    """
    degree = highest_power(work)
    if is_clear(work, m, h):
        return h
    for _ in range(SHORTER):
        shorter = h
        for point in range(LOOKS + 1):
            at = h * max(point, EARLY) / LOOKS
            for a in range(m):
                i = work.marks[LIST, a]
                if work.marks[MOVES, i] == SLIDE:
                    if not power_sum(work.series, CHANNELS * i + SIZE, at, degree) > 0.0:
                        shorter = min(shorter, h * max(point - 1, 0) / LOOKS)
                elif work.marks[MOVES, i] == ZERO:
                    rates_at(work, i, at)
                    if cone_excess(work, i) > 0.0:
                        shorter = min(shorter, at)
                held = work.marks[ROLE, i] == HELD
                if held and power_sum(work.series, CHANNELS * i + RATE0, at, degree - 1) < -TINY:
                    shorter = min(shorter, at)
            if shorter < h:
                break
        if shorter > 0.0:
            return shorter
        h /= LOOKS
    return h


@kernel
def only_slows(work: SpaceWork, i: int) -> bool:
    """Whether contact i, pushed alone, slows its approach whichever way it slides."""
    values, at = work.values, 3 * i
    coupling = values[GRAM + at, at + 1] ** 2 + values[GRAM + at, at + 2] ** 2
    return values[MU, i] ** 2 * coupling <= values[GRAM + at, at] ** 2


@kernel
def peak_of(first: float, middle: float, last: float) -> float:
    """Where the parabola through three points of a step is highest if it is above 0 there; inf: nowhere."""
    bend = 2.0 * (first - 2.0 * middle + last)
    rise = 4.0 * middle - 3.0 * first - last
    if last > -math.inf and bend < 0.0 and 0.0 < rise < -2.0 * bend and rise * rise > 4.0 * first * bend:
        return -0.5 * rise / bend
    return math.inf


@kernel
def turning_point(work: SpaceWork, nc: int) -> float:
    """Where in the step a contact may have turned around and back, as a share of it; 0 where none has.

    By the parabola through a contact's normal velocity at the beginning, the middle and the end.
    """
    values, found = work.values, math.inf
    for i in range(nc):
        found = min(found, peak_of(-abs(values[C, 3 * i]), values[POINT, 3 * i + 1], values[POINT, 3 * i]))
    return found if found < math.inf else 0.0


@kernel
def first_event(
    work: SpaceWork, nc: int, m: int, books: Books, h: float, alone: bool
) -> tuple[float, int, int]:
    """Where the step of length h ends, why (GO_ON: no event), and whose event it is; TRY belongs to it.

    ``alone``: one driven contact pushes. If it slows down in every direction of slip, it never turns back.
    """
    may_turn = not (alone and only_slows(work, work.marks[LIST, 0]))
    kind, who, placings = GO_ON, -1, 0
    at, place = (0.5 * h, MIDDLE) if may_turn else (h, END)
    while placings <= PLACINGS:  # `look` has one place of call: the GPU's compiler copies what is called
        value, found, contact = look(work, nc, m, books, at)
        if kind == GO_ON and not value > 0.0:
            if place == END or place == END_AGAIN:
                peak = turning_point(work, nc) if may_turn and place == END else 0.0
                if not peak > 0.0:
                    return h, GO_ON, -1
                at, place = peak * h, PEAK
            else:
                at, place = h, (END if place == MIDDLE else END_AGAIN)
            continue
        if kind != GO_ON and (not value > PLACED or (found == kind and contact == who) or at == 0.0):
            break
        kind, who, placings = found, contact, placings + 1  # it comes before the one found so far
        if placings <= PLACINGS:
            row = event_polynomial(work, nc, m, books, kind, who)
            degree = highest_power(work)
            at = find_root(work.series, row, at, degree) if row >= 0 else leaves_cone(work, who, at)
    return at, kind, who
