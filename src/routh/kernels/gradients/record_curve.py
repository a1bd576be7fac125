"""Writing down a curve of the true cone, step by step, see `routh.kernels.gradients.record`."""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients import record as book
from routh.kernels.gradients.record import (
    AIMED,
    CURVE,
    FRICTIONLESS,
    IDLE,
    IMPULSE_RETURNED,
    LEAVES_CONE,
    LENGTH_OVER,
    MORE,
    NOBODY,
    RATE_REACHED,
    RETURNS,
    SLIDES,
    STICKS,
    STORES,
    TO_ZERO,
    VANISHES,
    WORK_RETURNED,
    Record,
    next_entry,
    note_margin,
    note_tie,
    write_event,
)
from routh.kernels.gradients.record_space import cone_margin
from routh.kernels.space.curve_events import highest_power, power_sum, three_sums
from routh.kernels.space.straight import NOTHING
from routh.kernels.space.workspace import (
    ALONG,
    BUDGET_ZERO,
    DRIVEN,
    FREE,
    GO_ON,
    HELD,
    JAMS,
    LET_GO,
    NORMAL_ZERO,
    OUT_OF_CONE,
    PUSH0,
    RATE0,
    SIZE,
    SLIDE,
    SLIP_ZERO,
    ZERO,
    Books,
    SpaceWork,
)


@kernel
def write_faces(record: Record, k: int, work: SpaceWork, nc: int) -> None:
    """Roles, directions of friction, states and budgets, into entry k; no rates yet."""
    for i in range(nc):
        face = FRICTIONLESS
        if work.role[i] != FREE and work.moves[i] == ZERO:
            face = STICKS
        elif work.role[i] != FREE and work.moves[i] == SLIDE:
            face = SLIDES
        record.role[k, i], record.face[k, i] = work.role[i], face
        record.book[k, i] = IDLE
        record.budget[k, i] = work.budget[i]
    for a in range(3 * nc):
        record.c[k, a] = work.now[a]
        record.rate[k, a] = 0.0
    record.share[k], record.set_share[k] = 1.0, 0.0
    for part in range(3):
        record.direction[k, part] = 0.0


@kernel
def write_changes(record: Record, k: int, work: SpaceWork, nc: int) -> None:
    """What the rates of entry k change."""
    for a in range(3 * nc):
        value = 0.0
        for b in range(3 * nc):
            value += work.gram[a, b] * record.rate[k, b]
        record.change[k, a] = value


@kernel
def write_curve(record: Record, work: SpaceWork, nc: int, m: int, h: float, clock: int, way: int) -> int:
    """A step of a curve before it is walked; ``way``: whether a slip begins or ends. Returns its entry."""
    k = next_entry(record)
    write_faces(record, k, work, nc)
    degree = highest_power(work)
    record.degree[k] = degree
    for power in range(degree + 1):
        for a in range(3 * nc):
            record.curves[k, power, a] = 0.0
    for a in range(m):
        i = work.pushing[a]
        for part in range(3):
            record.rate[k, 3 * i + part] = work.series[i, RATE0 + part, 0]
            for power in range(1, degree + 1):
                record.curves[k, power, 3 * i + part] = work.series[i, PUSH0 + part, power]
        size = work.series[i, SIZE, 0]
        if work.moves[i] == SLIDE and work.series[i, ALONG, 0] >= 0.0 and size > 0.0:
            note_margin(
                record, size
            )  # one that falls will end, or grow, or is looked at where the curve ends
    write_changes(record, k, work, nc)
    cone_margin(record, k, nc, work.mu)
    write_event(record, k, CURVE, way, clock)
    record.length[k] = h
    record.setter[k] = MORE
    return k


@kernel
def write_end(
    record: Record, work: SpaceWork, nc: int, m: int, books: Books, h: float, kind: int, who: int
) -> None:
    """What ends the curve whose last step was written last, before that step is walked."""
    step = min(int(record.total[book.ENTRIES]), len(record.event)) - 1
    if kind == GO_ON or kind == LET_GO:  # a force that is let go is zero: the rates go on as they were
        return
    event = LENGTH_OVER
    if kind == NORMAL_ZERO or kind == SLIP_ZERO:
        event = VANISHES
    elif kind == BUDGET_ZERO and books is not None:
        event = IMPULSE_RETURNED if books == 1 else WORK_RETURNED
    elif kind == OUT_OF_CONE:
        event = LEAVES_CONE
    elif kind == JAMS:
        event = RATE_REACHED
    k = next_entry(record)
    write_faces(record, k, work, nc)
    for a in range(3 * nc):
        value = work.now[a]
        for b in range(m):
            i = work.pushing[b]
            n, p0, p1 = three_sums(work.series[i], PUSH0, h, highest_power(work))
            value += work.gram[a, 3 * i] * n
            value += work.gram[a, 3 * i + 1] * p0 + work.gram[a, 3 * i + 2] * p1
        record.c[k, a] = value
    for a in range(m):
        write_end_rates(record, k, step, work, work.pushing[a], h)
    write_changes(record, k, work, nc)
    write_event(record, k, event, who, NOBODY)
    record.setter[k], record.length[k] = MORE, 0.0
    record.direction[k, 0] = 1.0
    if kind == SLIP_ZERO:
        record.direction[k, 0] = 0.0
        t0, t1 = work.now[3 * who + 1], work.now[3 * who + 2]
        length = math.sqrt(t0 * t0 + t1 * t1)
        record.direction[k, 1], record.direction[k, 2] = t0 / length, t1 / length


@kernel
def write_end_rates(record: Record, k: int, step: int, work: SpaceWork, i: int, h: float) -> None:
    """The rates of contact i at the end of a step of length h."""
    at, degree = 3 * i, highest_power(work)
    straight = record.who[step] == TO_ZERO or record.who[step] == AIMED
    normal = record.rate[step, at]
    if work.role[i] == HELD and not straight:
        normal = power_sum(work.series[i, RATE0], h, degree - 1)
    record.rate[k, at] = normal
    if work.moves[i] == SLIDE and not straight:
        u0, u1 = record.c[k, at + 1], record.c[k, at + 2]
        push = -work.mu[i] * normal / math.sqrt(u0 * u0 + u1 * u1)
        record.rate[k, at + 1], record.rate[k, at + 2] = push * u0, push * u1
        return
    for part in range(1, 3):
        value = record.rate[step, at + part]
        if work.moves[i] == ZERO and not straight:
            value = power_sum(work.series[i, RATE0 + part], h, degree - 1)
        record.rate[k, at + part] = value


@kernel
def finish_curve(record: Record, k: int, work: SpaceWork, nc: int, books: Books) -> None:
    """After a step was walked: what restitution did, in it and at its end."""
    for i in range(nc):
        y, after = record.c[k, 3 * i], work.now[3 * i]
        role, what = record.role[k, i], IDLE
        if books is not None and role != FREE:
            if y < 0.0 or (y == 0.0 and after < 0.0):
                what = STORES
            elif role == DRIVEN and record.budget[k, i] > 0.0:
                what = RETURNS
        record.book[k, i] = what
        last = min(int(record.total[book.ENTRIES]), len(record.event)) - 1
        if last > k:
            record.book[last, i] = what
            end_margin(record, last, work, i, after != y)


@kernel
def end_margin(record: Record, last: int, work: SpaceWork, i: int, moves: bool) -> None:
    """How near contact i is to an event of its own where a curve ends, with entry ``last``."""
    own = record.event[last] == VANISHES and record.who[last] == i
    normal = own and record.direction[last, 0] != 0.0
    y, t0, t1 = work.now[3 * i], work.now[3 * i + 1], work.now[3 * i + 2]
    slip = math.sqrt(t0 * t0 + t1 * t1)
    if moves and not normal:
        if abs(y) <= NOTHING:
            note_tie(record, last, 3 * i)
        else:
            note_margin(record, abs(y))
    if record.face[last, i] == SLIDES and not (own and not normal):
        if slip <= NOTHING:
            note_tie(record, last, 3 * i + 1)
            note_tie(record, last, 3 * i + 2)
        else:
            note_margin(record, slip)
