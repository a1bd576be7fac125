"""The derivative of a sample backwards along its record: from the impulse to the data of the problem.

A piece has rates r, changes ``d = G r``, a length s that its event gives, and goes from c to ``c + s d``; the
impulse grows by ``s r``. The *bar* of a quantity is the derivative of one number with respect to it. Pieces
are gone through from the last to the first; each gives its share to the bars of G, friction and restitution,
and turns the bar of the state after it into that of the state before it.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients.record import (
    AHEAD,
    BOOK,
    BUDGET,
    CHANGE,
    CORNER,
    CURVE,
    DIRECTION,
    ENTRIES,
    EVENT,
    FACE,
    IDLE,
    IMPULSE_RETURNED,
    LEAVES_CONE,
    LENGTH,
    LENGTH_OVER,
    MORE,
    NOBODY,
    OTHER,
    RATE,
    RATE_REACHED,
    SET_SHARE,
    SETTER,
    SHARE,
    SLIDES,
    STORES,
    TURNS,
    VANISHES,
    WHO,
    WORK_RETURNED,
    C,
    Record,
)
from routh.kernels.gradients.reverse_aimed import begin_backwards, end_stage
from routh.kernels.gradients.reverse_curve import (
    back_along_curve,
    back_through_cone,
    back_through_rate,
    list_slides,
)
from routh.kernels.gradients.reverse_rates import (
    AIMED,
    BEFORE,
    FALLEN,
    LEFT,
    OF_BOUNCE,
    OF_CHANGE,
    OF_MU,
    OF_RATE,
    OF_WEIGHT,
    PUSH,
    STAGE,
    STATE,
    Given,
    ReverseWork,
    back_through_rates,
)


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
    """Give the bar of an entry's length to what its event depends on.

    NaN where an event is none that is known here: such samples have no derivatives (`forget_lost`).
    """
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
    elif event != NOBODY:  # whose samples say that they are one-sided
        bars[BEFORE, 0] = math.nan


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
def back_to_stage(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """The same where the stage begins with a curve; slips that begin with it turn along their rates."""
    bars, n = own.bars, own.bars.shape[1]
    if record.head[k, SETTER] == MORE:
        return
    bars[FALLEN, 0] = 0.0
    for a in range(n):
        bars[OF_RATE, a] = bars[OF_CHANGE, a] = bars[BEFORE, a] = 0.0
    back_through_stage(record, k, own)
    if record.head[k, SETTER] >= 0:
        begin = list_slides(record, k, own, True)
        for e in range(begin):
            record.marks[k, FACE, own.slides[e]] = TURNS
        back_through_rates(record, k, given, own)
        for e in range(begin):
            record.marks[k, FACE, own.slides[e]] = SLIDES
        for a in range(n):
            bars[STATE, a] += bars[BEFORE, a]


@kernel
def back_through_piece(record: Record, k: int, given: Given, own: ReverseWork, curved: int | None) -> None:
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
    elif curved is not None and record.head[k, EVENT] == LEAVES_CONE:
        back_through_cone(record, k, given, own, bar)
    elif curved is not None and record.head[k, EVENT] == RATE_REACHED:
        back_through_rate(record, k, given, own, bar)
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
def reverse(record: Record, given: Given, own: ReverseWork, curved: int | None) -> None:
    """From the bar of the total impulse, ``bars[PUSH]``, to those of the start (STATE), G, mu and bounce.

    ``curved``: None where no piece is a curve.
    """
    clear_bars(own)
    last = int(record.total[ENTRIES]) - 1
    if curved is not None:
        last = begin_backwards(record, given, own)
    back_from(record, given, own, curved, last)


@kernel
def clear_bars(own: ReverseWork) -> None:
    """Forget all bars but that of the impulse."""
    bars, n = own.bars, own.bars.shape[1]
    for a in range(n):
        for b in range(n):
            own.of_G[a, b] = 0.0
        bars[STATE, a] = bars[LEFT, a] = bars[OF_MU, a] = bars[OF_BOUNCE, a] = bars[STAGE, a] = 0.0
        bars[FALLEN, a] = bars[AIMED, a] = bars[OF_WEIGHT, a] = 0.0


@kernel
def back_from(record: Record, given: Given, own: ReverseWork, curved: int | None, last: int) -> None:
    """From the bars after entry ``last`` to those before the first."""
    for k in range(last, -1, -1):
        if curved is not None and record.head[k, EVENT] == CURVE:
            back_along_curve(record, k, given, own)
            back_to_stage(record, k, given, own)
        elif record.head[k, EVENT] != AHEAD:
            own.bars[FALLEN, 0] = 0.0
            back_through_piece(record, k, given, own, curved)
        if own.bars[AIMED, 0] > 0.0:
            end_stage(record, k, given, own)
