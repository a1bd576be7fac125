"""Writing down a sample in space, straight pieces and curves, see `routh.kernels.gradients.record`.

With friction polygons every piece is straight. With the true cone contacts that slide make it a curve, whose
steps are entries of their own, and what ends it is one without length.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients import record as rec
from routh.kernels.gradients.record import Record, next_entry, note_margin, note_tie, write_event
from routh.kernels.space import workspace as ws
from routh.kernels.space.curve_events import highest_power
from routh.kernels.space.straight import NOTHING, largest_rate, wall_ray
from routh.kernels.space.workspace import Books, Corners, SpaceWork
from routh.validation import Array

SAME = 1e-12  # lengths that differ by less than this share of them are one
ON_RIM = 1.0 - 1e-9  # share of its most beyond which friction is that of a slip
FARTHEST = 4.0  # a stage is cut at a share of this where nothing comes to rest before


@kernel
def begin_space(record: Record, work: SpaceWork, nc: int) -> None:
    """A new sample; a contact that begins without approach or slip is at a change of piece."""
    rec.begin_record(record)
    for i in range(nc):
        note_margin(record, abs(work.start[3 * i]))
        if work.mu[i] > 0.0:
            note_margin(record, math.sqrt(work.start[3 * i + 1] ** 2 + work.start[3 * i + 2] ** 2))


@kernel
def write_pattern(record: Record, k: int, work: SpaceWork, nc: int, corners: Corners, slides: int) -> None:
    """Roles, directions of friction, states and budgets, into entry k; no rates and no event yet.

    ``slides``: the face of a contact that slides with the true cone.
    """
    for i in range(nc):
        face = rec.FRICTIONLESS
        if work.role[i] != rec.FREE and work.moves[i] == ws.ZERO:
            face = rec.STICKS
        elif work.role[i] != rec.FREE and work.moves[i] == ws.WALL:
            face = rec.WALLS + work.corner[i]
        elif work.role[i] != rec.FREE and work.moves[i] == ws.SLIDE:
            face = slides if corners is None else work.corner[i]
        record.role[k, i], record.face[k, i], record.book[k, i] = work.role[i], face, rec.IDLE
        record.budget[k, i] = work.budget[i]
    for a in range(3 * nc):
        record.c[k, a], record.rate[k, a] = work.now[a], 0.0
    record.share[k], record.set_share[k], record.degree[k] = 1.0, 0.0, 0
    for part in range(3):
        record.direction[k, part] = 0.0


@kernel
def write_straight(
    record: Record, work: SpaceWork, nc: int, corners: Corners, books: Books, kind: int, who: int,
    length: float,
) -> int:  # fmt: skip
    """A straight piece before it is walked, and what ends it; returns its entry."""
    k = next_entry(record)
    write_pattern(record, k, work, nc, corners, rec.TURNS)  # only contacts that begin to slip go straight on
    for a in range(3 * nc):
        record.rate[k, a], record.change[k, a] = work.rate[a], work.change[a]
    if corners is not None:
        pattern_margin(record, k, work, nc, corners)
    else:
        cone_margin(record, k, nc, work.mu)
    record.length[k], record.direction[k, 0] = length, 1.0
    write_event(record, k, rec.LENGTH_OVER, rec.NOBODY, rec.NOBODY)
    if kind == ws.NORMAL_ZERO:
        write_event(record, k, rec.VANISHES, who, rec.NOBODY)
    elif kind == ws.BUDGET_ZERO:
        if books is not None:
            write_budget(record, k, work, nc, books, length)
    elif kind != ws.CUT_SHORT and corners is not None:
        write_wall(record, k, work, nc, corners, length)
    record.setter[k] = rec.MORE
    return k


@kernel
def write_wall(record: Record, k: int, work: SpaceWork, nc: int, corners: Array, length: float) -> None:
    """The event of a slip that meets a wall, or vanishes on one, after this length."""
    count = corners.shape[0]
    for i in range(nc):
        at, j = 3 * i, work.corner[i]
        if work.role[i] == rec.FREE or (work.moves[i] != ws.WALL and work.moves[i] != ws.SLIDE):
            continue
        for step in range(2):
            other = (j + 1) % count if step == 0 else (j + count - 1) % count
            a0, a1 = corners[j, 0] - corners[other, 0], corners[j, 1] - corners[other, 1]
            if work.moves[i] == ws.WALL:
                a0, a1 = wall_ray(corners, j)
            gap = a0 * work.now[at + 1] + a1 * work.now[at + 2]
            rate = a0 * work.change[at + 1] + a1 * work.change[at + 2]
            meets = gap > 0.0 and rate < 0.0 and abs(gap / rate + length) <= SAME * length
            if meets and record.who[k] == rec.NOBODY:
                write_event(record, k, rec.VANISHES, i, rec.NOBODY)
                record.direction[k, 0] = 0.0
                record.direction[k, 1], record.direction[k, 2] = a0, a1
    if record.who[k] == rec.NOBODY:
        note_margin(record, 0.0)  # the derivative is that of a piece of fixed length


@kernel
def write_budget(record: Record, k: int, work: SpaceWork, nc: int, books: int, length: float) -> None:
    """The event of a budget that is used up after this length."""
    least = math.inf
    for i in range(nc):
        y, rate = work.now[3 * i], work.change[3 * i]
        if work.role[i] != rec.DRIVEN or not work.budget[i] > 0.0 or y < 0.0:
            continue
        left = work.budget[i] / work.rate[3 * i]
        spent = left
        if books == 0:
            square = y * y + 2.0 * rate * left
            spent = 2.0 * left / (y + math.sqrt(square)) if square > 0.0 else math.inf
        if abs(spent - length) < least:
            least = abs(spent - length)
            write_event(record, k, rec.IMPULSE_RETURNED if books == 1 else rec.WORK_RETURNED, i, rec.NOBODY)


@kernel
def write_stage(record: Record, nc: int, share: float, first: int) -> None:
    """Who set the length of the stage whose first piece is entry ``first``, if there is one."""
    if first >= int(record.total[rec.ENTRIES]) or first >= len(record.event):
        return
    length, who = math.inf, rec.NOBODY
    for i in range(nc):
        y, rate = record.c[first, 3 * i], record.change[first, 3 * i]
        if y * rate < 0.0 and -y / rate < length:
            length, who = -y / rate, i
    record.setter[first] = who if share < 1.0 and length < FARTHEST else rec.NOBODY
    record.set_share[first] = share if record.setter[first] >= 0 else share * FARTHEST


@kernel
def pattern_margin(record: Record, k: int, work: SpaceWork, nc: int, corners: Array) -> None:
    """How near the rates are to another pattern, and slips to another sector."""
    count = corners.shape[0]
    size = largest_rate(work, nc)
    for i in range(nc):
        at = 3 * i
        if work.role[i] == rec.FREE:
            continue
        if work.role[i] == rec.HELD:
            note_margin(record, work.rate[at] / size)
        if not work.mu[i] > 0.0:
            continue
        j = work.corner[i]
        if work.moves[i] == ws.ZERO or work.moves[i] == ws.WALL:
            note_margin(record, inside_polygon(work, corners, i, work.moves[i] == ws.WALL))
        slid = work.slip[i] == ws.SLIDE
        t0, t1 = (work.now[at + 1], work.now[at + 2]) if slid else (work.change[at + 1], work.change[at + 2])
        unit = 1.0 if slid else size
        if work.moves[i] == ws.SLIDE and work.slip[i] != ws.WALL:
            for step in range(2):
                other = (j + 1) % count if step == 0 else (j + count - 1) % count
                gap = (corners[j, 0] - corners[other, 0]) * t0
                gap += (corners[j, 1] - corners[other, 1]) * t1
                note_margin(record, gap / unit)
        elif work.moves[i] == ws.SLIDE:
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
def cone_margin(record: Record, k: int, nc: int, mu: Array) -> None:
    """How near the rates of an entry are to another pattern, with the true cone."""
    size = 1e-300
    for i in range(nc):
        size = max(size, record.rate[k, 3 * i])
    for i in range(nc):
        at, role, face = 3 * i, record.role[k, i], record.face[k, i]
        if role == rec.HELD:
            note_margin(record, record.rate[k, at] / size)
        if face == rec.STICKS:
            f0, f1 = record.rate[k, at + 1], record.rate[k, at + 2]
            radius = mu[i] * max(record.rate[k, at], 1e-300)
            note_margin(record, 1.0 - math.sqrt(f0 * f0 + f1 * f1) / radius)
        elif face == rec.TURNS:
            d0, d1 = record.change[k, at + 1], record.change[k, at + 2]
            note_margin(record, math.sqrt(d0 * d0 + d1 * d1) / size)


@kernel
def write_curve(record: Record, work: SpaceWork, nc: int, m: int, h: float, clock: int, way: int) -> int:
    """A step of a curve before it is walked; ``way``: whether a slip begins or ends. Returns its entry."""
    k = next_entry(record)
    write_pattern(record, k, work, nc, None, rec.SLIDES)
    degree = highest_power(work)
    record.degree[k] = degree
    for power in range(degree + 1):
        for a in range(3 * nc):
            record.curves[k, power, a] = 0.0
    for a in range(m):
        i = work.pushing[a]
        for part in range(3):
            record.rate[k, 3 * i + part] = work.series[i, ws.RATE0 + part, 0]
            for power in range(1, degree + 1):
                record.curves[k, power, 3 * i + part] = work.series[i, ws.PUSH0 + part, power]
        size = work.series[i, ws.SIZE, 0]
        if work.moves[i] == ws.SLIDE and work.series[i, ws.ALONG, 0] >= 0.0 and size > 0.0:
            note_margin(record, size)  # of one that falls at its end, where it ends or has grown
    for a in range(3 * nc):
        record.change[k, a] = 0.0
        for b in range(3 * nc):
            record.change[k, a] += work.gram[a, b] * record.rate[k, b]
    cone_margin(record, k, nc, work.mu)
    write_event(record, k, rec.CURVE, way, clock)
    record.length[k] = h
    record.setter[k] = rec.MORE
    return k


@kernel
def write_instant(record: Record, work: SpaceWork, nc: int, event: int, who: int) -> int:
    """An entry without length beside implicit steps: where they begin (NOBODY), or an event."""
    k = next_entry(record)
    write_pattern(record, k, work, nc, None, rec.SLIDES)
    for i in range(nc):
        if event != rec.NOBODY:  # an event depends on the state alone
            record.role[k, i], record.face[k, i] = rec.FREE, rec.FRICTIONLESS
        elif record.face[k, i] == rec.SLIDES and work.slip[i] == ws.ZERO:
            record.face[k, i] = rec.TURNS
    for a in range(3 * nc):
        record.rate[k, a], record.change[k, a] = work.rate[a], work.change[a]
    write_event(record, k, event, who, rec.NOBODY)
    record.setter[k], record.length[k], record.direction[k, 0] = rec.MORE, 0.0, 1.0
    return k


@kernel
def write_solve(
    record: Record, work: SpaceWork, nc: int, m: int, of: Array, h: float, weight: float, number: int,
    eps: float,
) -> None:  # fmt: skip
    """A solve of an implicit step of length h before it is walked: its rates ``of``, velocities `point`.

    ``eps``: slip at which contacts creep that stick with friction at its most.
    """
    k = next_entry(record)
    write_pattern(record, k, work, nc, None, rec.TURNS)
    for a in range(3 * nc):
        record.change[k, a] = work.point[a] / weight
    for b in range(m):
        i = work.pushing[b]
        at = 3 * i
        if work.role[i] == rec.HELD and of[3 * b] <= record.change[k, at] / work.gram[at, at]:
            record.role[k, i], record.face[k, i] = rec.FREE, rec.FRICTIONLESS  # it has let go
            continue
        for part in range(3):
            record.rate[k, at + part] = of[3 * b + part]
        if work.mu[i] > 0.0:
            f0, f1, most = of[3 * b + 1], of[3 * b + 2], work.mu[i] * of[3 * b]
            slides = f0 * f0 + f1 * f1 > (ON_RIM * most) ** 2
            record.face[k, i] = rec.TURNS if slides else rec.STICKS
            if slides:  # a slip so slow that rounding has its direction is against friction, too
                slip = math.sqrt(work.point[at + 1] ** 2 + work.point[at + 2] ** 2) / (most * weight)
                record.change[k, at + 1], record.change[k, at + 2] = -slip * f0, -slip * f1
    cone_margin(record, k, nc, work.mu)
    write_event(record, k, rec.SOLVE, number, rec.NOBODY)
    record.setter[k], record.length[k], record.share[k] = rec.MORE, h, eps


@kernel
def write_end(record: Record, work: SpaceWork, nc: int, books: Books, kind: int, who: int) -> None:
    """What ends the curve whose last step was written last, before that step is walked.

    Where it ends, and with which rates, is found once it is gone through, see `reverse_curve.find_ends`.
    """
    if kind == ws.GO_ON or kind == ws.LET_GO:  # a force that is let go is zero: the rates go on as they were
        return
    event = rec.LENGTH_OVER
    if kind == ws.NORMAL_ZERO or kind == ws.SLIP_ZERO:
        event = rec.VANISHES
    elif kind == ws.BUDGET_ZERO and books is not None:
        event = rec.IMPULSE_RETURNED if books == 1 else rec.WORK_RETURNED
    elif kind == ws.OUT_OF_CONE:
        event = rec.LEAVES_CONE
    elif kind == ws.JAMS:
        event = rec.RATE_REACHED
    k = next_entry(record)
    write_pattern(record, k, work, nc, None, rec.SLIDES)
    write_event(record, k, event, who, rec.NOBODY)
    record.setter[k], record.length[k], record.degree[k] = rec.MORE, 0.0, rec.END
    record.direction[k, 0] = 0.0 if kind == ws.SLIP_ZERO else 1.0


@kernel
def write_book(record: Record, k: int, work: SpaceWork, i: int, books: Books) -> None:
    """What restitution did for contact i in the piece of entry k, which was walked."""
    y, role = record.c[k, 3 * i], record.role[k, i]
    if books is not None and role != rec.FREE:
        if y < 0.0 or (y == 0.0 and work.now[3 * i] < 0.0):
            record.book[k, i] = rec.STORES
        elif role == rec.DRIVEN and record.budget[k, i] > 0.0:
            record.book[k, i] = rec.RETURNS


@kernel
def finish_straight(record: Record, k: int, work: SpaceWork, nc: int, books: Books) -> None:
    """A piece after it was walked: what restitution did, and how near its end is to another event."""
    event = record.event[k]
    ends = event == rec.IMPULSE_RETURNED or event == rec.WORK_RETURNED
    for i in range(nc):
        write_book(record, k, work, i, books)
        returns = books is not None and record.role[k, i] != rec.FREE and record.budget[k, i] > 0.0
        if returns and not (ends and record.who[k] == i):
            note_margin(record, work.budget[i])
        change = abs(record.change[k, 3 * i + 1]) + abs(record.change[k, 3 * i + 2])
        slips = work.mu[i] > 0.0 and change > 0.0
        end_margin(record, k, work, i, record.change[k, 3 * i] != 0.0, slips)


@kernel
def finish_curve(record: Record, k: int, work: SpaceWork, nc: int, books: Books) -> None:
    """After a step was walked: what restitution did, in it and at its end."""
    last = min(int(record.total[rec.ENTRIES]), len(record.event)) - 1
    for i in range(nc):
        write_book(record, k, work, i, books)
        if last > k:
            record.book[last, i] = record.book[k, i]
            moves = work.now[3 * i] != record.c[k, 3 * i]
            end_margin(record, last, work, i, moves, record.face[last, i] == rec.SLIDES)


@kernel
def end_margin(record: Record, k: int, work: SpaceWork, i: int, moves: bool, slips: bool) -> None:
    """How near contact i is to an event of its own at the end of entry k, if it moves, or slips."""
    at, own = 3 * i, record.event[k] == rec.VANISHES and record.who[k] == i
    normal = own and record.direction[k, 0] != 0.0
    y, slip = abs(work.now[at]), math.sqrt(work.now[at + 1] ** 2 + work.now[at + 2] ** 2)
    if moves and not normal:
        if y <= NOTHING:
            note_tie(record, k, at)
        else:
            note_margin(record, y)
    if slips and slip > NOTHING:
        note_margin(record, slip)
    elif slips and not (own and not normal):
        note_tie(record, k, at + 1)
        note_tie(record, k, at + 2)
