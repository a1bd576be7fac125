"""Moving along a piece: velocities, total impulse, the books of restitution, and the trace of the path.

Every piece is checked here, from the matrix, the velocities and the impulse alone, whichever way found it.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space.workspace import DRIVEN, FREE, HELD, TRACED, VIOLATED, ZERO, Books, SpaceWork
from routh.validation import Array

USED_UP = 1e-13  # budgets below this share of the speed squared (or of the impulse) are used up


@kernel
def list_pushing(work: SpaceWork, nc: int) -> int:
    """PUSHING: the contacts that push, driven ones first; how many."""
    m = 0
    for role in range(DRIVEN, HELD + 1):
        for i in range(nc):
            if work.role[i] == role:
                work.pushing[m] = i
                m += 1
    return m


@kernel
def coupling(work: SpaceWork, row: int, at: int, x: float, y: float, z: float) -> float:
    """What impulses x, y, z at the coordinates from ``at`` on change coordinate ``row`` by."""
    return work.gram[row, at] * x + work.gram[row, at + 1] * y + work.gram[row, at + 2] * z


@kernel
def effect(work: SpaceWork, m: int, of: Array, row: int) -> float:
    """What impulses ``of`` (n,) of the m contacts that push change contact coordinate ``row`` by."""
    value = 0.0
    for a in range(m):
        at = 3 * work.pushing[a]
        value += coupling(work, row, at, of[at], of[at + 1], of[at + 2])
    return value


@kernel
def effects(work: SpaceWork, m: int, of: Array, i: int) -> tuple[float, float, float]:
    """`effect` on the three coordinates of contact i."""
    x, y, z = 0.0, 0.0, 0.0
    for a in range(m):
        at = 3 * work.pushing[a]
        p, q, r = of[at], of[at + 1], of[at + 2]
        x += coupling(work, 3 * i, at, p, q, r)
        y += coupling(work, 3 * i + 1, at, p, q, r)
        z += coupling(work, 3 * i + 2, at, p, q, r)
    return x, y, z


@kernel
def keep_books(work: SpaceWork, nc: int, books: int, straight: bool) -> None:
    """Budgets, and work stored and returned, of a piece; `after` holds normal velocities after it."""
    for i in range(nc):
        if work.role[i] == FREE:
            continue
        y, after, impulse = work.now[3 * i], work.after[i], work.impulse[3 * i]
        done = 0.5 * impulse * (y + after) if straight else work.worked[i]
        if y < 0.0 or (y == 0.0 and after < 0.0):
            work.stored[i] -= done
            e = work.bounce[i]
            work.budget[i] += e * impulse if books == 1 else -(e**2) * done
        elif work.role[i] == DRIVEN:
            work.returned[i] += done
            work.budget[i] -= impulse if books == 1 else done
        if not work.budget[i] > USED_UP:
            work.budget[i] = 0.0


@kernel
def outside_cone(work: SpaceWork, i: int, n: float, f0: float, f1: float) -> float:
    """By how much the impulse of contact i is outside its cone: the speed that the excess gives the body.

    An excess of impulse says little: where friction acts on a thousand times the mass that the normal does, a
    slip of rounding needs a large one.
    """
    at, mu, friction = 3 * i, work.mu[i], math.sqrt(f0 * f0 + f1 * f1)
    pull = math.sqrt(max(work.gram[at, at], 0.0)) * max(-n, 0.0)
    excess = (friction - mu * max(n, 0.0)) / max(1.0, mu)
    if not excess > 0.0:
        return pull if excess == excess else math.nan
    d0, d1 = f0 / friction, f1 / friction
    moved = work.gram[at + 1, at + 1] * d0 * d0 + work.gram[at + 2, at + 2] * d1 * d1
    moved += 2.0 * work.gram[at + 1, at + 2] * d0 * d1
    return max(pull, excess * math.sqrt(max(moved, 0.0)))


@kernel
def check_piece(work: SpaceWork, m: int, books: Books, smooth: bool) -> None:
    """VIOLATED: by how much `impulse`, before it is added, breaks a law: sign, cone, opposing slip, energy.

    With restitution the energy of normal impulses is on the books. ``smooth``: no slip ends on the way:
    friction opposes the mean slip.
    """
    worst, gained, outside = 0.0, 0.0, 0.0
    for a in range(m):
        i, at = work.pushing[a], 3 * work.pushing[a]
        n, f0, f1 = work.impulse[at], work.impulse[at + 1], work.impulse[at + 2]
        y, t0, t1 = effects(work, m, work.impulse, i)
        power = f0 * (work.now[at + 1] + 0.5 * t0) + f1 * (work.now[at + 2] + 0.5 * t1)
        outside += outside_cone(work, i, n, f0, f1)
        broken = max(outside, power if smooth else 0.0)
        worst = broken if not broken <= worst else worst
        gained += power if books is not None else power + n * (work.now[at] + 0.5 * y)
    worst = gained if not gained <= worst else worst
    if not worst <= work.course[VIOLATED]:  # NaN is kept
        work.course[VIOLATED] = worst


@kernel
def advance_straight(work: SpaceWork, nc: int, m: int, books: Books, length: float, who: int) -> None:
    """Move along a straight piece with `rate` and `change`; contact ``who`` comes to rest normally."""
    for row in range(3 * nc):
        work.impulse[row] = length * work.rate[row]
    check_piece(work, m, books, True)
    for i in range(nc):
        y = work.now[3 * i]
        if work.role[i] != HELD:
            y += length * work.change[3 * i]
        work.after[i] = 0.0 if i == who else y
        sticks = work.role[i] != FREE and work.moves[i] == ZERO
        for row in range(3 * i + 1, 3 * i + 3):
            work.now[row] = 0.0 if sticks else work.now[row] + length * work.change[row]
    write_trace(work, m, work.impulse)
    add_up(work, nc, m, books, True)


@kernel
def advance(work: SpaceWork, nc: int, m: int, books: Books, who: int) -> None:
    """Move by `impulse`, with `worked`, along a curve; contact ``who`` comes to rest normally."""
    check_piece(work, m, books, True)
    for i in range(nc):
        y, t0, t1 = effects(work, m, work.impulse, i)
        y = work.now[3 * i] + (0.0 if work.role[i] == HELD else y)
        work.after[i] = 0.0 if i == who else y
        sticks = work.role[i] != FREE and work.moves[i] == ZERO
        work.now[3 * i + 1] = 0.0 if sticks else work.now[3 * i + 1] + t0
        work.now[3 * i + 2] = 0.0 if sticks else work.now[3 * i + 2] + t1
    add_up(work, nc, m, books, False)


@kernel
def add_up(work: SpaceWork, nc: int, m: int, books: Books, straight: bool) -> None:
    """The end of a piece: its books, normal velocities from `after`, `impulse` to `total`."""
    if books is not None:
        keep_books(work, nc, books, straight)
    for i in range(nc):
        work.now[3 * i] = work.after[i]
    for a in range(m):
        at = 3 * work.pushing[a]
        for row in range(at, at + 3):
            work.total[row] += work.impulse[row]


@kernel
def write_trace(work: SpaceWork, m: int, of: Array) -> None:
    """Impulses ``of`` (n,) as a row of the trace, where there is room."""
    row = int(work.course[TRACED])
    if row < work.trace.shape[0]:
        for a in range(m):
            at = 3 * work.pushing[a]
            for column in range(at, at + 3):
                work.trace[row, column] = of[column]
        work.course[TRACED] += 1.0
