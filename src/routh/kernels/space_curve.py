"""Curved pieces of a path: the true cone while something slides, with error control and events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from routh.compiling import kernel
from routh.kernels.space_names import (
    BASE,
    BROKEN,
    BUDGET,
    BUDGET_ZERO,
    CUT,
    CUT_SHORT,
    DRIVEN,
    ERROR,
    HELD,
    IMPULSE,
    LENGTH,
    LET_GO,
    LIST,
    MOVES,
    NORMAL_ZERO,
    POINT,
    RATE,
    ROLE,
    SLIDE,
    SLIP_ZERO,
    SLOPE,
    STEPS,
    STIFF_PATH,
    TRY,
    TRY_WORK,
    WEIGHT,
    WORK,
    WORK_SLOPE,
    ZERO,
    C,
)
from routh.kernels.space_slopes import effect, rk_step, slope, solve_unknown

STEP_LIMIT = 150  # steps of one curve: then the piece is cut there, which is always allowed
STIFF = 40  # the same with several contacts, where implicit steps go on
SHORTER = 30  # tries with a shorter step
PLACINGS, NEWTON = 30, 6
LOCAL, ALONE = 0.02, 0.01  # share of the tolerance that one step may use up; the same with one contact
# slip below this many times what a step may use up, and closing, ends; the second number holds after LONG
# steps, where steps near the end of slip go round in circles
LAST, LATE, LONG = 10.0, 40.0, 40
REACH = 0.8  # a step reaches at most this share of the way to where slip vanishes
FIRST = 0.3  # length of the first step at most; where slip turns quickly, it is shorter
PLACED = 1e-13  # how near to its zero an event is placed
TINY = 1e-11
FIRST_SLOPE: Any = np.int64(0)
FAR = 1e3  # lengths beyond this are none


@kernel
def length_of(x: Any, s: Any, k: Any, row: int) -> float:
    """The path's length so far: normal impulse per weight of a driven contact, the first of the list."""
    i = k[LIST, 0]
    return x[row, 3 * i] / s[WEIGHT, i]


@kernel
def event_value(
    nc: int, m: int, mode: int, G: Any, mu: Any, x: Any, s: Any, k: Any, g: Any
) -> tuple[float, float, int, int]:
    """The most advanced event at TRY: (value, its slope or 0, kind, contact); before it below zero.

    ``mode``: 0 inelastic, 1 energetic, 2 Poisson. RATE and the last slope belong to TRY.
    """
    value, rate = length_of(x, s, k, TRY) - g[CUT] - 1e-14, 1.0
    kind, who = CUT_SHORT, -1
    for i in range(nc):
        held = k[ROLE, i] == HELD
        y = x[C, 3 * i] + effect(m, G, x, k, TRY, 3 * i)
        if held:
            continue
        before = x[C, 3 * i] + effect(m, G, x, k, IMPULSE, 3 * i)
        sign = 0.0
        if before < -TINY or (k[ROLE, i] == DRIVEN and before <= TINY and not s[BUDGET, i] > 0.0):
            sign = 1.0
        elif before > TINY:
            sign = -1.0
        if sign * y > value and sign != 0.0:
            value, kind, who = sign * y, NORMAL_ZERO, i
            rate = sign * effect(m, G, x, k, SLOPE + 6, 3 * i)
    for a in range(m):
        i = k[LIST, a]
        first = 3 * i
        if k[ROLE, i] == HELD and -x[RATE, first] > value:
            value, rate, kind, who = -x[RATE, first], 0.0, LET_GO, i
        if k[MOVES, i] == ZERO:
            friction = math.sqrt(x[RATE, first + 1] ** 2 + x[RATE, first + 2] ** 2)
            excess = friction / (mu[i] * max(x[RATE, first], 1e-300)) - 1.0 - 1e-9
            if excess > value:
                value, rate, kind, who = excess, 0.0, LET_GO, i
        if mode > 0 and s[BUDGET, i] > 0.0 and k[ROLE, i] == DRIVEN:
            spent = s[TRY_WORK, i]
            if mode == 2:
                spent = x[TRY, first] if x[C, first] + effect(m, G, x, k, IMPULSE, first) >= 0.0 else -1.0
            if spent - s[BUDGET, i] > value:
                value, kind, who = spent - s[BUDGET, i], BUDGET_ZERO, i
                rate = s[WORK_SLOPE + 6, i] if mode == 1 else x[SLOPE + 6, first]
    return value, rate, kind, who


@kernel
def accept(m: int, mode: int, x: Any, s: Any, k: Any) -> None:
    """The trial step becomes the path; its last slope is the next one's first."""
    for a in range(m):
        i = k[LIST, a]
        for row in range(3 * i, 3 * i + 3):
            x[IMPULSE, row] = x[TRY, row]
            x[SLOPE, row] = x[SLOPE + 6, row]
        if mode > 0:
            s[WORK, i] = s[TRY_WORK, i]
            s[WORK_SLOPE, i] = s[WORK_SLOPE + 6, i]


@kernel
def look_at_slips(
    m: int, G: Any, mu: Any, x: Any, s: Any, k: Any, allowed: float, least: float
) -> tuple[float, int, float, float]:
    """How slips change at IMPULSE: (longest step, contact that goes straight on or -1, length left, error).

    A step reaches at most REACH of the way to a slip that closes. A contact goes straight on, to the end of
    its slip, where turning aside can no longer matter: slip times misalignment only falls from there.
    """
    longest, ending, left, cost = math.inf, -1, math.inf, 0.0
    for a in range(m):
        i = k[LIST, a]
        if k[MOVES, i] != SLIDE:
            continue
        first = 3 * i
        t0 = x[C, first + 1] + effect(m, G, x, k, IMPULSE, first + 1)
        t1 = x[C, first + 2] + effect(m, G, x, k, IMPULSE, first + 2)
        d0, d1 = effect(m, G, x, k, SLOPE, first + 1), effect(m, G, x, k, SLOPE, first + 2)
        length = max(math.sqrt(t0 * t0 + t1 * t1), 1e-300)
        closing, aside = -(t0 * d0 + t1 * d1) / length, abs(t0 * d1 - t1 * d0) / length
        b0, b1 = t1 / length, -t0 / length
        across = (
            b0 * (G[first + 1, first + 1] * b0 + 2.0 * G[first + 1, first + 2] * b1)
            + G[first + 2, first + 2] * b1 * b1
        )
        yields = mu[i] * x[SLOPE, first] * across  # slip turns back to its invariant direction at this rate
        s[LENGTH, i] = length
        missed = math.inf
        if not closing > 0.0:  # it may go far: only the direction itself is good enough
            missed = aside / max(yields - closing, 1e-300)
        elif yields > 2.0 * closing:
            missed = length * min(aside / (yields - closing), 4.0)
        else:
            missed = length * min(aside / closing * max(1.0, closing / max(yields, 1e-300)), 4.0)
        if m > 1:
            missed = missed + length * length if closing > 0.0 else math.inf
        if missed <= allowed or (closing > 0.0 and length <= least) or length <= TINY:
            ending, cost = i, min(missed, length) / math.sqrt(across)
            left = length / closing if closing > 0.0 else (0.0 if length <= TINY else math.inf)
        if closing > 0.0:
            longest = min(longest, REACH * length / closing)
        else:
            longest = min(longest, max(length / max(aside, 1e-300), length))
    return longest, ending, left, cost


@kernel
def follow_curve(
    nc: int, m: int, solving: bool, mode: int, tolerance: float, G: Any, mu: Any, x: Any, s: Any, k: Any,
    d: Any, g: Any,
) -> tuple[int, int]:  # fmt: skip
    """IMPULSE (and WORK) of the curve up to its first event: (kind, contact).

    LIST holds the m contacts that push, a driven one first; MOVES says what their slip does.
    """
    elastic = mode > 0
    for a in range(m):
        i = k[LIST, a]
        x[IMPULSE, 3 * i] = x[IMPULSE, 3 * i + 1] = x[IMPULSE, 3 * i + 2] = 0.0
        x[POINT, 3 * i] = x[POINT, 3 * i + 1] = x[POINT, 3 * i + 2] = 0.0
        for row in range(3 * i, 3 * i + 3):
            x[BASE, row] = x[RATE, row]
        s[WORK, i] = 0.0
    slope(m, solving, elastic, G, mu, x, s, k, d, FIRST_SLOPE)
    allowed = (ALONE if m == 1 else LOCAL) * tolerance
    h = FIRST
    for count in range(STEP_LIMIT if m == 1 else STIFF):
        longest, slipping, left, cost = look_at_slips(
            m, G, mu, x, s, k, allowed, (LAST if count < LONG else LATE) * allowed
        )
        if slipping >= 0:
            return straight_on(nc, m, solving, mode, G, mu, x, s, k, d, g, left, cost, slipping)
        h = min(h, longest if count > 0 else 0.4 * longest)
        left = g[CUT] - length_of(x, s, k, IMPULSE)
        if left <= 1e-14:
            return CUT_SHORT, -1
        h = min(h, left)
        error = math.inf
        for _ in range(SHORTER):
            error = rk_step(m, solving, elastic, G, mu, x, s, k, d, h)
            g[STEPS] += 1.0
            if error <= allowed:
                break
            h *= max(0.2, 0.9 * (allowed / error) ** 0.2) if error < 1e9 else 0.2
        if not error <= allowed:
            return BROKEN, -1
        value, rate, kind, who = event_value(nc, m, mode, G, mu, x, s, k, g)
        if value > 0.0:
            if kind == NORMAL_ZERO and place_zero(
                nc, m, solving, mode, G, mu, x, s, k, d, g, allowed, h, value, who
            ):
                return kind, who
            return place_event(nc, m, solving, mode, G, mu, x, s, k, d, g, allowed, h)
        g[ERROR] += error
        accept(m, mode, x, s, k)
        h *= min(5.0, 0.9 * (allowed / max(error, 1e-300)) ** 0.2)
    return STIFF_PATH, -1


@kernel
def straight_on(
    nc: int, m: int, solving: bool, mode: int, G: Any, mu: Any, x: Any, s: Any, k: Any, d: Any, g: Any,
    left: float, cost: float, slipping: int,
) -> tuple[int, int]:  # fmt: skip
    """Follow the slopes until a slip has vanished after the length ``left``, or another event comes first."""
    g[ERROR] += cost
    length, kind, who = min(left, FAR), SLIP_ZERO, slipping
    for _ in range(PLACINGS):
        for a in range(m):
            i = k[LIST, a]
            for row in range(3 * i, 3 * i + 3):
                x[TRY, row] = x[IMPULSE, row] + length * x[SLOPE, row]
                x[SLOPE + 6, row] = x[RATE, row] = x[SLOPE, row]
            if mode > 0:  # the normal velocity is linear, so its work is quadratic
                y = x[C, 3 * i] + effect(m, G, x, k, IMPULSE, 3 * i)
                faster = effect(m, G, x, k, SLOPE, 3 * i)
                s[WORK_SLOPE + 6, i] = x[SLOPE, 3 * i] * (y + length * faster)
                s[TRY_WORK, i] = s[WORK, i] + length * x[SLOPE, 3 * i] * (y + 0.5 * length * faster)
        value, rate, first, contact = event_value(nc, m, mode, G, mu, x, s, k, g)
        if first == LET_GO or not value > PLACED or not rate > 0.0:
            break
        # beyond an event: back to it; the work is convex where it grows, so this never goes too far
        length, kind, who = max(length - value / rate, 0.0), first, contact
    if kind != SLIP_ZERO or length >= FAR:
        accept(m, mode, x, s, k)
        return (kind if kind != SLIP_ZERO else CUT_SHORT), who
    accept(m, mode, x, s, k)
    # friction takes what is left of the slip, so that velocity and impulse stay one
    k[MOVES, slipping] = ZERO
    solve_unknown(m, G, mu, x, s, k, d, 1.0, IMPULSE)
    return SLIP_ZERO, slipping


@kernel
def cubic_root(begin: float, slope0: float, end: float, slope1: float) -> float:
    """Where in (0, 1) the cubic with these values and slopes at 0 and 1 crosses zero; begin < 0 < end."""
    low, high, at = 0.0, 1.0, begin / (begin - end)
    b, c = 3.0 * (end - begin) - 2.0 * slope0 - slope1, slope0 + slope1 - 2.0 * (end - begin)
    for _ in range(20):
        value = begin + at * (slope0 + at * (b + at * c))
        if value > 0.0:
            high = at
        else:
            low = at
        slope = slope0 + at * (2.0 * b + 3.0 * at * c)
        guess = at - value / slope if slope > 0.0 else 0.5 * (low + high)
        guess = guess if low < guess < high else 0.5 * (low + high)
        if abs(guess - at) <= 1e-14:
            break
        at = guess
    return at


@kernel
def place_zero(
    nc: int, m: int, solving: bool, mode: int, G: Any, mu: Any, x: Any, s: Any, k: Any, d: Any, g: Any,
    allowed: float, high: float, value: float, who: int,
) -> bool:  # fmt: skip
    """Shorten a step of length ``high`` to a zero of the normal velocity of contact ``who``: whether done.

    The cubic through both ends of the step guesses, Newton's method finishes.
    """
    before = x[C, 3 * who] + effect(m, G, x, k, IMPULSE, 3 * who)
    sign = 1.0 if before < 0.0 else -1.0
    if before == 0.0:
        return False
    slope0 = sign * high * effect(m, G, x, k, SLOPE, 3 * who)
    slope1 = sign * high * effect(m, G, x, k, SLOPE + 6, 3 * who)
    h = high * cubic_root(sign * before, slope0, value, slope1)
    for _ in range(NEWTON):
        error = rk_step(m, solving, mode > 0, G, mu, x, s, k, d, h)
        g[STEPS] += 1.0
        y = x[C, 3 * who] + effect(m, G, x, k, TRY, 3 * who)
        if abs(y) <= PLACED:
            if error <= allowed and event_value(nc, m, mode, G, mu, x, s, k, g)[0] <= PLACED:
                g[ERROR] += error + abs(y)
                accept(m, mode, x, s, k)
                return True
            return False
        rate = effect(m, G, x, k, SLOPE + 6, 3 * who)
        h -= y / rate if rate != 0.0 else h
        if not 0.0 < h < high:
            return False
    return False


@kernel
def place_event(
    nc: int, m: int, solving: bool, mode: int, G: Any, mu: Any, x: Any, s: Any, k: Any, d: Any, g: Any,
    allowed: float, high: float,
) -> tuple[int, int]:  # fmt: skip
    """Shorten a step of length ``high`` to its first event: Newton between brackets."""
    low, h = 0.0, high
    rk_step(m, solving, mode > 0, G, mu, x, s, k, d, high)
    value, rate, kind, who = event_value(nc, m, mode, G, mu, x, s, k, g)
    value_low, value_high = -1.0, value
    for count in range(PLACINGS):
        guess = h - value / rate if rate > 0.0 else 0.5 * (low + high)
        if rate <= 0.0 and value_low > -1.0:
            guess = (low * value_high - high * value_low) / (value_high - value_low)
        if not low < guess < high or count % 8 == 7:
            guess = 0.5 * (low + high)
        h = guess
        error = rk_step(m, solving, mode > 0, G, mu, x, s, k, d, h)
        g[STEPS] += 1.0
        value, rate, kind, who = event_value(nc, m, mode, G, mu, x, s, k, g)
        if error <= allowed and (abs(value) <= PLACED or (kind == LET_GO and high - low <= 1e-12 * high)):
            g[ERROR] += error + (abs(value) if kind == NORMAL_ZERO else 0.0)
            accept(m, mode, x, s, k)
            return kind, who
        if value > 0.0:
            high, value_high = h, value
            value_low = 0.5 * value_low if count % 2 else value_low
        else:
            low, value_low = h, value
    # no continuous path to the event (a held contact jams): what lies before it is kept
    if low > 0.0:
        error = rk_step(m, solving, mode > 0, G, mu, x, s, k, d, low)
        if error <= allowed:
            g[ERROR] += error
            accept(m, mode, x, s, k)
    return CUT_SHORT, -1
