"""Implicit steps with the true cone, extrapolated: for contacts that begin to slip while others slide.

There the direction of slip follows the rest very quickly, so that explicit steps would have to be tiny, while
an implicit one is a convex problem (`routh.kernels.space_rates` with an offset) that takes no notice.
"""

from __future__ import annotations

import math
from typing import Any

from routh.compiling import kernel
from routh.kernels.space_names import (
    BROKEN,
    BUDGET,
    BUDGET_ZERO,
    CHANGE,
    CUT,
    DRIVEN,
    ERROR,
    FREE,
    GO_ON,
    HELD,
    IMPLICIT,
    IMPLICIT_STEP,
    IMPULSE,
    LIST,
    MIDDLE,
    NORMAL_ZERO,
    OFFSET,
    ONCE,
    POINT,
    RATE,
    ROLE,
    SLIP,
    STEPS,
    THRICE,
    TRY,
    TRY_WORK,
    TWICE,
    WORK,
    ZERO,
    C,
)
from routh.kernels.space_rates import solve_rates
from routh.kernels.space_slopes import effect, energy_norm

ATTEMPTS, PLACINGS = 12, 40
PLACED = 1e-13  # how near to its zero an event is placed


@kernel
def substeps(
    nc: int, G: Any, mu: Any, dirs: Any, x: Any, s: Any, k: Any, slides: Any, g: Any, h: float, count: int,
    to: int,
) -> bool:  # fmt: skip
    """``count`` implicit steps over a length h from C: their impulse into row ``to``; whether all solved."""
    step = h / count
    for row in range(3 * nc):
        x[POINT, row] = x[C, row]
        x[to, row] = 0.0
    for number in range(count):
        for row in range(3 * nc):
            x[OFFSET, row] = x[POINT, row] / step
        if not solve_rates(nc, G, mu, dirs, x, s, k, slides, g):
            return False
        for row in range(3 * nc):
            x[POINT, row] = step * x[CHANGE, row]
            x[to, row] += step * x[RATE, row]
        if count == 2 and number == 0:
            for i in range(nc):
                s[MIDDLE, i] = x[POINT, 3 * i]
    return True


@kernel
def implicit_step(
    nc: int, m: int, mode: int, G: Any, mu: Any, dirs: Any, x: Any, s: Any, k: Any, slides: Any, g: Any,
    h: float,
) -> float:  # fmt: skip
    """TRY after a length h by extrapolation of 1, 2 and 3 steps; the local error, infinite on failure."""
    solved = True
    g[IMPLICIT] = 1.0
    for count in range(1, 4):
        solved = solved and substeps(nc, G, mu, dirs, x, s, k, slides, g, h, count, ONCE + count - 1)
    g[IMPLICIT] = 0.0
    for row in range(3 * nc):
        x[OFFSET, row] = 0.0
    if not solved:
        return math.inf
    for row in range(3 * nc):
        rough = 2.0 * x[TWICE, row] - x[ONCE, row]
        fine = 3.0 * x[THRICE, row] - 2.0 * x[TWICE, row]
        x[TRY, row] = fine + 0.5 * (fine - rough)
        x[POINT, row] = 0.5 * (fine - rough)
    error = energy_norm(m, G, x, k, POINT)
    if mode > 0:
        for a in range(m):
            i = k[LIST, a]
            before = x[C, 3 * i]
            after = before + effect(m, G, x, k, TRY, 3 * i)
            s[TRY_WORK, i] = x[TRY, 3 * i] * (before + 4.0 * s[MIDDLE, i] + after) / 6.0
            error += abs(x[TRY, 3 * i] * (s[MIDDLE, i] - 0.5 * (before + after)))
    return error


@kernel
def crossing(nc: int, m: int, mode: int, G: Any, x: Any, s: Any, k: Any) -> tuple[float, int, int]:
    """The most advanced event at TRY: (value, kind, contact); the value is positive after it."""
    value, kind, who = -math.inf, GO_ON, -1
    for i in range(nc):
        y = x[C, 3 * i]
        if k[ROLE, i] == HELD or y == 0.0:
            continue
        after = y + effect(m, G, x, k, TRY, 3 * i)
        passed = after if y < 0.0 else -after
        if passed > value:
            value, kind, who = passed, NORMAL_ZERO, i
        if mode > 0 and k[ROLE, i] == DRIVEN and y > 0.0 and s[BUDGET, i] > 0.0:
            spent = s[TRY_WORK, i] if mode == 1 else x[TRY, 3 * i]
            if spent - s[BUDGET, i] > value:
                value, kind, who = spent - s[BUDGET, i], BUDGET_ZERO, i
    return value, kind, who


@kernel
def implicit_piece(
    nc: int, m: int, mode: int, allowed: float, G: Any, mu: Any, dirs: Any, x: Any, s: Any, k: Any,
    slides: Any, g: Any,
) -> tuple[int, int]:  # fmt: skip
    """One implicit step with an error that is allowed, or up to its first event, into IMPULSE and WORK.

    (kind, contact): GO_ON after a whole step, BROKEN where none was found.
    """
    for i in range(nc):
        if k[ROLE, i] != FREE and mu[i] > 0.0:
            k[SLIP, i] = ZERO
    h = min(g[IMPLICIT_STEP], g[CUT])
    error, unsolved = math.inf, 0
    for _ in range(ATTEMPTS):
        error = implicit_step(nc, m, mode, G, mu, dirs, x, s, k, slides, g, h)
        g[STEPS] += 1.0
        if error <= allowed:
            break
        unsolved += 1 if error == math.inf else 0
        if unsolved > 1:
            return BROKEN, -1
        h *= max(0.1, 0.8 * (allowed / error) ** (1.0 / 3.0)) if error < 1e9 else 0.1
    if not error <= allowed:
        return BROKEN, -1
    g[IMPLICIT_STEP] = h * min(3.0, 0.8 * (allowed / max(error, 1e-300)) ** (1.0 / 3.0))
    value, kind, who = crossing(nc, m, mode, G, x, s, k)
    if value > 0.0:
        low, high, value_low, value_high = 0.0, h, -math.inf, value
        for count in range(PLACINGS):
            h = 0.5 * (low + high)
            if value_low > -math.inf and count % 4 != 3:
                h = (low * value_high - high * value_low) / (value_high - value_low)
            error = implicit_step(nc, m, mode, G, mu, dirs, x, s, k, slides, g, h)
            g[STEPS] += 1.0
            if not error <= allowed:
                return BROKEN, -1
            value, kind, who = crossing(nc, m, mode, G, x, s, k)
            if abs(value) <= PLACED or high - low <= 1e-15 * high:
                break
            if value > 0.0:
                high, value_high = h, value
            else:
                low, value_low = h, value
        error += abs(value)
    else:
        kind, who = GO_ON, -1
    for row in range(3 * nc):
        x[IMPULSE, row] = x[TRY, row]
    for a in range(m):
        s[WORK, k[LIST, a]] = s[TRY_WORK, k[LIST, a]] if mode > 0 else 0.0
    g[ERROR] += error
    return kind, who
