"""Smooth motion in one contact mode as Python asks for it: steps, looks, samples and roots, compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.motion.forces import MISFIT, RUBS, STICKS, settle
from routh.kernels.motion.place import velocity
from routh.kernels.motion.runge_kutta import (
    DONE,
    ROUNDING,
    UNKNOWN,
    ModePath,
    advance,
    find_forces,
    interpolate,
    write_slope,
)

ADVANCE, LOOK, SETTLE, GAP, RATE, MARGIN = range(6)  # requests
MOST_CUTS = 200  # of an interval in which something vanishes


class CourseLook(NamedTuple):
    """What is seen of a motion at n times."""

    state: Array  # (n, 2, nv) configuration and velocity
    push: Array  # (n, 2, nc, 2) forces in N and impulses in N s, normal first
    gap: Array  # (n, 2, nc - m) of the contacts outside of the mode, m, and their rates, m/s
    margin: Array  # (n, 1 + m + sticking + rubbing) of the mode


class Request(NamedTuple):
    """What is asked of `drive`."""

    what: int  # ADVANCE, LOOK, SETTLE, or what is to vanish: GAP, RATE or MARGIN
    number: int  # which of these
    times: Array  # (n,) s: where to look, or (2,) between which


@kernel
def drive(motion: ModePath, request: Request, seen: CourseLook) -> float:
    """Everything that Python asks of a motion, as one function, since then it is compiled once.

    DONE, FAILED or UNKNOWN for a step; DONE or UNKNOWN for looks; the time where something vanishes, or NaN.
    """
    # reads request.times, request.what; hands on motion, request, seen
    what = request.what
    if what == ADVANCE:
        return float(advance(motion))
    if what == LOOK or what == SETTLE:
        for n in range(len(request.times)):
            if not _see(motion, request.times[n], n, what == SETTLE, seen):
                return float(UNKNOWN)
        return float(DONE)
    return _crossing(motion, request, seen)


@kernel
def _see(motion: ModePath, t: float, n: int, settled: bool, seen: CourseLook) -> bool:
    """The motion at a time of the last step, number n; ``settled``: without drift, and it stands there.

    Before the first step the motion stands at its start. False where forces are not known.
    """
    # reads motion.found.force, motion.mode.contacts, motion.mode.does, motion.place.free, motion.way,
    #   motion.y, seen.state
    # writes motion.slope, motion.way, motion.y, seen.gap, seen.margin, seen.push, seen.state
    # hands on motion, motion.found, motion.mode, motion.model, motion.place
    mode, place, found = motion.mode, motion.place, motion.found
    nv, m = len(place.free), len(mode.does)
    y = motion.way
    interpolate(motion, t, y)
    q, v = seen.state[n, 0], seen.state[n, 1]
    for i in range(nv):
        q[i], v[i] = y[i], y[nv + i]
    known = settle(motion.model, mode, place, found, q, v) if settled else find_forces(motion, q, v)
    if not known:
        return False
    for a in range(m):
        for part in range(2):
            seen.push[n, 0, mode.contacts[a], part] = found.force[a, part]
            seen.push[n, 1, mode.contacts[a], part] = y[2 * nv + 2 * a + part]
    if settled:
        for i in range(nv):
            motion.y[i], motion.y[nv + i] = q[i], v[i]
        for a in range(2 * nv, len(y)):
            motion.y[a] = y[a]
        write_slope(motion, motion.y, motion.slope)
    else:
        _look(motion, v, seen.gap[n], seen.margin[n])
    return True


@kernel
def _crossing(motion: ModePath, request: Request, seen: CourseLook) -> float:
    """The time between two at which GAP, RATE or MARGIN of that number vanishes (Chandrupatla).

    Where it has the same sign at both the one where it is smaller; NaN where forces are not known.
    """
    # reads request.times; hands on motion, request, seen
    x1, x2 = request.times[0], request.times[1]
    f1 = _value(motion, request, x1, seen)
    f2 = _value(motion, request, x2, seen)
    if f1 == 0.0 or not f1 * f2 <= 0.0:
        return math.nan if math.isnan(f1 * f2) else (x1 if abs(f1) < abs(f2) else x2)
    share = 0.5
    for _ in range(MOST_CUTS):
        x = x1 + share * (x2 - x1)
        f = _value(motion, request, x, seen)
        if math.isnan(f):
            return f
        x3, f3 = x2, f2
        if (f > 0.0) == (f1 > 0.0):
            x3, f3 = x1, f1
        else:
            x2, f2 = x1, f1
        x1, f1 = x, f
        nearer = x1 if abs(f1) < abs(f2) else x2
        least_share = 2.0 * ROUNDING * abs(nearer) / abs(x2 - x1)
        if least_share > 0.5 or f1 == 0.0 or f2 == 0.0:
            return nearer
        share = 0.5
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:  # inverse quadratic interpolation is safe
            share = f1 / (f2 - f1) * f3 / (f2 - f3)
            share += (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        share = min(1.0 - least_share, max(least_share, share))
    return nearer


@kernel
def _value(motion: ModePath, request: Request, t: float, seen: CourseLook) -> float:
    """Value of what is to vanish, at a time; NaN where forces are not known."""
    # reads request.number, request.what, seen.gap, seen.margin; hands on motion, seen
    if not _see(motion, t, 0, request.what == SETTLE, seen):
        return math.nan
    if request.what == MARGIN:
        return seen.margin[0, request.number]
    return seen.gap[0, 0 if request.what == GAP else 1, request.number]


@kernel
def _look(motion: ModePath, v: Array, gap: Array, margin: Array) -> None:
    """Gaps and rates of the free contacts, margins of the mode: see `ModeMotion.look`."""
    # reads found.force, found.residual, found.unit, mode.contacts, mode.does, mode.friction, place.gap
    # hands on place
    mode, place, found = motion.mode, motion.place, motion.found
    m = len(mode.does)
    for j in range(len(mode.contacts) - m):
        contact = mode.contacts[m + j]
        gap[0, j], gap[1, j] = place.gap[contact], velocity(place, 2 * contact, v)
    if m == 0:
        return
    margin[0] = MISFIT - found.residual[0]
    at = 1 + m
    for i in range(m):
        push, rub = found.force[i, 0], found.force[i, 1]
        margin[1 + i] = push / found.unit[0, i]
        if mode.does[i] == STICKS:
            margin[at] = (mode.friction[0, i] * push - abs(rub)) / found.unit[0, i]
            at += 1
    for i in range(m):
        if mode.does[i] == RUBS:
            margin[at] = mode.friction[1, i] * velocity(place, 2 * mode.contacts[i] + 1, v)
            at += 1
