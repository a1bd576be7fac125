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

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common import record as rec
from routh.kernels.common.record import Record, note_margin, slip_after, slip_of
from routh.kernels.common.small_linear import solve_linear
from routh.kernels.gradients.reverse_rates import (
    NODES,
    Given,
    ReverseWork,
    add_unknown_rates,
    list_unknowns,
    pull_rates,
    times_G,
)

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)
PLACES, WEIGHTS = 0.5 + 0.5 * _POINTS, 0.5 * _WEIGHTS  # of Gauss's points in a step from 0 to 1
_POWERS = np.arange(NODES)
# INNER[j, l]: the integral from 0 to point j of the polynomial that is one in point l and zero in the others
INNER = (PLACES[:, None] ** (_POWERS + 1) / (_POWERS + 1)) @ np.linalg.inv(PLACES[:, None] ** _POWERS)

# a slip has ended of which less than ENDED is left, or than BENT times a SHORT slip that goes straight on
ENDED, BENT, SHORT = 1e-6, 100.0, 1e-3
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
def slip_left(record: Record, k: int, i: int) -> float:
    """The share of a contact's slip that is left after a step which goes straight on; 1 in other steps.

    Several slips may vanish together where they depend on each other; then up to the error of going straight
    on, which is of the size of the slip that was aimed at, and that is small where there are several.
    """
    # reads c, face, length, other, who; hands on record
    way = record.who[k]
    if (way != rec.TO_ZERO and way != rec.AIMED) or record.face[k, i] != rec.SLIDES:
        return 1.0
    if way == rec.TO_ZERO and i == record.other[k]:
        return 0.0
    left = slip_after(record, k, i, record.length[k]) / slip_of(record.c[k], 3, i)
    aimed = slip_of(record.c[k], 3, record.other[k])
    return left if left > ENDED + (BENT * aimed if aimed < SHORT else 0.0) else 0.0


@kernel
def look_at_point(record: Record, k: int, given: Given, own: ReverseWork, at: float) -> int:
    """`point` and `point_rate`: the state of those who push and the rates; returns the number of unknowns."""
    # reads given.mu, own.lever, own.of_state, own.point, own.point_rate, own.units, record.c, record.curves,
    #   record.degree, record.face, record.length, record.rate, record.role
    # writes own.lever, own.point, own.point_rate, own.units
    # hands on given, own, record
    n = len(own.of_state)
    roles, impulse = record.role[k], own.point_rate
    for a in range(n):
        impulse[a] = 0.0
    for power in range(record.degree[k], -1, -1):
        for a in range(n):
            impulse[a] = impulse[a] * at + record.curves[k, power, a]
    for a in range(n):
        if roles[a // 3] != rec.FREE:
            own.point[a] = record.c[k, a] + times_G(given, impulse, a)
    for a in range(n):
        own.point_rate[a] = 0.0
    length = record.length[k]
    left = 1.0 - at / length if length > 0.0 else 1.0
    for i in range(len(given.mu)):
        if roles[i] == rec.FREE:
            continue
        if slip_left(record, k, i) == 0.0:  # keeps its direction; rounding would not
            own.point[3 * i + 1] = left * record.c[k, 3 * i + 1]
            own.point[3 * i + 2] = left * record.c[k, 3 * i + 2]
        normal = record.rate[k, 3 * i] if roles[i] == rec.DRIVEN else 0.0
        own.point_rate[3 * i] = normal
        if record.face[k, i] == rec.SLIDES:
            slip = slip_of(own.point, 3, i)
            for part in range(2):
                own.units[i, part] = own.point[3 * i + 1 + part] / slip
                own.point_rate[3 * i + 1 + part] = -given.mu[i] * normal * own.units[i, part]
    m = list_unknowns(record, k, given, own)
    for a in range(n if m > 0 else 0):
        own.lever[a] = times_G(given, own.point_rate, a)
    add_unknown_rates(given, own, own.lever, own.point_rate, m)
    return m


@kernel
def visit(record: Record, k: int, given: Given, own: ReverseWork, j: int, at: float) -> None:
    """All of node j, at a point of the curve, that does not depend on the bar of the state there."""
    # reads given.G, given.bounce, given.mu, given.poisson, own.nodes.direct, own.nodes.given,
    #   own.nodes.turned_changes, own.nodes.turned_rates, own.of_budget, own.of_push, own.of_state, own.point,
    #   own.point_rate, own.units, record.book, record.face, record.role
    # writes own.nodes.direct, own.nodes.given, own.nodes.rates, own.nodes.turned_changes,
    #   own.nodes.turned_rates, own.nodes.units
    # hands on given, own, record
    n, nc = len(own.of_state), len(given.mu)
    m = look_at_point(record, k, given, own, at)
    for a in range(n):
        own.nodes.rates[j, a] = own.point_rate[a]
        own.nodes.given[j, a], own.nodes.direct[j, a] = own.of_push[a], 0.0
    for i in range(nc):
        what, bar, e = record.book[k, i], own.of_budget[i], given.bounce[i]
        if what != rec.IDLE and bar != 0.0 and given.poisson == 1:  # the budget grows by e n or falls by n
            own.nodes.given[j, 3 * i] += bar * (e if what == rec.STORES else -1.0)
        elif what != rec.IDLE and bar != 0.0:  # by -e^2 y n, or y n
            share = e * e if what == rec.STORES else 1.0
            own.nodes.given[j, 3 * i] -= bar * share * own.point[3 * i]
            own.nodes.direct[j, 3 * i] -= bar * share * own.point_rate[3 * i]
        if record.face[k, i] != rec.SLIDES or record.role[k, i] == rec.FREE:
            continue
        own.nodes.units[j, 3 * i] = slip_of(own.point, 3, i)
        own.nodes.units[j, 3 * i + 1], own.nodes.units[j, 3 * i + 2] = own.units[i, 0], own.units[i, 1]
        rate, change = own.nodes.turned_rates[j, i], own.nodes.turned_changes[j, i]
        friction = -given.mu[i] * own.point_rate[3 * i]
        f0, f1 = -friction * own.units[i, 1], friction * own.units[i, 0]
        for a in range(n):
            rate[a] = 0.0
            change[a] = given.G[a, 3 * i + 1] * f0 + given.G[a, 3 * i + 2] * f1
        rate[3 * i + 1], rate[3 * i + 2] = f0, f1
        add_unknown_rates(given, own, change, rate, m)
        for a in range(n if m > 0 else 0):
            change[a] = times_G(given, rate, a)


@kernel
def across(own: ReverseWork, of: Array, j: int, i: int) -> float:
    """The part of a vector along the turning slip of contact i in node j."""
    # reads nodes.units
    units = own.nodes.units[j]
    return units[3 * i + 1] * of[3 * i + 2] - units[3 * i + 2] * of[3 * i + 1]


@kernel
def add_across(own: ReverseWork, to: Array, j: int, i: int, value: float) -> None:
    """The transpose of `across`."""
    # reads nodes.units
    units = own.nodes.units[j]
    to[3 * i + 1] -= value * units[3 * i + 2]
    to[3 * i + 2] += value * units[3 * i + 1]


@kernel
def of_angle(own: ReverseWork, j: int, i: int, bar: Array) -> float:
    """The bar of the angle of slip of contact i in node j, for a bar of the state there."""
    # reads nodes.given, nodes.turned_changes, nodes.turned_rates
    value, rate, change = 0.0, own.nodes.turned_rates[j, i], own.nodes.turned_changes[j, i]
    for a in range(len(bar)):
        value += rate[a] * own.nodes.given[j, a] + change[a] * bar[a]
    return value


@kernel
def list_slides(record: Record, k: int, own: ReverseWork, begins: bool) -> int:
    """The contacts that slide, or only those that begin to; how many there are."""
    # reads record.c, record.face, record.role; writes own.slides
    count = 0
    for i in range(record.role.shape[1]):
        rests = record.c[k, 3 * i + 1] == 0.0 and record.c[k, 3 * i + 2] == 0.0
        if record.face[k, i] == rec.SLIDES and record.role[k, i] != rec.FREE and (rests or not begins):
            own.slides[count] = i
            count += 1
    return count


@kernel
def level(own: ReverseWork, slides: int) -> None:
    """Change the bar of the state so that those of angles in node 0 vanish: there slips have no length."""
    # reads nodes.turned_changes, of_state, slides, stages; writes of_state, stages; hands on own
    state = own.of_state
    for e in range(slides):
        i = own.slides[e]
        own.stages[e, slides] = -of_angle(own, 0, i, state)
        for f in range(slides):
            own.stages[e, f] = across(own, own.nodes.turned_changes[0, i], 0, own.slides[f])
    solve_linear(own.stages, slides)
    for e in range(slides):
        add_across(own, state, 0, own.slides[e], own.stages[e, slides])


@kernel
def solve_angles(own: ReverseWork, slides: int, width: float) -> None:
    """The bars of the angles over slips in all nodes, last column of `stages`, for a step of this width."""
    # reads nodes.direct, nodes.turned_changes, nodes.units, of_state, paces, slides, stages
    # writes stages
    # hands on own
    n, size = len(own.of_state), NODES * slides
    for j in range(NODES):
        for e in range(slides):
            row, i = own.stages[j * slides + e], own.slides[e]
            change = own.nodes.turned_changes[j, i]
            right = of_angle(own, j, i, own.of_state)
            for at in range(NODES):
                share = width * INNER[j, at] * own.paces[at]
                for f in range(slides):
                    row[at * slides + f] = -share * across(own, change, at, own.slides[f])
                for a in range(0, n, 3):
                    right += share * change[a] * own.nodes.direct[at, a]
            row[j * slides + e] += own.nodes.units[j, 3 * i]
            row[size] = right
    solve_linear(own.stages, size)


@kernel
def slope(own: ReverseWork, slides: int, at: int, share: float, to: Array) -> None:
    """Add to a bar of the state ``share`` times its slope in a node, after `solve_angles`."""
    # reads nodes.direct, slides, stages; hands on own
    for a in range(0, len(to), 3):
        to[a] += share * own.nodes.direct[at, a]
    for e in range(slides):
        value = own.stages[at * slides + e, NODES * slides]
        add_across(own, to, at, own.slides[e], share * value)


@kernel
def pull_node(record: Record, k: int, given: Given, own: ReverseWork, j: int, weight: float) -> None:
    """The bars of G, friction and restitution grow by what node j gives to them, times ``weight``."""
    # reads given.bounce, given.mu, given.poisson, own.nodes.bar, own.nodes.given, own.nodes.rates,
    #   own.nodes.units, own.of_bounce, own.of_push, own.of_state, record.book
    # writes own.of_bounce, own.of_change, own.of_rate, own.units
    # hands on given, own, record
    degree = 1.0 if given.poisson == 1 else 2.0
    for i in range(len(given.mu)):
        own.units[i, 0], own.units[i, 1] = own.nodes.units[j, 3 * i + 1], own.nodes.units[j, 3 * i + 2]
        if record.book[k, i] == rec.STORES and given.bounce[i] > 0.0:
            of_stored = own.nodes.given[j, 3 * i] - own.of_push[3 * i]
            stored = of_stored * own.nodes.rates[j, 3 * i]  # as e, or its square
            own.of_bounce[i] += weight * degree * stored / given.bounce[i]
    for a in range(len(own.of_state)):
        own.of_change[a], own.of_rate[a] = own.nodes.bar[j, a], own.nodes.given[j, a]
    pull_rates(record, k, given, own, own.nodes.rates[j], weight, list_unknowns(record, k, given, own))


@kernel
def place(record: Record, k: int, span: float, x: float) -> tuple[float, float]:
    """The place on the curve where the variable x from 0 to 1 is, and how fast the place moves with it."""
    # reads length, who
    length, way = record.length[k], record.who[k]
    if way == rec.FROM_ZERO:
        at = length * math.exp((x - 1.0) * span)
        return at, at * span
    if abs(span) > NEAR_ZERO:
        unit = length / math.expm1(-span)
        return unit * math.expm1(-span * x), -unit * span * math.exp(-span * x)
    return length * x, length


@kernel
def find_span(record: Record, k: int) -> float:
    """Amount by which the logarithm of a slip changes in the step, where it is the variable; else 0."""
    # reads role, who; hands on record
    if record.who[k] == rec.FROM_ZERO:
        return DECADES
    least, ended = 1.0, 0
    for i in range(record.role.shape[1]):
        if record.role[k, i] != rec.FREE:
            left = slip_left(record, k, i)
            ended += 1 if left == 0.0 else 0
            least = left + TINY if abs(math.log(left + TINY)) > abs(math.log(least)) else least
    if record.who[k] == rec.TO_ZERO and ended < 2:
        return 0.0  # `level` is all that there is to be done
    return min(-math.log(least), DECADES)


@kernel
def fill_nodes(
    record: Record, k: int, given: Given, own: ReverseWork, span: float, first: float, width: float
) -> None:
    """Visit Gauss's points of the part of a step from ``first`` on, the last of them first."""
    # reads own.nodes.units, own.paces, record.other, record.who
    # writes own.paces
    # hands on given, own, record
    clock, steady = record.other[k], record.who[k] == rec.STEADY
    for j in range(NODES):
        at, pace = place(record, k, span, first + width * (1.0 - PLACES[j]))
        visit(record, k, given, own, j, at)
        own.paces[j] = pace
        if steady and clock >= 0:
            own.paces[j] *= own.nodes.units[j, 3 * clock]


@kernel
def turning(own: ReverseWork, slides: int) -> tuple[float, float]:
    """The fastest rate at which a slip turns, against x, and the least at which its angle's bar falls."""
    # reads nodes.turned_changes, nodes.units, paces, slides; hands on own
    fastest, falls = 0.0, math.inf
    for j in range(NODES):
        quickest = 0.0
        for e in range(slides):
            i = own.slides[e]
            rate = -across(own, own.nodes.turned_changes[j, i], j, i) / own.nodes.units[j, 3 * i]
            rate *= own.paces[j]
            quickest = rate if abs(rate) > abs(quickest) else quickest
        fastest, falls = max(fastest, abs(quickest)), min(falls, quickest)
    return fastest, falls


@kernel
def collocate(record: Record, k: int, given: Given, own: ReverseWork, slides: int, width: float) -> None:
    """Turn the bars after the part of a step whose nodes were visited into those before it."""
    # reads own.nodes.bar, own.of_state, own.paces
    # writes own.nodes.bar, own.of_state
    # hands on given, own, record
    n, state = len(own.of_state), own.of_state
    solve_angles(own, slides, width)
    for j in range(NODES):
        for a in range(n):
            own.nodes.bar[j, a] = state[a]
        for at in range(NODES):
            slope(own, slides, at, width * INNER[j, at] * own.paces[at], own.nodes.bar[j])
    for j in range(NODES):
        share = width * WEIGHTS[j] * own.paces[j]
        slope(own, slides, j, share, state)
        pull_node(record, k, given, own, j, share)


@kernel
def goes_on(record: Record, k: int) -> bool:
    """Whether a curve goes on after its step k as it was, so that nothing stirs the bars of angles."""
    # reads book, event, face, role, total
    if k + 1 >= int(record.total[rec.ENTRIES]) or record.event[k + 1] != rec.CURVE:
        return False
    for i in range(record.role.shape[1]):
        for row in (record.role, record.face, record.book):
            if row[k, i] != row[k + 1, i]:
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
    # reads own.fallen, record.who
    fallen, width = own.fallen[0], 1.0
    if span != 0.0:
        width = LOG_STEP / abs(span)
        if record.who[k] == rec.FROM_ZERO:
            width *= math.exp(min(span * (1.0 - left), DECADES) / ORDER)
    if fastest > 0.0:
        grown = math.exp(fallen / ORDER) if fallen < ORDER else math.e * fallen / ORDER
        width = min(width, TURNED * grown / fastest)
    return left / math.ceil(min(left / width, MOST_STEPS))


@kernel
def back_along_curve(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Turn the bars after a step along a curve, of a length that is fixed, into those before it."""
    # reads own.fallen, own.of_state, record.length, record.other, record.who
    # writes own.fallen, own.of_state, own.slides
    # hands on given, own, record
    way, length = record.who[k], record.length[k]
    if way == rec.TURNING:  # it is too short for anything else to change in it
        return
    span = find_span(record, k)
    ends = way == rec.TO_ZERO and span == 0.0
    if ends:
        own.slides[0] = record.other[k]
        visit(record, k, given, own, 0, length * (1.0 - NEAR_ZERO))
        level(own, 1)
    slides = list_slides(record, k, own, False)
    if not goes_on(record, k):
        own.fallen[0] = 0.0
    left, fastest, parts = 1.0, 0.0, 0
    while left > 0.0:
        width = part(record, k, own, span, left, 0.0 if ends else fastest)
        fill_nodes(record, k, given, own, span, left - width, width)
        fastest, falls = turning(own, slides)
        parts += 1
        if not (fastest < math.inf and parts <= MOST_STEPS):  # a slip turns at once: there is no derivative
            for a in range(len(own.of_state)):
                own.of_state[a] = math.nan
            return
        fits = part(record, k, own, span, left, 0.0 if ends else fastest)
        if fits < width:
            width = fits
            fill_nodes(record, k, given, own, span, left - width, width)
        collocate(record, k, given, own, slides, width)
        own.fallen[0] = max(own.fallen[0] + width * falls, 0.0)
        left -= width
    if way == rec.FROM_ZERO:
        slides = list_slides(record, k, own, True)
        visit(record, k, given, own, 0, length * NEAR_ZERO)
        level(own, slides)


@kernel
def back_through_limit(record: Record, k: int, given: Given, own: ReverseWork, bar: float) -> None:
    """Give the bar of a curve's length to the rates of contact WHO that end it, which change as slips turn.

    Its friction leaves its cone, ``|f| = mu n``; or the normal rate of a contact that is held is reached.
    """
    # reads given.mu, own.nodes.rates, own.nodes.turned_rates, own.nodes.units, own.of_mu, own.of_rate,
    #   own.slides, record.change, record.event, record.length, record.who
    # writes own.of_mu, own.of_rate
    # hands on given, own, record
    who = record.who[k]
    visit(record, k - 1, given, own, 0, record.length[k - 1])
    at, mu, leaves, grows = 3 * who, given.mu[who], 0.0, 0.0
    n, f0, f1 = own.nodes.rates[0, at], own.nodes.rates[0, at + 1], own.nodes.rates[0, at + 2]
    for e in range(list_slides(record, k - 1, own, False)):
        i = own.slides[e]
        turns = across(own, record.change[k], 0, i) / own.nodes.units[0, 3 * i]
        rate = own.nodes.turned_rates[0, i]
        leaves += turns * (f0 * rate[at + 1] + f1 * rate[at + 2] - mu * mu * n * rate[at])
        grows += turns * rate[at]
    if record.event[k] == rec.RATE_REACHED:
        own.of_rate[at] -= bar / grows
        return
    share = bar / leaves
    own.of_rate[at] += share * mu * mu * n
    own.of_rate[at + 1] -= share * f0
    own.of_rate[at + 2] -= share * f1
    own.of_mu[who] += share * mu * n * n


@kernel
def find_ends(record: Record, given: Given, own: ReverseWork) -> None:
    """Find where curves end, and with which rates."""
    # reads record.degree, record.event, record.total, record.who
    # writes record.who
    # hands on given, own, record
    for k in range(min(int(record.total[rec.ENTRIES]), len(record.event)) - 1):
        if record.degree[k + 1] == rec.END:
            ends = record.who[k] == rec.TO_ZERO and find_span(record, k) == 0.0
            way = align_end(record, k, given, own) if ends else record.who[k]
            find_end(record, k, given, own)
            record.who[k] = way


@kernel
def align_end(record: Record, k: int, given: Given, own: ReverseWork) -> int:
    """Turn a slip that ends into the direction in which it would, had the sampler followed it to the end.

    It goes straight on where turning no longer matters for the velocity after. Derivatives by a slip have no
    size, so the angle that is left would be their error; after this its square is. A slip that ends while it
    turns has become so small that nothing but its last rates counts; else that is told as a change of piece.
    Returns TO_ZERO or TURNING.
    """
    # reads record.c, record.other; writes record.c; hands on given, own, record
    at, angle = 3 * record.other[k] + 1, 0.0
    t0, t1 = record.c[k, at], record.c[k, at + 1]
    small = slip_of(record.c[k], 3, record.other[k]) <= SMALL
    for _ in range(TURNS_TRIED):
        angle += abs(turn_end(record, k, given, own))
    if angle <= (SLIGHTLY if small else MOST_TURNED):
        return rec.TO_ZERO
    record.c[k, at], record.c[k, at + 1] = t0, t1
    if not small:
        note_margin(record, 0.0)
    return rec.TURNING


@kernel
def turn_end(record: Record, k: int, given: Given, own: ReverseWork) -> float:
    """One step of Newton's method for the angle at which a slip's rate points against it; that step.

    Infinite where nothing turns into a direction, or it is far: then the slip stays.
    """
    # reads own.nodes.rates, own.nodes.turned_changes, own.nodes.units, record.c, record.length, record.other
    # writes record.c
    # hands on given, own, record
    i = record.other[k]
    at, slip = 3 * i + 1, record.c[k]
    visit(record, k, given, own, 0, record.length[k] * (1.0 - NEAR_ZERO))
    u0, u1 = own.nodes.units[0, at], own.nodes.units[0, at + 1]
    d0, d1 = times_G(given, own.nodes.rates[0], at), times_G(given, own.nodes.rates[0], at + 1)
    aside, closing = u0 * d1 - u1 * d0, -(u0 * d0 + u1 * d1)
    yields = -across(own, own.nodes.turned_changes[0, i], 0, i)
    angle = aside / (yields - closing) if yields > closing and closing > 0.0 else math.inf
    if not abs(angle) <= MOST_TURNED:
        return math.inf
    size = slip_of(slip, 3, i)
    slip[at] = size * (u0 * math.cos(angle) - u1 * math.sin(angle))
    slip[at + 1] = size * (u1 * math.cos(angle) + u0 * math.sin(angle))
    return angle


@kernel
def find_end(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """State and rates at the end of step k, into the entry of its event."""
    # reads own.of_state, own.point, own.point_rate, own.units, record.direction, record.event, record.length,
    #   record.role, record.who
    # writes record.c, record.change, record.direction, record.rate
    # hands on given, own, record
    n, at, length = len(own.of_state), 3 * record.who[k + 1], record.length[k]
    slip_ends = record.event[k + 1] == rec.VANISHES and record.direction[k + 1, 0] == 0.0
    look_at_point(record, k, given, own, length * (1.0 - NEAR_ZERO) if slip_ends else length)
    for a in range(n):
        if record.role[k, a // 3] != rec.FREE:
            record.c[k + 1, a] = own.point[a]
        record.rate[k + 1, a] = own.point_rate[a]
        record.change[k + 1, a] = times_G(given, own.point_rate, a)
    for part in range(1, 3 if slip_ends else 1):
        unit = own.units[record.who[k + 1], part - 1]
        record.direction[k + 1, part] = unit
        record.c[k + 1, at + part] = NEAR_ZERO * unit  # its direction is all it has
