"""A sample written down piece by piece: who pushed how, and which event ended each piece.

With these decisions the velocity after is a smooth function of the problem, and the same entries say where
the path went. In the plane and with friction polygons every piece is straight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from routh.compiling import kernel
from routh.compiling.rows import rows
from routh.kernels.common.integers import wide
from routh.validation import Array

# events: a direction of a contact's velocity vanishes; a budget of impulse or of work is used up; two
# coordinates will vanish together in the next piece; the length of the stage is over. AHEAD is no piece: it
# has the rates with which the entry before looked for its corner
VANISHES, IMPULSE_RETURNED, WORK_RETURNED, CORNER, LENGTH_OVER, AHEAD, CURVE = (wide(k) for k in range(7))
LEAVES_CONE = wide(7)  # friction that kept a contact sticking beside a curve
RATE_REACHED = wide(8)  # the normal rate of a held contact beside a curve, which jams
# a solve of an implicit step, two for each, of which `who` is the number: `c` is where the step begins,
# `length` that of the step, `rate` what was solved for, `change` the velocities at its end over its weight,
# and `share` the slip at which contacts that stick creep when friction is at its most
SOLVE = wide(9)
# CURVE: a step along a curve whose length is no decision: what ends the curve is an entry without length
# after it; `who` says whether a slip ends or begins in it, or only goes straight on towards its end
# (AIMED), or ends while it still turns (TURNING); `other` which contact's slip is its clock, or goes
# straight on
STEADY, TO_ZERO, FROM_ZERO, AIMED, TURNING = (wide(k) for k in range(5))
MORE, NOBODY = wide(-2), wide(-1)
END = wide(-1)  # instead of the highest power: what ends a curve

FREE, DRIVEN, HELD, EDGE = (wide(k) for k in range(4))
# faces: a corner of the friction polygon from 0 on, or a wall between two from WALLS on
FRICTIONLESS, STICKS, WALLS = wide(-1), wide(-2), wide(2**16)
SLIDES, TURNS = wide(-3), wide(-4)  # with the true cone: along its slip; along its slip rate, from rest
IDLE, STORES, RETURNS = (wide(k) for k in range(3))

# `total`: entries in use (also those without room), the least distance from a change of piece, ties in use,
# and the entry from which on weights were aimed (below 0: none)
ENTRIES, MARGIN, TIED, AIMED_FROM = range(4)
TIES = 64  # of a sample; more of them count as a change of piece


class RecordArrays(NamedTuple):
    """The arrays of `Record`."""

    decisions: np.ndarray  # (5, room) int64
    patterns: np.ndarray  # (3, room, nc) int64
    lengths: Array  # (3, room)
    states: Array  # (4, room, n)
    direction: Array  # (room, 3) of the velocity of contact ``who`` that vanishes: normal, then tangents
    curves: Array  # (room, powers, n): impulses of a CURVE as polynomials; no powers where all is straight
    total: Array  # (4,)
    ties: np.ndarray  # (TIES, 2) int64: entries after which a coordinate, too, is zero; it, see `note_tie`


class Record(RecordArrays):
    """One sample in the problem's own units."""

    __slots__ = ()
    # (room,): what ended the piece, whose event it is, the other coordinate of a corner cut, who set the
    # length at which a stage is cut (MORE: an earlier piece), of a CURVE the highest power, or END
    event, who, other, setter, degree = rows("decisions", 5)
    # (room, nc): FREE, DRIVEN, HELD or on the EDGE of its cone; direction of friction; what restitution does:
    # IDLE, STORES or RETURNS
    role, face, book = rows("patterns", 3)
    # (room,): how long the piece is, its share of the way to the event; the share of the way to the zero of
    # ``setter`` that it took
    length, share, set_share = rows("lengths", 3)
    # (room, n): where the piece begins, rates, what they change; of contacts what is to be returned
    c, rate, change, budget = rows("states", 4)


def make_record(room: int, nc: int, width: int, powers: int = 0) -> Record:
    """Empty, with room for so many entries; ``width``: 1 and the number of tangents."""
    n, whole = nc * width, np.int64
    shapes = [(3, room), (4, room, n), (room, 3), (room, powers, n), (4,)]
    arrays: list[Any] = [np.zeros((5, room), whole), np.zeros((3, room, nc), whole)]
    arrays += [np.zeros(shape) for shape in shapes]
    arrays += [np.zeros((TIES, 2), whole)]
    return Record(*arrays)


@kernel
def begin_record(record: Record) -> None:
    """Forget what was written."""
    record.total[ENTRIES] = record.total[TIED] = 0.0
    record.total[MARGIN], record.total[AIMED_FROM] = 1.0, -1.0


@kernel
def next_entry(record: Record) -> int:
    """The place of a new entry; without room it is the last place, and only the number grows."""
    at = int(record.total[ENTRIES])
    record.total[ENTRIES] += 1.0
    return min(at, len(record.event) - 1)


@kernel
def note_margin(record: Record, distance: float) -> None:
    """Keep the least distance from a change of piece; one that is no number is none."""
    if not distance >= record.total[MARGIN]:
        record.total[MARGIN] = distance if distance > 0.0 else 0.0


@kernel
def note_aim(record: Record) -> None:
    """From here on weights of several contacts follow the problem, where they are not drawn."""
    if record.total[AIMED_FROM] < 0.0:
        record.total[AIMED_FROM] = record.total[ENTRIES]
    note_margin(record, 0.0)


@kernel
def note_tie(record: Record, k: int, a: int) -> None:
    """Remember that coordinate a, without being the event's, is zero after entry k.

    ``-1 - a``: it is zero where the event is, before which the piece of the entry is cut short.
    """
    found = int(record.total[TIED])
    if found < TIES:
        record.ties[found, 0], record.ties[found, 1] = k, a
        record.total[TIED] += 1.0
    else:
        note_margin(record, 0.0)


@kernel
def write_event(record: Record, at: int, event: int, who: int, other: int) -> None:
    """What ended an entry's piece; its stage is not cut."""
    record.event[at], record.who[at], record.other[at] = event, who, other
    record.setter[at] = NOBODY


def impulses(record: Record) -> Array:
    """The scaled impulses (k, n) of the pieces."""
    count = int(record.total[ENTRIES])
    there = record.event[:count] != AHEAD
    return (record.length[:count, None] * record.rate[:count])[there]
