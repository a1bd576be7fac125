"""Curved pieces of a path: the true cone while something slides, with error control and events.

Each step is a power series (`routh.kernels.space.series`) and ends where its last power is as large as the
error that is allowed, or at the first event, which is a root of a polynomial.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.common.record import AIMED, FROM_ZERO, NOBODY, STEADY, TO_ZERO, Record, note_margin
from routh.kernels.space.advance import advance, effects, write_trace
from routh.kernels.space.curve_events import TINY, clear_length, first_event, highest_power, power_sum
from routh.kernels.space.equations import DEPENDENT, FIRST
from routh.kernels.space.newton import FINEST, NEARLY_CLOSED, gather, pick, put, solve
from routh.kernels.space.record import finish_curve, write_curve, write_end
from routh.kernels.space.series import (
    begin_series,
    distance_ahead,
    event_ahead,
    fill_series,
    find_clock,
    first_power,
    rate_of,
    size_of_power,
    step_length,
)
from routh.kernels.space.single_series import fill_single_series
from routh.kernels.space.straight import LONGEST
from routh.kernels.space.workspace import (
    BROKEN,
    CUT,
    CUT_SHORT,
    DRIVEN,
    ERROR,
    GO_ON,
    HELD,
    HIGHEST,
    MAY_END,
    NORMAL_ZERO,
    ORDER,
    PATH,
    PUSH0,
    RATE0,
    RATE1,
    RATE2,
    SIZE,
    SLIDE,
    SLIP0,
    SLIP1,
    SLIP_ZERO,
    STEPPED,
    STEPS,
    STIFF,
    TAKEN,
    UNIT0,
    UNIT1,
    WORKED,
    ZERO,
    Books,
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
MOST, LATER = 3.0, 6  # times what a step may use up: how much later a slip may end; lengths that are tried
DEAR = 10.0  # times the tolerance: where a slip ends with a larger error, friction is stiff
# pivots, and steps of several contacts, later where all of them slide, from which on friction is stiff; where
# derivatives are wanted finely, only what is so singular that its inverse would be wrong
NEAR_SINGULAR, SINGULAR, MANY, MANY_SLIDE, ALWAYS = 1e-3, 1e-7, 8.0, 32.0, 2.0
STRAIGHT = 2  # highest power along a straight line: that of work
POINTS, MORE_POINTS = 16, 64  # of a step in the trace; where normal rates change, or work is counted
RAYS = 8  # Newton steps for the direction to which a slip turns


@kernel
def least_slip(work: SpaceWork, m: int) -> float:
    """The least slip of a contact that slides; at most 1."""
    # reads moves, pushing, series
    least = 1.0
    for a in range(m):
        i = work.pushing[a]
        if work.moves[i] == SLIDE and work.series[i, SIZE, 0] > 0.0:
            least = min(least, work.series[i, SIZE, 0])
    return least


@kernel
def turning_of_others(work: SpaceWork, m: int, i: int) -> float:
    """How quickly the slips of the other contacts turn, per length of the path; at least 1."""
    # reads moves, pushing, series
    fastest = 1.0
    for a in range(m):
        j = work.pushing[a]
        other = work.series[j]
        if j != i and work.moves[j] == SLIDE and other[SIZE, 0] > 0.0:
            rate = math.sqrt(other[SLIP0, 0] ** 2 + other[SLIP1, 0] ** 2)
            fastest = max(fastest, rate / other[SIZE, 0])
    return fastest


@kernel
def turned_aside(length: float, closing: float, aside: float, yields: float) -> float:
    """Amount by which a slip that goes straight on misses zero; ``yields``: at which rate it turns back."""
    if not closing > 0.0:  # it may go far: only the direction itself is good enough
        return aside / max(yields - closing, 1e-300)
    if yields > 2.0 * closing:
        return length * min(aside / (yields - closing), 4.0)
    return length * min(aside / closing * max(1.0, closing / max(yields, 1e-300)), 4.0)


@kernel
def unit_aside(work: SpaceWork, i: int, across: float) -> float:
    """What a slip aside is divided by to tell how far it moves the velocity; ``across``: G that way."""
    # reads gram
    inertia = work.gram[3 * i + 1, 3 * i + 1] + work.gram[3 * i + 2, 3 * i + 2]
    return math.sqrt(across if across > DEPENDENT * inertia else inertia)  # nothing moves that way


@kernel
def look_at_slips(work: SpaceWork, nc: int, m: int, allowed: float) -> tuple[float, int, float]:
    """The contact that goes straight on to the end of its slip: (length left, contact or -1, error).

    It does where turning aside can no longer matter: slip times misalignment only falls from there. Beside
    other contacts the way must be short, since their slips go straight on as well: one that closes slowly
    would take them through zero and beyond, with friction along them.
    """
    # reads gram, moves, mu, pushing, series; hands on work
    G, ending, left, cost = work.gram, -1, math.inf, 0.0
    for a in range(m):
        i = work.pushing[a]
        own, g, h = work.series[i], 3 * i + 1, 3 * i + 2
        length = own[SIZE, 0]
        if work.moves[i] != SLIDE or not length > 0.0:
            continue
        u0, u1 = own[UNIT0, 0], own[UNIT1, 0]
        d0, d1 = own[SLIP0, 0], own[SLIP1, 0]
        closing, aside = -(u0 * d0 + u1 * d1), abs(u0 * d1 - u1 * d0)
        across = u1 * (G[g, g] * u1 - 2.0 * G[g, h] * u0) + G[h, h] * u0 * u0
        yields = work.mu[i] * own[RATE0, 0] * across  # slip turns back at this rate
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
            ending, left, cost = i, ahead, min(missed, length) / unit_aside(work, i, across)
    return left, ending, cost


@kernel
def follow_ray(work: SpaceWork, i: int, allowed: float) -> tuple[float, float]:
    """Contact i, which pushes alone, on along the direction to which its slip turns: (length left, error).

    Next to such a direction a slip that grows or falls slowly is stiff: a series would follow the last bit of
    turning in steps of a tenth of the slip. The first rates become those of the direction itself, and what is
    left of the turning is the error; where that is not allowed they stay, and the error is infinite.
    """
    # reads gram, mu, series; writes series; hands on work
    G, own, g, h = work.gram, work.series[i], 3 * i + 1, 3 * i + 2
    begin0, begin1, normal = own[UNIT0, 0], own[UNIT1, 0], own[RATE0, 0]
    length, most = own[SIZE, 0], work.mu[i] * normal
    u0, u1 = begin0, begin1
    for _ in range(RAYS):
        d0 = normal * G[g, 3 * i] - most * (G[g, g] * u0 + G[g, h] * u1)
        d1 = normal * G[h, 3 * i] - most * (G[h, g] * u0 + G[h, h] * u1)
        across = u1 * (G[g, g] * u1 - 2.0 * G[g, h] * u0) + G[h, h] * u0 * u0
        grows = u0 * d0 + u1 * d1
        pulls = most * across + grows  # at which rate a slip beside the direction turns to it
        angle = (u0 * d1 - u1 * d0) / pulls if pulls > 0.0 else math.inf
        if not abs(angle) * length <= allowed:
            return math.inf, math.inf
        scale = 1.0 / math.sqrt(1.0 + angle * angle)
        u0, u1 = scale * (u0 - angle * u1), scale * (u1 + angle * u0)
        if abs(angle) <= TINY:
            own[RATE1, 0], own[RATE2, 0] = -most * u0, -most * u1
            missed = length * abs(begin0 * u1 - begin1 * u0) / unit_aside(work, i, across)
            return (-length / grows if grows < 0.0 else math.inf), missed
    return math.inf, math.inf


@kernel
def straighten(work: SpaceWork, nc: int, m: int, books: Books) -> None:
    """The series of motion on with the rates of its beginning."""
    # reads now, pushing, role, series, weight; writes course, series; hands on work
    work.course[HIGHEST] = STRAIGHT
    for k in range(STRAIGHT + 1):
        work.series[nc, PATH, k] = 1.0 if k == 1 else 0.0
        for a in range(m):
            own = work.series[work.pushing[a]]
            for part in range(3):
                own[PUSH0 + part, k] = own[RATE0 + part, 0] if k == 1 else 0.0
                if k > 0:
                    own[RATE0 + part, k] = 0.0
            if books is not None:
                own[WORKED, k] = 0.0
    if books is not None:
        for a in range(m):
            i = work.pushing[a]
            if work.role[i] == DRIVEN:  # the normal velocity is linear, so its work is quadratic
                work.series[i, WORKED, 1] = work.weight[i] * work.now[3 * i]
                work.series[i, WORKED, 2] = 0.5 * work.weight[i] * rate_of(work, m, FIRST, 3 * i)


@kernel
def trace_points(work: SpaceWork, m: int, books: Books, h: float) -> None:
    """Write the impulses of a step to the trace, point by point; `trial` stays what it is."""
    # reads impulse, point, pushing, role, series; writes impulse, point; hands on work
    points = POINTS if books is None else MORE_POINTS
    for a in range(m):
        at = 3 * work.pushing[a]
        if work.role[work.pushing[a]] == HELD:
            points = MORE_POINTS
        for row in range(at, at + 3):
            work.point[row] = 0.0
    for point in range(1, points + 1):
        for a in range(m):
            i = work.pushing[a]
            for part in range(3):
                now = power_sum(work.series[i, PUSH0 + part], h * point / points, highest_power(work))
                work.impulse[3 * i + part] = now - work.point[3 * i + part]
                work.point[3 * i + part] = now
        write_trace(work, m, work.impulse)


@kernel
def step_to_rest(work: SpaceWork, m: int, slipping: int, h: float, eps: float) -> float:
    """An implicit step of length h from now to `trial`: how far what it ends with is from rest.

    That is the slip of the contact whose slip ends and of those that stick; infinite where there is no such
    step, or a held contact lets go. `stage1` are its rates.
    """
    # reads moves, now, pushed, pushing, role, series, speed, stage1
    # writes base, pushed, stage1, trial
    # hands on work
    for a in range(m):
        for part in range(3):
            work.stage1[3 * a + part] = work.series[work.pushing[a], RATE0 + part, 0]
    gather(work, m)
    pick(work, m, work.now, work.base)
    if not solve(work, m, None, work.stage1, h, eps, False) <= NEARLY_CLOSED:
        return math.inf
    moved = 0.0
    for a in range(m):
        i, at = work.pushing[a], 3 * a
        if i == slipping or work.moves[i] == ZERO:
            moved = max(moved, math.sqrt(work.speed[at + 1] ** 2 + work.speed[at + 2] ** 2))
        if work.role[i] == HELD and not abs(work.speed[at]) <= TINY:
            return math.inf
        for part in range(3):
            work.pushed[at + part] = h * work.stage1[at + part]
    put(work, m, work.pushed, work.trial)
    return moved


@kernel
def end_slip(work: SpaceWork, m: int, slipping: int, h: float, allowed: float, fine: bool) -> float:
    """Friction takes what is left of a slip in an implicit step to `trial`, of length h or a little more.

    Returns by how much that is wrong: what is not at rest, how much longer it is; infinite if too much is.
    """
    # hands on work
    eps, over = (0.0 if fine else FINEST), 0.0
    for _ in range(LATER):
        moved = step_to_rest(work, m, slipping, h + over, eps)
        if moved <= allowed:
            return over + moved
        over = 2.0 * over + moved
        if not over <= MOST * allowed:
            break
    return math.inf


@kernel
def opposes_slips(work: SpaceWork, m: int, slack: float) -> bool:
    """Whether `trial` pushes, and its friction opposes the mean slips: none went through zero unseen."""
    # reads now, pushing, trial; hands on work
    for a in range(m):
        i = work.pushing[a]
        at = 3 * i
        _, t0, t1 = effects(work, m, work.trial, i)
        power = work.trial[at + 1] * (work.now[at + 1] + 0.5 * t0)
        power += work.trial[at + 2] * (work.now[at + 2] + 0.5 * t1)
        if not (power <= slack and work.trial[at] >= -slack):
            return False
    return True


@kernel
def move(work: SpaceWork, nc: int, m: int, books: Books, kind: int, who: int) -> None:
    """Advance to `trial`."""
    # reads course, impulse, pushing, trial, trial_work, weight; writes course, impulse, worked; hands on work
    i = work.pushing[0]
    for row in range(3 * nc):
        work.impulse[row] = work.trial[row]
    if books is not None:
        for j in range(nc):
            work.worked[j] = work.trial_work[j]
    advance(work, nc, m, books, 0.0, who if kind == NORMAL_ZERO else -1, True)
    work.course[CUT] -= work.impulse[3 * i] / work.weight[i]


@kernel
def write_series(
    work: SpaceWork, nc: int, m: int, books: Books, size: int, begins: bool, clock: int, allowed: float
) -> tuple[float, float]:
    """The series of one step: its length, and the size of its last power, which is HIGHEST."""
    # writes course; hands on work
    single = m == 1 and size == 0 and not begins
    error = min(allowed, math.sqrt(allowed) * least_slip(work, m))
    h = event_ahead(work, nc, m, clock)
    if single:
        degree, last = fill_single_series(work, nc, clock, books, h, error)
    else:
        degree, last = fill_series(work, nc, m, books, size, begins, clock, h, error)
    work.course[HIGHEST] = degree
    if not last < math.inf:
        last = size_of_power(work, m, books, degree)
    if degree == ORDER or begins:
        h = step_length(work, m, books, degree, last, error)
    return (h if single else clear_length(work, m, h)), last


@kernel
def step_curve(
    work: SpaceWork, nc: int, m: int, books: Books, record: Record | None, tolerance: float
) -> tuple[int, int]:
    """One step along a curve: (kind of the event at its end, contact); STEPPED: there is none.

    Of the m contacts that push a driven one is first; `moves` says what their slip does. The direction of a
    small slip counts for the others, so a step is exact to a share of it, too. BROKEN: slip begins too slowly
    for a series. What is called has one place of call: the GPU's compiler copies it.
    """
    # reads work.course, work.moves, work.pushing, work.series, work.trace, work.trial
    # writes work.course, work.moves, work.trial
    # hands on record, work
    allowed, entry, taken = LOCAL * tolerance, NOBODY, work.course[TAKEN]
    begins = begin_series(work, m, books)
    size, pivot = first_power(work, m)
    singular, fine = (NEAR_SINGULAR, False) if tolerance > FINE else (SINGULAR, True)
    if pivot < singular or (m > 1 and taken >= (MANY if size > 0 else MANY_SLIDE) and not fine):
        work.course[STIFF] = ALWAYS if fine else 1.0
        return GO_ON, -1
    left, slipping, cost, last = math.inf, -1, 0.0, 0.0
    if work.course[MAY_END] > 0.0:
        if m == 1 and not begins and not fine and work.moves[work.pushing[0]] == SLIDE:
            left, cost = follow_ray(work, work.pushing[0], allowed)
            slipping = work.pushing[0] if cost < math.inf else -1
        if slipping < 0:
            left, slipping, cost = look_at_slips(work, nc, m, allowed)
        work.course[STEPS] += 1.0
    h, clock, single = min(left, FAR), slipping, m == 1
    if slipping >= 0:  # on with the rates of now, until it vanishes
        straighten(work, nc, m, books)
    else:
        single = m == 1 and size == 0 and not begins
        clock = work.pushing[0] if single else find_clock(work, m, begins)
        h, last = write_series(work, nc, m, books, size, begins, clock, allowed)
        if not h > (SHORT if begins else NO_STEP):
            if m > 1 and work.course[STIFF] == 0.0 and not fine:
                work.course[STIFF] = 1.0
                return GO_ON, -1
            if record is not None and taken > 0.0:
                note_margin(record, 0.0)  # where it jams is no event
            return BROKEN, -1
    h, kind, who = first_event(work, nc, m, books, h, single)
    if kind == NORMAL_ZERO and not h > NO_STEP and m > 1 and work.course[STIFF] == 0.0 and not fine:
        work.course[STIFF] = 1.0
        return GO_ON, -1
    way, error = (FROM_ZERO if begins else STEADY), TAIL * cost
    if slipping < 0:
        error = TAIL * last * h ** highest_power(work)
    elif kind != GO_ON:
        way = AIMED
    elif left >= FAR:
        work.course[ERROR] += error
        return CUT_SHORT, -1
    else:
        missed = end_slip(work, m, slipping, h, allowed, fine) if h > 0.0 else math.inf
        if not missed < math.inf:
            missed = work.series[slipping, SIZE, 0]
            if missed > LAST * allowed:
                work.course[MAY_END] = 0.0  # the same step again, as a curve
                return STEPPED, -1
            for row in range(3 * nc):
                work.trial[row] = 0.0
        kind, who, way, error = SLIP_ZERO, slipping, TO_ZERO, error + missed
        if error > DEAR * tolerance:  # next to a direction in which friction moves almost nothing
            work.course[STIFF] = ALWAYS if fine else 1.0
            return GO_ON, -1
    if not work.trial[3 * work.pushing[0]] < LONGEST:
        return BROKEN, -1
    if m > 1 and not fine and not opposes_slips(work, m, allowed + error):
        work.course[STIFF] = 1.0
        return GO_ON, -1
    work.course[ERROR] += error
    if record is not None:
        entry = write_curve(record, work, nc, m, h, clock, way)
        write_end(record, work, nc, books, kind, who)
    if way == TO_ZERO:
        work.moves[slipping] = ZERO
    if slipping >= 0:
        write_trace(work, m, work.trial)
    elif work.trace.shape[0] > 0:
        trace_points(work, m, books, h)
    move(work, nc, m, books, kind, who)
    if record is not None:
        finish_curve(record, entry, work, nc, books)
    work.course[TAKEN], work.course[MAY_END] = taken + 1.0, 1.0
    if kind == GO_ON:
        if taken + 1.0 < (STEP_LIMIT if tolerance > FINE else FINE_LIMIT):
            return STEPPED, -1
        if record is not None:
            note_margin(record, 0.0)  # where the last step ends is no event
        return CUT_SHORT, -1
    return kind, who
