"""Rates of all contacts in space for given roles: sweeps of exactly solved contacts.

Driven contacts have a given normal rate, so friction is a convex problem with unique slip rates, for which
sweeps converge. Held contacts have ``y' = 0`` and a normal rate that is unknown; with them sweeps may fail,
and the caller then holds fewer.
"""

from __future__ import annotations

import math

from routh.compiling import apart, kernel
from routh.kernels.space.advance import list_pushing
from routh.kernels.space.friction import friction_alone
from routh.kernels.space.newton import find_rates
from routh.kernels.space.workspace import (
    CHANGE,
    COURSE,
    DRIVEN,
    FREE,
    GLOBAL,
    GRAM,
    HELD,
    MOVES_ON,
    MU,
    NO_FRICTION,
    NO_RATES,
    RATE,
    ROLE,
    SLIDE,
    SLIDE0,
    SLIDE1,
    SLIP,
    STEPS,
    STIFF,
    SWEEPS,
    SWEEPS_LEFT,
    WEIGHT,
    Corners,
    SpaceWork,
)
from routh.validation import Array

MOST_SWEEPS, ALONE = 30.0, 0.0  # for rates; one unknown contact is solved in one
CONVERGED = 1e-14  # change of a rate in one sweep, as a share of the largest
BRACKETS, ROOTS = 60, 80
SWEEP_COST = 0.25  # of a step
PAINLEVE = 1e-9  # a held contact that slides needs this share of its normal diagonal to push itself away

Three = tuple[float, float, float]


@kernel
def one_contact(work: SpaceWork, corners: Corners, i: int, b: Three) -> Three:
    """Normal rate and friction of contact i beside b; normal -1: there is none.

    The normal rate of a driven contact is given; that of a held one is such that its normal velocity stays.
    """
    values, row = work.values, GRAM + 3 * i
    diagonal, mu, held = values[row, 3 * i], values[MU, i], work.marks[ROLE, i] == HELD
    if held:
        if b[0] >= 0.0:
            return 0.0, 0.0, 0.0
        if work.marks[SLIP, i] == NO_FRICTION:
            return -b[0] / diagonal, 0.0, 0.0
        if work.marks[SLIP, i] == SLIDE:
            u0, u1 = values[SLIDE0, i], values[SLIDE1, i]
            pushes = diagonal - mu * (values[row, 3 * i + 1] * u0 + values[row, 3 * i + 2] * u1)
            if not pushes > PAINLEVE * diagonal:
                return -1.0, 0.0, 0.0
            normal = -b[0] / pushes
            return normal, -mu * normal * u0, -mu * normal * u1
    normal = -b[0] / diagonal if held else values[RATE, 3 * i]
    low, value_low, high, value_high, side = 0.0, b[0], normal, -1.0, 0
    brackets, roots = 0, 0
    while brackets < BRACKETS:  # one place of call: the GPU's compiler copies what is called
        f0, f1, value = pushed(work, corners, i, normal, b)
        if not held:
            return normal, f0, f1
        if not value_high >= 0.0:  # not between brackets so far
            if not value >= 0.0:
                low, value_low, high, brackets = high, value, 2.0 * high, brackets + 1
                normal = high
                continue
            value_high = value
        elif value > 0.0:
            high, value_high = normal, value
            value_low = 0.5 * value_low if side == 1 else value_low
            side = 1
        else:
            low, value_low = normal, value
            value_high = 0.5 * value_high if side == -1 else value_high
            side = -1
        if roots == ROOTS or abs(value) <= 1e-15 * -b[0] or high - low <= 1e-15 * high:
            return normal, f0, f1
        normal = (low * value_high - high * value_low) / (value_high - value_low)  # regula falsi, Illinois
        roots += 1
    return -1.0, 0.0, 0.0


@kernel
def pushed(work: SpaceWork, corners: Corners, i: int, normal: float, b: Three) -> Three:
    """Friction of contact i at a normal rate, and what becomes of its normal velocity."""
    values, at = work.values, 3 * i
    b0, b1 = b[1] + values[GRAM + at + 1, at] * normal, b[2] + values[GRAM + at + 2, at] * normal
    f0, f1 = friction_alone(work, corners, i, b0, b1, values[MU, i] * normal)
    row = GRAM + at
    return f0, f1, b[0] + values[row, at] * normal + values[row, at + 1] * f0 + values[row, at + 2] * f1


@kernel
def begin_rates(work: SpaceWork, nc: int) -> int:
    """Rates of the contacts that need no solving; how many need some."""
    values, marks = work.values, work.marks
    unknown = 0
    for i in range(nc):
        at = 3 * i
        normal, friction = 0.0, 0.0
        if marks[ROLE, i] == DRIVEN:
            normal = values[WEIGHT, i]
            if marks[SLIP, i] == SLIDE:
                friction = -values[MU, i] * normal
        values[RATE, at] = normal
        values[RATE, at + 1], values[RATE, at + 2] = (
            friction * values[SLIDE0, i],
            friction * values[SLIDE1, i],
        )
        if marks[ROLE, i] == HELD or (needs_sweeps(marks[SLIP, i]) and marks[ROLE, i] == DRIVEN):
            unknown += 1
    return unknown


@kernel
def needs_sweeps(slip: int) -> bool:
    """Whether the friction of a driven contact depends on the others."""
    return not (slip == SLIDE or slip == NO_FRICTION)


@kernel
def own_effect(values: Array, at: int, row: int) -> float:
    """What the rates of the contact with first coordinate ``at`` change coordinate ``row`` by."""
    return (
        values[GRAM + row, at] * values[RATE, at]
        + values[GRAM + row, at + 1] * values[RATE, at + 1]
        + values[GRAM + row, at + 2] * values[RATE, at + 2]
    )


@kernel
def sweep(work: SpaceWork, nc: int, corners: Corners) -> tuple[float, float]:
    """Solve each contact in turn: (largest change of a rate, largest rate); a change of -1: there is none."""
    values, marks = work.values, work.marks
    change, size = 0.0, 0.0
    for i in range(nc):
        if marks[ROLE, i] == FREE:
            continue
        at = 3 * i
        r0, r1, r2 = values[RATE, at], values[RATE, at + 1], values[RATE, at + 2]
        size = max(size, max(abs(r0), max(abs(r1), abs(r2))))
        if marks[ROLE, i] == DRIVEN and not needs_sweeps(marks[SLIP, i]):
            continue
        b = (
            values[CHANGE, at] - own_effect(values, at, at),
            values[CHANGE, at + 1] - own_effect(values, at, at + 1),
            values[CHANGE, at + 2] - own_effect(values, at, at + 2),
        )
        normal, f0, f1 = one_contact(work, corners, i, b)
        if normal < 0.0:
            return -1.0, size
        d0, d1, d2 = normal - r0, f0 - r1, f1 - r2
        values[RATE, at], values[RATE, at + 1], values[RATE, at + 2] = normal, f0, f1
        g = GRAM + at
        for row in range(3 * nc):
            values[CHANGE, row] += values[g, row] * d0 + values[g + 1, row] * d1 + values[g + 2, row] * d2
        change = max(change, max(abs(d0), max(abs(d1), abs(d2))))
    return change, size


@kernel
def first_rates(work: SpaceWork, nc: int) -> int:
    """RATE and CHANGE (``G RATE``) for the roles, slips and weights as far as known; what comes next."""
    unknown = begin_rates(work, nc)
    finite = refresh(work, nc)
    work.values[COURSE, SWEEPS_LEFT] = MOST_SWEEPS if unknown > 1 else ALONE
    if unknown > 0:
        return SWEEPS
    return MOVES_ON if finite else NO_RATES


@apart
def next_rates(work: SpaceWork, nc: int, corners: Corners) -> int:
    """RATE and CHANGE after one more sweep; what comes next: another one, the piece, or NO_RATES."""
    values = work.values
    left = values[COURSE, SWEEPS_LEFT]
    change, size = sweep(work, nc, corners)
    values[GLOBAL, STEPS] += SWEEP_COST
    values[COURSE, SWEEPS_LEFT] = left - 1.0
    if 0.0 <= change <= CONVERGED * size or left == ALONE:
        return MOVES_ON if refresh(work, nc) else NO_RATES
    if change >= 0.0 and left > 1.0:
        return SWEEPS
    if not find_rates(work, list_pushing(work, nc), corners):
        return NO_RATES
    values[COURSE, STIFF] = 1.0
    return MOVES_ON if refresh(work, nc) else NO_RATES


@kernel
def refresh(work: SpaceWork, nc: int) -> bool:
    """CHANGE afresh from RATE: increments gather rounding; whether it is finite."""
    values, finite = work.values, True
    for row in range(3 * nc):
        values[CHANGE, row] = 0.0
    for i in range(nc):
        if work.marks[ROLE, i] != FREE:
            at = 3 * i
            r0, r1, r2 = values[RATE, at], values[RATE, at + 1], values[RATE, at + 2]
            g = GRAM + at  # the matrix is symmetric, and a row lies side by side
            for row in range(3 * nc):
                values[CHANGE, row] += values[g, row] * r0
                values[CHANGE, row] += values[g + 1, row] * r1 + values[g + 2, row] * r2
    for row in range(3 * nc):
        finite = finite and math.isfinite(values[CHANGE, row])
    return finite
