"""The derivative backwards along a curve of the true cone, see `routh.kernels.gradients.reverse`.

Along a curve ``c' = F(c)`` the bar of the state obeys ``bar' = -(dF/dc)^T bar``, a linear equation along the
known curve; the bars of G, friction and restitution are integrals over it. F depends on the state through the
directions of slip ``u = t / |t|`` only, so one number for each sliding contact, the bar of its angle, makes
the equation whole. It is integrated by collocation in Gauss's points (order eight): a few of them for a step
of the sampler, and linear equations for these numbers. Where a slip begins, steps are taken in the logarithm
of the length. Where it ends, or has begun, the bar of its angle vanishes.
"""

from __future__ import annotations

import math

import numpy as np

from routh.compiling import kernel
from routh.kernels.common.small_linear import solve_linear
from routh.kernels.gradients.curve_nodes import across, add_across, of_angle, slip_left, visit
from routh.kernels.gradients.record import (
    BOOK,
    CHANGE,
    CURVE,
    DIRECTION,
    ENTRIES,
    EVENT,
    FACE,
    FREE,
    FROM_ZERO,
    LENGTH,
    OTHER,
    RATE,
    ROLE,
    SLIDES,
    STEADY,
    STORES,
    TO_ZERO,
    TURNING,
    WHO,
    C,
    Record,
    note_margin,
)
from routh.kernels.gradients.reverse_rates import (
    BAR,
    DIRECT,
    FALLEN,
    GIVEN,
    NODES,
    OF_BOUNCE,
    OF_CHANGE,
    OF_MU,
    OF_RATE,
    PUSH,
    RATES,
    STATE,
    TURNS_FROM,
    UNITS,
    Given,
    ReverseWork,
    list_unknowns,
    pull_rates,
    times_G,
)

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)
PLACES, WEIGHTS = 0.5 + 0.5 * _POINTS, 0.5 * _WEIGHTS  # of Gauss's points in a step from 0 to 1
_POWERS = np.arange(NODES)
# INNER[j, l]: the integral from 0 to point j of the polynomial that is one in point l and zero in the others
INNER = (PLACES[:, None] ** (_POWERS + 1) / (_POWERS + 1)) @ np.linalg.inv(PLACES[:, None] ** _POWERS)

TURNED, MOST_STEPS = 1.3, 20000.0  # by how much slips may turn in a part of a step; parts at most
ORDER = 9.0  # the power of its width with which the error of a part falls
DECADES = 18.0  # natural logarithm of the share of a step that a slip which begins leaves out
LOG_STEP = 0.8  # growth of the logarithm of a slip in one step
TINY = 1e-300
TURNS_TRIED = 3  # steps of Newton's method for the direction of an end
MOST_TURNED, SLIGHTLY = 1e-3, 1e-5  # radians: by how much it turns a slip at most, and a SMALL one
SMALL = 1e-6  # a slip whose own derivatives count no more
NEAR_ZERO = 1e-10  # share of a step at which a slip that begins has its first direction


@kernel
def list_slides(record: Record, k: int, own: ReverseWork, begins: bool) -> int:
    """The contacts that slide, or only those that begin to; how many there are."""
    found = k - k
    for i in range(record.marks.shape[2]):
        rests = record.states[k, C, 3 * i + 1] == 0.0 and record.states[k, C, 3 * i + 2] == 0.0
        if record.marks[k, FACE, i] == SLIDES and record.marks[k, ROLE, i] != FREE and (rests or not begins):
            own.slides[found] = i
            found += 1
    return found


@kernel
def level(given: Given, own: ReverseWork, slides: int) -> None:
    """Change the bar of the state so that those of angles in node 0 vanish: there slips have no length."""
    nc, state = len(given.mu), own.bars[STATE]
    for e in range(slides):
        i = own.slides[e]
        own.stages[e, slides] = -of_angle(own, 0, i, nc, state)
        for f in range(slides):
            own.stages[e, f] = across(own, own.nodes[0, TURNS_FROM + nc + i], 0, own.slides[f])
    solve_linear(own.stages, slides)
    for e in range(slides):
        add_across(own, state, 0, own.slides[e], own.stages[e, slides])


@kernel
def solve_angles(given: Given, own: ReverseWork, slides: int, width: float) -> None:
    """The bars of the angles over slips in all nodes, last column of `stages`, for a step of this width."""
    nc, n, size = len(given.mu), own.bars.shape[1], NODES * slides
    for j in range(NODES):
        for e in range(slides):
            row, i = own.stages[j * slides + e], own.slides[e]
            change = own.nodes[j, TURNS_FROM + nc + i]
            right = of_angle(own, j, i, nc, own.bars[STATE])
            for at in range(NODES):
                share = width * INNER[j, at] * own.paces[at]
                for f in range(slides):
                    row[at * slides + f] = -share * across(own, change, at, own.slides[f])
                for a in range(0, n, 3):
                    right += share * change[a] * own.nodes[at, DIRECT, a]
            row[j * slides + e] += own.nodes[j, UNITS, 3 * i]
            row[size] = right
    solve_linear(own.stages, size)


@kernel
def slope(own: ReverseWork, slides: int, at: int, share: float, to: np.ndarray) -> None:
    """Add to a bar of the state ``share`` times its slope in a node, after `solve_angles`."""
    for a in range(0, len(to), 3):
        to[a] += share * own.nodes[at, DIRECT, a]
    for e in range(slides):
        value = own.stages[at * slides + e, NODES * slides]
        add_across(own, to, at, own.slides[e], share * value)


@kernel
def pull_node(record: Record, k: int, given: Given, own: ReverseWork, j: int, weight: float) -> None:
    """The bars of G, friction and restitution grow by what node j gives to them, times ``weight``."""
    node, degree = own.nodes[j], 1.0 if given.poisson == 1 else 2.0
    for i in range(len(given.mu)):
        own.units[i, 0], own.units[i, 1] = node[UNITS, 3 * i + 1], node[UNITS, 3 * i + 2]
        if record.marks[k, BOOK, i] == STORES and given.bounce[i] > 0.0:
            stored = (node[GIVEN, 3 * i] - own.bars[PUSH, 3 * i]) * node[RATES, 3 * i]  # as e, or its square
            own.bars[OF_BOUNCE, i] += weight * degree * stored / given.bounce[i]
    for a in range(own.bars.shape[1]):
        own.bars[OF_CHANGE, a], own.bars[OF_RATE, a] = node[BAR, a], node[GIVEN, a]
    pull_rates(record, k, given, own, node[RATES], weight, list_unknowns(record, k, given, own))


@kernel
def place(record: Record, k: int, span: float, x: float) -> tuple[float, float]:
    """Where on the curve the variable x from 0 to 1 is, and how fast the place moves with it."""
    length, way = record.numbers[k, LENGTH], record.head[k, WHO]
    if way == FROM_ZERO:
        at = length * math.exp((x - 1.0) * span)
        return at, at * span
    if abs(span) > NEAR_ZERO:
        unit = length / math.expm1(-span)
        return unit * math.expm1(-span * x), -unit * span * math.exp(-span * x)
    return length * x, length


@kernel
def find_span(record: Record, k: int) -> float:
    """By how much the logarithm of a slip changes in the step, where it is the variable; else 0."""
    if record.head[k, WHO] == FROM_ZERO:
        return DECADES
    least, ended = 1.0, 0
    for i in range(record.marks.shape[2]):
        if record.marks[k, ROLE, i] != FREE:
            left = slip_left(record, k, i)
            ended += 1 if left == 0.0 else 0
            least = left + TINY if abs(math.log(left + TINY)) > abs(math.log(least)) else least
    if record.head[k, WHO] == TO_ZERO and ended < 2:
        return 0.0  # `level` is all that there is to be done
    return min(-math.log(least), DECADES)


@kernel
def fill_nodes(
    record: Record, k: int, given: Given, own: ReverseWork, span: float, first: float, width: float
) -> None:
    """Visit Gauss's points of the part of a step from ``first`` on, the last of them first."""
    clock, steady = record.head[k, OTHER], record.head[k, WHO] == STEADY
    for j in range(NODES):
        at, pace = place(record, k, span, first + width * (1.0 - PLACES[j]))
        visit(record, k, given, own, j, at)
        own.paces[j] = pace
        if steady and clock >= 0:
            own.paces[j] *= own.nodes[j, UNITS, 3 * clock]


@kernel
def turning(given: Given, own: ReverseWork, slides: int) -> tuple[float, float]:
    """The fastest rate at which a slip turns, against x, and the least at which its angle's bar falls."""
    fastest, falls, nc = 0.0, math.inf, len(given.mu)
    for j in range(NODES):
        quickest = 0.0
        for e in range(slides):
            i = own.slides[e]
            rate = -across(own, own.nodes[j, TURNS_FROM + nc + i], j, i) / own.nodes[j, UNITS, 3 * i]
            rate *= own.paces[j]
            quickest = rate if abs(rate) > abs(quickest) else quickest
        fastest, falls = max(fastest, abs(quickest)), min(falls, quickest)
    return fastest, falls


@kernel
def collocate(record: Record, k: int, given: Given, own: ReverseWork, slides: int, width: float) -> None:
    """Turn the bars after the part of a step whose nodes were visited into those before it."""
    n, state = own.bars.shape[1], own.bars[STATE]
    solve_angles(given, own, slides, width)
    for j in range(NODES):
        for a in range(n):
            own.nodes[j, BAR, a] = state[a]
        for at in range(NODES):
            slope(own, slides, at, width * INNER[j, at] * own.paces[at], own.nodes[j, BAR])
    for j in range(NODES):
        share = width * WEIGHTS[j] * own.paces[j]
        slope(own, slides, j, share, state)
        pull_node(record, k, given, own, j, share)


@kernel
def goes_on(record: Record, k: int) -> bool:
    """Whether a curve goes on after its step k as it was, so that nothing stirs the bars of angles."""
    if k + 1 >= int(record.total[ENTRIES]) or record.head[k + 1, EVENT] != CURVE:
        return False
    for i in range(record.marks.shape[2]):
        for row in (ROLE, FACE, BOOK):
            if record.marks[k, row, i] != record.marks[k + 1, row, i]:
                return False
    return True


@kernel
def part(record: Record, k: int, own: ReverseWork, span: float, left: float, fastest: float) -> float:
    """The width of the next part of a step of which ``left`` is left, where slips turn at this rate.

    The error of a part falls with the ninth power of what turns in it, times what is left of the bars of
    angles. They have fallen by ``F`` e-folds since an event, those of slips that turn more slowly by a share
    of it: at worst ``max (r g)^9 e^(-r F)`` over the shares r from 0 to 1 is left, and the width may be g
    times as large while that is 1. Where a slip begins all that is left to be found falls with the length.
    """
    fallen, width = own.bars[FALLEN, 0], 1.0
    if span != 0.0:
        width = LOG_STEP / abs(span)
        if record.head[k, WHO] == FROM_ZERO:
            width *= math.exp(min(span * (1.0 - left), DECADES) / ORDER)
    if fastest > 0.0:
        grown = math.exp(fallen / ORDER) if fallen < ORDER else math.e * fallen / ORDER
        width = min(width, TURNED * grown / fastest)
    return left / math.ceil(min(left / width, MOST_STEPS))


@kernel
def back_along_curve(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Turn the bars after a step along a curve, of a length that is fixed, into those before it."""
    way, length = record.head[k, WHO], record.numbers[k, LENGTH]
    if way == TURNING:  # it is too short for anything else to change in it
        return
    span = find_span(record, k)
    alone = way == TO_ZERO and span == 0.0
    if alone:
        own.slides[0] = record.head[k, OTHER]
        visit(record, k, given, own, 0, length * (1.0 - NEAR_ZERO))
        level(given, own, 1)
    slides = list_slides(record, k, own, False)
    if not goes_on(record, k):
        own.bars[FALLEN, 0] = 0.0
    left, fastest, parts = 1.0, 0.0, 0
    while left > 0.0:
        width = part(record, k, own, span, left, 0.0 if alone else fastest)
        fill_nodes(record, k, given, own, span, left - width, width)
        fastest, falls = turning(given, own, slides)
        parts += 1
        if not (fastest < math.inf and parts <= MOST_STEPS):  # a slip turns at once: there is no derivative
            for a in range(own.bars.shape[1]):
                own.bars[STATE, a] = math.nan
            return
        fits = part(record, k, own, span, left, 0.0 if alone else fastest)
        if fits < width:
            width = fits
            fill_nodes(record, k, given, own, span, left - width, width)
        collocate(record, k, given, own, slides, width)
        own.bars[FALLEN, 0] = max(own.bars[FALLEN, 0] + width * falls, 0.0)
        left -= width
    if way == FROM_ZERO:
        slides = list_slides(record, k, own, True)
        visit(record, k, given, own, 0, length * NEAR_ZERO)
        level(given, own, slides)


@kernel
def back_through_cone(record: Record, k: int, given: Given, own: ReverseWork, bar: float) -> None:
    """Give the bar of a curve's length to the rates with which contact WHO's friction leaves its cone.

    There ``|f| = mu n``, and along the curve rates change as slips turn.
    """
    bars, node, who = own.bars, own.nodes[0], record.head[k, WHO]
    visit(record, k - 1, given, own, 0, record.numbers[k - 1, LENGTH])
    at, mu, leaves = 3 * who, given.mu[who], 0.0
    n, f0, f1 = node[RATES, at], node[RATES, at + 1], node[RATES, at + 2]
    for e in range(list_slides(record, k - 1, own, False)):
        i = own.slides[e]
        turns = across(own, record.states[k, CHANGE], 0, i) / node[UNITS, 3 * i]
        rate = node[TURNS_FROM + i]
        leaves += turns * (f0 * rate[at + 1] + f1 * rate[at + 2] - mu * mu * n * rate[at])
    share = bar / leaves
    bars[OF_RATE, at] += share * mu * mu * n
    bars[OF_RATE, at + 1] -= share * f0
    bars[OF_RATE, at + 2] -= share * f1
    bars[OF_MU, who] += share * mu * n * n


@kernel
def back_through_rate(record: Record, k: int, given: Given, own: ReverseWork, bar: float) -> None:
    """Give the bar of a curve's length to the normal rate that contact WHO, which is held, reaches."""
    node, at, grows = own.nodes[0], 3 * record.head[k, WHO], 0.0
    visit(record, k - 1, given, own, 0, record.numbers[k - 1, LENGTH])
    for e in range(list_slides(record, k - 1, own, False)):
        i = own.slides[e]
        turns = across(own, record.states[k, CHANGE], 0, i) / node[UNITS, 3 * i]
        grows += turns * node[TURNS_FROM + i, at]
    own.bars[OF_RATE, at] -= bar / grows


@kernel
def align_ends(record: Record, given: Given, own: ReverseWork) -> None:
    """Turn slips that end into the direction in which they would, had the sampler followed them to the end.

    It goes straight on where turning no longer matters for the velocity after. Derivatives by a slip have no
    size, so the angle that is left would be their error; after this its square is. A slip that ends while it
    turns has become so small that nothing but its last rates counts; else that is told as a change of piece.
    """
    for k in range(min(int(record.total[ENTRIES]), record.head.shape[0]) - 1):
        ends = record.head[k, EVENT] == CURVE and record.head[k, WHO] == TO_ZERO
        if ends and find_span(record, k) == 0.0:
            at, angle = 3 * record.head[k, OTHER] + 1, 0.0
            t0, t1 = record.states[k, C, at], record.states[k, C, at + 1]
            small = t0 * t0 + t1 * t1 <= SMALL * SMALL
            for _ in range(TURNS_TRIED):
                angle += abs(turn_end(record, k, given, own))
            settled = angle <= (SLIGHTLY if small else MOST_TURNED)
            if not settled:
                record.states[k, C, at], record.states[k, C, at + 1] = t0, t1
            write_end_again(record, k, given, own)
            if not settled:
                record.head[k, WHO] = TURNING
                if not small:
                    note_margin(record, 0.0)


@kernel
def turn_end(record: Record, k: int, given: Given, own: ReverseWork) -> float:
    """One step of Newton's method for the angle at which a slip's rate points against it; that step.

    Infinite where nothing turns into a direction, or it is far: then the slip stays.
    """
    i, nc = record.head[k, OTHER], len(given.mu)
    at, slip, node = 3 * i + 1, record.states[k, C], own.nodes[0]
    visit(record, k, given, own, 0, record.numbers[k, LENGTH] * (1.0 - NEAR_ZERO))
    u0, u1 = node[UNITS, at], node[UNITS, at + 1]
    d0, d1 = times_G(given, node[RATES], at), times_G(given, node[RATES], at + 1)
    aside, closing = u0 * d1 - u1 * d0, -(u0 * d0 + u1 * d1)
    yields = -across(own, node[TURNS_FROM + nc + i], 0, i)
    angle = aside / (yields - closing) if yields > closing and closing > 0.0 else math.inf
    if not abs(angle) <= MOST_TURNED:
        return math.inf
    size = math.sqrt(slip[at] * slip[at] + slip[at + 1] * slip[at + 1])
    slip[at] = size * (u0 * math.cos(angle) - u1 * math.sin(angle))
    slip[at + 1] = size * (u1 * math.cos(angle) + u0 * math.sin(angle))
    return angle


@kernel
def write_end_again(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """The event of a slip that ends with the direction that it has now."""
    at, node, n = 3 * record.head[k, OTHER] + 1, own.nodes[0], own.bars.shape[1]
    visit(record, k, given, own, 0, record.numbers[k, LENGTH] * (1.0 - NEAR_ZERO))
    for part in range(2):
        record.numbers[k + 1, DIRECTION + 1 + part] = node[UNITS, at + part]
        record.states[k + 1, C, at + part] = NEAR_ZERO * node[UNITS, at + part]  # its direction is all it has
    for a in range(n):
        record.states[k + 1, RATE, a] = node[RATES, a]
        record.states[k + 1, CHANGE, a] = times_G(given, node[RATES], a)
