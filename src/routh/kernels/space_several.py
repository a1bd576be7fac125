"""A step along the curve of several contacts that all slide, driven or held.

What `routh.kernels.space_curve.step_curve` does, to the bit; what is seldom, such as a slip that begins
or ends, is left to that. Contacts that push count from 0, those held last. As in `space_lone` loops are as
long as they can be, to be written out by a GPU's compiler.
"""

from __future__ import annotations

import math

from routh.compiling import kernel, written_out
from routh.kernels.space_curve import LOCAL, TAIL
from routh.kernels.space_equations import invert, unknown_value
from routh.kernels.space_lone import BEFORE, Powers, slip_ends, step_end
from routh.kernels.space_names import (
    CUT,
    GO_ON,
    HELD,
    LET_GO,
    MAY_END,
    NORMAL_ZERO,
    ORDER,
    RIGHT,
)
from routh.kernels.space_powers import ENOUGH, FARTHER, NEAREST, by_clock
from routh.kernels.space_series import CLOCKED
from routh.kernels.space_several_events import (
    D0,
    D1,
    EQUATIONS,
    INVERSE,
    MU,
    OTHER,
    PACE,
    PUSH,
    ROWS,
    SUM,
    TRY,
    WEIGHT,
    L,
    N,
    Pushing,
    R,
    S,
    SeveralWork,
    T,
    U,
    W,
    changed_by,
    clear_length,
    event_of_several,
    normal_effect,
)
from routh.kernels.space_state import (
    LEFT,
    TOTALS,
    Column,
    friction_of,
    global_row,
    move_row,
    pusher,
    role,
    step_taken,
    weight_of,
)


@written_out
def gather(of: Column, work: SeveralWork, m: int) -> bool:
    """Fill the scratch with the contacts that push; whether all slips have a direction."""
    powers, numbers, who, slide = work.powers, work.numbers, work.who, True
    for a in range(m):
        i = pusher(of, a)
        who[a], numbers[MU, a], numbers[WEIGHT, a] = i, friction_of(of, i), weight_of(of, i)
        t0, t1 = of.states[3 * i + 1, of.slot], of.states[3 * i + 2, of.slot]
        length = math.sqrt(t0 * t0 + t1 * t1)
        at = ROWS * a
        powers[0, at + T], powers[0, at + R], powers[0, at + S] = t0, t1, length
        if length > 0.0:
            powers[0, at + U], powers[0, at + W] = t0 / length, t1 / length
            numbers[INVERSE, a] = 1.0 / length
        else:
            slide = False
    for a in range(m):
        for part in range(3):
            for b in range(m):
                for other in range(3):
                    g = of.G[of.row, 3 * who[a] + part, 3 * who[b] + other]
                    work.gram[3 * a + part, 3 * b + other] = g
            for j in range(of.nc):
                work.normals[j, 3 * a + part] = of.G[of.row, 3 * who[a] + part, 3 * j]
    for j in range(of.nc):
        work.points[BEFORE, j] = of.states[3 * j, of.slot]
    return slide


@kernel
def pushed(work: SeveralWork, m: int, coordinate: int) -> float:
    """What PUSH changes a coordinate of the contacts that push by."""
    return changed_by(work.gram, coordinate, work.numbers, PUSH, m)


@written_out
def invert_held(work: SeveralWork, by: Pushing) -> None:
    """The equations of the normal rates of contacts that are held, see `fill_matrix`."""
    values, gram = work.values, work.gram
    for a in range(by.m):
        for b in range(by.m):
            if a >= by.held and b >= by.held:
                friction, e, f = -work.numbers[MU, b], a - by.held, b - by.held
                values[EQUATIONS + e, f] = (
                    gram[3 * a, 3 * b]
                    + gram[3 * a, 3 * b + 1] * (friction * work.powers[0, ROWS * b + U])
                    + gram[3 * a, 3 * b + 2] * (friction * work.powers[0, ROWS * b + W])
                )
                values[EQUATIONS + by.m + e, f] = 1.0 if e == f else 0.0
    invert(work, EQUATIONS, by.m, by.m - by.held)


@written_out
def known_rates(work: SeveralWork, by: Pushing, k: int) -> None:
    """PUSH: power k of the rates as far as lower powers say, see `routh.kernels.space_series.known_rates`."""
    powers, numbers = work.powers, work.numbers
    for a in range(by.m):
        numbers[SUM, a], numbers[OTHER, a] = 0.0, 0.0
    if by.clock >= 0 or by.held < by.m:
        for j in range(ORDER):
            for a in range(by.m):
                if j <= k:
                    rate = powers[j, PACE]
                    if a >= by.held:
                        rate = powers[j, ROWS * a + N] if j < k else 0.0
                    numbers[SUM, a] += rate * powers[k - j, ROWS * a + U]
                    numbers[OTHER, a] += rate * powers[k - j, ROWS * a + W]
    for a in range(by.m):
        at, weight, f0, f1 = ROWS * a, numbers[WEIGHT, a], numbers[SUM, a], numbers[OTHER, a]
        if a >= by.held:
            weight = 0.0
        elif a == by.clock:
            f0, f1 = weight * powers[k, at + T], weight * powers[k, at + R]
        elif by.clock >= 0:
            f0, f1 = weight * f0, weight * f1
        else:
            f0, f1 = weight * powers[k, at + U], weight * powers[k, at + W]
        numbers[PUSH, 3 * a] = weight * powers[k, PACE]
        numbers[PUSH, 3 * a + 1], numbers[PUSH, 3 * a + 2] = -numbers[MU, a] * f0, -numbers[MU, a] * f1


@written_out
def set_pace(work: SeveralWork, by: Pushing, k: int) -> None:
    """PACE: the size of the slip that is the measure of the step; 1 where the length of the path is."""
    pace = 1.0 if k == 0 else 0.0
    for a in range(by.m):
        if a == by.clock:
            pace = work.powers[k, ROWS * a + S]
    work.powers[k, PACE] = pace


@written_out
def rates(work: SeveralWork, by: Pushing, k: int) -> None:
    """Power k of the rates, and PUSH."""
    powers, numbers = work.powers, work.numbers
    known_rates(work, by, k)
    if by.held < by.m:
        for a in range(by.m):
            if a >= by.held:
                work.values[RIGHT, a - by.held] = 0.0 - pushed(work, by.m, 3 * a)
        for a in range(by.m):
            if a >= by.held:
                z, friction = unknown_value(work, by.m - by.held, a - by.held), -numbers[MU, a]
                numbers[PUSH, 3 * a] += z
                numbers[PUSH, 3 * a + 1] += z * (friction * powers[0, ROWS * a + U])
                numbers[PUSH, 3 * a + 2] += z * (friction * powers[0, ROWS * a + W])
    for a in range(by.m):
        for part in range(3):
            powers[k, ROWS * a + N + part] = numbers[PUSH, 3 * a + part]


@written_out
def add_power(work: SeveralWork, m: int, k: int, pace: float) -> None:
    """PUSH: power k + 1 of the impulses, from power k of the rates, which become so many times as large."""
    share = 1.0 / (k + 1)
    for a in range(m):
        for part in range(3):
            rate = work.powers[k, ROWS * a + N + part] * pace
            work.powers[k, ROWS * a + N + part], work.numbers[PUSH, 3 * a + part] = rate, share * rate


@written_out
def first_held(of: Column, work: SeveralWork, m: int) -> int:
    """The first of the contacts that push that is held; m: none is."""
    held = m
    for a in range(m - 1, -1, -1):
        if held == a + 1 and role(of, work.who[a]) == HELD:
            held = a
    return held


@written_out
def slips(work: SeveralWork, m: int, k: int) -> None:
    """Power k > 0 of the slips from that of the impulses, PUSH: see `routh.kernels.space_series.slip`.

    SUM and OTHER: halves of what its size is made of; then its direction.
    """
    powers, numbers = work.powers, work.numbers
    for a in range(m):
        at = ROWS * a
        powers[k, at + T], powers[k, at + R] = pushed(work, m, 3 * a + 1), pushed(work, m, 3 * a + 2)
        numbers[SUM, a], numbers[OTHER, a] = 0.0, 0.0
        if k % 2 == 0:
            t, r, s = powers[k // 2, at + T], powers[k // 2, at + R], powers[k // 2, at + S]
            numbers[SUM, a], numbers[OTHER, a] = 0.5 * (t * t + r * r), 0.5 * s * s
    for j in range(ORDER // 2, 0, -1):
        for a in range(m):
            at = ROWS * a
            if 2 * j < k:
                t, r = powers[j, at + T] * powers[k - j, at + T], powers[j, at + R] * powers[k - j, at + R]
                numbers[SUM, a] += t + r
                numbers[OTHER, a] += powers[j, at + S] * powers[k - j, at + S]
    for a in range(m):
        at, t, r = ROWS * a, powers[k, ROWS * a + T], powers[k, ROWS * a + R]
        first = powers[0, at + T] * t + powers[0, at + R] * r
        powers[k, at + S] = numbers[INVERSE, a] * (numbers[SUM, a] - numbers[OTHER, a] + first)
        numbers[SUM, a], numbers[OTHER, a] = t, r
    for j in range(1, ORDER + 1):
        for a in range(m):
            at = ROWS * a
            if j <= k:
                numbers[SUM, a] -= powers[j, at + S] * powers[k - j, at + U]
                numbers[OTHER, a] -= powers[j, at + S] * powers[k - j, at + W]
    for a in range(m):
        at = ROWS * a
        powers[k, at + U], powers[k, at + W] = (
            numbers[INVERSE, a] * numbers[SUM, a],
            numbers[INVERSE, a] * numbers[OTHER, a],
        )


@written_out
def energy(work: SeveralWork, m: int, k: int) -> float:
    """See `routh.kernels.space_powers.energy_norm`, of PUSH, after `slips`."""
    total, powers, numbers = 0.0, work.powers, work.numbers
    for a in range(m):
        total += numbers[PUSH, 3 * a] * pushed(work, m, 3 * a)
        total += numbers[PUSH, 3 * a + 1] * powers[k, ROWS * a + T]
        total += numbers[PUSH, 3 * a + 2] * powers[k, ROWS * a + R]
    return math.sqrt(max(total, 0.0)) if total == total else math.inf


@written_out
def series_of_several(work: SeveralWork, by: Pushing, reach: float, allowed: float) -> Powers:
    """See `routh.kernels.space_series.fill_series`; the first power of the rates is there, by length."""
    power, last, second, degree = 1.0, 0.0, 0.0, 0
    for k in range(ORDER):
        if k > 0:
            rates(work, by, k)
        add_power(work, by.m, k, work.powers[0, PACE] if k == 0 else 1.0)
        slips(work, by.m, k + 1)
        set_pace(work, by, k + 1)
        if k + 2 >= ENOUGH and degree == 0:  # as `routh.kernels.space_powers.are_enough` asks
            second, last = last, energy(work, by.m, k + 1)
            enough = last * power * reach <= allowed and second * power <= allowed
            if enough and k % 2 == 1 and k + 1 < ORDER and power * reach < math.inf:
                degree = k + 1
        power *= reach
    return (degree if degree > 0 else ORDER), last, second


@written_out
def held_by_length(work: SeveralWork, by: Pushing) -> None:
    """Normal rates of contacts that are held, by length: see `routh.kernels.space_series.by_length`."""
    powers, inverse = work.powers, 1.0 / work.powers[0, PACE]
    for k in range(ORDER):
        for a in range(by.m):
            if a >= by.held:
                x = powers[k, ROWS * a + N]
                if by.clock >= 0:
                    for j in range(1, ORDER):
                        if j <= k:
                            x -= powers[j, PACE] * powers[k - j, ROWS * a + L]
                    x = inverse * x
                powers[k, ROWS * a + L] = x


@written_out
def a_slip_ends(work: SeveralWork, m: int, distance: float, allowed: float) -> bool:
    """Whether one goes straight on to its end, see `slip_ends`."""
    powers, numbers, gram, ends = work.powers, work.numbers, work.gram, False
    for a in range(m):
        at, turning = ROWS * a, 1.0
        for b in range(m):
            if b != a:
                rate = math.sqrt(numbers[D0, b] ** 2 + numbers[D1, b] ** 2)
                turning = max(turning, rate / powers[0, ROWS * b + S])
        g = gram[3 * a + 1, 3 * a + 1], gram[3 * a + 1, 3 * a + 2], gram[3 * a + 2, 3 * a + 2]
        u, d = (powers[0, at + U], powers[0, at + W]), (numbers[D0, a], numbers[D1, a])
        push = numbers[MU, a] * powers[0, at + N]
        if slip_ends(g, push, powers[0, at + S], u, d, turning, distance, allowed):
            ends = True
    return ends


@written_out
def find_clock(work: SeveralWork, m: int) -> tuple[int, float, float]:
    """See `routh.kernels.space_series.find_clock`; slip rates to D0 and D1. The least slip, at most 1.

    And how quickly the slip that is the clock grows.
    """
    numbers, powers, clock, least, slowest, along = work.numbers, work.powers, -1, CLOCKED * CLOCKED, 1.0, 0.0
    for a in range(m):
        d0, d1, length = pushed(work, m, 3 * a + 1), pushed(work, m, 3 * a + 2), powers[0, ROWS * a + S]
        numbers[D0, a], numbers[D1, a], rate = d0, d1, d0**2 + d1**2
        slowest = min(slowest, length)
        if length**2 < least * rate:
            clock, least = a, length**2 / rate
            along = powers[0, ROWS * a + U] * d0 + powers[0, ROWS * a + W] * d1
    return clock, slowest, along


@written_out
def distance_of_several(of: Column, work: SeveralWork, m: int) -> float:
    """See `routh.kernels.space_powers.distance_ahead`; rates are in PUSH."""
    distance = of.states[global_row(of.nc, CUT), of.slot]
    for j in range(of.nc):
        y = work.points[BEFORE, j]
        if y != 0.0 and role(of, j) != HELD:
            rate = normal_effect(work, m, j, PUSH)
            if y * rate < 0.0:
                distance = min(distance, -y / rate)
    return distance


@written_out
def add_impulses(of: Column, work: SeveralWork, m: int, event: int) -> None:
    """Velocities after the impulses TRY, and those in all; ``event``: whose normal velocity is zero then."""
    states, slot, numbers = of.states, of.slot, work.numbers
    for j in range(of.nc):
        change = normal_effect(work, m, j, TRY)
        y = work.points[BEFORE, j] if role(of, j) == HELD else work.points[BEFORE, j] + change
        states[3 * j, slot] = 0.0 if j == event else y
        x, z = 0.0, 0.0
        for b in range(m):
            at = 3 * work.who[b]
            p, q, r = numbers[TRY, 3 * b], numbers[TRY, 3 * b + 1], numbers[TRY, 3 * b + 2]
            g, h = 3 * j + 1, 3 * j + 2
            x += of.G[of.row, at, g] * p + of.G[of.row, at + 1, g] * q + of.G[of.row, at + 2, g] * r
            z += of.G[of.row, at, h] * p + of.G[of.row, at + 1, h] * q + of.G[of.row, at + 2, h] * r
        states[3 * j + 1, slot] += x
        states[3 * j + 2, slot] += z
    for a in range(m):
        for part in range(3):
            states[TOTALS * of.nc + 3 * work.who[a] + part, slot] += numbers[TRY, 3 * a + part]


@kernel
def several_step(of: Column, work: SeveralWork, m: int) -> int:
    """One step: what comes next, CURVES, RATES or DRAWS; LEFT: nothing has changed. m: how many push."""
    numbers, allowed = work.numbers, LOCAL * of.tolerance
    if not gather(of, work, m):
        return LEFT
    held = first_held(of, work, m)
    by = Pushing(m, held, -1)
    set_pace(work, by, 0)
    if held < m:
        invert_held(work, by)
    rates(work, by, 0)
    distance = distance_of_several(of, work, m)
    clock, slowest, along = find_clock(work, m)
    may_end = of.states[move_row(of.nc, MAY_END), of.slot] > 0.0
    if may_end and a_slip_ends(work, m, distance, allowed):
        return LEFT
    by, reach = Pushing(m, held, clock), max(FARTHER * distance, NEAREST)
    set_pace(work, by, 0)
    if clock >= 0:
        reach = by_clock(reach, work.powers[0, PACE], along)
    least = min(allowed, math.sqrt(allowed) * slowest)
    degree, last, second = series_of_several(work, by, reach, least)
    if held < m:
        held_by_length(work, by)
    h = clear_length(work, by, step_end(degree, reach, last, second, least), degree)
    if not h > 0.0:
        return LEFT
    h, kind, who = event_of_several(of, work, by, h, degree)
    add_impulses(of, work, m, who if kind == NORMAL_ZERO else -1)
    error, spent = TAIL * last * h**degree, numbers[TRY, 0] / numbers[WEIGHT, 0]
    return step_taken(of, spent, error, kind == GO_ON, who if kind == LET_GO else -1)
