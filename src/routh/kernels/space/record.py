"""Writing down a sample in space, straight pieces and curves, see `routh.kernels.common.record`.

With friction polygons every piece is straight. With the true cone contacts that slide make it a curve, whose
steps are entries of their own, and what ends it is one without length.
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common import record as rec
from routh.kernels.common.record import (
    Record,
    end_margin,
    next_entry,
    note_margin,
    rates_margin,
    slip_of,
    write_book,
    write_event,
)
from routh.kernels.space import workspace as ws
from routh.kernels.space.curve_events import highest_power
from routh.kernels.space.straight import largest_rate, wall_ray
from routh.kernels.space.workspace import Books, Corners, SpaceWork
from routh.problem.rows import dot

ON_RIM = 1.0 - 1e-9  # share of its most beyond which friction is that of a slip
End = tuple[int, int, float, float]  # of a straight piece: why, whose event, normal of a wall of its polygon
FARTHEST = 4.0  # a stage is cut at a share of this where nothing comes to rest before


@kernel
def write_pattern(record: Record, work: SpaceWork, nc: int, corners: Corners, slides: int) -> int:
    """A new entry with roles and directions of friction; no rates and no event yet.

    ``slides``: the face of a contact that slides with the true cone.
    """
    # reads work.budget, work.corner, work.moves, work.now, work.role
    # writes record.face, record.role
    # hands on record
    k = next_entry(record, work.now, work.budget)
    for i in range(nc):
        face, pushes = rec.FRICTIONLESS, work.role[i] != rec.FREE
        if pushes and work.moves[i] == ws.ZERO:
            face = rec.STICKS
        elif pushes and work.moves[i] == ws.WALL:
            face = rec.WALLS + work.corner[i]
        elif pushes and work.moves[i] == ws.SLIDE:
            face = slides if corners is None else work.corner[i]
        record.role[k, i], record.face[k, i] = work.role[i], face
    return k


@kernel
def event_of(kind: int, books: Books) -> int:
    """The event by which a piece or a curve ends for a reason of the sampler's."""
    if kind == ws.BUDGET_ZERO and books is not None:
        return rec.IMPULSE_RETURNED if books == 1 else rec.WORK_RETURNED
    if kind == ws.OUT_OF_CONE:
        return rec.LEAVES_CONE
    if kind == ws.JAMS:
        return rec.RATE_REACHED
    return rec.VANISHES if kind in (ws.GO_ON, ws.NORMAL_ZERO, ws.SLIP_ZERO) else rec.LENGTH_OVER


@kernel
def write_straight(
    record: Record, work: SpaceWork, nc: int, corners: Corners, books: Books, end: End, length: float
) -> int:
    """A straight piece before it is walked, and what ends it; returns its entry."""
    # reads work.change, work.mu, work.rate
    # writes record.change, record.direction, record.length, record.rate
    # hands on record, work
    kind, who, n0, n1 = end
    k = write_pattern(record, work, nc, corners, rec.TURNS)  # only contacts that begin to slip go straight on
    for a in range(3 * nc):
        record.rate[k, a], record.change[k, a] = work.rate[a], work.change[a]
    rates_margin(record, k, nc, work.mu)
    if corners is not None:
        polygon_margin(record, work, nc, corners)
    record.length[k] = length
    if kind == ws.GO_ON:  # a slip meets a wall
        record.direction[k, 0], record.direction[k, 1], record.direction[k, 2] = 0.0, n0, n1
    write_event(record, k, event_of(kind, books), who, rec.NOBODY)
    return k


@kernel
def write_stage(record: Record, nc: int, share: float, first: int) -> None:
    """Who set the length of the stage whose first piece is entry ``first``, if there is one."""
    # reads c, change, event, setter, total; writes set_share, setter
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
def polygon_margin(record: Record, work: SpaceWork, nc: int, corners: Array) -> None:
    """How near friction is to another corner or wall of the polygon, and slips to another sector."""
    # reads work.change, work.corner, work.moves, work.mu, work.now, work.role, work.slip
    # hands on record, work
    count = corners.shape[0]
    size = largest_rate(work, nc)
    for i in range(nc):
        at, j, on_wall = 3 * i, work.corner[i], work.slip[i] == ws.WALL
        if work.role[i] == rec.FREE or not work.mu[i] > 0.0:
            continue
        if work.moves[i] == ws.ZERO or work.moves[i] == ws.WALL:
            note_margin(record, inside_polygon(work, corners, i, work.moves[i] == ws.WALL))
        elif work.moves[i] == ws.SLIDE:
            slip, unit = (work.now, 1.0) if work.slip[i] == ws.SLIDE else (work.change, size)
            for other in ((j + 1) % count, (j + count - 1) % count):
                gap = (corners[j, 0] - corners[other, 0]) * slip[at + 1]
                gap += (corners[j, 1] - corners[other, 1]) * slip[at + 2]
                note_margin(record, abs(gap) / unit if on_wall else gap / unit)
                if on_wall:  # from a wall only the other corner of its can be reached
                    break


@kernel
def inside_polygon(work: SpaceWork, corners: Array, i: int, on_wall: bool) -> float:
    """How far inside its polygon a contact's friction is, or inside its edge; a share of the radius."""
    # reads corner, mu, rate
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
def write_curve(record: Record, work: SpaceWork, nc: int, m: int, h: float, clock: int, way: int) -> int:
    """A step of a curve before it is walked; ``way``: whether a slip begins or ends. Returns its entry."""
    # reads record.rate, work.gram, work.moves, work.mu, work.pushing, work.series
    # writes record.change, record.curves, record.degree, record.length, record.rate
    # hands on record, work
    k = write_pattern(record, work, nc, None, rec.SLIDES)
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
        record.change[k, a] = dot(work.gram[a], record.rate[k], 3 * nc)
    rates_margin(record, k, nc, work.mu)
    write_event(record, k, rec.CURVE, way, clock)
    record.length[k] = h
    return k


@kernel
def write_instant(record: Record, work: SpaceWork, nc: int, event: int, who: int) -> int:
    """An entry without length beside implicit steps: where they begin (NOBODY), or an event."""
    # reads record.face, work.change, work.rate, work.slip
    # writes record.change, record.face, record.rate, record.role
    # hands on record, work
    k = write_pattern(record, work, nc, None, rec.SLIDES)
    for i in range(nc):
        if event != rec.NOBODY:  # an event depends on the state alone
            record.role[k, i], record.face[k, i] = rec.FREE, rec.FRICTIONLESS
        elif record.face[k, i] == rec.SLIDES and work.slip[i] == ws.ZERO:
            record.face[k, i] = rec.TURNS
    for a in range(3 * nc):
        record.rate[k, a], record.change[k, a] = work.rate[a], work.change[a]
    write_event(record, k, event, who, rec.NOBODY)
    return k


@kernel
def write_solve(
    record: Record, work: SpaceWork, nc: int, m: int, of: Array, h: float, weight: float, number: int,
    eps: float,
) -> None:  # fmt: skip
    """A solve of an implicit step of length h before it is walked: its rates ``of``, velocities `point`.

    ``eps``: slip at which contacts creep that stick with friction at its most.
    """
    # reads record.change, work.gram, work.mu, work.point, work.pushing, work.role
    # writes record.change, record.face, record.length, record.rate, record.role, record.share
    # hands on record, work
    k = write_pattern(record, work, nc, None, rec.TURNS)
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
    rates_margin(record, k, nc, work.mu)
    write_event(record, k, rec.SOLVE, number, rec.NOBODY)
    record.length[k], record.share[k] = h, eps


@kernel
def write_end(record: Record, work: SpaceWork, nc: int, books: Books, kind: int, who: int) -> None:
    """What ends the curve whose last step was written last, before that step is walked.

    Where it ends, and with which rates, is found once it is gone through, see `reverse_curve.find_ends`.
    """
    # writes record.degree, record.direction; hands on record, work
    if kind == ws.GO_ON or kind == ws.LET_GO:  # a force that is let go is zero: the rates go on as they were
        return
    k = write_pattern(record, work, nc, None, rec.SLIDES)
    write_event(record, k, event_of(kind, books), who, rec.NOBODY)
    record.degree[k], record.direction[k, 0] = rec.END, 0.0 if kind == ws.SLIP_ZERO else 1.0


@kernel
def finish_curve(record: Record, k: int, work: SpaceWork, nc: int, books: Books) -> None:
    """After a step was walked: what restitution did, in it and at its end."""
    # reads record.book, record.c, record.event, record.face, record.total, work.now
    # writes record.book
    # hands on record
    last = min(int(record.total[rec.ENTRIES]), len(record.event)) - 1
    for i in range(nc):
        write_book(record, k, i, work.now[3 * i], books)
        if last > k:
            record.book[last, i] = record.book[k, i]
            moves = work.now[3 * i] != record.c[k, 3 * i]
            slip, slides = slip_of(work.now, 3, i), record.face[last, i] == rec.SLIDES
            end_margin(record, last, i, work.now[3 * i], slip, moves, slides)
