"""Smooth motion in one contact mode as Python asks for it: steps, looks, samples and roots, compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from routh.compiling import kernel
from routh.kernels.mode_forces import (
    FORCE,
    MISFIT,
    RUBS,
    STICKS,
    UNIT,
    Forces,
    ModeArrays,
    fill_forces,
    settle,
)
from routh.kernels.planar_place import Place, fill_place
from routh.kernels.runge_kutta import (
    DONE,
    ROUNDING,
    SLOPE,
    UNKNOWN,
    WAY,
    Course,
    Y,
    advance,
    interpolate,
    write_slope,
)
from routh.validation import Array

if TYPE_CHECKING:
    from routh.models.planar.arrays import PlanarArrays

ADVANCE, LOOK, SETTLE, GAP, RATE, MARGIN = range(6)  # requests
MOST_CUTS = 200  # of an interval in which something vanishes


class Seen(NamedTuple):
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
def drive(
    model: PlanarArrays,
    mode: ModeArrays,
    tableau: Array,
    course: Course,
    place: Place,
    found: Forces,
    request: Request,
    seen: Seen,
) -> float:
    """Everything that Python asks of a motion, as one function, since then it is compiled once.

    DONE, FAILED or UNKNOWN for a step; DONE or UNKNOWN for looks; the time where something vanishes, or NaN.
    """
    what = request.what
    if what == ADVANCE:
        return float(advance(model, mode, tableau, course, place, found))
    if what == LOOK or what == SETTLE:
        known = _observe(model, mode, course, place, found, request.times, what == SETTLE, seen)
        return float(DONE if known else UNKNOWN)
    return _crossing(model, mode, course, place, found, request, seen)


@kernel
def _observe(
    model: PlanarArrays,
    mode: ModeArrays,
    course: Course,
    place: Place,
    found: Forces,
    times: Array,
    settled: bool,
    seen: Seen,
) -> bool:
    """The motion at some times of the last step; ``settled``: without drift, and y and slope are the last's.

    Before the first step the motion stands at its start. False where forces are not known.
    """
    rows = course.rows
    nv, m = len(place.free), len(mode.does)
    y = rows[WAY]
    for n in range(len(times)):
        interpolate(course, times[n], y)
        q, v = seen.state[n, 0], seen.state[n, 1]
        for i in range(nv):
            q[i], v[i] = y[i], y[nv + i]
        if settled:
            if not settle(model, mode, place, found, q, v):
                return False
        elif not (fill_place(model, q, v, place) and fill_forces(mode, place, found)):
            return False
        for a in range(m):
            for part in range(2):
                seen.push[n, 0, mode.contacts[a], part] = found.vectors[FORCE, 2 * a + part]
                seen.push[n, 1, mode.contacts[a], part] = y[2 * nv + 2 * a + part]
        if not settled:
            _look(mode, place, found, v, seen.gap[n], seen.margin[n])
    if settled:
        last = len(times) - 1
        for i in range(nv):
            rows[Y, i], rows[Y, nv + i] = seen.state[last, 0, i], seen.state[last, 1, i]
        for a in range(2 * m):
            rows[Y, 2 * nv + a] = y[2 * nv + a]
        write_slope(rows[Y], found, nv, m, rows[SLOPE])
    return True


@kernel
def _crossing(
    model: PlanarArrays,
    mode: ModeArrays,
    course: Course,
    place: Place,
    found: Forces,
    request: Request,
    seen: Seen,
) -> float:
    """The time between two at which GAP, RATE or MARGIN number ``index`` vanishes (Chandrupatla).

    Where it has the same sign at both the one where it is smaller; NaN where forces are not known.
    """
    what, index, x1, x2 = request.what, request.number, request.times[0], request.times[1]
    f1 = _value(model, mode, course, place, found, what, index, x1, seen)
    f2 = _value(model, mode, course, place, found, what, index, x2, seen)
    if f1 == 0.0 or not f1 * f2 <= 0.0:
        return math.nan if math.isnan(f1 * f2) else (x1 if abs(f1) < abs(f2) else x2)
    share = 0.5
    for _ in range(MOST_CUTS):
        x = x1 + share * (x2 - x1)
        f = _value(model, mode, course, place, found, what, index, x, seen)
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
def _value(
    model: PlanarArrays,
    mode: ModeArrays,
    course: Course,
    place: Place,
    found: Forces,
    what: int,
    index: int,
    t: float,
    seen: Seen,
) -> float:
    rows = course.rows
    nv = len(place.free)
    y = rows[WAY]
    interpolate(course, t, y)
    if not (fill_place(model, y[:nv], y[nv : 2 * nv], place) and fill_forces(mode, place, found)):
        return math.nan
    _look(mode, place, found, y[nv : 2 * nv], seen.gap[0], seen.margin[0])
    if what == MARGIN:
        return seen.margin[0, index]
    return seen.gap[0, 0 if what == GAP else 1, index]


@kernel
def _look(mode: ModeArrays, place: Place, found: Forces, v: Array, gap: Array, margin: Array) -> None:
    """Gaps and rates of the free contacts, margins of the mode: see `ModeMotion.look`."""
    m = len(mode.does)
    for j in range(len(mode.contacts) - m):
        contact = mode.contacts[m + j]
        gap[0, j], gap[1, j] = place.gap[contact], _velocity(place, 2 * contact, v)
    if m == 0:
        return
    margin[0] = MISFIT - found.residual[0]
    at = 1 + m
    for i in range(m):
        push, rub = found.vectors[FORCE, 2 * i], found.vectors[FORCE, 2 * i + 1]
        margin[1 + i] = push / found.vectors[UNIT, i]
        if mode.does[i] == STICKS:
            margin[at] = (mode.friction[i, 0] * push - abs(rub)) / found.vectors[UNIT, i]
            at += 1
    for i in range(m):
        if mode.does[i] == RUBS:
            margin[at] = mode.friction[i, 1] * _velocity(place, 2 * mode.contacts[i] + 1, v)
            at += 1


@kernel
def _velocity(place: Place, row: int, v: Array) -> float:
    total = 0.0
    for i in range(len(v)):
        total += place.J[row, i] * v[i]
    return total
