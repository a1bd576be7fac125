"""The derivative backwards along a curve of the true cone, see `routh.kernels.reverse`.

Along a curve ``c' = F(c)`` the bar of the state obeys ``bar' = -(dF/dc)^T bar``, a linear equation along the
known curve, integrated here backwards by the classical Runge-Kutta method; the bars of G, friction and
restitution are integrals over it. Only the direction of slip, ``u = t / |t|``, depends on the state. Where a
slip begins or ends, steps are taken in the logarithm of the length, where all coefficients are bounded.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.events_rates import solve_linear
from routh.kernels.record import (
    BOOK,
    DRIVEN,
    FACE,
    FREE,
    FROM_ZERO,
    IDLE,
    LENGTH,
    OTHER,
    RATE,
    ROLE,
    SLIDES,
    STORES,
    TO_ZERO,
    WHO,
    C,
    Record,
)
from routh.kernels.reverse_rates import (
    LEFT,
    OF_BOUNCE,
    OF_CHANGE,
    OF_RATE,
    POINT,
    POINT_RATE,
    PUSH,
    SLOPE,
    SLOPES,
    STATE,
    TRIAL,
    Given,
    ReverseWork,
    coupling,
    list_unknowns,
    of_slip,
    pull_rates,
    times_G,
)

STEPS, LOG_STEPS = 6, 64  # of a steady step along a curve; of one in which a slip begins or ends
TURNED, MOST_STEPS = 0.75, 20000  # by how much slips may turn in a step; steps at most
DECADES = 23.0  # natural logarithm of the share of such a step that is left out


@kernel
def look_at_point(record: Record, k: int, given: Given, own: ReverseWork, at: float) -> int:
    """POINT and POINT_RATE: the state and the rates of a curve at a point; returns the number of unknowns."""
    bars, n = own.bars, own.bars.shape[1]
    powers = record.curves.shape[2]
    for a in range(n):
        value = 0.0
        for power in range(powers - 1, -1, -1):
            value = value * at + record.curves[k, a, power]
        bars[POINT_RATE, a] = value
    for a in range(n):
        bars[POINT, a] = record.states[k, C, a] + times_G(given, bars[POINT_RATE], a)
    for a in range(n):
        bars[POINT_RATE, a] = 0.0
    if record.head[k, WHO] == TO_ZERO:  # a slip that ends keeps its direction; rounding would not
        first = 3 * record.head[k + 1, WHO] + 1
        left = 1.0 - at / record.numbers[k, LENGTH]
        bars[POINT, first] = left * record.states[k, C, first]
        bars[POINT, first + 1] = left * record.states[k, C, first + 1]
    for i in range(len(given.mu)):
        if record.marks[k, ROLE, i] == FREE:
            continue
        normal = record.states[k, RATE, 3 * i] if record.marks[k, ROLE, i] == DRIVEN else 0.0
        bars[POINT_RATE, 3 * i] = normal
        if record.marks[k, FACE, i] == SLIDES:
            t0, t1 = bars[POINT, 3 * i + 1], bars[POINT, 3 * i + 2]
            length = math.sqrt(t0 * t0 + t1 * t1)
            own.units[i, 0], own.units[i, 1] = t0 / length, t1 / length
            bars[POINT_RATE, 3 * i + 1] = -given.mu[i] * normal * own.units[i, 0]
            bars[POINT_RATE, 3 * i + 2] = -given.mu[i] * normal * own.units[i, 1]
    m = list_unknowns(record, k, given, own)
    if m > 0:
        for e in range(m):
            right = 0.0
            for part in range(3):
                if own.rows[e, part] != 0.0:
                    right -= own.rows[e, part] * times_G(given, bars[POINT_RATE], 3 * own.whose[e] + part)
            own.system[e, m] = right
            for f in range(m):
                own.system[e, f] = coupling(given, own, e, f)
        solve_linear(own.system, 0, m)
        for e in range(m):
            for part in range(3):
                bars[POINT_RATE, 3 * own.whose[e] + part] += own.columns[e, part] * own.system[e, m]
    return m


@kernel
def slope_at(record: Record, k: int, given: Given, own: ReverseWork, at: float, weight: float) -> None:
    """SLOPE of the bar TRIAL at a point of a curve, against its length; other bars grow by ``weight``."""
    bars, n = own.bars, own.bars.shape[1]
    m = look_at_point(record, k, given, own, at)
    for a in range(n):
        bars[OF_CHANGE, a], bars[OF_RATE, a], bars[SLOPE, a] = bars[TRIAL, a], bars[PUSH, a], 0.0
    for i in range(len(given.mu)):
        what, bar, e = record.marks[k, BOOK, i], bars[LEFT, i], given.bounce[i]
        y, normal = bars[POINT, 3 * i], bars[POINT_RATE, 3 * i]
        if what == IDLE or bar == 0.0:
            continue
        if given.poisson == 1:  # the budget grows by e n or falls by n
            bars[OF_RATE, 3 * i] += bar * (e if what == STORES else -1.0)
            bars[OF_BOUNCE, i] += weight * bar * normal if what == STORES else 0.0
        else:  # by -e^2 y n, or y n
            share = e * e if what == STORES else 1.0
            bars[OF_RATE, 3 * i] -= bar * share * y
            bars[SLOPE, 3 * i] -= bar * share * normal
            bars[OF_BOUNCE, i] -= 2.0 * weight * bar * e * y * normal if what == STORES else 0.0
    pull_rates(record, k, given, own, bars[POINT_RATE], weight, m)
    for i in range(len(given.mu)):
        if record.marks[k, FACE, i] == SLIDES and record.marks[k, ROLE, i] != FREE:
            t0, t1 = bars[POINT, 3 * i + 1], bars[POINT, 3 * i + 2]
            turned0, turned1 = of_slip(given, own, i, bars[POINT_RATE, 3 * i], t0, t1)
            bars[SLOPE, 3 * i + 1] += turned0
            bars[SLOPE, 3 * i + 2] += turned1


@kernel
def place(record: Record, k: int, given: Given, own: ReverseWork, x: float) -> tuple[float, float]:
    """Where on the curve the variable x is, and by how much length grows with x there."""
    length = record.numbers[k, LENGTH]
    if record.head[k, WHO] == TO_ZERO:
        return length * (1.0 - math.exp(-x)), length * math.exp(-x)
    if record.head[k, WHO] == FROM_ZERO:
        at = length * math.exp(x - DECADES)
        return at, at
    clock = record.head[k, OTHER]
    if clock < 0:
        return x, 1.0
    look_at_point(record, k, given, own, x)
    t0, t1 = own.bars[POINT, 3 * clock + 1], own.bars[POINT, 3 * clock + 2]
    return x, math.sqrt(t0 * t0 + t1 * t1)


@kernel
def count_steps(record: Record, k: int, given: Given, own: ReverseWork) -> tuple[float, int]:
    """The range of x on a curve, and in how many steps slips turn by little in each."""
    length, way, clock = record.numbers[k, LENGTH], record.head[k, WHO], record.head[k, OTHER]
    steady = way != TO_ZERO and way != FROM_ZERO
    whole = length if steady else DECADES
    bars, fastest = own.bars, 0.0
    for end in range(2):
        if (end == 0 and way == FROM_ZERO) or (end == 1 and way == TO_ZERO):
            continue  # no slip there
        look_at_point(record, k, given, own, length if end == 1 else 0.0)
        speed = 1.0 if steady else length
        if clock >= 0:
            speed = math.sqrt(bars[POINT, 3 * clock + 1] ** 2 + bars[POINT, 3 * clock + 2] ** 2)
        for i in range(len(given.mu)):
            if record.marks[k, FACE, i] == SLIDES and record.marks[k, ROLE, i] != FREE:
                at = 3 * i + 1
                slip = math.sqrt(bars[POINT, at] ** 2 + bars[POINT, at + 1] ** 2)
                turns = given.mu[i] * bars[POINT_RATE, at - 1] * (given.G[at, at] + given.G[at + 1, at + 1])
                fastest = max(fastest, turns * speed / slip)
    least = STEPS if steady else LOG_STEPS
    return whole, max(least, int(min(whole * fastest / TURNED, float(MOST_STEPS))))


@kernel
def back_along_curve(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Turn the bars after a step along a curve, of a length that is fixed, into those before it."""
    bars, n = own.bars, own.bars.shape[1]
    whole, count = count_steps(record, k, given, own)
    width = whole / count
    for step in range(count - 1, -1, -1):
        for a in range(n):
            bars[TRIAL, a], bars[SLOPES, a] = bars[STATE, a], 0.0
        for stage in range(4):
            x = width * (step + (1.0 if stage == 0 else (0.0 if stage == 3 else 0.5)))
            share = width / (6.0 if stage == 0 or stage == 3 else 3.0)
            at, speed = place(record, k, given, own, x)
            slope_at(record, k, given, own, at, share * speed)
            ahead = width if stage == 2 else 0.5 * width
            for a in range(n):
                bars[SLOPES, a] += share * speed * bars[SLOPE, a]
                bars[TRIAL, a] = bars[STATE, a] + ahead * speed * bars[SLOPE, a]
        for a in range(n):
            bars[STATE, a] += bars[SLOPES, a]
