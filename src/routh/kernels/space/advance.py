"""Moving along a piece: velocities, total impulse, the books of restitution, and the trace of the path."""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space.workspace import (
    AFTER,
    BOUNCE,
    BUDGET,
    CHANGE,
    DRIVEN,
    FREE,
    GLOBAL,
    GRAM,
    HELD,
    IMPULSE,
    LIST,
    MOVES,
    MU,
    RATE,
    RETURNED,
    ROLE,
    STORED,
    TOTAL,
    TRACED,
    VIOLATED,
    WORK,
    ZERO,
    Books,
    C,
    SpaceWork,
    named,
)
from routh.validation import Array

STRAIGHT, CURVED = named(2)
USED_UP = 1e-13  # budgets below this share of the speed squared (or of the impulse) are used up


@kernel
def list_pushing(work: SpaceWork, nc: int) -> int:
    """LIST of the contacts that push, driven ones first; how many."""
    m = 0
    for role in range(DRIVEN, HELD + 1):
        for i in range(nc):
            if work.marks[ROLE, i] == role:
                work.marks[LIST, m] = i
                m += 1
    return m


@kernel
def effect(work: SpaceWork, m: int, of: int, row: int) -> float:
    """What the impulse in row ``of`` of the m contacts that push changes contact coordinate ``row`` by."""
    values, g = work.values, GRAM + row
    value = 0.0
    for a in range(m):
        at = 3 * work.marks[LIST, a]
        value += (
            values[g, at] * values[of, at]
            + values[g, at + 1] * values[of, at + 1]
            + values[g, at + 2] * values[of, at + 2]
        )
    return value


@kernel
def effects(work: SpaceWork, m: int, of: int, i: int) -> tuple[float, float, float]:
    """`effect` on the three coordinates of contact i."""
    values, g = work.values, GRAM + 3 * i
    x, y, z = 0.0, 0.0, 0.0
    for a in range(m):
        at = 3 * work.marks[LIST, a]
        p, q, r = values[of, at], values[of, at + 1], values[of, at + 2]
        x += values[g, at] * p + values[g, at + 1] * q + values[g, at + 2] * r
        y += values[g + 1, at] * p + values[g + 1, at + 1] * q + values[g + 1, at + 2] * r
        z += values[g + 2, at] * p + values[g + 2, at + 1] * q + values[g + 2, at + 2] * r
    return x, y, z


@kernel
def keep_books(work: SpaceWork, nc: int, books: int, kind: int) -> None:
    """Budgets, and work stored and returned, of a piece; AFTER holds normal velocities after it."""
    values, marks = work.values, work.marks
    for i in range(nc):
        if marks[ROLE, i] == FREE:
            continue
        y, after, impulse = values[C, 3 * i], values[AFTER, i], values[IMPULSE, 3 * i]
        done = 0.5 * impulse * (y + after) if kind == STRAIGHT else values[WORK, i]
        if y < 0.0 or (y == 0.0 and after < 0.0):
            values[STORED, i] -= done
            e = values[BOUNCE, i]
            values[BUDGET, i] += e * impulse if books == 1 else -(e**2) * done
        elif marks[ROLE, i] == DRIVEN:
            values[RETURNED, i] += done
            values[BUDGET, i] -= impulse if books == 1 else done
        if not values[BUDGET, i] > USED_UP:
            values[BUDGET, i] = 0.0


@kernel
def outside_cone(values: Array, i: int, n: float, f0: float, f1: float) -> float:
    """By how much the impulse of contact i is outside its cone: the speed that the excess gives the body.

    An excess of impulse says little: where friction acts on a thousand times the mass that the normal does, a
    slip of rounding needs a large one.
    """
    at, mu, friction = 3 * i, values[MU, i], math.sqrt(f0 * f0 + f1 * f1)
    pull = math.sqrt(max(values[GRAM + at, at], 0.0)) * max(-n, 0.0)
    excess = (friction - mu * max(n, 0.0)) / max(1.0, mu)
    if not excess > 0.0:
        return pull if excess == excess else math.nan
    d0, d1 = f0 / friction, f1 / friction
    moved = values[GRAM + at + 1, at + 1] * d0 * d0 + values[GRAM + at + 2, at + 2] * d1 * d1
    moved += 2.0 * values[GRAM + at + 1, at + 2] * d0 * d1
    return max(pull, excess * math.sqrt(max(moved, 0.0)))


@kernel
def check_piece(work: SpaceWork, m: int, books: Books, smooth: bool) -> None:
    """VIOLATED: by how much IMPULSE, before it is added, breaks a law: sign, cone, opposing slip, energy.

    From the matrix, the velocities and the impulse alone, whichever way found it. With restitution the energy
    of normal impulses is on the books. ``smooth``: no slip ends on the way: friction opposes the mean slip.
    """
    values, marks, worst, gained, outside = work.values, work.marks, 0.0, 0.0, 0.0
    for a in range(m):
        i, at = marks[LIST, a], 3 * marks[LIST, a]
        n, f0, f1 = values[IMPULSE, at], values[IMPULSE, at + 1], values[IMPULSE, at + 2]
        y, t0, t1 = effects(work, m, IMPULSE, i)
        power = f0 * (values[C, at + 1] + 0.5 * t0) + f1 * (values[C, at + 2] + 0.5 * t1)
        outside += outside_cone(values, i, n, f0, f1)
        broken = max(outside, power if smooth else 0.0)
        worst = broken if not broken <= worst else worst
        gained += power if books is not None else power + n * (values[C, at] + 0.5 * y)
    worst = gained if not gained <= worst else worst
    if not worst <= values[GLOBAL, VIOLATED]:  # NaN is kept
        values[GLOBAL, VIOLATED] = worst


@kernel
def advance_straight(work: SpaceWork, nc: int, m: int, books: Books, length: float, who: int) -> None:
    """Move along a straight piece with RATE and CHANGE; contact ``who`` comes to rest normally."""
    values, marks = work.values, work.marks
    for row in range(3 * nc):
        values[IMPULSE, row] = length * values[RATE, row]
    check_piece(work, m, books, True)
    for i in range(nc):
        y = values[C, 3 * i]
        if marks[ROLE, i] != HELD:
            y += length * values[CHANGE, 3 * i]
        values[AFTER, i] = 0.0 if i == who else y
        sticks = marks[ROLE, i] != FREE and marks[MOVES, i] == ZERO
        for row in range(3 * i + 1, 3 * i + 3):
            values[C, row] = 0.0 if sticks else values[C, row] + length * values[CHANGE, row]
    if books is not None:
        keep_books(work, nc, books, STRAIGHT)
    write_trace(work, m, IMPULSE)
    add_up(work, nc, m)


@kernel
def advance(work: SpaceWork, nc: int, m: int, books: Books, who: int) -> None:
    """Move by IMPULSE, with WORK, along a curve; contact ``who`` comes to rest normally."""
    values, marks = work.values, work.marks
    check_piece(work, m, books, True)
    for i in range(nc):
        y, t0, t1 = effects(work, m, IMPULSE, i)
        y = values[C, 3 * i] + (0.0 if marks[ROLE, i] == HELD else y)
        values[AFTER, i] = 0.0 if i == who else y
        sticks = marks[ROLE, i] != FREE and marks[MOVES, i] == ZERO
        values[C, 3 * i + 1] = 0.0 if sticks else values[C, 3 * i + 1] + t0
        values[C, 3 * i + 2] = 0.0 if sticks else values[C, 3 * i + 2] + t1
    if books is not None:
        keep_books(work, nc, books, CURVED)
    add_up(work, nc, m)


@kernel
def add_up(work: SpaceWork, nc: int, m: int) -> None:
    """The end of a piece: normal velocities from AFTER, IMPULSE to TOTAL."""
    values, marks = work.values, work.marks
    for i in range(nc):
        values[C, 3 * i] = values[AFTER, i]
    for a in range(m):
        at = 3 * marks[LIST, a]
        for row in range(at, at + 3):
            values[TOTAL, row] += values[IMPULSE, row]


@kernel
def write_trace(work: SpaceWork, m: int, of: int) -> None:
    """The impulse in a row as one of the trace, where there is room."""
    values, trace = work.values, work.trace
    row = int(values[GLOBAL, TRACED])
    if row < trace.shape[0]:
        for a in range(m):
            at = 3 * work.marks[LIST, a]
            for column in range(at, at + 3):
                trace[row, column] = values[of, column]
        values[GLOBAL, TRACED] += 1.0


@kernel
def copy_row(values: Array, count: int, of: int, to: int) -> None:
    """The first entries of one row into another."""
    for column in range(count):
        values[to, column] = values[of, column]
