"""The impact step with Coulomb's true cone in space: contact by contact, each solved exactly.

A contact alone has a one-dimensional problem: for a normal impulse the friction on the disc is that of a
convex quadratic, found from its secular equation, and the normal velocity that results is continuous in the
normal impulse, so a bracket finds its zero. Sweeps over the contacts go on until the fixed-point gap is
rounding; where they do not get there, the caller uses the slower sure method.
"""

from __future__ import annotations

import math
from typing import Any

from routh.compiling import kernel
from routh.kernels.loop import MAX_STEPS, NO_IMPACT, NUMERICAL, approaches, step_bounds, write_outcome
from routh.kernels.pivoting import SOLVED

SWEEPS = 400
CONVERGED = 1e-12  # scaled fixed-point gap at which the sweeps stop
NEWTON, BISECTIONS = 40, 100


@kernel
def disc_friction(axes: Any, i: int, b0: float, b1: float, radius: float) -> tuple[float, float]:
    """The friction that minimises ``p^T A p / 2 + b^T p`` on a disc.

    ``axes`` (nc, 4): eigenvalues of contact i's tangential block A, and cosine and sine of its first axis.
    """
    a0, a1, cosine, sine = axes[i, 0], axes[i, 1], axes[i, 2], axes[i, 3]
    if not radius > 0.0:
        return 0.0, 0.0
    q0, q1 = cosine * b0 + sine * b1, cosine * b1 - sine * b0
    shift = 0.0
    p0, p1 = -q0 / a0, -q1 / a1
    if p0 * p0 + p1 * p1 > radius * radius:
        # |(A + shift)^-1 b| = radius, Newton on 1 / |p|, which is nearly linear in the shift
        for _ in range(NEWTON):
            length = math.sqrt(p0 * p0 + p1 * p1)
            slope = (p0 * p0 / (a0 + shift) + p1 * p1 / (a1 + shift)) / length
            change = (length - radius) / radius * length / slope
            shift += change
            p0, p1 = -q0 / (a0 + shift), -q1 / (a1 + shift)
            if abs(change) <= 1e-15 * (shift + a0 + a1):
                break
        length = math.sqrt(p0 * p0 + p1 * p1)
        p0, p1 = p0 * radius / length, p1 * radius / length
    return cosine * p0 - sine * p1, sine * p0 + cosine * p1


@kernel
def contact_alone(G: Any, axes: Any, mu: float, bound: float, i: int, w0: float, w1: float, w2: float) -> Any:
    """Impulse of contact i, whose velocity without it is w: (normal, friction (2))."""
    first = 3 * i
    if w0 >= 0.0:
        return 0.0, 0.0, 0.0
    low, high = 0.0, bound
    value_low = w0
    normal = bound
    f0, f1 = disc_friction(
        axes, i, w1 + G[first + 1, first] * normal, w2 + G[first + 2, first] * normal, mu * normal
    )
    value = w0 + G[first, first] * normal + G[first, first + 1] * f0 + G[first, first + 2] * f1
    if value <= 0.0:
        return normal, f0, f1
    value_high = value
    side = 0
    for _ in range(BISECTIONS):  # regula falsi, Illinois
        normal = (low * value_high - high * value_low) / (value_high - value_low)
        f0, f1 = disc_friction(
            axes, i, w1 + G[first + 1, first] * normal, w2 + G[first + 2, first] * normal, mu * normal
        )
        value = w0 + G[first, first] * normal + G[first, first + 1] * f0 + G[first, first + 2] * f1
        if abs(value) <= 1e-16 or high - low <= 1e-16 * bound:
            break
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
def cone_gap(shape: Any, mu: Any, bound: Any, p: Any, after: Any) -> float:
    """Gap of ``lambda_n = clip(lambda_n - y')``, ``lambda_t = proj(lambda_t - t')``; NaN stays NaN."""
    worst = 0.0
    for i in range(shape[0]):
        first = 3 * i
        normal = abs(p[first] - min(max(p[first] - after[first], 0.0), bound[i]))
        q0, q1 = p[first + 1] - after[first + 1], p[first + 2] - after[first + 2]
        length, radius = math.sqrt(q0 * q0 + q1 * q1), mu[i] * max(p[first], 0.0)
        shrink = radius / length if length > radius else 1.0
        d0, d1 = p[first + 1] - shrink * q0, p[first + 2] - shrink * q1
        gap = max(normal, math.sqrt(d0 * d0 + d1 * d1))
        worst = gap if not gap <= worst else worst
    return worst


@kernel
def cone_step(
    shape: Any, G: Any, axes: Any, mu: Any, c: Any, bound: Any, p: Any, after: Any
) -> tuple[int, float]:
    """Sweeps from the impulses in p; velocities after, the number of sweeps and the gap, recomputed."""
    n = 3 * shape[0]
    gap, sweeps = 1e300, 0
    while sweeps < SWEEPS and not gap <= CONVERGED:
        for row in range(n):  # afresh in every sweep: changes would gather rounding
            value = c[row]
            for j in range(n):
                value += G[row, j] * p[j]
            after[row] = value
        if sweeps > 0:
            gap = cone_gap(shape, mu, bound, p, after)
            if gap <= CONVERGED:
                break
        for i in range(shape[0]):
            first = 3 * i
            w0, w1, w2 = after[first], after[first + 1], after[first + 2]
            for j in range(3):
                w0 -= G[first, first + j] * p[first + j]
                w1 -= G[first + 1, first + j] * p[first + j]
                w2 -= G[first + 2, first + j] * p[first + j]
            normal, f0, f1 = contact_alone(G, axes, mu[i], bound[i], i, w0, w1, w2)
            d0, d1, d2 = normal - p[first], f0 - p[first + 1], f1 - p[first + 2]
            for row in range(n):
                after[row] += G[row, first] * d0 + G[row, first + 1] * d1 + G[row, first + 2] * d2
            p[first], p[first + 1], p[first + 2] = normal, f0, f1
        sweeps += 1
    for row in range(n):
        value = c[row]
        for j in range(n):
            value += G[row, j] * p[j]
        after[row] = value
    return sweeps, cone_gap(shape, mu, bound, p, after)


@kernel
def run_cone_samples(
    shape: Any, G: Any, axes: Any, mu: Any, settings: Any, key: Any, points: Any, first: int, begin: int,
    end: int, size: Any, start: Any, frame: Any, outputs: Any, vectors: Any,
) -> None:  # fmt: skip
    """HP23's Algorithm 1 with the true cone for rows ``begin`` to ``end`` of the outputs."""
    max_steps, approach, limit = settings
    v, impulse, steps, status, residuals = outputs
    x, p, after, total, _ = vectors
    n = 3 * shape[0]
    for row in range(begin, end):
        for j in range(n):
            x[j] = start[j]
            total[j] = 0.0
        count, ended, worst = 0, MAX_STEPS, 0.0
        if not approaches(shape, x, approach):
            ended = NO_IMPACT
        while ended == MAX_STEPS and count < max_steps:
            step_bounds(shape, key, points, row, first + row, count, size, x[n:])
            for j in range(n):
                p[j] = 0.0
            _, residual = cone_step(shape, G, axes, mu, x, x[n:], p, after)
            count += 1
            worst = residual if not residual <= worst else worst
            for j in range(n):
                total[j] += p[j]
                x[j] = after[j]
            if not residual < limit:
                ended = NUMERICAL
            elif not approaches(shape, x, approach):
                ended = SOLVED
        write_outcome(shape, frame, total, v, impulse, row)
        steps[row] = count
        status[row] = ended
        residuals[row] = worst
