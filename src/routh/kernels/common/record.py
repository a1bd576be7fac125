"""A sample written down piece by piece: who pushed how, and which event ended each piece.

With these decisions the velocity after is a smooth function of the problem, and the same entries say where
the path went. In the plane and with friction polygons every piece is straight.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.compiling.rows import count_rows, rows

# events: a direction of a contact's velocity vanishes; a budget of impulse or of work is used up; two
# coordinates will vanish together in the next piece; the length of the stage is over. AHEAD is no piece: it
# has the rates with which the entry before looked for its corner
VANISHES, IMPULSE_RETURNED, WORK_RETURNED, CORNER, LENGTH_OVER, AHEAD, CURVE = range(7)
LEAVES_CONE = 7  # friction that kept a contact sticking beside a curve
RATE_REACHED = 8  # the normal rate of a held contact beside a curve, which jams
# a solve of an implicit step, two for each, of which `who` is the number: `c` is where the step begins,
# `length` that of the step, `rate` what was solved for, `change` the velocities at its end over its weight,
# and `share` the slip at which contacts that stick creep when friction is at its most
SOLVE = 9
# CURVE: a step along a curve whose length is no decision: what ends the curve is an entry without length
# after it; `who` says whether a slip ends or begins in it, or only goes straight on towards its end
# (AIMED), or ends while it still turns (TURNING); `other` which contact's slip is its clock, or goes
# straight on
STEADY, TO_ZERO, FROM_ZERO, AIMED, TURNING = range(5)
MORE, NOBODY = -2, -1
END = -1  # instead of the highest power: what ends a curve

GAMMA = 1.0 - math.sqrt(0.5)  # weight of a solve, as a share of its implicit step
FREE, DRIVEN, HELD, EDGE = range(4)
# faces: a corner of the friction polygon from 0 on, or a wall between two from WALLS on
FRICTIONLESS, STICKS, WALLS = -1, -2, 2**16
SLIDES, TURNS = -3, -4  # with the true cone: along its slip; along its slip rate, from rest
IDLE, STORES, RETURNS = range(3)

# `total`: entries in use (also those without room), the least distance from a change of piece, ties in use,
# the entry from which on weights were aimed (below 0: none), and the kinds of pairs that were passed by
ENTRIES, MARGIN, TIED, AIMED_FROM, PASSED = range(5)
TIES = 64  # of a sample; more of them count as a change of piece
NOTHING = 1e-11  # velocities below this share of the speed have vanished


class RecordArrays(NamedTuple):
    """The arrays of `Record`."""

    decisions: np.ndarray  # (rows named below, room) int64
    patterns: np.ndarray  # (rows named below, room, nc) int64
    lengths: Array  # (rows named below, room)
    states: Array  # (rows named below, room, n)
    direction: Array  # (room, 3) of the velocity of contact ``who`` that vanishes: normal, then tangents
    curves: Array  # (room, powers, n): impulses of a CURVE as polynomials; no powers where all is straight
    total: Array  # (5,)
    ties: np.ndarray  # (TIES, 2) int64: entries at whose event a coordinate, too, is zero; it


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
    fields = "decisions", "patterns", "lengths", "states"
    decisions, patterns, lengths, states = (count_rows(Record, field) for field in fields)
    shapes = [(lengths, room), (states, room, n), (room, 3), (room, powers, n), (5,)]
    arrays: list[Any] = [np.zeros((decisions, room), whole), np.zeros((patterns, room, nc), whole)]
    arrays += [np.zeros(shape) for shape in shapes]
    arrays += [np.zeros((TIES, 2), whole)]
    return Record(*arrays)


@kernel
def width_of(record: Record) -> int:
    """1 and the number of tangents."""
    # reads rate, role
    return record.rate.shape[1] // record.role.shape[1]


@kernel
def slip_of(c: Array, width: int, i: int) -> float:
    """The size of what is tangential of contact i."""
    square = 0.0
    for a in range(width * i + 1, width * (i + 1)):
        square += c[a] * c[a]
    return math.sqrt(square)


@kernel
def slip_after(record: Record, k: int, i: int, length: float) -> float:
    """The size of contact i's slip after so much of entry k's piece, where that is straight."""
    # reads c, change; hands on record
    width, square = width_of(record), 0.0
    for a in range(width * i + 1, width * (i + 1)):
        square += (record.c[k, a] + length * record.change[k, a]) ** 2
    return math.sqrt(square)


@kernel
def begin_record(record: Record, start: Array, mu: Array, nc: int) -> None:
    """A new sample; a contact that begins without approach or slip is at a change of piece."""
    # writes total; hands on record
    record.total[ENTRIES] = record.total[TIED] = record.total[PASSED] = 0.0
    record.total[MARGIN], record.total[AIMED_FROM] = 1.0, -1.0
    width = width_of(record)
    for i in range(nc):
        note_margin(record, abs(start[width * i]))
        if mu[i] > 0.0:
            note_margin(record, slip_of(start, width, i))


@kernel
def next_entry(record: Record, c: Array, budget: Array) -> int:
    """A new entry, an instant at this state without rates or event: its place.

    Without room it is the last place, and only the number of entries grows.
    """
    # reads c, event, role, total
    # writes book, budget, c, degree, direction, length, rate, set_share, setter, share, total
    # hands on record
    k = min(int(record.total[ENTRIES]), len(record.event) - 1)
    record.total[ENTRIES] += 1.0
    write_event(record, k, NOBODY, NOBODY, NOBODY)
    record.setter[k], record.degree[k] = MORE, 0
    record.length[k], record.share[k], record.set_share[k] = 0.0, 1.0, 0.0
    for a in range(record.c.shape[1]):
        record.c[k, a], record.rate[k, a] = c[a], 0.0
    for i in range(record.role.shape[1]):
        record.budget[k, i], record.book[k, i] = budget[i], IDLE
    for part in range(3):
        record.direction[k, part] = 1.0 if part == 0 else 0.0
    return k


@kernel
def note_margin(record: Record, distance: float) -> None:
    """Keep the least distance from a change of piece; one that is no number is none."""
    # reads total; writes total
    if not distance >= record.total[MARGIN]:
        record.total[MARGIN] = distance if distance > 0.0 else 0.0


@kernel
def note_aim(record: Record) -> None:
    """Note that from here on weights of several contacts follow the problem, where they are not drawn."""
    # reads total; writes total; hands on record
    if record.total[AIMED_FROM] < 0.0:
        record.total[AIMED_FROM] = record.total[ENTRIES]
    note_margin(record, 0.0)


@kernel
def note_passed(record: Record, kinds: int) -> None:
    """Keep which kinds of pairs the search for a corner cut passed by."""
    # reads total; writes total
    record.total[PASSED] = float(int(record.total[PASSED]) | kinds)


@kernel
def note_tie(record: Record, k: int, a: int) -> None:
    """Remember that coordinate a, without being the event's, is zero where the event of entry k is."""
    # reads total; writes ties, total; hands on record
    found = int(record.total[TIED])
    if found < TIES:
        record.ties[found, 0], record.ties[found, 1] = k, a
        record.total[TIED] += 1.0
    else:
        note_margin(record, 0.0)


@kernel
def write_event(record: Record, at: int, event: int, who: int, other: int) -> None:
    """What ended an entry's piece."""
    # writes event, other, who
    record.event[at], record.who[at], record.other[at] = event, who, other


@kernel
def rates_margin(record: Record, k: int, nc: int, mu: Array) -> None:
    """How near the rates are to another pattern: of sticking and sliding, of pushing and not."""
    # reads budget, c, change, face, rate, role; hands on record
    width, size = width_of(record), 1e-300
    for i in range(nc):
        size = max(size, record.rate[k, width * i])
    for i in range(nc):
        at, role, face = width * i, record.role[k, i], record.face[k, i]
        normal, begins = record.rate[k, at], face == TURNS
        if role == HELD or role == EDGE:
            note_margin(record, normal / size)
        elif width == 2 and role == DRIVEN and record.c[k, at] == 0.0 and not record.budget[k, i] > 0.0:
            note_margin(record, abs(record.change[k, at]) / size)
        if width == 2 and face >= 0 and mu[i] > 0.0 and role != EDGE:
            begins = record.c[k, at + 1] == 0.0
        if face == STICKS:
            note_margin(record, 1.0 - slip_of(record.rate[k], width, i) / (mu[i] * max(normal, 1e-300)))
        elif begins:
            note_margin(record, slip_of(record.change[k], width, i) / size)


@kernel
def write_book(record: Record, k: int, i: int, after: float, books: int | None) -> None:
    """What restitution did for contact i in the piece of entry k; ``after``: its normal velocity then."""
    # reads budget, c, rate, role; writes book; hands on record
    width = width_of(record)
    y, rate, returns = record.c[k, width * i], record.rate[k, width * i], record.budget[k, i] > 0.0
    if books is not None and books >= 0 and rate > 0.0:
        rests = width == 2 and books == 1 and y == 0.0 and after == 0.0 and not returns
        if y < 0.0 or (y == 0.0 and after < 0.0) or rests:
            record.book[k, i] = STORES
        elif returns and (width == 2 or record.role[k, i] == DRIVEN):
            record.book[k, i] = RETURNS


@kernel
def finish_piece(record: Record, k: int, now: Array, budget: Array, mu: Array, books: int | None) -> None:
    """A straight piece after it was walked: what restitution did, and how near its event is to another one.

    On the way to its event it may be cut short. ``books``: None or below 0 where nothing bounces, else
    whether restitution is Poisson's.
    """
    # reads book, budget, c, change, event, length, rate, role, share, who; hands on record
    width, event, whole = width_of(record), record.event[k], record.length[k] / record.share[k]
    for i in range(len(record.role[k])):
        at = width * i
        write_book(record, k, i, now[at], books)
        y, left = record.c[k, at] + whole * record.change[k, at], budget[i]
        own = record.who[k] == i and (event == IMPULSE_RETURNED or event == WORK_RETURNED)
        if books is not None and record.budget[k, i] > 0.0 and not own:
            if record.book[k, i] == RETURNS:
                mean = 1.0 if books == 1 else 0.5 * (record.c[k, at] + y)
                left = abs(record.budget[k, i] - mean * whole * record.rate[k, at])
            note_margin(record, left)
        slips, slip = (
            mu[i] > 0.0 and slip_of(record.change[k], width, i) > 0.0,
            slip_after(record, k, i, whole),
        )
        if record.role[k, i] == FREE:  # its slip may turn on the way without an event, and next it may push
            slip = min(slip, slip_of(now, width, i))
        end_margin(record, k, i, y, slip, record.change[k, at] != 0.0, slips)


@kernel
def end_margin(record: Record, k: int, i: int, y: float, slip: float, moves: bool, slips: bool) -> None:
    """How near contact i is to an event of its own where entry k's is, if it moves, or slips.

    ``y`` and ``slip``: its normal velocity there, and the size of its slip.
    """
    # reads direction, event, who; hands on record
    width, partner = width_of(record), corner_partner(record, k)
    at, own = width * i, record.event[k] == VANISHES and record.who[k] == i
    normal = own and record.direction[k, 0] != 0.0
    if moves and not normal and at != partner:
        if abs(y) <= NOTHING:
            note_tie(record, k, at)
        else:
            note_margin(record, abs(y))
    if slips and slip > NOTHING:
        note_margin(record, slip)
    elif slips and not (own and not normal):
        for a in range(at + 1, at + width):
            if a != partner:
                note_tie(record, k, a)


@kernel
def corner_partner(record: Record, k: int) -> int:
    """The coordinate that vanishes together with the event's, because the piece before was cut for it."""
    # reads direction, event, other, who
    if k < 2 or record.event[k - 2] != CORNER or record.event[k - 1] != AHEAD:
        return NOBODY
    if record.event[k] != VANISHES:
        return NOBODY
    a = 2 * record.who[k] + (0 if record.direction[k, 0] != 0.0 else 1)
    one, other = record.who[k - 2], record.other[k - 2]
    if a == one:
        return other
    return one if a == other else NOBODY
