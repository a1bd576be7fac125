"""Slip in space over a short step, compiled.

The direction of slow slip answers a disturbance within microseconds, a model changes within milliseconds. So
what the model says is a parabola over the step (`routh.kernels.motion.runge_kutta.Short`), and the integrator
follows slip in as many parts as it needs without asking the model.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common.small_linear import least
from routh.kernels.motion.forces import MOST, SINGULAR, solve_mode, write_margins
from routh.kernels.motion.runge_kutta import (
    BEFORE,
    DONE,
    END,
    LONGEST,
    NEXT,
    NOW,
    POWERS,
    UNKNOWN,
    ModePath,
    advance,
    find_short_forces,
    interpolate,
    parabola,
    write_slope,
)

TURNED = 0.5  # cosine of the angle by which slip may turn in a short step
BROKEN = 1e-3  # share of a contact's unit of force by which a mode may be broken before a step ends
ASIDE = 1e-11  # m/s, how far slip that keeps its direction may be from its line when it ends
BEND = 100.0  # 1/s: the acceleration of slip that ends changes its direction by less
NOISE = 0.01  # share of the slowest slip: what goes back by less has not turned round
MOST_CUTS = 60  # of a part in which slip stops


class Parts(NamedTuple):
    """A short step in its parts, n at most."""

    t: Array  # (n + 1,) s, where they begin and end
    length: Array  # (n,) s, of their polynomials
    begun: Array  # (n, N)
    dense: Array  # (n, POWERS, N)
    way: Array  # (n, m, nt) directions of slip where they begin
    straight: np.ndarray  # (n, m) bool: slip that keeps its direction
    # (4,) int64: of the parts; which contact of the mode stopped, or -1; 1: no other ends, -1: slip turned;
    # DONE, or why it ended
    number: np.ndarray


@kernel
def slide(motion: ModePath, parts: Parts) -> int:
    """Follow a short step until it ends, or slip stops or turns, or the mode no longer holds."""
    # reads motion.begun, motion.clock, motion.dense, motion.short.held.mu, motion.short.held.straight,
    #   motion.short.held.way, motion.y, parts.length, parts.t
    # writes motion.clock, motion.slope, parts.begun, parts.dense, parts.length, parts.number, parts.straight,
    #   parts.t, parts.way
    # hands on motion, motion.found, motion.short, parts
    clock, short = motion.clock, motion.short
    parts.t[0], parts.number[0], parts.number[1] = clock[NOW], 0, -1
    if short is None or not find_short_forces(short, motion.y, motion.found):
        return UNKNOWN
    write_slope(motion, motion.y, motion.slope)
    held = short.held
    for k in range(len(parts.length)):
        begins = _begins(motion)
        # slip leaves what has no direction of its own by a multiple, not by orders
        clock[LONGEST] = clock[END] - parts.t[0] if begins == 0.0 else max(clock[NOW] - parts.t[0], begins)
        for i in range(len(held.mu)):
            parts.straight[k, i] = held.straight[i]
            for a in range(held.way.shape[1]):
                parts.way[k, i, a] = held.way[i, a]
        code = advance(motion)
        if code != DONE:
            return code
        parts.t[k + 1], parts.length[k], parts.number[0] = clock[NOW], clock[NOW] - clock[BEFORE], k + 1
        if k > 0:  # slip that stops asks for ever shorter parts
            clock[NEXT] *= min(parts.length[k] / parts.length[k - 1], 1.0)
        for i in range(len(motion.y)):
            parts.begun[k, i] = motion.begun[i]
            for power in range(POWERS):
                parts.dense[k, power, i] = motion.dense[power, i]
        find_short_forces(short, motion.y, motion.found)
        if _ends(motion, parts, k) or clock[NOW] >= clock[END]:
            return DONE
    return DONE


@kernel
def slide_then(motion: ModePath, parts: Parts) -> None:
    """The same, its answer in the parts."""
    # writes parts.number; hands on motion, parts
    parts.number[3] = slide(motion, parts)


@kernel
def _ends(motion: ModePath, parts: Parts, k: int) -> bool:
    """Whether the step ends with part k; directions of slip are those at its end."""
    # reads motion.clock, motion.found.force, motion.found.unit, motion.found.way, motion.short.held.mu,
    #   motion.short.held.sticks, motion.short.now, motion.short.slowest, motion.y, parts.number, parts.t,
    #   parts.way
    # writes motion.short.held.straight, motion.short.held.way, motion.y, parts.number, parts.t
    # hands on motion, motion.found, motion.short
    found, short = motion.found, motion.short
    if short is None:
        return True
    held, width, nv = short.held, found.force.shape[1], len(short.now)
    v, over, turns = motion.y[nv : 2 * nv], False, False
    for i in range(len(held.mu)):
        push, rub = found.force[i, 0], 0.0
        for a in range(1, width):
            rub += found.force[i, a] ** 2
        if push < -BROKEN * found.unit[0, i] or push > MOST * found.unit[0, i]:
            over = True
        if held.sticks[i]:
            over = over or math.sqrt(rub) > held.mu[i] * push + BROKEN * found.unit[0, i]
        elif held.mu[i] > 0.0:
            backwards = -_along(motion, i, v)
            slows, straight = _fades(motion, i, v)
            if slows or backwards > NOISE * short.slowest:
                when = motion.clock[NOW]
                if backwards > 0.0:
                    when = _stop(motion, i)
                    interpolate(motion, motion.clock[NOW], motion.y)  # another may have stopped before
                    find_short_forces(short, motion.y, found)
                if parts.number[1] < 0 or when < parts.t[k + 1]:
                    parts.number[1], parts.t[k + 1] = i, when
            held.straight[i] = straight
            turned = 0.0
            for a in range(width - 1):
                turned += found.way[i, a] * parts.way[0, i, a]
            turns = turns or turned < TURNED
    if parts.number[1] >= 0:
        return True
    for i in range(len(held.mu)):
        if _along(motion, i, v) > short.slowest:  # slower slip would make friction jump
            for a in range(width - 1):
                held.way[i, a] = found.way[i, a]
    if not (over or turns) or parts.number[2] != 0:
        return False
    parts.number[2] = 0 if over else -1
    return True


@kernel
def _begins(motion: ModePath) -> float:
    """Slip without a direction of its own keeps its line; a time, s, in which it remains so slow, or 0.

    Were its direction that of such slip, errors across it of 1e-13 m/s would turn friction by 1e-4.
    """
    # reads found.force, found.rows, found.unit, short.held.mu, short.held.sticks, short.held.straight,
    #   short.now, short.slowest, y
    # writes short.held.straight, slope
    # hands on found, motion, short
    short, found, shortest, moves = motion.short, motion.found, 0.0, False
    if short is None:
        return shortest
    held, m, width = short.held, found.force.shape[0], found.force.shape[1]
    nv = len(short.now)
    for i in range(m):
        if held.sticks[i] or held.mu[i] == 0.0:
            continue
        square = 0.0
        for a in range(1, width):
            slip = 0.0
            for j in range(nv):
                slip += found.rows[i * width + a, j] * motion.y[nv + j]
            square += slip * slip
        slow = math.sqrt(square) <= short.slowest
        moves = moves or slow or held.straight[i]
        if slow:
            held.straight[i] = True
            time = short.slowest / found.unit[1, i]
            shortest = time if shortest == 0.0 else min(shortest, time)
    if moves:
        find_short_forces(short, motion.y, found)
        write_slope(motion, motion.y, motion.slope)
    return shortest


@kernel
def _fades(motion: ModePath, i: int, v: Array) -> tuple[bool, bool]:
    """Whether slip i slows down and is none already; whether it stops so soon that it keeps to its line.

    With the acceleration a the slip s ends after |s| / |a|. By then the part of a across the slip, and what a
    turns by, have moved it aside by less than can be told.
    """
    # reads found.at, found.delassus, found.force, found.rows, found.unit, found.way, short.slowest,
    #   short.still
    found, short = motion.found, motion.short
    if short is None:
        return False, False
    m, width = found.force.shape
    along, square, speed = 0.0, 0.0, 0.0
    for a in range(width - 1):
        row = i * width + 1 + a
        push, slip = found.at[row], 0.0
        for c in range(m * width):
            push += found.delassus[row, c] * found.force[c // width, c % width]
        for j in range(len(v)):
            slip += found.rows[row, j] * v[j]
        along += push * found.way[i, a]
        square += push * push
        speed += slip * slip
    speed, size = math.sqrt(speed), math.sqrt(square)
    across = math.sqrt(max(square - along * along, 0.0))
    soon = speed * (across + BEND * speed) < ASIDE * size
    # slip that begins is as slow, and what it is accelerated by is at first the integrator's error across it
    slows = along < -BROKEN * found.unit[1, i] and speed < short.still[i]
    return slows, along < 0.0 and speed > short.slowest and soon


@kernel
def _along(motion: ModePath, i: int, v: Array) -> float:
    """Speed of slip along the way that it had where the part began, from the rows last found."""
    # reads found.rows, found.way, short.held.way
    short, found = motion.short, motion.found
    total = 0.0
    if short is None:
        return total
    nt = found.way.shape[1]
    for a in range(nt):
        for j in range(len(v)):
            total += short.held.way[i, a] * found.rows[i * (1 + nt) + 1 + a, j] * v[j]
    return total


@kernel
def _stop(motion: ModePath, i: int) -> float:
    """The time within the last part at which slip i stops (Illinois)."""
    # reads clock, found.acceleration, y; writes y; hands on found, motion, short
    clock, short, nv = motion.clock, motion.short, len(motion.found.acceleration)
    a, b, at_a, at_b = clock[BEFORE], clock[NOW], 0.0, 0.0
    if short is None:
        return b
    for cut in range(MOST_CUTS):
        t = a if cut == 0 else (b if cut == 1 else (a * at_b - b * at_a) / (at_b - at_a))
        interpolate(motion, t, motion.y)
        find_short_forces(short, motion.y, motion.found)
        value = _along(motion, i, motion.y[nv : 2 * nv])
        if cut == 0:
            at_a = value
            if at_a <= 0.0:  # it has hardly begun
                return b
        elif cut == 1:
            at_b = value
        elif value == 0.0 or not (a < t < b):
            return t
        elif value > 0.0:
            a, at_a, at_b = t, value, 0.5 * at_b
        else:
            b, at_b, at_a = t, value, 0.5 * at_a
    return b


@kernel
def look_at(motion: ModePath, parts: Parts, t: float) -> None:
    """The state at a time of the step is ``way``, with its forces."""
    # reads motion.short.held.mu, motion.short.held.way, motion.way, parts.begun, parts.dense, parts.length,
    #   parts.number, parts.straight, parts.t, parts.way
    # writes motion.short.held.straight, motion.short.held.way, motion.way
    # hands on motion.found, motion.short
    short, k = motion.short, 0
    while k + 1 < parts.number[0] and parts.t[k + 1] < t:
        k += 1
    x = (t - parts.t[k]) / parts.length[k]
    for i in range(len(motion.way)):
        value = 0.0
        for power in range(POWERS):
            value += parts.dense[k, POWERS - 1 - power, i]
            value *= x if power % 2 == 0 else 1.0 - x
        motion.way[i] = value + parts.begun[k, i]
    if short is not None:
        held = short.held
        for i in range(len(held.mu)):
            held.straight[i] = parts.straight[k, i]
            for a in range(held.way.shape[1]):
                held.way[i, a] = parts.way[k, i, a]
        find_short_forces(short, motion.way, motion.found)


@kernel
def look_then(motion: ModePath, parts: Parts, t: Array) -> None:
    """The same at a time that stands in an array (1,)."""
    # hands on motion, parts
    look_at(motion, parts, t[0])


class Sights(NamedTuple):
    """What is seen of a short step at n times."""

    t: Array  # (n,) s
    y: Array  # (n, 2 nv + h) the way since it began, velocity, impulses
    force: Array  # (n, m, 1 + nt) N
    gap: Array  # (n, nc) m
    rate: Array  # (n, nc) m/s
    margin: Array  # (n, margins) of the mode, see `routh.sim.mode_motion.ModeMotion.kinds`


@kernel
def see(motion: ModePath, parts: Parts, settled: bool, seen: Sights) -> None:
    """Look at the step at some times; ``settled``: without drift, so that closed contacts are closed."""
    # reads motion.found.acceleration, motion.found.force, motion.short.normals, motion.way, seen.gap,
    #   seen.margin, seen.t, seen.y
    # writes seen.force, seen.gap, seen.margin, seen.rate, seen.y
    # hands on motion, motion.found, motion.short.held, parts
    short, found, nv = motion.short, motion.found, len(motion.found.acceleration)
    if short is None:
        return
    for n in range(len(seen.t)):
        look_at(motion, parts, seen.t[n])
        moved, v, x = motion.way[:nv], motion.way[nv : 2 * nv], motion.way[len(motion.way) - 1]
        if settled:
            _without_drift(motion, x)
        for i in range(seen.y.shape[1]):
            seen.y[n, i] = motion.way[i]
        for c in range(seen.gap.shape[1]):
            seen.gap[n, c], rows = _gap(motion, c, x, moved), short.normals
            total = 0.0
            for j in range(nv):
                total += parabola(x, rows[0, c, j], rows[1, c, j], rows[2, c, j]) * v[j]
            seen.rate[n, c] = total
        write_margins(short.held, v, found, seen.margin[n])
        for i in range(len(found.force)):
            for a in range(found.force.shape[1]):
                seen.force[n, i, a] = found.force[i, a]


@kernel
def _gap(motion: ModePath, contact: int, x: float, moved: Array) -> float:
    """Gap of one contact, m, after a way (nv,), at the share x of the step."""
    # reads short.height, short.normals
    short = motion.short
    if short is None:
        return math.nan
    total = parabola(x, short.height[0, contact], short.height[1, contact], short.height[2, contact])
    for j in range(len(moved)):
        total += short.normals[0, contact, j] * moved[j]
    return total


@kernel
def _without_drift(motion: ModePath, x: float) -> None:
    """Way and velocity moved onto the closed contacts, as little as mass allows, and the forces there.

    Friction stays against slip as it was: what is moved is more than all of it where slip stops.
    """
    # reads found.acceleration, found.delassus, found.force, found.inverse, found.picked, found.response,
    #   found.right, found.rows, found.unknowns, found.used, found.way, short.held.contact, short.held.mu,
    #   short.held.sticks, short.now, short.slowest, way
    # writes found.inverse, found.right, found.unknowns, found.used, short.held.straight, short.held.way, way
    # hands on found, motion, short.held
    short, found, nv = motion.short, motion.found, len(motion.found.acceleration)
    if short is None:
        return
    width, k = found.force.shape[1], 0
    for i in range(len(short.held.mu)):
        k += width if short.held.sticks[i] else 1
    for first in range(0, 2 * nv, nv):  # the way, then the velocity
        moved = motion.way[first : first + nv]
        for r in range(k):
            row = found.picked[r]
            value = 0.0
            if first > 0:
                for j in range(nv):
                    value += found.rows[row, j] * moved[j]
            elif row % width == 0:
                value = _gap(motion, short.held.contact[row // width], x, moved)
            found.right[r] = value
            for c in range(k):
                found.used[r, c] = found.delassus[row, found.picked[c]]
        least(found.used, found.inverse, found.right, found.unknowns, k, SINGULAR)
        for r in range(k):
            for j in range(nv):
                moved[j] -= found.response[found.picked[r], j] * found.unknowns[r]
    for i in range(len(short.held.mu)):
        short.held.straight[i] = True
        for a in range(width - 1):
            short.held.way[i, a] = found.way[i, a]
    solve_mode(short.held, motion.way[nv : 2 * nv], short.now, short.slowest, found)


@kernel
def mark(motion: ModePath, parts: Parts, mass: Array, share: float, least: float, times: Array) -> int:
    """Times at which the step is to be sampled, so that a cubic between them tells velocities; their number.

    In the middle of an interval its acceleration is that at its velocity up to the ``share`` of the one
    without contact forces, or makes a difference of ``least`` to the velocity, in the metric of ``mass``.
    """
    # reads motion.begun, motion.found.acceleration, motion.short.now, motion.slope, motion.tried, motion.way,
    #   parts.number, parts.t
    # writes motion.begun, motion.slope, motion.tried, motion.way
    # hands on motion, motion.found, motion.short, parts
    nv, n, end, short = len(mass), 0, parts.t[parts.number[0]], motion.short
    before, now, off = motion.begun, motion.tried, motion.slope  # used as scratch: velocity and acceleration
    t = parts.t[0]
    step = end - t
    look_at(motion, parts, t)
    for j in range(nv):
        before[j], before[nv + j] = motion.way[nv + j], motion.found.acceleration[j]
    while n < len(times) and short is not None:
        step = min(step, end - t)
        look_at(motion, parts, t + step)
        for j in range(nv):
            now[j], now[nv + j] = motion.way[nv + j], motion.found.acceleration[j]
        look_at(motion, parts, t + 0.5 * step)
        for j in range(nv):
            motion.way[nv + j] = 0.5 * (before[j] + now[j]) + step / 8.0 * (before[nv + j] - now[nv + j])
        find_short_forces(short, motion.way, motion.found)
        for j in range(nv):
            off[j] = 1.5 * (now[j] - before[j]) / step - 0.25 * (before[nv + j] + now[nv + j])
            off[j] -= motion.found.acceleration[j]
        wrong = step * _size(mass, off) / (share * step * _size(mass, short.now) + least)
        # a cubic: of fourth order
        factor = min(0.9 * math.pow(max(wrong, 1e-8), -0.25), 4.0)
        if wrong > 1.0:
            step *= max(factor, 0.1)
            continue
        t += step
        if t >= end:
            break
        times[n] = t
        n += 1
        step *= factor
        for j in range(2 * nv):
            before[j] = now[j]
    return n


@kernel
def _size(mass: Array, x: Array) -> float:
    """``|x|_M`` of the first nv numbers of x."""
    total = 0.0
    for i in range(len(mass)):
        for j in range(len(mass)):
            total += x[i] * mass[i, j] * x[j]
    return math.sqrt(max(total, 0.0))
