"""Rates of all contacts in space for given roles: sweeps of exactly solved contacts.

Driven contacts have a given normal rate, so friction is a convex problem with unique slip rates, for which
sweeps converge. Held contacts have ``y' = 0`` and a normal rate that is unknown; with them sweeps may fail,
and the caller then holds fewer.
"""

from __future__ import annotations

import math

from routh.compiling import apart, kernel
from routh.kernels.common.one_contact import between, narrowed
from routh.kernels.space.advance import coupling, list_pushing
from routh.kernels.space.friction import friction_of
from routh.kernels.space.newton import find_rates
from routh.kernels.space.workspace import (
    DRIVEN,
    FREE,
    HELD,
    MOVES_ON,
    NO_FRICTION,
    NO_RATES,
    SLIDE,
    STEPS,
    STIFF,
    SWEEPS,
    SWEEPS_LEFT,
    Corners,
    SpaceWork,
)

MOST_SWEEPS, ONE_SWEEP = 30.0, 0.0  # for rates; one unknown contact is solved in one
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
    # reads gram, mu, rate, role, slide0, slide1, slip; hands on work
    at = 3 * i
    diagonal, mu, held = work.gram[at, at], work.mu[i], work.role[i] == HELD
    if held:
        if b[0] >= 0.0:
            return 0.0, 0.0, 0.0
        if work.slip[i] == NO_FRICTION:
            return -b[0] / diagonal, 0.0, 0.0
        if work.slip[i] == SLIDE:
            u0, u1 = work.slide0[i], work.slide1[i]
            pushes = diagonal - mu * (work.gram[at, at + 1] * u0 + work.gram[at, at + 2] * u1)
            if not pushes > PAINLEVE * diagonal:
                return -1.0, 0.0, 0.0
            normal = -b[0] / pushes
            return normal, -mu * normal * u0, -mu * normal * u1
    normal = -b[0] / diagonal if held else work.rate[at]
    bracket, enclosed, brackets, roots = (0.0, b[0], normal, -1.0, 0), False, 0, 0
    while brackets < BRACKETS:  # one place of call: the GPU's compiler copies what is called
        f0, f1, value = pushed(work, corners, i, normal, b)
        if not held:
            return normal, f0, f1
        if enclosed:
            bracket = narrowed(bracket, normal, value)
        elif value >= 0.0:
            bracket, enclosed = (bracket[0], bracket[1], normal, value, 0), True
        else:
            bracket, normal, brackets = (normal, value, 2.0 * normal, -1.0, 0), 2.0 * normal, brackets + 1
            continue
        if roots == ROOTS or abs(value) <= 1e-15 * -b[0] or bracket[2] - bracket[0] <= 1e-15 * bracket[2]:
            return normal, f0, f1
        normal = between(bracket)
        roots += 1
    return -1.0, 0.0, 0.0


@kernel
def pushed(work: SpaceWork, corners: Corners, i: int, normal: float, b: Three) -> Three:
    """Friction of contact i at a normal rate, and what becomes of its normal velocity."""
    # reads gram, mu; hands on work
    G, at = work.gram, 3 * i
    b0, b1 = b[1] + G[at + 1, at] * normal, b[2] + G[at + 2, at] * normal
    f0, f1 = friction_of(work, corners, i, b0, b1, work.mu[i] * normal)
    return f0, f1, b[0] + G[at, at] * normal + G[at, at + 1] * f0 + G[at, at + 2] * f1


@kernel
def begin_rates(work: SpaceWork, nc: int) -> int:
    """Rates of the contacts that need no solving; how many need some."""
    # reads mu, role, slide0, slide1, slip, weight; writes rate
    unknown = 0
    for i in range(nc):
        at = 3 * i
        normal, f0, f1 = 0.0, 0.0, 0.0
        if work.role[i] == DRIVEN:
            normal = work.weight[i]
            if work.slip[i] == SLIDE:  # of others there may be no direction yet
                friction = -work.mu[i] * normal
                f0, f1 = friction * work.slide0[i], friction * work.slide1[i]
        work.rate[at], work.rate[at + 1], work.rate[at + 2] = normal, f0, f1
        if work.role[i] == HELD or (needs_sweeps(work.slip[i]) and work.role[i] == DRIVEN):
            unknown += 1
    return unknown


@kernel
def needs_sweeps(slip: int) -> bool:
    """Whether the friction of a driven contact depends on the others."""
    return not (slip == SLIDE or slip == NO_FRICTION)


@kernel
def sweep(work: SpaceWork, nc: int, corners: Corners) -> tuple[float, float]:
    """Solve contact by contact: (largest change of a rate, largest rate); a change of -1: there is none."""
    # reads change, gram, rate, role, slip; writes change, rate; hands on work
    G, change, size = work.gram, 0.0, 0.0
    for i in range(nc):
        if work.role[i] == FREE:
            continue
        at = 3 * i
        r0, r1, r2 = work.rate[at], work.rate[at + 1], work.rate[at + 2]
        size = max(size, max(abs(r0), max(abs(r1), abs(r2))))
        if work.role[i] == DRIVEN and not needs_sweeps(work.slip[i]):
            continue
        b = (
            work.change[at] - coupling(work, at, at, r0, r1, r2),
            work.change[at + 1] - coupling(work, at + 1, at, r0, r1, r2),
            work.change[at + 2] - coupling(work, at + 2, at, r0, r1, r2),
        )
        normal, f0, f1 = one_contact(work, corners, i, b)
        if normal < 0.0:
            return -1.0, size
        d0, d1, d2 = normal - r0, f0 - r1, f1 - r2
        work.rate[at], work.rate[at + 1], work.rate[at + 2] = normal, f0, f1
        for row in range(3 * nc):
            work.change[row] += G[at, row] * d0 + G[at + 1, row] * d1 + G[at + 2, row] * d2
        change = max(change, max(abs(d0), max(abs(d1), abs(d2))))
    return change, size


@kernel
def first_rates(work: SpaceWork, nc: int) -> int:
    """`rate` and `change` (``G rate``) for the roles, slips and weights as far as known; what comes next."""
    # writes course; hands on work
    unknown = begin_rates(work, nc)
    finite = refresh(work, nc)
    work.course[SWEEPS_LEFT] = MOST_SWEEPS if unknown > 1 else ONE_SWEEP
    if unknown > 0:
        return SWEEPS
    return MOVES_ON if finite else NO_RATES


@apart
def next_rates(work: SpaceWork, nc: int, corners: Corners) -> int:
    """`rate` and `change` after one more sweep; what comes next: another one, the piece, or NO_RATES."""
    # reads course; writes course; hands on work
    left = work.course[SWEEPS_LEFT]
    change, size = sweep(work, nc, corners)
    work.course[STEPS] += SWEEP_COST
    work.course[SWEEPS_LEFT] = left - 1.0
    if 0.0 <= change <= CONVERGED * size or left == ONE_SWEEP:
        return MOVES_ON if refresh(work, nc) else NO_RATES
    if change >= 0.0 and left > 1.0:
        return SWEEPS
    if not find_rates(work, list_pushing(work, nc), corners):
        return NO_RATES
    work.course[STIFF] = 1.0
    return MOVES_ON if refresh(work, nc) else NO_RATES


@kernel
def refresh(work: SpaceWork, nc: int) -> bool:
    """`change` afresh from `rate`: increments gather rounding; whether it is finite."""
    # reads change, gram, rate, role; writes change
    G, finite = work.gram, True
    for row in range(3 * nc):
        work.change[row] = 0.0
    for i in range(nc):
        if work.role[i] != FREE:
            at = 3 * i
            r0, r1, r2 = work.rate[at], work.rate[at + 1], work.rate[at + 2]
            for row in range(3 * nc):  # the matrix is symmetric, and a row lies side by side
                work.change[row] += G[at, row] * r0
                work.change[row] += G[at + 1, row] * r1 + G[at + 2, row] * r2
    for row in range(3 * nc):
        finite = finite and math.isfinite(work.change[row])
    return finite
