"""Events of a step along a curve: roots of the power series of `routh.kernels.space.series`."""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common.one_contact import between, narrowed
from routh.kernels.space.advance import coupling, effect
from routh.kernels.space.workspace import (
    BUDGET_ZERO,
    CUT,
    CUT_SHORT,
    DRIVEN,
    GO_ON,
    HELD,
    HIGHEST,
    JAMMED,
    JAMS,
    LET_GO,
    NORMAL_ZERO,
    OUT_OF_CONE,
    PATH,
    PUSH0,
    PUSH1,
    PUSH2,
    RATE0,
    RATE1,
    RATE2,
    SIZE,
    SLIDE,
    VALUE,
    WORKED,
    ZERO,
    Books,
    SpaceWork,
)

PLACED = 1e-13  # how near to its zero an event is placed
TINY = 1e-11
PLACINGS, NEWTON, BISECTIONS = 8, 60, 60
EARLY = 0.125  # of the way to the first of these points: where friction is looked at before
LOOKS, SHORTER = 8, 4  # points of a step at which slips and friction are looked at; shorter steps tried
MIDDLE, END, PEAK, END_AGAIN = 0, 1, 2, 3  # where `first_event` looks, one after the other

Three = tuple[float, float, float]


@kernel
def highest_power(work: SpaceWork) -> int:
    """Highest power of the step's series; rates have one less."""
    # reads course
    return int(work.course[HIGHEST])


@kernel
def power_sum(powers: Array, at: float, degree: int) -> float:
    """A power series at a point."""
    value = 0.0
    for k in range(degree, -1, -1):
        value = value * at + powers[k]
    return value


@kernel
def three_sums(own: Array, first: int, at: float, degree: int) -> Three:
    """`power_sum` of three channels of a contact, which takes hardly longer than one."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(degree, -1, -1):
        x, y, z = x * at + own[first, k], y * at + own[first + 1, k], z * at + own[first + 2, k]
    return x, y, z


@kernel
def rates_at(work: SpaceWork, i: int, at: float) -> None:
    """`rate` of one contact at a point of the step."""
    # reads series; writes rate; hands on work
    n, f0, f1 = three_sums(work.series[i], RATE0, at, highest_power(work) - 1)
    work.rate[3 * i], work.rate[3 * i + 1], work.rate[3 * i + 2] = n, f0, f1


@kernel
def sinks(work: SpaceWork, m: int, i: int) -> bool:
    """Whether contact i, at rest with something to return, begins to approach again."""
    # reads pushing, series; hands on work
    value = 0.0
    for a in range(m):
        at, other = 3 * work.pushing[a], work.series[work.pushing[a]]
        value += coupling(work, 3 * i, at, other[PUSH0, 1], other[PUSH1, 1], other[PUSH2, 1])
    return value < -TINY


@kernel
def look(work: SpaceWork, nc: int, m: int, books: Books, at: float) -> tuple[float, int, int]:
    """The most advanced event at a point of the step: (value, kind, contact); before it below zero.

    `trial` and `trial_work` are the impulses and the work up to the point; `point` keeps how far each contact
    is from turning its normal velocity around, and behind that how far it was when looked at before.
    """
    # reads budget, course, moves, now, point, pushing, rate, role, series, trial, trial_work
    # writes point, trial, trial_work
    # hands on work
    degree = highest_power(work)
    for a in range(m):
        i = work.pushing[a]
        n, f0, f1 = three_sums(work.series[i], PUSH0, at, degree)
        work.trial[3 * i], work.trial[3 * i + 1], work.trial[3 * i + 2] = n, f0, f1
    value = power_sum(work.series[nc, PATH], at, degree) - work.course[CUT] - 1e-14
    kind, who = CUT_SHORT, -1
    for i in range(nc):
        before = work.now[3 * i]
        sign, rests = 0.0, work.role[i] == DRIVEN and before <= TINY
        if before < -TINY or (rests and (not work.budget[i] > 0.0 or sinks(work, m, i))):
            sign = 1.0
        elif before > TINY:
            sign = -1.0
        work.point[3 * i + 1], work.point[3 * i] = work.point[3 * i], -math.inf
        if sign != 0.0 and work.role[i] != HELD:
            y = sign * (before + effect(work, m, work.trial, 3 * i))
            work.point[3 * i] = y
            if y > value:
                value, kind, who = y, NORMAL_ZERO, i
    for a in range(m):
        i = work.pushing[a]
        if work.role[i] == HELD or work.moves[i] == ZERO:
            rates_at(work, i, at)
            normal = work.rate[3 * i]
            if -normal > value and work.role[i] == HELD:
                value, kind, who = -normal, LET_GO, i
            growth = normal / work.course[JAMMED] - 1.0
            if growth > value and work.role[i] == HELD:
                value, kind, who = growth, JAMS, i
            excess = cone_excess(work, i)
            if work.moves[i] == ZERO and excess > value:
                value, kind, who = excess, OUT_OF_CONE, i
        if books is not None:
            work.trial_work[i] = power_sum(work.series[i, WORKED], at, degree)
            if work.budget[i] > 0.0 and work.role[i] == DRIVEN:
                spent = work.trial_work[i]
                if books == 1:
                    spent = work.trial[3 * i] if work.now[3 * i] >= 0.0 else -1.0
                if spent - work.budget[i] > value:
                    value, kind, who = spent - work.budget[i], BUDGET_ZERO, i
    return value, kind, who


@kernel
def cone_excess(work: SpaceWork, i: int) -> float:
    """Share of its cone's radius by which the friction `rate` of contact i is outside."""
    # reads mu, rate
    at = 3 * i
    friction = math.sqrt(work.rate[at + 1] ** 2 + work.rate[at + 2] ** 2)
    return friction / (work.mu[i] * max(work.rate[at], 1e-300)) - 1.0 - 1e-9


@kernel
def write_value(work: SpaceWork, nc: int, m: int, books: Books, kind: int, who: int) -> None:
    """An event's value along the step as a power series; friction that leaves its cone has none."""
    # reads budget, course, gram, now, pushing, series; writes series; hands on work
    own, found, degree = work.series[max(who, 0)], work.series[nc, VALUE], highest_power(work)
    for k in range(degree + 1):
        value = 0.0
        if kind == CUT_SHORT:
            value = work.series[nc, PATH, k]
        elif kind == LET_GO:
            value = -own[RATE0, k] if k < degree else 0.0
        elif kind == JAMS:
            value = own[RATE0, k] / work.course[JAMMED] if k < degree else 0.0
        elif kind == NORMAL_ZERO:
            for a in range(m):
                at, other = 3 * work.pushing[a], work.series[work.pushing[a]]
                value += work.gram[3 * who, at] * other[PUSH0, k]
                value += (
                    work.gram[3 * who, at + 1] * other[PUSH1, k]
                    + work.gram[3 * who, at + 2] * other[PUSH2, k]
                )
            value = -value if work.now[3 * who] > TINY else value
        elif books is not None:
            value = own[PUSH0 if books == 1 else WORKED, k]
        found[k] = value
    if kind == CUT_SHORT:
        found[0] -= work.course[CUT]
    elif kind == NORMAL_ZERO and work.budget[who] > 0.0 and abs(work.now[3 * who]) <= TINY:
        for k in range(degree):  # what sinks from zero: its other zero
            found[k] = found[k + 1]
        found[degree] = 0.0
    elif kind == NORMAL_ZERO:
        found[0] -= abs(work.now[3 * who])
    elif kind == BUDGET_ZERO:
        found[0] -= work.budget[who]
    elif kind == JAMS:
        found[0] -= 1.0


@kernel
def find_root(powers: Array, high: float, degree: int) -> float:
    """Find where a power series that is positive at ``high`` crosses zero: Newton between brackets.

    A velocity that is rounding all along may not be: then ``high`` is its zero as well as any other place.
    """
    low = 0.0
    if not powers[0] < 0.0:
        return 0.0
    value = power_sum(powers, high, degree)
    if not value > 0.0:
        return high
    at = high * powers[0] / (powers[0] - value)
    for _ in range(NEWTON):
        value, slope = powers[degree], 0.0
        for k in range(degree - 1, -1, -1):
            slope = slope * at + value
            value = value * at + powers[k]
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
def excess_at(work: SpaceWork, i: int, at: float) -> float:
    """`cone_excess` at a point of the step."""
    # hands on work
    rates_at(work, i, at)
    return cone_excess(work, i)


@kernel
def leaves_cone(work: SpaceWork, who: int, high: float) -> float:
    """Find where the friction that keeps a contact sticking leaves its cone, before ``high``."""
    # hands on work
    bracket = 0.0, excess_at(work, who, 0.0), high, excess_at(work, who, high), 0
    if not bracket[1] < 0.0:
        return 0.0
    at = high
    for _ in range(BISECTIONS):
        at = between(bracket)
        if not bracket[0] < at < bracket[2]:
            at = 0.5 * (bracket[0] + bracket[2])
        value = excess_at(work, who, at)
        if abs(value) <= PLACED or bracket[2] - bracket[0] <= 1e-15 * bracket[2]:
            break
        bracket = narrowed(bracket, at, value)
    return at


@kernel
def at_three(powers: Array, at: Three, degree: int) -> Three:
    """`power_sum` at three points, which takes hardly longer than one."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(degree, -1, -1):
        value = powers[k]
        x, y, z = x * at[0] + value, y * at[1] + value, z * at[2] + value
    return x, y, z


@kernel
def is_clear(work: SpaceWork, m: int, h: float) -> bool:
    """Whether nothing shows at all the points where `clear_length` looks; three of them at a time."""
    # reads moves, mu, pushing, role, series; hands on work
    degree = highest_power(work)
    for point in range(0, LOOKS + 1, 3):
        at = h * max(point, EARLY) / LOOKS, h * (point + 1) / LOOKS, h * (point + 2) / LOOKS
        for a in range(m):
            i = work.pushing[a]
            own, held, sticks = work.series[i], work.role[i] == HELD, work.moves[i] == ZERO
            if work.moves[i] == SLIDE:
                x, y, z = at_three(own[SIZE], at, degree)
                if not (x > 0.0 and y > 0.0 and z > 0.0):
                    return False
            if held or sticks:
                x, y, z = at_three(own[RATE0], at, degree - 1)
                if not (x > 0.0 and y > 0.0 and z > 0.0):
                    return False
                if sticks:
                    mu = work.mu[i]
                    p, q, r = at_three(own[RATE1], at, degree - 1)
                    s, t, u = at_three(own[RATE2], at, degree - 1)
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
    # reads moves, pushing, role, series; hands on work
    degree = highest_power(work)
    if is_clear(work, m, h):
        return h
    for _ in range(SHORTER):
        shorter = h
        for point in range(LOOKS + 1):
            at = h * max(point, EARLY) / LOOKS
            for a in range(m):
                i = work.pushing[a]
                if work.moves[i] == SLIDE:
                    if not power_sum(work.series[i, SIZE], at, degree) > 0.0:
                        shorter = min(shorter, h * max(point - 1, 0) / LOOKS)
                elif work.moves[i] == ZERO and excess_at(work, i, at) > 0.0:
                    shorter = min(shorter, at)
                held = work.role[i] == HELD
                if held and power_sum(work.series[i, RATE0], at, degree - 1) < -TINY:
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
    # reads gram, mu
    at = 3 * i
    coupling = work.gram[at, at + 1] ** 2 + work.gram[at, at + 2] ** 2
    return work.mu[i] ** 2 * coupling <= work.gram[at, at] ** 2


@kernel
def peak_of(first: float, middle: float, last: float) -> float:
    """The place where a parabola through three points of a step is highest and above 0; inf: nowhere."""
    bend = 2.0 * (first - 2.0 * middle + last)
    rise = 4.0 * middle - 3.0 * first - last
    if last > -math.inf and bend < 0.0 and 0.0 < rise < -2.0 * bend and rise * rise > 4.0 * first * bend:
        return -0.5 * rise / bend
    return math.inf


@kernel
def turning_point(work: SpaceWork, nc: int) -> float:
    """The share of the step after which a contact may have turned around and back; 0 where none has.

    By the parabola through a contact's normal velocity at the beginning, the middle and the end.
    """
    # reads now, point
    found = math.inf
    for i in range(nc):
        found = min(found, peak_of(-abs(work.now[3 * i]), work.point[3 * i + 1], work.point[3 * i]))
    return found if found < math.inf else 0.0


@kernel
def first_event(
    work: SpaceWork, nc: int, m: int, books: Books, h: float, single: bool
) -> tuple[float, int, int]:
    """Find where the step of length h ends, why (GO_ON: no event), and by whom; `trial` belongs to it.

    ``single``: one driven contact pushes. If it slows down in every direction of slip, it never turns back.
    """
    # reads pushing, series; hands on work
    may_turn = not (single and only_slows(work, work.pushing[0]))
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
            if kind == OUT_OF_CONE:
                at = leaves_cone(work, who, at)
            else:
                write_value(work, nc, m, books, kind, who)
                at = find_root(work.series[nc, VALUE], at, highest_power(work))
    return at, kind, who
