"""A step along the curve of one driven contact that slides while no other pushes: most steps of most paths.

What `routh.kernels.space_curve.step_curve` does, to the bit; what is seldom is left to that, a slip that ends
to `space_stops`. All loops over powers, and over contacts, are as long as they can be, so that a GPU's
compiler writes them out and has all of a series in registers; powers that are not needed are zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import inlined, kernel, written_out
from routh.kernels.space_curve import FAR, LAST, LOCAL, TAIL, turned_aside
from routh.kernels.space_events import (
    END,
    END_AGAIN,
    MIDDLE,
    PEAK,
    PLACED,
    PLACINGS,
    TINY,
    find_root,
    peak_of,
)
from routh.kernels.space_names import CUT, MAY_END, ORDER, named
from routh.kernels.space_powers import ENOUGH, FARTHER, NEAREST, by_clock, longest_step
from routh.kernels.space_state import (
    LEFT,
    TOTALS,
    Column,
    friction_of,
    global_row,
    move_row,
    pusher,
    step_taken,
    weight_of,
)
from routh.validation import Array

T, R, S = named(3)  # rows of powers: slip, its size
LONE_ROWS = 3
NOW, THEN, BEFORE = named(3)  # rows of points, see `look_at_normal`
POINTS = 3


class LoneWork(NamedTuple):
    """Scratch of one thread."""

    powers: Array  # (LONE_ROWS, ORDER + 1)
    events: Array  # (1, ORDER + 1): powers of what vanishes at an event
    normals: Array  # (nc, 3): what the contact changes the normal velocities of all contacts by
    points: Array  # (POINTS, nc)


def lone_work(nc: int) -> LoneWork:
    """Scratch for so many contacts."""
    powers, events = np.zeros((LONE_ROWS, ORDER + 1)), np.zeros((1, ORDER + 1))
    return LoneWork(powers, events, np.zeros((nc, 3)), np.zeros((POINTS, nc)))


Two = tuple[float, float]
Powers = tuple[int, float, float]  # how many there are; sizes of the last and of the one before
Three = tuple[float, float, float]
Block = tuple[float, float, float, float, float, float]  # of G, symmetric: 00, 10, 11, 20, 21, 22


@inlined
def lone_push(powers: Array, weight: float, push: float, k: int) -> Three:
    """Power k > 0 of the impulse; ``push``: friction for a unit of slip."""
    share = 1.0 / k
    return share * weight * powers[S, k - 1], share * push * powers[T, k - 1], share * push * powers[R, k - 1]


@inlined
def lone_square(g: Block, p: Three) -> float:
    """``p^T G p`` of one contact."""
    x = g[0] * p[0] + g[1] * p[1] + g[3] * p[2]
    y = g[1] * p[0] + g[2] * p[1] + g[4] * p[2]
    z = g[3] * p[0] + g[4] * p[1] + g[5] * p[2]
    return p[0] * x + p[1] * y + p[2] * z


@inlined
def lone_energy(g: Block, p: Three) -> float:
    """See `routh.kernels.space_powers.energy_norm`."""
    total = lone_square(g, p)
    return math.sqrt(max(total, 0.0)) if total == total else math.inf


@inlined
def lone_effect(of: Column, i: int, coordinate: int, p: Three) -> float:
    """What an impulse, or a rate, of contact i changes a coordinate by."""
    G, row, at = of.G, of.row, 3 * i
    return (
        G[row, at, coordinate] * p[0] + G[row, at + 1, coordinate] * p[1] + G[row, at + 2, coordinate] * p[2]
    )


@inlined
def normal_change(work: LoneWork, j: int, p: Three) -> float:
    """What an impulse, or a rate, changes the normal velocity of contact j by."""
    normals = work.normals
    return normals[j, 0] * p[0] + normals[j, 1] * p[1] + normals[j, 2] * p[2]


@written_out
def lone_impulse(powers: Array, weight: float, push: float, at: float) -> tuple[Three, float]:
    """The impulse up to a point of the step, and the length of the path to there."""
    x, y, z, path = 0.0, 0.0, 0.0, 0.0
    for k in range(ORDER, 0, -1):
        p = lone_push(powers, weight, push, k)
        x, y, z, path = x * at + p[0], y * at + p[1], z * at + p[2], path * at + 1.0 / k * powers[S, k - 1]
    return (x * at, y * at, z * at), path * at


@written_out
def lone_distance(of: Column, work: LoneWork, r: Three) -> float:
    """See `routh.kernels.space_powers.distance_ahead`; r: the first rates."""
    least = of.states[global_row(of.nc, CUT), of.slot]
    for j in range(work.points.shape[1]):
        y = work.points[BEFORE, j] if j < of.nc else 0.0
        if y != 0.0:
            rate = normal_change(work, j, r)
            if y * rate < 0.0:
                least = min(least, -y / rate)
    return least


@inlined
def across_slip(g: Three, u: Two) -> float:
    """What friction across a slip of direction u changes it by; g: 11, 12 and 22 of the contact's block."""
    return u[1] * (g[0] * u[1] - 2.0 * g[1] * u[0]) + g[2] * u[0] * u[0]


@kernel
def slip_ends(
    g: Three, push: float, length: float, u: Two, d: Two, turning: float, distance: float, allowed: float
) -> tuple[bool, float, float]:
    """Whether a slip goes straight on to its end, how far that is, and by how much it misses zero.

    See `routh.kernels.space_curve.look_at_slips`. g: 11, 12 and 22 of the contact's block; u, d: direction
    and rate of the slip; ``push``: friction; ``turning``: how quickly the slips of others turn, 0 where there
    are none.
    """
    closing, aside = -(u[0] * d[0] + u[1] * d[1]), abs(u[0] * d[1] - u[1] * d[0])
    missed = turned_aside(length, closing, aside, push * across_slip(g, u))
    ahead = length / closing if closing > 0.0 else (0.0 if length <= TINY else math.inf)
    if missed <= allowed:
        missed = max(missed, aside * min(min(ahead, FAR), distance))
    if missed <= allowed and turning > 0.0 and ahead > 0.0:
        missed += ahead * ahead * turning
    ends = missed <= allowed or (closing > 0.0 and length <= LAST * allowed) or length <= TINY
    return ends, ahead, missed


@kernel
def step_end(degree: int, reach: float, last: float, second: float, allowed: float) -> float:
    """Length of the step: as wanted, or, with all powers, as they allow."""
    return reach if degree < ORDER else longest_step(degree, last, second, allowed)


@written_out
def lone_series(powers: Array, g: Block, weight: float, push: float, reach: float, allowed: float) -> Powers:
    """See `routh.kernels.space_alone.alone_series`; rows T, R and S have their first power."""
    inverse, power, last, second, degree = 1.0 / powers[S, 0], 1.0, 0.0, 0.0, 0
    c0, c1 = weight * g[1], weight * g[3]
    a00, a01, a11 = push * g[2], push * g[4], push * g[5]
    for k in range(ORDER):
        share, s, t0, t1 = 1.0 / (k + 1), powers[S, k], powers[T, k], powers[R, k]
        powers[T, k + 1] = share * (c0 * s + a00 * t0 + a01 * t1)
        powers[R, k + 1] = share * (c1 * s + a01 * t0 + a11 * t1)
        value, grown = 0.0, 0.0  # of the size of the slip, see `routh.kernels.space_series.slip_size`
        if k % 2 == 1:
            j = (k + 1) // 2
            value = 0.5 * (powers[T, j] * powers[T, j] + powers[R, j] * powers[R, j])
            grown = 0.5 * powers[S, j] * powers[S, j]
        for j in range(k // 2, 0, -1):
            value += powers[T, j] * powers[T, k + 1 - j] + powers[R, j] * powers[R, k + 1 - j]
            grown += powers[S, j] * powers[S, k + 1 - j]
        first = powers[T, 0] * powers[T, k + 1] + powers[R, 0] * powers[R, k + 1]
        powers[S, k + 1] = inverse * (value - grown + first)
        if k + 2 >= ENOUGH and degree == 0:  # as `routh.kernels.space_powers.are_enough` asks
            second, last = last, lone_energy(g, (share * weight * s, share * push * t0, share * push * t1))
            enough = last * power * reach <= allowed and second * power <= allowed
            if enough and k % 2 == 1 and k + 1 < ORDER and power * reach < math.inf:
                degree = k + 1
        power *= reach
    if degree == 0:
        return ORDER, last, second
    for k in range(ORDER):
        if k >= degree:
            powers[T, k], powers[R, k], powers[S, k] = 0.0, 0.0, 0.0
    return degree, last, second


@kernel
def look_at_normal(points: Array, j: int, pushes: bool, change: float) -> float:
    """How far contact j is beyond the zero of its normal velocity, which changes so much; -inf: it has none.

    See `routh.kernels.space_events.look`. To NOW; what was there to THEN; BEFORE: the normal velocities.
    """
    before, found = points[BEFORE, j], -math.inf
    if before < -TINY or (pushes and before <= TINY):
        found = before + change
    elif before > TINY:
        found = -(before + change)
    points[THEN, j], points[NOW, j] = points[NOW, j], found
    return found


@written_out
def turning_point(points: Array, nc: int) -> float:
    """See `routh.kernels.space_events.turning_point`."""
    found = math.inf
    for j in range(points.shape[1]):
        if j < nc:
            found = min(found, peak_of(-abs(points[BEFORE, j]), points[THEN, j], points[NOW, j]))
    return found if found < math.inf else 0.0


@written_out
def lone_polynomial(of: Column, work: LoneWork, i: int, who: int, weight: float, push: float) -> None:
    """See `routh.kernels.space_events.event_polynomial`; ``who``: whose event it is, -1: the cut."""
    G, row, coordinate, powers, events = of.G, of.row, 3 * max(who, 0), work.powers, work.events
    g0, g1, g2 = G[row, 3 * i, coordinate], G[row, 3 * i + 1, coordinate], G[row, 3 * i + 2, coordinate]
    before = of.states[coordinate, of.slot]
    for k in range(1, ORDER + 1):
        value = 1.0 / k * powers[S, k - 1]
        if who >= 0:
            p = lone_push(powers, weight, push, k)
            value = g0 * p[0]
            value += g1 * p[1] + g2 * p[2]
            value = -value if before > TINY else value
        events[0, k] = value
    events[0, 0] = -of.states[global_row(of.nc, CUT), of.slot] if who < 0 else -abs(before)


@written_out
def lone_event(
    of: Column, work: LoneWork, i: int, weight: float, push: float, h: float, turns: bool
) -> tuple[float, bool, int, Three]:
    """See `routh.kernels.space_events.first_event`; and the impulse. ``turns``: contacts may turn back."""
    event, who, placings = False, -1, 0
    at, place = (0.5 * h, MIDDLE) if turns else (h, END)
    p = 0.0, 0.0, 0.0
    while placings <= PLACINGS:
        p, path = lone_impulse(work.powers, weight, push, at)
        value, contact = path - of.states[global_row(of.nc, CUT), of.slot] - 1e-14, -1
        for j in range(work.points.shape[1]):
            if j < of.nc:
                y = look_at_normal(work.points, j, j == i, normal_change(work, j, p))
                if y > value:
                    value, contact = y, j
        if not event and not value > 0.0:
            if place == END or place == END_AGAIN:
                peak = turning_point(work.points, of.nc) if turns and place == END else 0.0
                if not peak > 0.0:
                    return h, False, -1, p
                at, place = peak * h, PEAK
            else:
                at, place = h, (END if place == MIDDLE else END_AGAIN)
            continue
        if event and (not value > PLACED or contact == who or at == 0.0):
            break
        event, who, placings = True, contact, placings + 1
        if placings <= PLACINGS:
            lone_polynomial(of, work, i, who, weight, push)
            at = find_root(work.events, 0, at, ORDER)
    return at, event, who, p


@written_out
def add_impulse(of: Column, work: LoneWork, i: int, p: Three, event: int) -> None:
    """Velocities after an impulse, and those in all; ``event``: whose normal velocity is zero then.

    All is read before anything is written: a GPU then waits once for all of it.
    """
    states, slot, after, total = of.states, of.slot, work.normals, TOTALS * of.nc + 3 * i
    t0, t1, t2 = states[total, slot], states[total + 1, slot], states[total + 2, slot]
    for j in range(work.points.shape[1]):
        if j < of.nc:
            y = work.points[BEFORE, j] + normal_change(work, j, p)
            after[j, 0] = 0.0 if j == event else y
            after[j, 1] = states[3 * j + 1, slot] + lone_effect(of, i, 3 * j + 1, p)
            after[j, 2] = states[3 * j + 2, slot] + lone_effect(of, i, 3 * j + 2, p)
    for j in range(work.points.shape[1]):
        if j < of.nc:
            for part in range(3):
                states[3 * j + part, slot] = after[j, part]
    states[total, slot], states[total + 1, slot], states[total + 2, slot] = t0 + p[0], t1 + p[1], t2 + p[2]


@inlined
def only_slows(g: Block, mu: float) -> bool:
    """See `routh.kernels.space_events.only_slows`."""
    return mu**2 * (g[1] ** 2 + g[3] ** 2) <= g[0] ** 2


@written_out
def gather_lone(
    of: Column, work: LoneWork, i: int, mu: float, weight: float, u: Two
) -> tuple[Block, Three, Two, float]:
    """Fill the scratch: the contact's block, rates, slip rates, and how far the next event is by them."""
    states, slot, G, row, at = of.states, of.slot, of.G, of.row, 3 * i
    g10, g11, g20 = G[row, at + 1, at], G[row, at + 1, at + 1], G[row, at + 2, at]
    g = G[row, at, at], g10, g11, g20, G[row, at + 2, at + 1], G[row, at + 2, at + 2]
    for j in range(work.points.shape[1]):
        if j < of.nc:
            work.points[BEFORE, j] = states[3 * j, slot]
            for part in range(3):
                work.normals[j, part] = G[row, at + part, 3 * j]
    r = weight, -mu * (weight * u[0]), -mu * (weight * u[1])
    d = g[1] * r[0] + g[2] * r[1] + g[4] * r[2], g[3] * r[0] + g[4] * r[1] + g[5] * r[2]
    return g, r, d, lone_distance(of, work, r)


@written_out
def lone_step(of: Column, work: LoneWork) -> int:
    """One step: what comes next, CURVES or DRAWS; LEFT: nothing has changed."""
    states, slot, i, allowed, powers = of.states, of.slot, pusher(of, 0), LOCAL * of.tolerance, work.powers
    mu, weight = friction_of(of, i), weight_of(of, i)
    t0, t1, push = states[3 * i + 1, slot], states[3 * i + 2, slot], -mu * weight
    length = math.sqrt(t0 * t0 + t1 * t1)
    if not length > 0.0:
        return LEFT
    u = t0 / length, t1 / length
    g, _, d, distance = gather_lone(of, work, i, mu, weight, u)
    if states[move_row(of.nc, MAY_END), slot] > 0.0:
        block = g[2], g[4], g[5]
        if slip_ends(block, mu * weight, length, u, d, 0.0, distance, allowed)[0]:
            return LEFT
    reach = by_clock(max(FARTHER * distance, NEAREST), length, u[0] * d[0] + u[1] * d[1])
    least = min(allowed, math.sqrt(allowed) * min(1.0, length))
    powers[T, 0], powers[R, 0], powers[S, 0] = t0, t1, length
    degree, last, second = lone_series(powers, g, weight, push, reach, least)
    h = step_end(degree, reach, last, second, least)
    if not h > 0.0:
        return LEFT
    h, event, who, p = lone_event(of, work, i, weight, push, h, not only_slows(g, mu))
    add_impulse(of, work, i, p, who if event else -1)
    return step_taken(of, p[0] / weight, TAIL * last * h**degree, not event, False)
