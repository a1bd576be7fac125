"""Writing down a sample in space with friction polygons, see `routh.kernels.gradients.record`."""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients import record as book
from routh.kernels.gradients.record import (
    FRICTIONLESS,
    IDLE,
    IMPULSE_RETURNED,
    LENGTH_OVER,
    MORE,
    NOBODY,
    RETURNS,
    STICKS,
    STORES,
    TURNS,
    VANISHES,
    WALLS,
    WORK_RETURNED,
    Record,
    begin_record,
    next_entry,
    note_margin,
    note_tie,
    write_event,
)
from routh.kernels.space.straight import NOTHING, largest_rate, wall_ray
from routh.kernels.space.workspace import (
    BUDGET_ZERO,
    CUT_SHORT,
    DRIVEN,
    FREE,
    HELD,
    NORMAL_ZERO,
    SLIDE,
    WALL,
    ZERO,
    Books,
    Corners,
    SpaceWork,
)
from routh.validation import Array

SAME = 1e-12  # lengths that differ by less than this share of them are one
FARTHEST = 4.0  # a stage is cut at a share of this where nothing comes to rest before


@kernel
def begin_space(record: Record, work: SpaceWork, nc: int) -> None:
    """A new sample; a contact that begins without approach or slip is at a change of piece."""
    begin_record(record)
    for i in range(nc):
        note_margin(record, abs(work.start[3 * i]))
        if work.mu[i] > 0.0:
            note_margin(record, math.sqrt(work.start[3 * i + 1] ** 2 + work.start[3 * i + 2] ** 2))


@kernel
def write_pattern(record: Record, k: int, work: SpaceWork, nc: int, corners: Corners) -> None:
    """Roles, directions of friction and rates, into entry k."""
    for i in range(nc):
        face = FRICTIONLESS
        if work.role[i] != FREE and work.moves[i] == ZERO:
            face = STICKS
        elif work.role[i] != FREE and work.moves[i] == WALL:
            face = WALLS + work.corner[i]
        elif work.role[i] != FREE and work.moves[i] == SLIDE:
            face = TURNS  # with the disc only contacts that begin to slip go straight on
            if corners is not None:
                face = work.corner[i]
        record.role[k, i], record.face[k, i] = work.role[i], face
        record.book[k, i] = IDLE
        record.budget[k, i] = work.budget[i]
    for a in range(3 * nc):
        record.c[k, a] = work.now[a]
        record.rate[k, a] = work.rate[a]
        record.change[k, a] = work.change[a]


@kernel
def write_wall(record: Record, k: int, work: SpaceWork, nc: int, corners: Array, length: float) -> None:
    """The event of a slip that meets a wall, or vanishes on one, after this length."""
    count = corners.shape[0]
    for i in range(nc):
        at, j = 3 * i, work.corner[i]
        if work.role[i] == FREE or (work.moves[i] != WALL and work.moves[i] != SLIDE):
            continue
        for step in range(2):
            other = (j + 1) % count if step == 0 else (j + count - 1) % count
            a0, a1 = corners[j, 0] - corners[other, 0], corners[j, 1] - corners[other, 1]
            if work.moves[i] == WALL:
                a0, a1 = wall_ray(corners, j)
            gap = a0 * work.now[at + 1] + a1 * work.now[at + 2]
            rate = a0 * work.change[at + 1] + a1 * work.change[at + 2]
            meets = gap > 0.0 and rate < 0.0 and abs(gap / rate + length) <= SAME * length
            if meets and record.who[k] == NOBODY:
                write_event(record, k, VANISHES, i, NOBODY)
                record.direction[k, 0] = 0.0
                record.direction[k, 1], record.direction[k, 2] = a0, a1
    if record.who[k] == NOBODY:
        note_margin(record, 0.0)  # the derivative is that of a piece of fixed length


@kernel
def write_budget(record: Record, k: int, work: SpaceWork, nc: int, books: int, length: float) -> None:
    """The event of a budget that is used up after this length."""
    least = math.inf
    for i in range(nc):
        y, rate = work.now[3 * i], work.change[3 * i]
        if work.role[i] != DRIVEN or not work.budget[i] > 0.0 or y < 0.0:
            continue
        left = work.budget[i] / work.rate[3 * i]
        spent = left
        if books == 0:
            square = y * y + 2.0 * rate * left
            spent = 2.0 * left / (y + math.sqrt(square)) if square > 0.0 else math.inf
        if abs(spent - length) < least:
            least = abs(spent - length)
            write_event(record, k, IMPULSE_RETURNED if books == 1 else WORK_RETURNED, i, NOBODY)


@kernel
def write_straight(
    record: Record,
    work: SpaceWork,
    nc: int,
    corners: Corners,
    books: Books,
    kind: int,
    who: int,
    length: float,
) -> int:
    """A straight piece before it is walked, and what ends it; returns its entry."""
    k = next_entry(record)
    write_pattern(record, k, work, nc, corners)
    if corners is not None:
        pattern_margin(record, k, work, nc, corners)
    else:
        cone_margin(record, k, nc, work.mu)
    record.length[k], record.share[k], record.set_share[k] = length, 1.0, 0.0
    record.direction[k, 0], record.direction[k, 1] = 1.0, 0.0
    record.direction[k, 2] = 0.0
    write_event(record, k, LENGTH_OVER, NOBODY, NOBODY)
    if kind == NORMAL_ZERO:
        write_event(record, k, VANISHES, who, NOBODY)
    elif kind == BUDGET_ZERO:
        if books is not None:
            write_budget(record, k, work, nc, books, length)
    elif kind != CUT_SHORT and corners is not None:
        write_wall(record, k, work, nc, corners, length)
    record.setter[k] = MORE
    return k


@kernel
def write_stage(record: Record, nc: int, share: float, first: int) -> None:
    """Who set the length of the stage whose first piece is entry ``first``, if there is one."""
    if first >= int(record.total[book.ENTRIES]) or first >= len(record.event):
        return
    length, who = math.inf, NOBODY
    for i in range(nc):
        y, rate = record.c[first, 3 * i], record.change[first, 3 * i]
        if y * rate < 0.0 and -y / rate < length:
            length, who = -y / rate, i
    record.setter[first] = who if share < 1.0 and length < FARTHEST else NOBODY
    record.set_share[first] = share if record.setter[first] >= 0 else share * FARTHEST


@kernel
def pattern_margin(record: Record, k: int, work: SpaceWork, nc: int, corners: Array) -> None:
    """How near the rates are to another pattern, and slips to another sector."""
    count = corners.shape[0]
    size = largest_rate(work, nc)
    for i in range(nc):
        at = 3 * i
        if work.role[i] == FREE:
            continue
        if work.role[i] == HELD:
            note_margin(record, work.rate[at] / size)
        if not work.mu[i] > 0.0:
            continue
        j = work.corner[i]
        if work.moves[i] == ZERO or work.moves[i] == WALL:
            note_margin(record, inside_polygon(work, corners, i, work.moves[i] == WALL))
        slid = work.slip[i] == SLIDE
        t0, t1 = (work.now[at + 1], work.now[at + 2]) if slid else (work.change[at + 1], work.change[at + 2])
        unit = 1.0 if slid else size
        if work.moves[i] == SLIDE and work.slip[i] != WALL:
            for step in range(2):
                other = (j + 1) % count if step == 0 else (j + count - 1) % count
                gap = (corners[j, 0] - corners[other, 0]) * t0
                gap += (corners[j, 1] - corners[other, 1]) * t1
                note_margin(record, gap / unit)
        elif work.moves[i] == SLIDE:
            other, d = (j + 1) % count, 0.0
            d += (corners[j, 0] - corners[other, 0]) * work.change[at + 1]
            d += (corners[j, 1] - corners[other, 1]) * work.change[at + 2]
            note_margin(record, abs(d) / size)


@kernel
def inside_polygon(work: SpaceWork, corners: Array, i: int, on_wall: bool) -> float:
    """How far inside its polygon a contact's friction is, or inside its edge; a share of the radius."""
    count, j = corners.shape[0], work.corner[i]
    radius = work.mu[i] * max(work.rate[3 * i], 1e-300)
    f0, f1 = -work.rate[3 * i + 1] / radius, -work.rate[3 * i + 2] / radius
    least = 1.0
    for edge in range(count):
        other = (edge + 1) % count
        w0, w1 = wall_ray(corners, edge)
        inner = w0 * corners[edge, 0] + w1 * corners[edge, 1]
        if not on_wall:
            least = min(least, inner - w0 * f0 - w1 * f1)
        elif edge == j:
            e0, e1 = corners[other, 0] - corners[edge, 0], corners[other, 1] - corners[edge, 1]
            along = (e0 * (f0 - corners[edge, 0]) + e1 * (f1 - corners[edge, 1])) / (e0 * e0 + e1 * e1)
            least = min(along, 1.0 - along)
    return least


@kernel
def finish_straight(record: Record, k: int, work: SpaceWork, nc: int, books: Books) -> None:
    """A piece after it was walked: what restitution did, and how near its end is to another event."""
    for i in range(nc):
        y, before = record.c[k, 3 * i], record.budget[k, i]
        after = work.now[3 * i]
        if books is not None and record.role[k, i] != FREE:
            if y < 0.0 or (y == 0.0 and after < 0.0):
                record.book[k, i] = STORES
            elif record.role[k, i] == DRIVEN and before > 0.0:
                record.book[k, i] = RETURNS
            event = record.event[k]
            ends = event == IMPULSE_RETURNED or event == WORK_RETURNED
            if before > 0.0 and not (ends and record.who[k] == i):
                note_margin(record, work.budget[i])
        own = record.event[k] == VANISHES and record.who[k] == i
        normal = own and record.direction[k, 0] != 0.0
        if record.change[k, 3 * i] != 0.0 and not normal:
            if abs(after) <= NOTHING:
                note_tie(record, k, 3 * i)
            else:
                note_margin(record, abs(after))
        change = abs(record.change[k, 3 * i + 1]) + abs(record.change[k, 3 * i + 2])
        if work.mu[i] > 0.0 and change > 0.0:
            slip = math.sqrt(work.now[3 * i + 1] ** 2 + work.now[3 * i + 2] ** 2)
            if slip > NOTHING:
                note_margin(record, slip)
            elif not (own and not normal):
                note_tie(record, k, 3 * i + 1)
                note_tie(record, k, 3 * i + 2)


@kernel
def cone_margin(record: Record, k: int, nc: int, mu: Array) -> None:
    """How near the rates of an entry are to another pattern, with the true cone."""
    size = 1e-300
    for i in range(nc):
        size = max(size, record.rate[k, 3 * i])
    for i in range(nc):
        at, role, face = 3 * i, record.role[k, i], record.face[k, i]
        if role == HELD:
            note_margin(record, record.rate[k, at] / size)
        if face == STICKS:
            f0, f1 = record.rate[k, at + 1], record.rate[k, at + 2]
            radius = mu[i] * max(record.rate[k, at], 1e-300)
            note_margin(record, 1.0 - math.sqrt(f0 * f0 + f1 * f1) / radius)
        elif face == TURNS:
            d0, d1 = record.change[k, at + 1], record.change[k, at + 2]
            note_margin(record, math.sqrt(d0 * d0 + d1 * d1) / size)
