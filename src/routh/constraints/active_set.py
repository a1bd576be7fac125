"""Bilateral and unilateral rows without friction: a strictly convex problem, by Newton on its active set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.constraints.linear import least_squares, solve_springs
from routh.constraints.mass import DenseMass
from routh.constraints.system import ActingRows
from routh.validation import Array

#: active sets tried before the line search takes over; each is one linear solve
_PLAIN = 12
_MAX_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class ActiveSetResult:
    """Scaled forces, the acceleration they cause, which rows act, and what it took."""

    y: Array  # (n,)
    acceleration: Array  # (nv,)
    active: np.ndarray  # (n,) bool
    iterations: int
    converged: bool


def solve_active_set(rows: ActingRows, active: np.ndarray | None = None) -> ActiveSetResult:
    """``0 <= y _|_ y + S G a - c >= 0`` for unilateral rows, ``y + S G a = c`` for bilateral ones.

    ``a`` minimises the strictly convex, piecewise quadratic
    ``a^T M a / 2 + |c_b - S G_b a|^2 / 2 + |max(0, c_u - S G_u a)|^2 / 2``; Newton's method with an exact
    line search ends after finitely many steps on such a function. Full steps are tried first, since they
    nearly always end sooner; ``active`` (n,) is where to start.
    """
    bilateral = np.arange(len(rows)) < rows.nb
    active = np.ones(len(rows), dtype=bool) if active is None else active | bilateral
    a = np.zeros(rows.mass.nv)
    for iteration in range(1, _MAX_ITERATIONS + 1):
        y, target = _solve_active(rows, active)
        slack = rows.c - rows.S * (rows.G @ target)
        wanted = bilateral | np.where(active, y > 0.0, slack > 0.0)
        if np.array_equal(wanted, active):
            return ActiveSetResult(y, target, active, iteration, True)
        if iteration <= _PLAIN:
            a, active = target, wanted
        else:
            a = a + _exact_step(rows, bilateral, a, target - a) * (target - a)
            active = bilateral | (rows.c - rows.S * (rows.G @ a) > 0.0)
    return ActiveSetResult(y, target, active, _MAX_ITERATIONS, False)


def _solve_active(rows: ActingRows, active: np.ndarray) -> tuple[Array, Array]:
    y = np.zeros(len(rows))
    every = bool(active.all())
    if isinstance(rows.mass, DenseMass) and active.any():
        N, c = (rows.N, rows.c) if every else (rows.N[active], rows.c[active])
        y[active], x = least_squares(N, c)
        return y, rows.mass.unwhiten(x)
    G = rows.G if every else rows.G[active]
    y[active], a = solve_springs(rows.mass, G, G, rows.S[active], rows.c[active])
    return y, a


def _exact_step(rows: ActingRows, bilateral: np.ndarray, a: Array, direction: Array) -> float:
    """The minimiser along a direction of descent: the root of an increasing piecewise linear slope."""
    Mp = rows.mass.M @ direction
    inertia, start = float(direction @ Mp), float(a @ Mp)
    value = rows.c - rows.S * (rows.G @ a)
    rate = rows.S * (rows.G @ direction)

    def slope(step: float) -> float:
        pushed = value - step * rate
        pushed = np.where(bilateral | (pushed > 0.0), pushed, 0.0)
        return start + step * inertia - float(rate @ pushed)

    low, high = 0.0, 1.0
    while slope(high) < 0.0 and high < 1e6:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)
