"""Writing down a sample of the plane, see `routh.kernels.gradients.record`."""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients import record as rec
from routh.kernels.gradients.record import (
    Record,
    next_entry,
    note_margin,
    note_tie,
    rates_margin,
    write_event,
)
from routh.kernels.plane.pieces import ZERO
from routh.kernels.plane.rates import CODES, SLIPS, PlaneWork

SAME = 1e-12  # lengths that differ by less than this share of them are one


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
        record.role[k, i], record.face[k, i] = role, face
    for a in range(2 * nc):
        record.rate[k, a] = known[at, a]
        record.change[k, a] = known[at, 2 * nc + a]


@kernel
def length_of_budget(record: Record, k: int, i: int, poisson: int) -> float:
    """How far it is to where a contact that separates has returned everything."""
    at, budget = 2 * i, record.budget[k, i]
    y, rise, normal = record.c[k, at], record.change[k, at], record.rate[k, at]
    if not (budget > 0.0 and normal > 0.0) or y < 0.0:
        return math.inf
    b = budget / normal
    if poisson == 1:
        return b
    root = y * y + 2.0 * rise * b
    bottom = y + math.sqrt(root) if root > 0.0 else y
    return 2.0 * b / bottom if bottom > 0.0 else math.inf


@kernel
def write_budget(record: Record, k: int, nc: int, poisson: int, length: float) -> None:
    """The event of a budget that is used up after this length, if there is one."""
    for i in range(nc):
        if (
            record.who[k] == rec.NOBODY
            and abs(length_of_budget(record, k, i, poisson) - length) <= SAME * length
        ):
            write_event(record, k, rec.IMPULSE_RETURNED if poisson == 1 else rec.WORK_RETURNED, i, rec.NOBODY)


@kernel
def write_end(record: Record, k: int, nc: int, length: float, poisson: int) -> None:
    """Which event is at this length."""
    for i in range(nc):
        for part in range(2):
            c, change = record.c[k, 2 * i + part], record.change[k, 2 * i + part]
            vanishes = c * change < 0.0 and abs(c + length * change) <= ZERO
            # of those that vanish together the first, whichever rounding lets be the first to do so
            if vanishes and record.who[k] == rec.NOBODY:
                write_event(record, k, rec.VANISHES, i, rec.NOBODY)
                record.direction[k, 0], record.direction[k, 1] = 1.0 - part, part
    write_budget(record, k, nc, poisson, length)


@kernel
def margin_beyond(record: Record, k: int, nc: int, whole: float, poisson: int) -> None:
    """How near the event, on the way to which a piece is cut short, is to others that would be the first."""
    vanishes, who = record.event[k] == rec.VANISHES, record.who[k]
    own = 2 * who + int(record.direction[k, 0] == 0.0) if vanishes else rec.NOBODY
    for i in range(nc):
        for a in range(2 * i, 2 * i + 2):
            c, change = record.c[k, a], record.change[k, a]
            counts = a == 2 * i or record.rate[k, 2 * i] > 0.0 or record.c[k, 2 * i] < 0.0
            if a == own or not (counts and c * change < 0.0):
                continue
            if abs(c + whole * change) <= ZERO:
                note_tie(record, k, -1 - a)
            else:
                note_margin(record, abs(c + whole * change))
        to_return = length_of_budget(record, k, i, poisson)
        if to_return < math.inf and (vanishes or who != i):
            note_margin(record, abs(to_return - whole))


@kernel
def write_piece(
    record: Record, work: PlaneWork, nc: int, at: int, whole: float, length: float, corner: bool, poisson: int
) -> int:
    """A piece before it is walked; ``whole``: the length to its event. Returns its entry."""
    k = next_entry(record, work.now, work.budget)
    write_rates(record, k, work, nc, at, at)
    rates_margin(record, k, nc, work.mu)
    record.length[k], record.share[k] = length, length / whole
    write_end(record, k, nc, whole, poisson)
    if record.event[k] == rec.NOBODY and not corner:
        note_margin(record, 0.0)  # the derivative is that of a piece of fixed length
    elif length < whole and not corner:
        margin_beyond(record, k, nc, whole, poisson)
    if corner:
        write_event(record, k, rec.CORNER, work.cut_at[0], work.cut_at[1])
        ahead = next_entry(record, work.now, work.budget)
        write_rates(record, ahead, work, nc, work.cut_at[2], at)
        write_event(record, ahead, rec.AHEAD, rec.NOBODY, rec.NOBODY)
    return k
