"""The derivative of a sample backwards along its record: from the impulse to the data of the problem.

A piece has rates ``r`` (below), changes ``d = G r``, a length ``s`` that its event gives, and goes from c to
``c + s d``; the impulse grows by ``s r``. The *bar* of a quantity is the derivative of one number with
respect to it. Pieces are gone through from the last to the first; each gives its share to the bars of G,
friction and restitution, and turns the bar of the state after it into that of the state before it.

The rates solve linear equations: ``r = r0 + sum_e z_e col_e`` with ``row_e . G r = 0``, one unknown z for the
normal rate of a held contact (or one on its edge) and for each direction in which friction is free. Columns
and given rates contain friction coefficients, rows do not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.compiling import kernel
from routh.kernels.events_rates import solve_linear
from routh.kernels.record import (
    AHEAD,
    BOOK,
    BUDGET,
    CHANGE,
    CORNER,
    DIRECTION,
    EDGE,
    ENTRIES,
    EVENT,
    FACE,
    FREE,
    HELD,
    IDLE,
    IMPULSE_RETURNED,
    LENGTH,
    LENGTH_OVER,
    MORE,
    OTHER,
    RATE,
    ROLE,
    SET_SHARE,
    SETTER,
    SHARE,
    STICKS,
    STORES,
    VANISHES,
    WALLS,
    WHO,
    WORK_RETURNED,
    C,
    Record,
)
from routh.validation import Array

# rows of `ReverseWork.bars`: of the state, impulse, rates, changes and the state before a piece; what G is
# multiplied with; of contacts: budgets, friction and restitution; of the length of a stage (first entry)
STATE, PUSH, OF_RATE, OF_CHANGE, BEFORE, LEVER, LEFT, OF_MU, OF_BOUNCE, STAGE = range(10)


class Given(NamedTuple):
    """The problem in its own units, as far as a path depends on it."""

    G: Array  # (n, n)
    mu: Array  # (nc,)
    bounce: Array  # (nc,) restitution
    corners: Array  # (k, nt) of the friction polygon; in the plane +1 and -1
    poisson: int


class ReverseWork(NamedTuple):
    """Scratch and results of one thread."""

    bars: Array  # (10, n)
    of_G: Array  # (n, n)
    rows: Array  # (n, width) equations of the unknown rates, at their contacts
    columns: Array  # (n, width)
    whose: np.ndarray  # (n,) int64
    system: Array  # (n, n + 1)


def reverse_workspace(nc: int, width: int) -> ReverseWork:
    """Scratch arrays of one thread."""
    n = nc * width
    return ReverseWork(
        np.zeros((10, n)),
        np.zeros((n, n)),
        np.zeros((n, width)),
        np.zeros((n, width)),
        np.zeros(n, dtype=np.int64),
        np.zeros((n, n + 1)),
    )


@kernel
def add_unknown(own: ReverseWork, m: int, i: int, row: int, column: int) -> None:
    """An unknown of contact i along coordinate ``column``, for which coordinate ``row`` rests."""
    own.whose[m] = i
    for part in range(own.rows.shape[1]):
        own.rows[m, part] = 1.0 if part == row else 0.0
        own.columns[m, part] = 1.0 if part == column else 0.0


@kernel
def list_unknowns(record: Record, k: int, given: Given, own: ReverseWork) -> int:
    """The unknown rates of an entry; how many there are."""
    nc, width, corners = len(given.mu), own.rows.shape[1], given.corners
    m = nc - nc
    for i in range(nc):
        role, face = record.marks[k, ROLE, i], record.marks[k, FACE, i]
        if role == FREE:
            continue
        if role == HELD or role == EDGE:  # in the plane only: on the edge its slip rests
            add_unknown(own, m, i, 0 if role == HELD else 1, 0)
            if face >= 0:
                base = face - WALLS if face >= WALLS else face
                for part in range(1, width):
                    own.columns[m, part] = -given.mu[i] * corners[base, part - 1]
            m += 1
        if face == STICKS:
            for part in range(1, width):
                add_unknown(own, m, i, part, part)
                m += 1
        elif face >= WALLS:
            base = face - WALLS
            following = base + 1 if base + 1 < corners.shape[0] else 0
            add_unknown(own, m, i, 0, 0)
            own.rows[m, 0] = own.columns[m, 0] = 0.0
            for part in range(1, width):
                along = corners[following, part - 1] - corners[base, part - 1]
                own.rows[m, part] = own.columns[m, part] = along
            m += 1
    return m


@kernel
def times_G(given: Given, of: Array, a: int) -> float:
    """Coordinate a of ``G`` times a vector."""
    value = 0.0
    for b in range(len(of)):
        value += given.G[a, b] * of[b]
    return value


@kernel
def back_through_rates(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Turn the bars of an entry's rates and changes into those of G and friction."""
    bars, n, width = own.bars, own.bars.shape[1], own.rows.shape[1]
    for a in range(n):
        bars[LEVER, a] = bars[OF_CHANGE, a]
    m = list_unknowns(record, k, given, own)
    if m > 0:
        for e in range(m):
            at, right = width * own.whose[e], 0.0
            for part in range(width):
                if own.columns[e, part] != 0.0:
                    wanted = bars[OF_RATE, at + part] + times_G(given, bars[OF_CHANGE], at + part)
                    right += own.columns[e, part] * wanted
            own.system[e, m] = right
            for f in range(m):  # transposed
                own.system[e, f] = coupling(given, own, f, e)
        solve_linear(own.system, 0, m)
        for e in range(m):
            at = width * own.whose[e]
            for part in range(width):
                bars[LEVER, at + part] -= own.rows[e, part] * own.system[e, m]
    for a in range(n):
        bars[OF_RATE, a] += times_G(given, bars[LEVER], a)
        if bars[LEVER, a] != 0.0:
            for b in range(n):
                own.of_G[a, b] += bars[LEVER, a] * record.states[k, RATE, b]
    for i in range(len(given.mu)):
        face = record.marks[k, FACE, i]
        if face >= 0 and record.marks[k, ROLE, i] != FREE:
            base = face - WALLS if face >= WALLS else face
            for part in range(1, width):
                along = given.corners[base, part - 1] * bars[OF_RATE, width * i + part]
                bars[OF_MU, i] -= record.states[k, RATE, width * i] * along


@kernel
def coupling(given: Given, own: ReverseWork, e: int, f: int) -> float:
    """``row_e . G col_f``."""
    width = own.rows.shape[1]
    i, j, value = width * own.whose[e], width * own.whose[f], 0.0
    for p in range(width):
        if own.rows[e, p] != 0.0:
            for q in range(width):
                value += own.rows[e, p] * given.G[i + p, j + q] * own.columns[f, q]
    return value


@kernel
def back_through_books(record: Record, k: int, given: Given, own: ReverseWork) -> float:
    """Bars of what the budgets after a piece depend on; returns that of its length."""
    bars, width, length = own.bars, own.rows.shape[1], record.numbers[k, LENGTH]
    of_length = 0.0
    for i in range(len(given.mu)):
        what, at = record.marks[k, BOOK, i], width * i
        bar = bars[LEFT, i]
        if what == IDLE or bar == 0.0:
            continue
        normal, e = record.states[k, RATE, at], given.bounce[i]
        factor = e if what == STORES else -1.0
        if given.poisson == 1:  # of the impulse
            of_length += bar * factor * normal
            bars[OF_RATE, at] += bar * factor * length
            if what == STORES:
                bars[OF_BOUNCE, i] += bar * length * normal
            continue
        factor = -0.5 * (e * e if what == STORES else 1.0)  # of the work: (y + y') / 2 times the impulse
        both = 2.0 * record.states[k, C, at] + length * record.states[k, CHANGE, at]
        bars[STATE, at] += bar * factor * length * normal
        bars[BEFORE, at] += bar * factor * length * normal
        of_length += bar * factor * both * normal
        bars[OF_RATE, at] += bar * factor * both * length
        if what == STORES:
            bars[OF_BOUNCE, i] -= bar * e * both * length * normal
    return of_length


@kernel
def back_through_length(record: Record, k: int, own: ReverseWork, bar: float) -> None:
    """Give the bar of an entry's length to what its event depends on."""
    bars, states, width = own.bars, record.states, own.rows.shape[1]
    length, share = record.numbers[k, LENGTH], record.numbers[k, SHARE]
    event, at = record.head[k, EVENT], width * record.head[k, WHO]
    if event == VANISHES:
        closing = 0.0
        for part in range(width):
            closing += record.numbers[k, DIRECTION + part] * states[k, CHANGE, at + part]
        for part in range(width):
            along = record.numbers[k, DIRECTION + part] * bar / closing
            bars[BEFORE, at + part] -= share * along
            bars[OF_CHANGE, at + part] -= length * along
    elif event == IMPULSE_RETURNED:
        normal = states[k, RATE, at]
        bars[LEFT, record.head[k, WHO]] += bar * share / normal
        bars[OF_RATE, at] -= bar * length / normal
    elif event == WORK_RETURNED:
        normal, whole = states[k, RATE, at], length / share
        bar *= share / (states[k, C, at] + whole * states[k, CHANGE, at])  # over the speed of leaving
        bars[BEFORE, at] -= bar * whole
        bars[OF_CHANGE, at] -= 0.5 * bar * whole * whole
        bars[LEFT, record.head[k, WHO]] += bar / normal
        bars[OF_RATE, at] -= bar * states[k, BUDGET, record.head[k, WHO]] / (normal * normal)
    elif event == LENGTH_OVER:
        bars[STAGE, 0] += bar


@kernel
def back_through_corner(record: Record, k: int, own: ReverseWork, bar: float) -> tuple[float, float]:
    """The same for a corner cut; returns the bars of the changes that entry ``k + 1`` looked ahead with."""
    bars, states, length = own.bars, record.states, record.numbers[k, LENGTH]
    a, b = record.head[k, WHO], record.head[k, OTHER]
    da, db = states[k, CHANGE, a], states[k, CHANGE, b]
    ea, eb = states[k + 1, CHANGE, a], states[k + 1, CHANGE, b]
    bar /= da * eb - db * ea
    bars[BEFORE, a] -= bar * eb
    bars[BEFORE, b] += bar * ea
    bars[OF_CHANGE, a] -= bar * length * eb
    bars[OF_CHANGE, b] += bar * length * ea
    return bar * (states[k, C, b] + length * db), -bar * (states[k, C, a] + length * da)


@kernel
def back_through_stage(record: Record, k: int, own: ReverseWork) -> None:
    """Where a stage begins: the length at which it is cut is a share of the way to contact SETTER's zero."""
    who, bars, width = record.head[k, SETTER], own.bars, own.rows.shape[1]
    if who == MORE:
        return
    if who >= 0:
        at = width * who
        closing = record.states[k, CHANGE, at]
        along = bars[STAGE, 0] * record.numbers[k, SET_SHARE] / closing
        bars[BEFORE, at] -= along
        bars[OF_CHANGE, at] += along * record.states[k, C, at] / closing
    bars[STAGE, 0] = 0.0


@kernel
def back_through_piece(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Turn the bars after an entry's piece into those before it."""
    bars, n, length = own.bars, own.bars.shape[1], record.numbers[k, LENGTH]
    for a in range(n):
        bars[OF_RATE, a] = bars[OF_CHANGE, a] = bars[BEFORE, a] = 0.0
    bar = back_through_books(record, k, given, own) - bars[STAGE, 0]
    for a in range(n):
        bar += bars[STATE, a] * record.states[k, CHANGE, a] + bars[PUSH, a] * record.states[k, RATE, a]
        bars[OF_CHANGE, a] += length * bars[STATE, a]
        bars[OF_RATE, a] += length * bars[PUSH, a]
    corner = record.head[k, EVENT] == CORNER
    of_a, of_b = 0.0, 0.0
    if corner:
        of_a, of_b = back_through_corner(record, k, own, bar)
    else:
        back_through_length(record, k, own, bar)
    back_through_stage(record, k, own)
    back_through_rates(record, k, given, own)
    if corner:
        for a in range(n):
            bars[OF_RATE, a] = bars[OF_CHANGE, a] = 0.0
        bars[OF_CHANGE, record.head[k, WHO]] = of_a
        bars[OF_CHANGE, record.head[k, OTHER]] = of_b
        back_through_rates(record, k + 1, given, own)
    for a in range(n):
        bars[STATE, a] += bars[BEFORE, a]


@kernel
def reverse(record: Record, given: Given, own: ReverseWork) -> None:
    """From the bar of the total impulse, ``bars[PUSH]``, to those of the start (STATE), G, mu and bounce."""
    clear_bars(own)
    back_from(record, given, own, int(record.total[ENTRIES]) - 1)


@kernel
def clear_bars(own: ReverseWork) -> None:
    """Forget all bars but that of the impulse."""
    bars, n = own.bars, own.bars.shape[1]
    for a in range(n):
        for b in range(n):
            own.of_G[a, b] = 0.0
        bars[STATE, a] = bars[LEFT, a] = bars[OF_MU, a] = bars[OF_BOUNCE, a] = bars[STAGE, a] = 0.0


@kernel
def back_from(record: Record, given: Given, own: ReverseWork, last: int) -> None:
    """From the bars after entry ``last`` to those before the first."""
    for k in range(last, -1, -1):
        if record.head[k, EVENT] != AHEAD:
            back_through_piece(record, k, given, own)
