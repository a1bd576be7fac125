"""Writing down a sample of the plane, see `routh.kernels.gradients.record`."""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients import record as rec
from routh.kernels.gradients.record import (
    Record,
    begin_record,
    next_entry,
    note_margin,
    note_tie,
    write_event,
)
from routh.kernels.plane import rates as plane
from routh.kernels.plane.pieces import FOREVER, ZERO
from routh.kernels.plane.rates import CODES, SLIPS, PlaneWork

WIDTH = 2
SAME = 1e-12  # lengths that differ by less than this share of them are one


@kernel
def begin_plane(record: Record, work: PlaneWork, nc: int) -> None:
    """A new sample; a contact that begins without approach or slip is at a change of piece."""
    begin_record(record)
    for i in range(nc):
        note_margin(record, abs(work.start[2 * i]))
        if work.mu[i] > 0.0:
            note_margin(record, abs(work.start[2 * i + 1]))


@kernel
def write_rates(record: Record, k: int, work: PlaneWork, nc: int, at: int, now: int) -> None:
    """Roles, directions of friction and rates of the place ``at``, into entry k.

    ``now`` is the place of the rates of the piece. Where a contact without friction slides to is no part of a
    pattern, yet a little friction would act against it.
    """
    known = work.known
    for i in range(nc):
        code = int(known[at, 4 * nc + CODES + i])
        role, slip = code // SLIPS, code % SLIPS - 1
        face = rec.STICKS if role != rec.FREE and work.mu[i] > 0.0 else rec.FRICTIONLESS
        if work.mu[i] == 0.0:
            t = work.now[2 * i + 1]
            t = t if t != 0.0 else known[now, 2 * nc + 2 * i + 1]
            slip = int(t > 0.0) - int(t < 0.0)
        if role != rec.FREE and slip != 0:
            face = 0 if slip > 0 else 1
        record.role[k, i], record.face[k, i], record.book[k, i] = role, face, rec.IDLE
        record.budget[k, i] = work.budget[i]
    for a in range(2 * nc):
        record.c[k, a] = work.now[a]
        record.rate[k, a] = known[at, a]
        record.change[k, a] = known[at, 2 * nc + a]


@kernel
def find_event(work: PlaneWork, nc: int, at: int, length: float, poisson: int) -> tuple[int, int, int]:
    """Which event is at this length, whose it is, and of which of its coordinates."""
    rates = work.known
    event, who, part = rec.NOBODY, rec.NOBODY, 0
    for i in range(nc):
        for p in range(2):
            c, change = work.now[2 * i + p], rates[at, 2 * nc + 2 * i + p]
            # of those that vanish together the first, whichever rounding lets be the first to do so
            if event == rec.NOBODY and c * change < 0.0 and abs(c + length * change) <= ZERO:
                event, who, part = rec.VANISHES, i, p
    for i in range(nc):
        if event == rec.NOBODY and abs(length_of_budget(work, nc, at, i, poisson) - length) <= SAME * length:
            event, who = rec.IMPULSE_RETURNED if poisson == 1 else rec.WORK_RETURNED, i
    return event, who, part


@kernel
def length_of_budget(work: PlaneWork, nc: int, at: int, i: int, poisson: int) -> float:
    """How far it is to where a contact that separates has returned everything."""
    rates = work.known
    y, rise = work.now[2 * i], rates[at, 2 * nc + 2 * i]
    normal, budget = rates[at, 2 * i], work.budget[i]
    if not (budget > 0.0 and normal > 0.0) or y < 0.0:
        return FOREVER
    b = budget / normal
    if poisson == 1:
        return b
    root = y * y + 2.0 * rise * b
    bottom = y + math.sqrt(root) if root > 0.0 else y
    return 2.0 * b / bottom if bottom > 0.0 else FOREVER


@kernel
def margin_beyond(
    record: Record, k: int, work: PlaneWork, nc: int, at: int, whole: float, poisson: int
) -> None:
    """How near the event, on the way to which a piece is cut short, is to others that would be the first."""
    rates = work.known
    ended, who = record.event[k], record.who[k]
    own = 2 * who + int(record.direction[k, 0] == 0.0) if ended == rec.VANISHES else rec.NOBODY
    for i in range(nc):
        for a in range(2 * i, 2 * i + 2):
            c, change = work.now[a], rates[at, 2 * nc + a]
            counts = a == 2 * i or rates[at, 2 * i] > 0.0 or work.now[2 * i] < 0.0
            if a == own or not (counts and c * change < 0.0):
                continue
            if abs(c + whole * change) <= ZERO:
                note_tie(record, k, -1 - a)
            else:
                note_margin(record, abs(c + whole * change))
        to_return = length_of_budget(work, nc, at, i, poisson)
        if to_return < FOREVER and (ended == rec.VANISHES or who != i):
            note_margin(record, abs(to_return - whole))


@kernel
def write_piece(
    record: Record, work: PlaneWork, nc: int, at: int, whole: float, length: float, corner: bool, poisson: int
) -> int:
    """A piece before it is walked; ``whole``: the length to its event. Returns its entry."""
    k = next_entry(record)
    write_rates(record, k, work, nc, at, at)
    rates_margin(record, k, work, nc)
    event, who, part = find_event(work, nc, at, whole, poisson)
    record.length[k], record.share[k] = length, length / whole
    for p in range(3):
        record.direction[k, p] = 1.0 if p == part else 0.0
    write_event(record, k, event, who, rec.NOBODY)
    if event == rec.NOBODY and not corner:
        note_margin(record, 0.0)  # the derivative is that of a piece of fixed length
    elif length < whole and not corner:
        margin_beyond(record, k, work, nc, at, whole, poisson)
    if corner:
        write_event(record, k, rec.CORNER, work.cut_at[0], work.cut_at[1])
        ahead = next_entry(record)
        write_rates(record, ahead, work, nc, work.cut_at[2], at)
        write_event(record, ahead, rec.AHEAD, rec.NOBODY, rec.NOBODY)
    return k


@kernel
def rates_margin(record: Record, k: int, work: PlaneWork, nc: int) -> None:
    """How near the rates are to another pattern: of sticking and sliding, of pushing and not."""
    size = 0.0
    for i in range(nc):
        size = max(size, record.rate[k, 2 * i])
    for i in range(nc):
        role, normal, friction = record.role[k, i], record.rate[k, 2 * i], record.rate[k, 2 * i + 1]
        if role == rec.FREE:
            continue
        if role != rec.DRIVEN:
            note_margin(record, normal / size)
        elif work.now[2 * i] == 0.0 and not work.budget[i] > 0.0:
            note_margin(record, abs(record.change[k, 2 * i]) / size)
        if record.face[k, i] == rec.STICKS:
            note_margin(record, 1.0 - abs(friction) / (work.mu[i] * max(normal, 1e-300)))
        elif work.now[2 * i + 1] == 0.0 and work.mu[i] > 0.0 and role != plane.EDGE:
            note_margin(record, abs(record.change[k, 2 * i + 1]) / size)


@kernel
def finish_plane(record: Record, k: int, work: PlaneWork, nc: int, elastic: bool, poisson: int) -> None:
    """A piece after it was walked: what restitution did, and how near its end is to another event."""
    partner = corner_partner(record, k)
    for i in range(nc):
        y, after, before = record.c[k, 2 * i], work.then[2 * i], record.budget[k, i]
        rate, left = record.rate[k, 2 * i], work.budget[i]
        if elastic and rate > 0.0:
            rests = poisson == 1 and y == 0.0 and after == 0.0 and not before > 0.0
            if y < 0.0 or after < 0.0 or rests:
                record.book[k, i] = rec.STORES
            elif before > 0.0:
                record.book[k, i] = rec.RETURNS
        ends = record.event[k] == rec.IMPULSE_RETURNED or record.event[k] == rec.WORK_RETURNED
        if before > 0.0 and not (ends and record.who[k] == i):
            note_margin(record, left)
        for part in range(WIDTH):
            a = WIDTH * i + part
            own = record.event[k] == rec.VANISHES and record.who[k] == i
            own = own and record.direction[k, part] != 0.0 and record.share[k] == 1.0
            matters = part == 0 or work.mu[i] > 0.0
            if record.change[k, a] != 0.0 and matters and not own and a != partner:
                if work.then[a] == 0.0:
                    note_tie(record, k, a)
                else:
                    note_margin(record, abs(work.then[a]))


@kernel
def corner_partner(record: Record, k: int) -> int:
    """The coordinate that vanishes together with the event's, because the piece before was cut for it."""
    if k < 2 or record.event[k - 2] != rec.CORNER or record.event[k - 1] != rec.AHEAD:
        return rec.NOBODY
    if record.event[k] != rec.VANISHES:
        return rec.NOBODY
    a = WIDTH * record.who[k] + (0 if record.direction[k, 0] != 0.0 else 1)
    one, other = record.who[k - 2], record.other[k - 2]
    if a == one:
        return other
    return one if a == other else rec.NOBODY
