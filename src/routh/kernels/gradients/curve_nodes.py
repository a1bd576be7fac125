"""Points of a curve of the true cone, for the pass backwards along it (`reverse_curve`)."""

from __future__ import annotations

import math

import numpy as np

from routh.compiling import kernel
from routh.kernels.common.small_linear import solve_linear
from routh.kernels.gradients.record import (
    AIMED,
    DRIVEN,
    FREE,
    IDLE,
    SLIDES,
    STORES,
    TO_ZERO,
    Record,
)
from routh.kernels.gradients.reverse_rates import (
    Given,
    ReverseWork,
    coupling,
    list_unknowns,
    times_G,
)

ENDED, BENT, SMALL = 1e-6, 100.0, 1e-3  # a slip has ended of which less than ENDED is left, or than BENT
# times a small size of the slip that goes straight on


@kernel
def slip_left(record: Record, k: int, i: int) -> float:
    """The share of a contact's slip that is left after a step which goes straight on; 1 in other steps.

    Several slips may vanish together where they depend on each other; then up to the error of going straight
    on, which is of the size of the slip that was aimed at, and that is small where there are several.
    """
    way, at, length = record.who[k], 3 * i + 1, record.length[k]
    if (way != TO_ZERO and way != AIMED) or record.face[k, i] != SLIDES:
        return 1.0
    if way == TO_ZERO and i == record.other[k]:
        return 0.0
    t0, t1 = record.c[k, at], record.c[k, at + 1]
    s0, s1 = t0 + length * record.change[k, at], t1 + length * record.change[k, at + 1]
    left = math.sqrt((s0 * s0 + s1 * s1) / (t0 * t0 + t1 * t1))
    at = 3 * record.other[k] + 1
    aimed = math.sqrt(record.c[k, at] ** 2 + record.c[k, at + 1] ** 2)
    return left if left > ENDED + (BENT * aimed if aimed < SMALL else 0.0) else 0.0


@kernel
def look_at_point(record: Record, k: int, given: Given, own: ReverseWork, at: float) -> int:
    """POINT and POINT_RATE: the state of those who push and the rates; returns the number of unknowns."""
    n = len(own.of_state)
    roles, impulse = record.role[k], own.point_rate
    for a in range(n):
        impulse[a] = 0.0
    for power in range(record.degree[k], -1, -1):
        for a in range(n):
            impulse[a] = impulse[a] * at + record.curves[k, power, a]
    for a in range(n):
        if roles[a // 3] != FREE:
            own.point[a] = record.c[k, a] + times_G(given, impulse, a)
    for a in range(n):
        own.point_rate[a] = 0.0
    length = record.length[k]
    left = 1.0 - at / length if length > 0.0 else 1.0
    for i in range(len(given.mu)):
        if roles[i] == FREE:
            continue
        if slip_left(record, k, i) == 0.0:  # keeps its direction; rounding would not
            own.point[3 * i + 1] = left * record.c[k, 3 * i + 1]
            own.point[3 * i + 2] = left * record.c[k, 3 * i + 2]
        normal = record.rate[k, 3 * i] if roles[i] == DRIVEN else 0.0
        own.point_rate[3 * i] = normal
        if record.face[k, i] == SLIDES:
            t0, t1 = own.point[3 * i + 1], own.point[3 * i + 2]
            slip = math.sqrt(t0 * t0 + t1 * t1)
            own.units[i, 0], own.units[i, 1] = t0 / slip, t1 / slip
            own.point_rate[3 * i + 1] = -given.mu[i] * normal * own.units[i, 0]
            own.point_rate[3 * i + 2] = -given.mu[i] * normal * own.units[i, 1]
    m = list_unknowns(record, k, given, own)
    if m > 0:
        add_unknown_rates(given, own, own.point_rate, m)
    return m


@kernel
def add_unknown_rates(given: Given, own: ReverseWork, rate: np.ndarray, m: int) -> None:
    """Add to given rates those of the m unknowns, so that held contacts and sticking slips rest."""
    for e in range(m):
        right = 0.0
        for part in range(3):
            if own.rows[e, part] != 0.0:
                right -= own.rows[e, part] * times_G(given, rate, 3 * own.whose[e] + part)
        own.system[e, m] = right
        for f in range(m):
            own.system[e, f] = coupling(given, own, e, f)
    solve_linear(own.system, m)
    for e in range(m):
        for part in range(3):
            rate[3 * own.whose[e] + part] += own.columns[e, part] * own.system[e, m]


@kernel
def visit(record: Record, k: int, given: Given, own: ReverseWork, j: int, at: float) -> None:
    """All of node j, at a point of the curve, that does not depend on the bar of the state there."""
    n, nc = len(own.of_state), len(given.mu)
    m = look_at_point(record, k, given, own, at)
    for a in range(n):
        own.nodes.rates[j, a] = own.point_rate[a]
        own.nodes.given[j, a], own.nodes.direct[j, a] = own.of_push[a], 0.0
    for i in range(nc):
        what, bar, e = record.book[k, i], own.of_budget[i], given.bounce[i]
        if what != IDLE and bar != 0.0 and given.poisson == 1:  # the budget grows by e n or falls by n
            own.nodes.given[j, 3 * i] += bar * (e if what == STORES else -1.0)
        elif what != IDLE and bar != 0.0:  # by -e^2 y n, or y n
            share = e * e if what == STORES else 1.0
            own.nodes.given[j, 3 * i] -= bar * share * own.point[3 * i]
            own.nodes.direct[j, 3 * i] -= bar * share * own.point_rate[3 * i]
        if record.face[k, i] != SLIDES or record.role[k, i] == FREE:
            continue
        t0, t1 = own.point[3 * i + 1], own.point[3 * i + 2]
        own.nodes.units[j, 3 * i] = math.sqrt(t0 * t0 + t1 * t1)
        own.nodes.units[j, 3 * i + 1], own.nodes.units[j, 3 * i + 2] = own.units[i, 0], own.units[i, 1]
        rate, change = own.nodes.turned_rates[j, i], own.nodes.turned_changes[j, i]
        friction = -given.mu[i] * own.point_rate[3 * i]
        f0, f1 = -friction * own.units[i, 1], friction * own.units[i, 0]
        for a in range(n):
            rate[a] = 0.0
            change[a] = given.G[a, 3 * i + 1] * f0 + given.G[a, 3 * i + 2] * f1
        rate[3 * i + 1], rate[3 * i + 2] = f0, f1
        if m > 0:
            add_unknown_rates(given, own, rate, m)
            for a in range(n):
                change[a] = times_G(given, rate, a)


@kernel
def across(own: ReverseWork, of: np.ndarray, j: int, i: int) -> float:
    """The part of a vector along the turning slip of contact i in node j."""
    units = own.nodes.units[j]
    return units[3 * i + 1] * of[3 * i + 2] - units[3 * i + 2] * of[3 * i + 1]


@kernel
def add_across(own: ReverseWork, to: np.ndarray, j: int, i: int, value: float) -> None:
    """The transpose of `across`."""
    units = own.nodes.units[j]
    to[3 * i + 1] -= value * units[3 * i + 2]
    to[3 * i + 2] += value * units[3 * i + 1]


@kernel
def of_angle(own: ReverseWork, j: int, i: int, nc: int, bar: np.ndarray) -> float:
    """The bar of the angle of slip of contact i in node j, for a bar of the state there."""
    value = 0.0
    for a in range(len(bar)):
        value += (
            own.nodes.turned_rates[j, i, a] * own.nodes.given[j, a]
            + own.nodes.turned_changes[j, i, a] * bar[a]
        )
    return value
