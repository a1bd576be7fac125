"""Rates of all contacts in space for given roles: sweeps of exactly solved contacts.

Driven contacts have a given normal rate, so friction is a convex problem with unique slip rates, for which
sweeps converge. Held contacts have ``y' = 0`` and a normal rate that is unknown; with them sweeps may fail,
and the caller then holds fewer. With OFFSET = c / length the same sweeps solve an implicit step.
"""

from __future__ import annotations

import math
from typing import Any

from routh.compiling import kernel
from routh.kernels.space_friction import friction_alone
from routh.kernels.space_names import (
    CHANGE,
    CORNER,
    DRIVEN,
    FREE,
    HELD,
    IMPLICIT,
    NO_FRICTION,
    OFFSET,
    RATE,
    ROLE,
    SLIDE,
    SLIP,
    STEPS,
    WEIGHT,
)

SWEEPS = 200
CONVERGED = 1e-14  # change of a rate in one sweep, as a share of the largest
ROUGHLY = 1e-11  # the same in implicit steps, whose own error is larger
BRACKETS, ROOTS = 60, 80
SWEEP_COST = 0.25  # of a Runge-Kutta step
PAINLEVE = 1e-9  # a held contact that slides needs this share of its normal diagonal to push itself away


@kernel
def held_rate(
    G: Any, mu: float, dirs: Any, i: int, k: Any, u0: float, u1: float, b: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Normal rate and friction of contact i such that its normal velocity stays; normal -1: there is none."""
    first = 3 * i
    if b[0] >= 0.0:
        return 0.0, 0.0, 0.0
    if k[SLIP, i] == NO_FRICTION:
        return -b[0] / G[first, first], 0.0, 0.0
    if k[SLIP, i] == SLIDE:
        pushes = G[first, first] - mu * (G[first, first + 1] * u0 + G[first, first + 2] * u1)
        if not pushes > PAINLEVE * G[first, first]:
            return -1.0, 0.0, 0.0
        normal = -b[0] / pushes
        return normal, -mu * normal * u0, -mu * normal * u1
    low, value_low, high = 0.0, b[0], -b[0] / G[first, first]
    f0, f1, value = 0.0, 0.0, -1.0
    for _ in range(BRACKETS):
        f0, f1, value = pushed(G, mu, dirs, i, k, high, b)
        if value >= 0.0:
            break
        low, value_low, high = high, value, 2.0 * high
    if not value >= 0.0:
        return -1.0, 0.0, 0.0
    value_high, normal, side = value, high, 0
    for _ in range(ROOTS):  # regula falsi, Illinois
        if abs(value) <= 1e-15 * -b[0] or high - low <= 1e-15 * high:
            break
        normal = (low * value_high - high * value_low) / (value_high - value_low)
        f0, f1, value = pushed(G, mu, dirs, i, k, normal, b)
        if value > 0.0:
            high, value_high = normal, value
            value_low = 0.5 * value_low if side == 1 else value_low
            side = 1
        else:
            low, value_low = normal, value
            value_high = 0.5 * value_high if side == -1 else value_high
            side = -1
    return normal, f0, f1


@kernel
def pushed(
    G: Any, mu: float, dirs: Any, i: int, k: Any, normal: float, b: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Friction of contact i at a normal rate, and what becomes of its normal velocity."""
    first = 3 * i
    b0, b1 = b[1] + G[first + 1, first] * normal, b[2] + G[first + 2, first] * normal
    f0, f1 = friction_alone(G, dirs, i, k[SLIP, i], k[CORNER, i], b0, b1, mu * normal)
    value = b[0] + G[first, first] * normal + G[first, first + 1] * f0 + G[first, first + 2] * f1
    return f0, f1, value


@kernel
def begin_rates(nc: int, mu: Any, x: Any, s: Any, k: Any, slides: Any) -> int:
    """Rates of the contacts that need no solving; how many need some. ``slides`` (2, nc): slip directions."""
    unknown = 0
    for i in range(nc):
        first = 3 * i
        if k[ROLE, i] == DRIVEN:
            x[RATE, first] = s[WEIGHT, i]
            if k[SLIP, i] == SLIDE:
                x[RATE, first + 1] = -mu[i] * s[WEIGHT, i] * slides[0, i]
                x[RATE, first + 2] = -mu[i] * s[WEIGHT, i] * slides[1, i]
                continue
        else:
            x[RATE, first] = 0.0
        x[RATE, first + 1] = x[RATE, first + 2] = 0.0
        if k[ROLE, i] == HELD or (k[ROLE, i] == DRIVEN and k[SLIP, i] != NO_FRICTION):
            unknown += 1
    return unknown


@kernel
def solve_rates(nc: int, G: Any, mu: Any, dirs: Any, x: Any, s: Any, k: Any, slides: Any, g: Any) -> bool:
    """RATE and CHANGE (``OFFSET + G RATE``) for the roles, slips and weights; whether they were found.

    ``slides`` (2, nc) holds the slip directions of contacts that slide.
    """
    n = 3 * nc
    unknown = begin_rates(nc, mu, x, s, k, slides)
    for row in range(n):
        x[CHANGE, row] = x[OFFSET, row]
    for i in range(nc):
        if k[ROLE, i] == DRIVEN:
            add(n, G, x, i, x[RATE, 3 * i], x[RATE, 3 * i + 1], x[RATE, 3 * i + 2])
    settled = unknown <= 1
    enough = CONVERGED if g[IMPLICIT] == 0.0 else ROUGHLY
    for _ in range(SWEEPS if unknown > 1 else unknown):
        change, size = 0.0, 0.0
        for i in range(nc):
            if k[ROLE, i] == FREE:
                continue
            first = 3 * i
            r0, r1, r2 = x[RATE, first], x[RATE, first + 1], x[RATE, first + 2]
            size = max(size, max(abs(r0), max(abs(r1), abs(r2))))
            if k[ROLE, i] == DRIVEN and (k[SLIP, i] == SLIDE or k[SLIP, i] == NO_FRICTION):
                continue
            b = (
                x[CHANGE, first] - G[first, first] * r0 - G[first, first + 1] * r1 - G[first, first + 2] * r2,
                x[CHANGE, first + 1]
                - (G[first + 1, first] * r0 + G[first + 1, first + 1] * r1 + G[first + 1, first + 2] * r2),
                x[CHANGE, first + 2]
                - (G[first + 2, first] * r0 + G[first + 2, first + 1] * r1 + G[first + 2, first + 2] * r2),
            )
            normal = r0
            if k[ROLE, i] == HELD:
                normal, f0, f1 = held_rate(G, mu[i], dirs, i, k, slides[0, i], slides[1, i], b)
                if normal < 0.0:
                    return False
            else:
                f0, f1, _ = pushed(G, mu[i], dirs, i, k, normal, b)
            d0, d1, d2 = normal - r0, f0 - r1, f1 - r2
            x[RATE, first], x[RATE, first + 1], x[RATE, first + 2] = normal, f0, f1
            add(n, G, x, i, d0, d1, d2)
            change = max(change, max(abs(d0), max(abs(d1), abs(d2))))
        g[STEPS] += SWEEP_COST
        if change <= enough * size:
            settled = True
            break
    return settled and refresh(nc, G, x)


@kernel
def add(n: int, G: Any, x: Any, i: int, d0: float, d1: float, d2: float) -> None:
    """Add the effect of rates of contact i to CHANGE."""
    first = 3 * i
    for row in range(n):
        x[CHANGE, row] += G[row, first] * d0 + G[row, first + 1] * d1 + G[row, first + 2] * d2


@kernel
def refresh(nc: int, G: Any, x: Any) -> bool:
    """CHANGE afresh from RATE: increments gather rounding; whether it is finite."""
    finite = True
    for row in range(3 * nc):
        value = x[OFFSET, row]
        for column in range(3 * nc):
            value += G[row, column] * x[RATE, column]
        x[CHANGE, row] = value
        finite = finite and math.isfinite(value)
    return finite
