"""Moving along a piece: velocities, total impulse, the books of restitution, and the trace of the path.

Every piece is checked here, from the matrix, the velocities and the impulse alone, whichever way found it.
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.space.workspace import DRIVEN, FREE, HELD, TRACED, VIOLATED, ZERO, Books, SpaceWork

RESTS = 1e-10  # normal velocities of held contacts below this are none
USED_UP = 1e-13  # budgets below this share of the speed squared (or of the impulse) are used up


@kernel
def list_pushing(work: SpaceWork, nc: int) -> int:
    """PUSHING: the contacts that push, driven ones first; how many."""
    # reads role; writes pushing
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
    # reads gram
    return work.gram[row, at] * x + work.gram[row, at + 1] * y + work.gram[row, at + 2] * z


@kernel
def effect(work: SpaceWork, m: int, of: Array, row: int) -> float:
    """What impulses ``of`` (n,) of the m contacts that push change contact coordinate ``row`` by."""
    # reads pushing; hands on work
    value = 0.0
    for a in range(m):
        at = 3 * work.pushing[a]
        value += coupling(work, row, at, of[at], of[at + 1], of[at + 2])
    return value


@kernel
def effects(work: SpaceWork, m: int, of: Array, i: int) -> tuple[float, float, float]:
    """`effect` on the three coordinates of contact i."""
    # reads pushing; hands on work
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
    # reads bounce, budget, impulse, now, returned, role, stored, worked; writes budget, returned, stored
    for i in range(nc):
        if work.role[i] == FREE:
            continue
        y, after, impulse = work.now[3 * i], work.after[i], work.impulse[3 * i]
        done = 0.5 * impulse * (y + after) if straight else work.worked[i]
        if y < 0.0 or (y == 0.0 and done < 0.0):
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
    """Amount by which the impulse of contact i is outside its cone: the speed that the excess gives the body.

    An excess of impulse says little: where friction acts on a thousand times the mass that the normal does, a
    slip of rounding needs a large one.
    """
    # reads gram, mu
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
def advance(work: SpaceWork, nc: int, m: int, books: Books, length: float, who: int, smooth: bool) -> None:
    """Move by `impulse`; contact ``who`` comes to rest normally.

    ``length``: of a straight piece, else 0: then `worked` has the work. ``smooth``: no slip ends on the way,
    so friction opposes the mean slip, and what is held or sticks stays at rest. VIOLATED: by how much the
    piece breaks a law: sign, cone, opposing slip, energy; with restitution that of normal impulses is on the
    books.
    """
    # reads after, change, course, impulse, moves, now, pushing, role, total
    # writes after, course, now, total
    # hands on work
    worst, gained, outside, straight = 0.0, 0.0, 0.0, length > 0.0
    for i in range(nc):
        at, pushes, held = 3 * i, work.role[i] != FREE, work.role[i] == HELD
        if straight:
            y, t0, t1 = length * work.change[at], length * work.change[at + 1], length * work.change[at + 2]
        else:
            y, t0, t1 = effects(work, m, work.impulse, i)
        if pushes:
            n, f0, f1 = work.impulse[at], work.impulse[at + 1], work.impulse[at + 2]
            power = f0 * (work.now[at + 1] + 0.5 * t0) + f1 * (work.now[at + 2] + 0.5 * t1)
            outside += outside_cone(work, i, n, f0, f1)
            broken = max(outside, power if smooth else 0.0)
            worst = broken if not broken <= worst else worst
            gained += power if books is not None else power + n * (work.now[at] + 0.5 * y)
        y = work.now[at] + (0.0 if held and smooth else y)
        work.after[i] = 0.0 if i == who or (held and abs(y) <= RESTS) else y
        sticks = smooth and pushes and work.moves[i] == ZERO
        work.now[at + 1] = 0.0 if sticks else work.now[at + 1] + t0
        work.now[at + 2] = 0.0 if sticks else work.now[at + 2] + t1
    worst = gained if not gained <= worst else worst
    if not worst <= work.course[VIOLATED]:  # NaN is kept
        work.course[VIOLATED] = worst
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
    # reads course, pushing, trace; writes course, trace
    row = int(work.course[TRACED])
    if row < work.trace.shape[0]:
        for a in range(m):
            at = 3 * work.pushing[a]
            for column in range(at, at + 3):
                work.trace[row, column] = of[column]
        work.course[TRACED] += 1.0
