"""Linear equations of rates that are not given: of contacts held, sticking, or beginning to slip."""

from __future__ import annotations

from routh.compiling import kernel
from routh.kernels.common.small_linear import invert_rows
from routh.kernels.space.advance import coupling
from routh.kernels.space.workspace import HELD, RATE0, SIZE, SLIDE, UNIT0, UNIT1, ZERO, SpaceWork

DEPENDENT = 1e-11  # pivots below this share of the largest: contacts that repeat each other
FIRST, SECOND, THIRD = range(3)


@kernel
def set_unknown(work: SpaceWork, e: int, i: int, row: int) -> None:
    """Unknown e: a rate of contact i along coordinate ``row`` (0 to 2), for which that coordinate rests."""
    # writes column0, column1, column2, row0, row1, row2, whose
    work.whose[e] = i
    work.row0[e] = work.column0[e] = 1.0 if row == 0 else 0.0
    work.row1[e] = work.column1[e] = 1.0 if row == 1 else 0.0
    work.row2[e] = work.column2[e] = 1.0 if row == 2 else 0.0


@kernel
def list_unknown(work: SpaceWork, m: int) -> int:
    """The unknown rates: normal ones of held contacts, friction of sticking ones; how many."""
    # reads moves, mu, pushing, role, series; writes column1, column2; hands on work
    size = 0
    for a in range(m):
        i = work.pushing[a]
        if work.role[i] == HELD:
            set_unknown(work, size, i, FIRST)
            if work.moves[i] == SLIDE and work.mu[i] != 0.0:  # friction grows with the normal rate
                work.column1[size] = -work.mu[i] * work.series[i, UNIT0, 0]
                work.column2[size] = -work.mu[i] * work.series[i, UNIT1, 0]
            size += 1
        if work.moves[i] == ZERO:
            set_unknown(work, size, i, SECOND)
            set_unknown(work, size + 1, i, THIRD)
            size += 2
    return size


@kernel
def list_turns(work: SpaceWork, m: int, size: int) -> int:
    """Further unknowns from power 1 on: how contacts that begin to slip turn; how many there are now."""
    # reads moves, mu, pushing, series; writes column0, column1, column2, row0, row1, row2, whose
    for a in range(m):
        i = work.pushing[a]
        own = work.series[i]
        if work.moves[i] == SLIDE and own[SIZE, 0] == 0.0:
            work.whose[size] = i
            across0, across1 = -own[UNIT1, 0], own[UNIT0, 0]
            friction = -work.mu[i] * own[RATE0, 0]
            work.row0[size], work.row1[size], work.row2[size] = 0.0, across0, across1
            work.column0[size], work.column1[size] = 0.0, friction * across0
            work.column2[size] = friction * across1
            size += 1
    return size


@kernel
def fill_matrix(work: SpaceWork, size: int, turns: int, k: int) -> None:
    """The equations of the unknowns at power k; from ``turns`` on those that turn."""
    # reads column0, column1, column2, equations, row0, row1, row2, series, whose
    # writes equations
    # hands on work
    for e in range(size):
        g = 3 * work.whose[e]
        for f in range(size):
            at = 3 * work.whose[f]
            x, y, z = work.column0[f], work.column1[f], work.column2[f]
            value = 0.0
            if work.row0[e] != 0.0:
                value += work.row0[e] * coupling(work, g, at, x, y, z)
            if work.row1[e] != 0.0:
                value += work.row1[e] * coupling(work, g + 1, at, x, y, z)
            if work.row2[e] != 0.0:
                value += work.row2[e] * coupling(work, g + 2, at, x, y, z)
            work.equations[e, f] = value
        if e >= turns:
            work.equations[e, e] -= (k + 1) * work.series[work.whose[e], SIZE, 1]


@kernel
def invert_equations(work: SpaceWork, size: int) -> float:
    """`inverse` of the equations; the least pivot that does not vanish, a share of the largest entry."""
    # reads equations, inverse; writes equations, inverse
    return invert_rows(work.equations, work.inverse, size, DEPENDENT)[1]


@kernel
def unknown_value(work: SpaceWork, size: int, e: int) -> float:
    """Unknown e for the right-hand sides `right`, after `invert_equations`."""
    # reads inverse, right
    value = 0.0
    for f in range(size):
        value += work.inverse[e, f] * work.right[f]
    return value
