"""The derivative of a sample backwards along its record: from the impulse to the data of the problem.

A piece has rates r, changes ``d = G r``, a length s that its event gives, and goes from c to ``c + s d``; the
impulse grows by ``s r``. The *bar* of a quantity is the derivative of one number with respect to it. Pieces
are gone through from the last to the first; each gives its share to the bars of G, friction and restitution,
and turns the bar of the state after it into that of the state before it.
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common import record as rec
from routh.kernels.common.record import GAMMA, Record, note_margin
from routh.kernels.gradients.reverse_aimed import begin_backwards, end_stage
from routh.kernels.gradients.reverse_curve import back_along_curve, back_through_limit, list_slides
from routh.kernels.gradients.reverse_rates import Given, ReverseWork, back_through_rates, clear_rates

GROWS = 1e6  # times: a disturbance of 1e-12 comes to a millionth


@kernel
def back_through_books(record: Record, k: int, given: Given, own: ReverseWork) -> float:
    """Bars of what the budgets after a piece depend on; returns that of its length.

    Last, since the bar of the state becomes that before the piece.
    """
    # reads given.bounce, given.mu, given.poisson, own.of_bounce, own.of_budget, own.of_change, own.of_rate,
    #   own.of_state, own.rows, record.book, record.c, record.change, record.length, record.rate
    # writes own.of_bounce, own.of_change, own.of_rate, own.of_state
    width, length = own.rows.shape[1], record.length[k]
    of_length = 0.0
    for i in range(len(given.mu)):
        what, at = record.book[k, i], width * i
        bar = own.of_budget[i]
        if what == rec.IDLE or bar == 0.0:
            continue
        normal, e = record.rate[k, at], given.bounce[i]
        factor = e if what == rec.STORES else -1.0
        if given.poisson == 1:  # of the impulse
            of_length += bar * factor * normal
            own.of_rate[at] += bar * factor * length
            if what == rec.STORES:
                own.of_bounce[i] += bar * length * normal
            continue
        factor = -e * e if what == rec.STORES else -1.0  # of the work: (y + y') / 2 times the impulse
        y, after = record.c[k, at], record.c[k, at] + length * record.change[k, at]
        own.of_state[at] += bar * factor * length * normal
        own.of_change[at] += 0.5 * bar * factor * length * length * normal
        own.of_rate[at] += 0.5 * bar * factor * (y + after) * length
        of_length += bar * factor * after * normal
        if what == rec.STORES:
            own.of_bounce[i] -= bar * e * (y + after) * length * normal
    return of_length


@kernel
def back_through_length(record: Record, k: int, own: ReverseWork, bar: float) -> None:
    """Give the bar of an entry's length to what its event depends on.

    NaN where an event is none that is known here: such samples have no derivatives (`forget_lost`).
    """
    # reads own.of_budget, own.of_change, own.of_rate, own.of_stage, own.of_state, own.rows, record.budget,
    #   record.c, record.change, record.direction, record.event, record.length, record.rate, record.share,
    #   record.who
    # writes own.of_budget, own.of_change, own.of_rate, own.of_stage, own.of_state
    width = own.rows.shape[1]
    length, share = record.length[k], record.share[k]
    event, at = record.event[k], width * record.who[k]
    if event == rec.VANISHES:
        closing = 0.0
        for part in range(width):
            closing += record.direction[k, part] * record.change[k, at + part]
        for part in range(width):
            along = record.direction[k, part] * bar / closing
            own.of_state[at + part] -= share * along
            own.of_change[at + part] -= length * along
    elif event == rec.IMPULSE_RETURNED:
        normal = record.rate[k, at]
        own.of_budget[record.who[k]] += bar * share / normal
        own.of_rate[at] -= bar * length / normal
    elif event == rec.WORK_RETURNED:
        normal, whole = record.rate[k, at], length / share
        bar *= share / (record.c[k, at] + whole * record.change[k, at])  # over the speed of leaving
        own.of_state[at] -= bar * whole
        own.of_change[at] -= 0.5 * bar * whole * whole
        own.of_budget[record.who[k]] += bar / normal
        own.of_rate[at] -= bar * record.budget[k, record.who[k]] / (normal * normal)
    elif event == rec.LENGTH_OVER:
        own.of_stage[0] += bar
    elif event != rec.NOBODY:  # whose samples say that they are one-sided
        own.of_state[0] = math.nan


@kernel
def back_through_corner(record: Record, k: int, own: ReverseWork, bar: float) -> tuple[float, float]:
    """The same for a corner cut; returns the bars of the changes that entry ``k + 1`` looked ahead with."""
    # reads own.of_change, own.of_state, record.c, record.change, record.length, record.other, record.who
    # writes own.of_change, own.of_state
    length = record.length[k]
    a, b = record.who[k], record.other[k]
    da, db = record.change[k, a], record.change[k, b]
    ea, eb = record.change[k + 1, a], record.change[k + 1, b]
    bar /= da * eb - db * ea
    own.of_state[a] -= bar * eb
    own.of_state[b] += bar * ea
    own.of_change[a] -= bar * length * eb
    own.of_change[b] += bar * length * ea
    return bar * (record.c[k, b] + length * db), -bar * (record.c[k, a] + length * da)


@kernel
def back_through_stage(record: Record, k: int, own: ReverseWork) -> None:
    """Go back through a stage: its length when cut is a share of the way to contact SETTER's zero."""
    # reads own.of_change, own.of_stage, own.of_state, own.rows, record.c, record.change, record.set_share,
    #   record.setter
    # writes own.of_change, own.of_stage, own.of_state
    who, width = record.setter[k], own.rows.shape[1]
    if who == rec.MORE:
        return
    if who >= 0:
        at = width * who
        closing = record.change[k, at]
        along = own.of_stage[0] * record.set_share[k] / closing
        own.of_state[at] -= along
        own.of_change[at] += along * record.c[k, at] / closing
    own.of_stage[0] = 0.0


@kernel
def back_to_stage(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """The same where the stage begins with a curve; slips that begin with it turn along their rates."""
    # reads own.slides, record.setter; writes own.fallen, record.face; hands on given, own, record
    if record.setter[k] == rec.MORE:
        return
    own.fallen[0] = 0.0
    clear_rates(own)
    back_through_stage(record, k, own)
    if record.setter[k] >= 0:
        begin = list_slides(record, k, own, True)
        for e in range(begin):
            record.face[k, own.slides[e]] = rec.TURNS
        back_through_rates(record, k, given, own)
        for e in range(begin):
            record.face[k, own.slides[e]] = rec.SLIDES


@kernel
def back_through_piece(record: Record, k: int, given: Given, own: ReverseWork, curved: int | None) -> None:
    """Turn the bars after an entry's piece into those before it."""
    # reads own.of_push, own.of_stage, own.of_state, record.change, record.event, record.length, record.other,
    #   record.rate, record.who
    # writes own.of_change, own.of_rate
    # hands on given, own, record
    n, length = len(own.of_state), record.length[k]
    bar = -own.of_stage[0]
    for a in range(n):
        bar += own.of_state[a] * record.change[k, a] + own.of_push[a] * record.rate[k, a]
        own.of_change[a], own.of_rate[a] = length * own.of_state[a], length * own.of_push[a]
    bar += back_through_books(record, k, given, own)
    corner = record.event[k] == rec.CORNER
    of_a, of_b = 0.0, 0.0
    if corner:
        of_a, of_b = back_through_corner(record, k, own, bar)
    elif curved is not None and record.event[k] in (rec.LEAVES_CONE, rec.RATE_REACHED):
        back_through_limit(record, k, given, own, bar)
    else:
        back_through_length(record, k, own, bar)
    back_through_stage(record, k, own)
    back_through_rates(record, k, given, own)
    if corner:
        clear_rates(own)
        own.of_change[record.who[k]] = of_a
        own.of_change[record.other[k]] = of_b
        back_through_rates(record, k + 1, given, own)


@kernel
def back_through_solves(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Turn the bars after an implicit step, whose second solve is entry k, into those before it.

    A solve finds rates r for which friction opposes, and held contacts rest at, ``d = b + G r``: the
    equations of rates, with velocities b beside. So the lever, G's bar over r, is the bar of b. With the
    weight g of both solves, ``b = c / g`` for the first and ``c / g + (h - g) / g G r`` of the first for the
    second, at whose d the step ends.
    """
    # reads own.lever, own.of_change, own.of_push, own.of_state, record.length
    # writes own.of_change, own.of_rate, own.of_state
    # hands on given, own, record
    n, h = len(own.of_state), record.length[k]
    g = GAMMA * h
    for a in range(n):
        own.of_rate[a], own.of_change[a] = g * own.of_push[a], g * own.of_state[a]
    back_through_rates(record, k, given, own)
    for a in range(n):
        own.of_rate[a], own.of_change[a] = (h - g) * own.of_push[a], (h - g) / g * own.lever[a]
        own.of_state[a] = (own.lever[a] - own.of_change[a]) / g
    back_through_rates(record, k - 1, given, own)
    for a in range(n):
        own.of_state[a] += own.lever[a] / g


@kernel
def reverse(record: Record, given: Given, own: ReverseWork, curved: int | None) -> None:
    """Go from the bar of the total impulse, `of_push`, to those of the start (`of_state`), G, mu and bounce.

    ``curved``: None where no piece is a curve.
    """
    # reads record.total; hands on given, own, record
    clear_bars(own)
    last = int(record.total[rec.ENTRIES]) - 1
    if curved is not None:
        last = begin_backwards(record, given, own)
    back_from(record, given, own, curved, last)


@kernel
def clear_bars(own: ReverseWork) -> None:
    """Forget all bars but that of the impulse."""
    # reads of_state; writes aimed, fallen, of_G, of_bounce, of_budget, of_mu, of_stage, of_state, of_weight
    n = len(own.of_state)
    for a in range(n):
        for b in range(n):
            own.of_G[a, b] = 0.0
        own.of_state[a] = own.of_budget[a] = own.of_mu[a] = own.of_bounce[a] = own.of_stage[a] = 0.0
        own.fallen[a] = own.aimed[a] = own.of_weight[a] = 0.0


@kernel
def back_from(record: Record, given: Given, own: ReverseWork, curved: int | None, last: int) -> None:
    """Go from the bars after entry ``last`` to those before the first.

    Where a disturbance on the way would grow by GROWS, rounding and the error of the path decide the outcome,
    not the data: such a sample has no margin.
    """
    # reads own.aimed, own.of_push, own.of_state, record.event, record.who
    # writes own.fallen
    # hands on given, own, record
    size = largest_bar(own.of_push, own.of_state)
    for k in range(last, -1, -1):
        if curved is not None and record.event[k] == rec.CURVE:
            back_along_curve(record, k, given, own)
            back_to_stage(record, k, given, own)
        elif curved is not None and record.event[k] == rec.SOLVE:
            if record.who[k] == 2:
                back_through_solves(record, k, given, own)
        elif record.event[k] != rec.AHEAD:
            own.fallen[0] = 0.0
            back_through_piece(record, k, given, own, curved)
        if own.aimed[0] > 0.0:
            end_stage(record, k, given, own)
        if largest_bar(own.of_state, own.of_state) > GROWS * size:
            note_margin(record, 0.0)


@kernel
def largest_bar(a: Array, b: Array) -> float:
    """The largest entry of two vectors (n,)."""
    largest = 0.0
    for q in range(len(a)):
        largest = max(largest, max(abs(a[q]), abs(b[q])))
    return largest
