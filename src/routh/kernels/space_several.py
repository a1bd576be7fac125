"""A step along the curve of several contacts that all slide, driven or held.

What `routh.kernels.space_curve.step_curve` does, to the bit; what is seldom, such as a slip that begins
or ends, is left to that. Contacts that push count from 0, those held last.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space_curve import LOCAL, TAIL
from routh.kernels.space_equations import invert, unknown_value
from routh.kernels.space_lone import SHARE, Powers, reach_of, size_of_slip, slip_ends, step_end
from routh.kernels.space_names import (
    CUT,
    GO_ON,
    GRAM,
    HELD,
    LET_GO,
    MAY_END,
    NORMAL_ZERO,
    ORDER,
    PUSHING,
    RIGHT,
)
from routh.kernels.space_powers import ENOUGH, FARTHER, NEAREST
from routh.kernels.space_series import CLOCKED
from routh.kernels.space_several_events import (
    D0,
    D1,
    MU,
    PUSH,
    ROWS,
    TRY,
    WEIGHT,
    F,
    H,
    L,
    N,
    Pushing,
    R,
    S,
    SeveralWork,
    T,
    U,
    W,
    clear_length,
    effect_on,
    event_of_several,
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


@kernel
def gather(of: Column, work: SeveralWork, m: int) -> bool:
    """Fill the scratch with the contacts that push; whether all slips have a direction."""
    powers, numbers, who = work.powers, work.numbers, work.who
    for a in range(m):
        i = pusher(of, a)
        who[a], numbers[MU, a], numbers[WEIGHT, a] = i, friction_of(of, i), weight_of(of, i)
        t0, t1 = of.states[3 * i + 1, of.slot], of.states[3 * i + 2, of.slot]
        length = math.sqrt(t0 * t0 + t1 * t1)
        if not length > 0.0:
            return False
        at = ROWS * a
        powers[at + T, 0], powers[at + R, 0], powers[at + S, 0] = t0, t1, length
        powers[at + U, 0], powers[at + W, 0] = t0 / length, t1 / length
    for a in range(m):
        for part in range(3):
            for b in range(m):
                for other in range(3):
                    g = of.G[of.row, 3 * who[a] + part, 3 * who[b] + other]
                    work.gram[3 * a + part, 3 * b + other] = g
    return True


@kernel
def pushed(work: SeveralWork, m: int, coordinate: int) -> float:
    """What PUSH changes a coordinate of the contacts that push by."""
    value, gram, numbers = 0.0, work.gram, work.numbers
    for b in range(m):
        value += (
            gram[coordinate, 3 * b] * numbers[PUSH, 3 * b]
            + gram[coordinate, 3 * b + 1] * numbers[PUSH, 3 * b + 1]
            + gram[coordinate, 3 * b + 2] * numbers[PUSH, 3 * b + 2]
        )
    return value


@kernel
def invert_held(work: SeveralWork, nc: int, by: Pushing) -> None:
    """The equations of the normal rates of contacts that are held, see `fill_matrix`."""
    values, gram, first = work.values, work.gram, GRAM + 3 * nc
    for e in range(by.m - by.held):
        for f in range(by.m - by.held):
            row, at, own = 3 * (by.held + e), 3 * (by.held + f), ROWS * (by.held + f)
            friction = -work.numbers[MU, by.held + f]
            values[first + e, f] = (
                gram[row, at]
                + gram[row, at + 1] * (friction * work.powers[own + U, 0])
                + gram[row, at + 2] * (friction * work.powers[own + W, 0])
            )
            values[first + 3 * nc + e, f] = 1.0 if e == f else 0.0
    invert(work, nc, by.m - by.held)


@kernel
def known_rates(work: SeveralWork, by: Pushing, k: int) -> None:
    """PUSH: power k of the rates as far as lower powers say, see `routh.kernels.space_series.known_rates`."""
    powers, numbers, clock = work.powers, work.numbers, ROWS * by.clock + S
    now = powers[clock, k] if by.clock >= 0 else (1.0 if k == 0 else 0.0)
    for a in range(by.m):
        at, weight, f0, f1 = ROWS * a, numbers[WEIGHT, a], 0.0, 0.0
        if a >= by.held:
            weight = 0.0
            for j in range(k):
                f0 += powers[at + N, j] * powers[at + U, k - j]
                f1 += powers[at + N, j] * powers[at + W, k - j]
        elif a == by.clock:
            f0, f1 = weight * powers[at + T, k], weight * powers[at + R, k]
        elif by.clock >= 0:
            for j in range(k + 1):
                f0 += powers[clock, j] * powers[at + U, k - j]
                f1 += powers[clock, j] * powers[at + W, k - j]
            f0, f1 = weight * f0, weight * f1
        else:
            f0, f1 = weight * powers[at + U, k], weight * powers[at + W, k]
        numbers[PUSH, 3 * a] = weight * now
        numbers[PUSH, 3 * a + 1], numbers[PUSH, 3 * a + 2] = -numbers[MU, a] * f0, -numbers[MU, a] * f1


@kernel
def rates(work: SeveralWork, by: Pushing, k: int) -> None:
    """Power k of the rates, and PUSH."""
    powers, numbers = work.powers, work.numbers
    known_rates(work, by, k)
    for a in range(by.held, by.m):
        work.values[RIGHT, a - by.held] = 0.0 - pushed(work, by.m, 3 * a)
    for a in range(by.held, by.m):
        z, at, friction = unknown_value(work, by.m - by.held, a - by.held), ROWS * a, -numbers[MU, a]
        numbers[PUSH, 3 * a] += z
        numbers[PUSH, 3 * a + 1] += z * (friction * powers[at + U, 0])
        numbers[PUSH, 3 * a + 2] += z * (friction * powers[at + W, 0])
    for a in range(by.m):
        at = ROWS * a
        powers[at + N, k], powers[at + F, k] = numbers[PUSH, 3 * a], numbers[PUSH, 3 * a + 1]
        powers[at + H, k] = numbers[PUSH, 3 * a + 2]


@kernel
def slips(work: SeveralWork, by: Pushing, k: int) -> None:
    """Power k > 0 of the slips from that of the impulses, PUSH: see `routh.kernels.space_series.slip`."""
    powers = work.powers
    for a in range(by.m):
        at, inverse = ROWS * a, 1.0 / powers[ROWS * a + S, 0]
        t0, t1 = pushed(work, by.m, 3 * a + 1), pushed(work, by.m, 3 * a + 2)
        powers[at + T, k], powers[at + R, k] = t0, t1
        powers[at + S, k] = size_of_slip(powers, at + T, at + R, at + S, k, inverse)
        if a != by.clock or a >= by.held:
            for j in range(1, k + 1):
                t0 -= powers[at + S, j] * powers[at + U, k - j]
                t1 -= powers[at + S, j] * powers[at + W, k - j]
        powers[at + U, k], powers[at + W, k] = inverse * t0, inverse * t1


@kernel
def energy(work: SeveralWork, m: int) -> float:
    """See `routh.kernels.space_powers.energy_norm`, of PUSH."""
    total = 0.0
    for a in range(m):
        for part in range(3):
            total += work.numbers[PUSH, 3 * a + part] * pushed(work, m, 3 * a + part)
    return math.sqrt(max(total, 0.0)) if total == total else math.inf


@kernel
def series_of_several(work: SeveralWork, by: Pushing, reach: float, allowed: float) -> Powers:
    """See `routh.kernels.space_series.fill_series`; the first power of the rates is there, by length."""
    powers, numbers, clock = work.powers, work.numbers, ROWS * by.clock + S
    power, last, second = 1.0, 0.0, 0.0
    for k in range(ORDER):
        if k > 0:
            rates(work, by, k)
        share = powers[SHARE, k + 1]
        for a in range(by.m):
            for part in range(3):
                if k == 0 and by.clock >= 0:
                    powers[ROWS * a + N + part, 0] *= powers[clock, 0]
                numbers[PUSH, 3 * a + part] = share * powers[ROWS * a + N + part, k]
        slips(work, by, k + 1)
        if k + 2 >= ENOUGH:  # as `routh.kernels.space_powers.are_enough` asks
            second, last = last, energy(work, by.m)
            enough = last * power * reach <= allowed and second * power <= allowed
            if enough and k % 2 == 1 and k + 1 < ORDER and power * reach < math.inf:
                return k + 1, last, second
        power *= reach
    return ORDER, last, second


@kernel
def held_by_length(work: SeveralWork, by: Pushing, degree: int) -> None:
    """Normal rates of contacts that are held, by length: see `routh.kernels.space_series.by_length`."""
    powers, clock = work.powers, ROWS * by.clock + S
    for a in range(by.held, by.m):
        at = ROWS * a
        for k in range(degree):
            x = powers[at + N, k]
            if by.clock >= 0:
                for j in range(1, k + 1):
                    x -= powers[clock, j] * powers[at + L, k - j]
                x = 1.0 / powers[clock, 0] * x
            powers[at + L, k] = x


@kernel
def a_slip_ends(work: SeveralWork, m: int, distance: float, allowed: float) -> bool:
    """Whether one goes straight on to its end, see `slip_ends`."""
    powers, numbers, gram = work.powers, work.numbers, work.gram
    for a in range(m):
        at, turning = ROWS * a, 1.0
        for b in range(m):
            if b != a:
                rate = math.sqrt(numbers[D0, b] ** 2 + numbers[D1, b] ** 2)
                turning = max(turning, rate / powers[ROWS * b + S, 0])
        g = gram[3 * a + 1, 3 * a + 1], gram[3 * a + 1, 3 * a + 2], gram[3 * a + 2, 3 * a + 2]
        u, d = (powers[at + U, 0], powers[at + W, 0]), (numbers[D0, a], numbers[D1, a])
        push = numbers[MU, a] * powers[at + N, 0]
        if slip_ends(g, push, powers[at + S, 0], u, d, turning, distance, allowed):
            return True
    return False


@kernel
def find_clock(work: SeveralWork, m: int) -> tuple[int, float]:
    """See `routh.kernels.space_series.find_clock`; slip rates to D0 and D1. And the least slip, at most 1."""
    numbers, clock, least, slowest = work.numbers, -1, CLOCKED * CLOCKED, 1.0
    for a in range(m):
        numbers[D0, a], numbers[D1, a] = pushed(work, m, 3 * a + 1), pushed(work, m, 3 * a + 2)
        rate, length = numbers[D0, a] ** 2 + numbers[D1, a] ** 2, work.powers[ROWS * a + S, 0]
        slowest = min(slowest, length)
        if length**2 < least * rate:
            clock, least = a, length**2 / rate
    return clock, slowest


@kernel
def distance_of_several(of: Column, work: SeveralWork, m: int) -> float:
    """See `routh.kernels.space_powers.distance_ahead`; rates are in PUSH."""
    distance = of.states[global_row(of.nc, CUT), of.slot]
    for j in range(of.nc):
        y = of.states[3 * j, of.slot]
        if y != 0.0 and role(of, j) != HELD:
            rate = effect_on(of, work, m, 3 * j, PUSH)
            if y * rate < 0.0:
                distance = min(distance, -y / rate)
    return distance


@kernel
def several_step(of: Column, work: SeveralWork) -> int:
    """One step: what comes next, CURVES, RATES or DRAWS; LEFT: nothing has changed."""
    states, slot, powers, numbers = of.states, of.slot, work.powers, work.numbers
    m, allowed = int(states[move_row(of.nc, PUSHING), slot]), LOCAL * of.tolerance
    if not gather(of, work, m):
        return LEFT
    held = m
    while held > 0 and role(of, work.who[held - 1]) == HELD:
        held -= 1
    by = Pushing(m, held, -1)
    if held < m:
        invert_held(work, of.nc, by)
    rates(work, by, 0)
    distance = distance_of_several(of, work, m)
    clock, slowest = find_clock(work, m)
    if states[move_row(of.nc, MAY_END), slot] > 0.0 and a_slip_ends(work, m, distance, allowed):
        return LEFT
    by, reach = Pushing(m, held, clock), max(FARTHER * distance, NEAREST)
    if clock >= 0:
        at = ROWS * clock
        along = powers[at + U, 0] * numbers[D0, clock] + powers[at + W, 0] * numbers[D1, clock]
        reach = reach_of(distance, powers[at + S, 0], along)
    least = min(allowed, math.sqrt(allowed) * slowest)
    degree, last, second = series_of_several(work, by, reach, least)
    held_by_length(work, by, degree)
    h = clear_length(work, by, step_end(degree, reach, last, second, least), degree)
    if not h > 0.0:
        return LEFT
    h, kind, who = event_of_several(of, work, by, h, degree)
    for j in range(of.nc):
        y = states[3 * j, slot]
        if role(of, j) != HELD:
            y += effect_on(of, work, m, 3 * j, TRY)
        states[3 * j, slot] = 0.0 if kind == NORMAL_ZERO and j == who else y
        states[3 * j + 1, slot] += effect_on(of, work, m, 3 * j + 1, TRY)
        states[3 * j + 2, slot] += effect_on(of, work, m, 3 * j + 2, TRY)
    for a in range(m):
        for part in range(3):
            states[TOTALS * of.nc + 3 * work.who[a] + part, slot] += numbers[TRY, 3 * a + part]
    error, spent = TAIL * last * h**degree, numbers[TRY, 0] / numbers[WEIGHT, 0]
    return step_taken(of, spent, error, kind == GO_ON, who if kind == LET_GO else -1)
