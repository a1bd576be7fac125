"""Writing down a sample of the plane, see `routh.kernels.common.record`."""

from __future__ import annotations

from routh.compiling import kernel
from routh.kernels.common import record as rec
from routh.kernels.common.record import (
    Record,
    next_entry,
    note_margin,
    rates_margin,
    write_event,
)
from routh.kernels.plane.pieces import ZERO, budget_length
from routh.kernels.plane.rates import CODES, SLIPS, PlaneWork

SAME = 1e-12  # lengths that differ by less than this share of them are one


@kernel
def write_rates(record: Record, k: int, work: PlaneWork, nc: int, at: int, now: int) -> None:
    """Roles, directions of friction and rates of the place ``at``, into entry k.

    ``now`` is the place of the rates of the piece. Where a contact without friction slides to is no part of a
    pattern, yet a little friction would act against it.
    """
    # reads work.known, work.mu, work.now; writes record.change, record.face, record.rate, record.role
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
def write_end(record: Record, k: int, nc: int, length: float, poisson: int) -> None:
    """Which event is at this length."""
    # reads budget, c, change, rate, who; writes direction; hands on record
    for i in range(nc):
        for part in range(2):
            c, change = record.c[k, 2 * i + part], record.change[k, 2 * i + part]
            vanishes = c * change < 0.0 and abs(c + length * change) <= ZERO
            # of those that vanish together the first, whichever rounding lets be the first to do so
            if vanishes and record.who[k] == rec.NOBODY:
                write_event(record, k, rec.VANISHES, i, rec.NOBODY)
                record.direction[k, 0], record.direction[k, 1] = 1.0 - part, part
    for i in range(nc):
        at, event = 2 * i, rec.IMPULSE_RETURNED if poisson == 1 else rec.WORK_RETURNED
        y, rise, normal = record.c[k, at], record.change[k, at], record.rate[k, at]
        to_return = budget_length(y, rise, normal, record.budget[k, i], poisson)
        if record.who[k] == rec.NOBODY and abs(to_return - length) <= SAME * length:
            write_event(record, k, event, i, rec.NOBODY)


@kernel
def write_piece(
    record: Record, work: PlaneWork, nc: int, at: int, whole: float, length: float, corner: bool, poisson: int
) -> int:
    """A piece before it is walked; ``whole``: the length to its event. Returns its entry."""
    # reads record.event, work.budget, work.cut_at, work.mu, work.now
    # writes record.length, record.share
    # hands on record, work
    k = next_entry(record, work.now, work.budget)
    write_rates(record, k, work, nc, at, at)
    rates_margin(record, k, nc, work.mu)
    record.length[k] = length
    if corner:
        write_event(record, k, rec.CORNER, work.cut_at[0], work.cut_at[1])
        ahead = next_entry(record, work.now, work.budget)
        write_rates(record, ahead, work, nc, work.cut_at[2], at)
        write_event(record, ahead, rec.AHEAD, rec.NOBODY, rec.NOBODY)
        return k
    record.share[k] = length / whole
    write_end(record, k, nc, whole, poisson)
    if record.event[k] == rec.NOBODY:
        note_margin(record, 0.0)  # the derivative is that of a piece of fixed length
    return k
