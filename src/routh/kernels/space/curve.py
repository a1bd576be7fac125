"""Curved pieces of a path: the true cone while something slides, with error control and events.

Each step is a power series (`routh.kernels.space.series`) and ends where its last power is as large as the
error that is allowed, or at the first event, which is a root of a polynomial.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients.record import AIMED, FROM_ZERO, NOBODY, STEADY, TO_ZERO, Record, note_margin
from routh.kernels.gradients.record_curve import finish_curve, write_curve, write_end
from routh.kernels.space.advance import advance, copy_row, effect, effects, write_trace
from routh.kernels.space.curve_events import TINY, clear_length, first_event, highest_power, power_sum
from routh.kernels.space.equations import DEPENDENT, FIRST, fill_matrix, invert, list_unknown, unknown_value
from routh.kernels.space.powers import distance_ahead, event_ahead, rate_of, size_of_power, step_length
from routh.kernels.space.series import (
    begin_series,
    fill_series,
    find_clock,
    first_power,
)
from routh.kernels.space.single_series import alone_series, slides_alone
from routh.kernels.space.workspace import (
    BROKEN,
    CHANNELS,
    COL0,
    COL1,
    COL2,
    COURSE,
    CUT,
    CUT_SHORT,
    DRIVEN,
    ERROR,
    GLOBAL,
    GO_ON,
    GRAM,
    HIGHEST,
    IMPULSE,
    LIST,
    MAY_END,
    MOVE,
    MOVES,
    MU,
    NORMAL_ZERO,
    ORDER,
    POINT,
    PUSH0,
    RATE0,
    RATE1,
    RATE2,
    RIGHT,
    ROLE,
    ROW0,
    SIZE,
    SLIDE,
    SLIP_ZERO,
    STEPPED,
    STEPS,
    STIFF,
    TAKEN,
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

STEP_LIMIT = 160.0  # steps of one curve; then the stage is cut short, which is always allowed
FINE, FINE_LIMIT = 1e-8, 5000.0  # with tolerances up to FINE: derivatives are wanted, and the cut has none
LOCAL = 0.03  # share of the tolerance that one step may use up
TAIL = 3.0  # what the last power says of those left out, and of the shift of the event at the end
SHORT = 1e-6  # a slip that begins with steps shorter than this does not
NO_STEP = 1e-15  # a share of the speed: nothing moves by a step that is shorter, and powers of it vanish
FAR = 1e3  # lengths beyond this are none
LAST = 10.0  # slip below this many times what a step may use up, and closing, ends
MOST = 3.0  # times what a step may use up: by how much impulses may leave their cones where a slip ends
# pivots, and steps of several contacts, from which on friction is stiff; where derivatives are wanted, which
# implicit steps do not have, only what is so singular that its inverse would be wrong
NEAR_SINGULAR, SINGULAR, MANY, ALWAYS = 1e-3, 1e-7, 8.0, 2.0
STRAIGHT = 2  # highest power along a straight line: that of work
POINTS = 16  # of a step in the trace
RAYS = 8  # Newton steps for the direction to which a slip turns


@kernel
def least_slip(work: SpaceWork, m: int) -> float:
    """The least slip of a contact that slides; at most 1."""
    least = 1.0
    for a in range(m):
        i = work.marks[LIST, a]
        if work.marks[MOVES, i] == SLIDE and work.series[CHANNELS * i + SIZE, 0] > 0.0:
            least = min(least, work.series[CHANNELS * i + SIZE, 0])
    return least


@kernel
def turning_of_others(work: SpaceWork, m: int, i: int) -> float:
    """How quickly the slips of the other contacts turn, per length of the path; at least 1."""
    fastest = 1.0
    for a in range(m):
        j = work.marks[LIST, a]
        first = CHANNELS * j
        length = work.series[first + SIZE, 0]
        if j != i and work.marks[MOVES, j] == SLIDE and length > 0.0:
            rate = math.sqrt(work.series[first + TURN0, 0] ** 2 + work.series[first + TURN1, 0] ** 2)
            fastest = max(fastest, rate / length)
    return fastest


@kernel
def turned_aside(length: float, closing: float, aside: float, yields: float) -> float:
    """By how much a slip that goes straight on misses zero; ``yields``: at which rate it turns back."""
    if not closing > 0.0:  # it may go far: only the direction itself is good enough
        return aside / max(yields - closing, 1e-300)
    if yields > 2.0 * closing:
        return length * min(aside / (yields - closing), 4.0)
    return length * min(aside / closing * max(1.0, closing / max(yields, 1e-300)), 4.0)


@kernel
def look_at_slips(work: SpaceWork, nc: int, m: int, allowed: float) -> tuple[float, int, float]:
    """The contact that goes straight on to the end of its slip: (length left, contact or -1, error).

    It does where turning aside can no longer matter: slip times misalignment only falls from there. Beside
    other contacts the way must be short, since their slips go straight on as well: one that closes slowly
    would take them through zero and beyond, with friction along them.
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
        missed = turned_aside(length, closing, aside, yields)
        ahead = length / closing if closing > 0.0 else (0.0 if length <= TINY else math.inf)
        if missed <= allowed:  # friction that does not turn moves the slip aside all the way
            missed = max(missed, aside * min(min(ahead, FAR), distance_ahead(work, nc, m)))
        if m > 1 and ahead > 0.0:
            missed += ahead * ahead * turning_of_others(work, m, i)
        small = (closing > 0.0 and length <= LAST * allowed) or length <= TINY
        if m > 1 and small and not missed <= allowed:
            ahead = 0.0  # too far beside the others: what is left of it is within the error
        if (missed <= allowed or small) and (ending < 0 or ahead < left):
            inertia = (
                values[g, at + 1] + values[h, at + 2]
            )  # nothing turns aside where nothing moves that way
            unit = math.sqrt(across if across > DEPENDENT * inertia else inertia)
            ending, left, cost = i, ahead, min(missed, length) / unit
    return left, ending, cost


@kernel
def follow_ray(work: SpaceWork, i: int, allowed: float) -> tuple[float, float]:
    """Contact i, which pushes alone, on along the direction to which its slip turns: (length left, error).

    Next to such a direction a slip that grows or falls slowly is stiff: a series would follow the last bit of
    turning in steps of a tenth of the slip. The first rates become those of the direction itself, and what is
    left of the turning is the error; where that is not allowed they stay, and the error is infinite.
    """
    values, series, first, at = work.values, work.series, CHANNELS * i, 3 * i
    g, h = GRAM + at + 1, GRAM + at + 2
    begin0, begin1, normal = series[first + UNIT0, 0], series[first + UNIT1, 0], series[first + RATE0, 0]
    length, most = series[first + SIZE, 0], values[MU, i] * normal
    u0, u1 = begin0, begin1
    for _ in range(RAYS):
        d0 = normal * values[g, at] - most * (values[g, at + 1] * u0 + values[g, at + 2] * u1)
        d1 = normal * values[h, at] - most * (values[h, at + 1] * u0 + values[h, at + 2] * u1)
        across = u1 * (values[g, at + 1] * u1 - 2.0 * values[g, at + 2] * u0) + values[h, at + 2] * u0 * u0
        grows = u0 * d0 + u1 * d1
        pulls = most * across + grows  # at which rate a slip beside the direction turns to it
        angle = (u0 * d1 - u1 * d0) / pulls if pulls > 0.0 else math.inf
        if not abs(angle) * length <= allowed:
            return math.inf, math.inf
        scale = 1.0 / math.sqrt(1.0 + angle * angle)
        u0, u1 = scale * (u0 - angle * u1), scale * (u1 + angle * u0)
        if abs(angle) <= TINY:
            series[first + RATE1, 0], series[first + RATE2, 0] = -most * u0, -most * u1
            inertia = values[g, at + 1] + values[h, at + 2]  # nothing turns where nothing moves that way
            unit = math.sqrt(across if across > DEPENDENT * inertia else inertia)
            missed = length * abs(begin0 * u1 - begin1 * u0) / unit
            return (-length / grows if grows < 0.0 else math.inf), missed
    return math.inf, math.inf


@kernel
def straighten(work: SpaceWork, nc: int, m: int, books: Books) -> None:
    """The series of motion on with the rates of its beginning."""
    series, marks = work.series, work.marks
    path = CHANNELS * nc
    work.values[GLOBAL, HIGHEST] = STRAIGHT
    for k in range(STRAIGHT + 1):
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
                now = power_sum(work.series, row, h * point / POINTS, highest_power(work))
                values[IMPULSE, 3 * i + part] = now - values[POINT, 3 * i + part]
                values[POINT, 3 * i + part] = now
        write_trace(work, m, IMPULSE)


@kernel
def stop_slip(work: SpaceWork, nc: int, m: int, slipping: int) -> tuple[float, float, float]:
    """Friction takes what is left of a slip, so that velocity and impulse TRY stay one.

    Returns by how much that leaves the cones, see `outside_cones`, and the least pivot.
    """
    values, marks = work.values, work.marks
    marks[MOVES, slipping] = ZERO
    size = list_unknown(work, m)
    fill_matrix(work, nc, size, size, FIRST)
    least = invert(work, GRAM + 3 * nc, 3 * nc, size)
    marks[MOVES, slipping] = SLIDE
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
    moved, beyond = outside_cones(work, m)
    return moved, beyond, least


@kernel
def outside_cones(work: SpaceWork, m: int) -> tuple[float, float]:
    """What of TRY is outside its cone: how far it moves the velocity, by its energy; its largest friction.

    Contacts that squeeze each other may leave their cones by much that moves next to nothing.
    """
    values, beyond = work.values, 0.0
    for a in range(m):
        i = work.marks[LIST, a]
        at = 3 * i
        normal = max(values[TRY, at], 0.0)
        friction = math.sqrt(values[TRY, at + 1] ** 2 + values[TRY, at + 2] ** 2)
        share = max(1.0 - values[MU, i] * normal / max(friction, 1e-300), 0.0)
        beyond = max(beyond, share * friction)
        values[IMPULSE, at] = values[TRY, at] - normal
        values[IMPULSE, at + 1], values[IMPULSE, at + 2] = (
            share * values[TRY, at + 1],
            share * values[TRY, at + 2],
        )
    square = 0.0
    for a in range(m):
        at = 3 * work.marks[LIST, a]
        for row in range(at, at + 3):
            square += values[IMPULSE, row] * effect(work, m, IMPULSE, row)
    return math.sqrt(max(square, 0.0)), beyond


@kernel
def opposes_slips(work: SpaceWork, m: int, slack: float) -> bool:
    """Whether TRY pushes, and its friction opposes the mean slips: none went through zero unseen."""
    values = work.values
    for a in range(m):
        i = work.marks[LIST, a]
        at = 3 * i
        _, t0, t1 = effects(work, m, TRY, i)
        power = values[TRY, at + 1] * (values[C, at + 1] + 0.5 * t0)
        power += values[TRY, at + 2] * (values[C, at + 2] + 0.5 * t1)
        if not (power <= slack and values[TRY, at] >= -slack):
            return False
    return True


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
def write_series(
    work: SpaceWork, nc: int, m: int, books: Books, size: int, begins: bool, clock: int, allowed: float
) -> tuple[float, float]:
    """The series of one step: its length, and the size of its last power, which is HIGHEST."""
    values = work.values
    alone = m == 1 and size == 0 and not begins
    error = min(allowed, math.sqrt(allowed) * least_slip(work, m))
    h = event_ahead(work, nc, m, clock)
    if alone or (books is None and slides_alone(work, m, clock)):
        degree = alone_series(work, nc, m, clock, size, books, h, error)
    else:
        degree = fill_series(work, nc, m, books, size, begins, clock, h, error)
    values[GLOBAL, HIGHEST] = degree
    last = size_of_power(work, m, books, degree)
    if degree == ORDER or begins:
        h = step_length(work, m, books, degree, last, error)
    return (h if alone else clear_length(work, m, h)), last


@kernel
def step_curve(
    work: SpaceWork, nc: int, m: int, books: Books, record: Record | None, tolerance: float
) -> tuple[int, int]:
    """One step along a curve: (kind of the event at its end, contact); STEPPED: there is none.

    LIST holds the m contacts that push, a driven one first; MOVES says what their slip does. The direction of
    a small slip counts for the others, so a step is exact to a share of it, too. BROKEN: slip begins too
    slowly for a series. What is called has one place of call: the GPU's compiler copies it.
    """
    values, marks = work.values, work.marks
    allowed, entry, taken = LOCAL * tolerance, NOBODY, values[MOVE, TAKEN]
    begins = begin_series(work, m, books)
    size, pivot = first_power(work, nc, m)
    singular, fine = (NEAR_SINGULAR, False) if tolerance > FINE else (SINGULAR, True)
    if pivot < singular or (m > 1 and taken >= MANY and not fine):
        values[COURSE, STIFF] = ALWAYS if fine else 1.0
        return GO_ON, -1
    left, slipping, cost, last = math.inf, -1, 0.0, 0.0
    if values[MOVE, MAY_END] > 0.0:
        if m == 1 and not begins and not fine and marks[MOVES, marks[LIST, 0]] == SLIDE:
            left, cost = follow_ray(work, marks[LIST, 0], allowed)
            slipping = marks[LIST, 0] if cost < math.inf else -1
        if slipping < 0:
            left, slipping, cost = look_at_slips(work, nc, m, allowed)
        values[GLOBAL, STEPS] += 1.0
    h, clock, alone = min(left, FAR), slipping, m == 1
    if slipping >= 0:  # on with the rates of now, until it vanishes
        straighten(work, nc, m, books)
    else:
        alone = m == 1 and size == 0 and not begins
        clock = marks[LIST, 0] if alone else find_clock(work, m, begins)
        h, last = write_series(work, nc, m, books, size, begins, clock, allowed)
        if not h > (SHORT if begins else NO_STEP):
            if m > 1 and values[COURSE, STIFF] == 0.0 and not fine:
                values[COURSE, STIFF] = 1.0
                return GO_ON, -1
            if record is not None and taken > 0.0:
                note_margin(record, 0.0)  # where it jams is no event
            return BROKEN, -1
    h, kind, who = first_event(work, nc, m, books, h, alone)
    if kind == NORMAL_ZERO and not h > NO_STEP and m > 1 and values[COURSE, STIFF] == 0.0 and not fine:
        values[COURSE, STIFF] = 1.0
        return GO_ON, -1
    way, error = (FROM_ZERO if begins else STEADY), TAIL * cost
    if slipping < 0:
        error = TAIL * last * h ** highest_power(work)
    elif kind != GO_ON:
        way = AIMED
    elif left >= FAR:
        values[GLOBAL, ERROR] += error
        return CUT_SHORT, -1
    else:
        large = work.series[CHANNELS * slipping + SIZE, 0] > LAST * allowed
        outside, beyond, pivot = stop_slip(work, nc, m, slipping)
        if pivot < singular or (m > 1 and not fine and beyond > tolerance):
            values[COURSE, STIFF] = ALWAYS if fine else 1.0
            return GO_ON, -1
        if large and outside > MOST * allowed:
            values[MOVE, MAY_END] = 0.0  # the same step again, as a curve
            return STEPPED, -1
        kind, who, way, error = SLIP_ZERO, slipping, TO_ZERO, error + outside
    if m > 1 and not fine and not opposes_slips(work, m, allowed + error):
        values[COURSE, STIFF] = 1.0
        return GO_ON, -1
    values[GLOBAL, ERROR] += error
    if record is not None:
        entry = write_curve(record, work, nc, m, h, clock, way)
        write_end(record, work, nc, m, books, h, kind, who)
    if way == TO_ZERO:
        marks[MOVES, slipping] = ZERO
    if slipping >= 0:
        write_trace(work, m, TRY)
    elif work.trace.shape[0] > 0:
        trace_points(work, m, h)
    move(work, nc, m, books, kind, who)
    if record is not None:
        finish_curve(record, entry, work, nc, books)
    values[MOVE, TAKEN], values[MOVE, MAY_END] = taken + 1.0, 1.0
    if kind == GO_ON:
        if taken + 1.0 < (STEP_LIMIT if tolerance > FINE else FINE_LIMIT):
            return STEPPED, -1
        if record is not None:
            note_margin(record, 0.0)  # where the last step ends is no event
        return CUT_SHORT, -1
    return kind, who
