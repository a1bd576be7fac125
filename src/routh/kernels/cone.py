"""The impact step with Coulomb's true cone in space: contact by contact, each solved exactly.

A contact alone has a one-dimensional problem: for a normal impulse the friction on the disc is that of a
convex quadratic, found from its secular equation, and the normal velocity that results is continuous in the
normal impulse, so a bracket finds its zero. Sweeps over the contacts go on until the fixed-point gap is
rounding; where they do not get there, the caller uses the slower sure method.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from routh.compiling import kernel
from routh.kernels.algorithm1 import (
    MAX_STEPS,
    NO_IMPACT,
    NUMERICAL,
    approaches,
    put_down,
    step_bounds,
    take_up,
    write_outcome,
)
from routh.kernels.dictionary import wide
from routh.kernels.residual import velocity_after
from routh.kernels.step_arrays import PENDING
from routh.kernels.step_solver import SOLVED

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Samples, Sampling, Step, Vectors
    from routh.validation import Array

SWEEPS = 400
CONVERGED = 1e-12  # scaled fixed-point gap at which the sweeps stop
NEWTON, BISECTIONS = 40, 100


@kernel
def disc_friction(axes: Array, i: int, b0: float, b1: float, radius: float) -> tuple[float, float]:
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
def contact_alone(
    G: Array, axes: Array, mu: float, bound: float, i: int, w0: float, w1: float, w2: float
) -> tuple[float, float, float]:
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
def cone_gap(mu: Array, bound: Array, p: Array, after: Array) -> float:
    """Gap of ``lambda_n = clip(lambda_n - y')``, ``lambda_t = proj(lambda_t - t')``; NaN stays NaN."""
    worst = 0.0
    for i in range(len(mu)):
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
def cone_step(step: Step, axes: Array, vectors: Vectors) -> tuple[int, float]:
    """Sweeps from no impulse; velocities after, the number of sweeps and the gap, recomputed."""
    nc = len(step.mu)
    n, G, mu = 3 * nc, step.G, step.mu
    c, bound, p, after = vectors.inputs, vectors.inputs[n:], vectors.impulse, vectors.after
    for row in range(n):
        p[row] = 0.0
    gap, sweeps = 1e300, 0
    while sweeps < SWEEPS and not gap <= CONVERGED:
        for row in range(n):  # afresh in every sweep: changes would gather rounding
            value = c[row]
            for j in range(n):
                value += G[row, j] * p[j]
            after[row] = value
        if sweeps > 0:
            gap = cone_gap(mu, bound, p, after)
            if gap <= CONVERGED:
                break
        for i in range(nc):
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
    return sweeps, cone_gap(mu, bound, p, after)


@kernel
def run_cone(
    step: Step,
    axes: Array,
    sampling: Sampling,
    samples: Samples,
    vectors: Vectors,
    rows: tuple[int, int],
    most: int,
) -> None:
    """At most ``most`` steps of HP23's Algorithm 1 with the true cone for rows (begin, end) that are PENDING.

    ``axes``: see `routh.kernels.step_arrays.tangential_axes`.
    """
    sizes = (len(step.mu), 2, 0)
    n = 3 * sizes[0]
    inputs, total = vectors.inputs, vectors.total
    for row in range(rows[0], rows[1]):
        if samples.status[row] != PENDING:
            continue
        take_up(sizes, step, sampling, samples, vectors, row)
        count, ended, worst = wide(samples.steps[row]), wide(PENDING), samples.residual[row]
        taken = 0
        while ended == PENDING:
            if not approaches(sizes, inputs, sampling.approach):
                ended = wide(SOLVED if count > 0 else NO_IMPACT)
            elif count >= sampling.max_steps:
                ended = wide(MAX_STEPS)
            elif taken >= most:
                break
            else:
                step_bounds(sizes, sampling, row, count, inputs[n:])
                _, residual = cone_step(step, axes, vectors)
                count += 1
                taken += 1
                worst = residual if not residual <= worst else worst
                for j in range(n):
                    total[j] += vectors.impulse[j]
                velocity_after(n, step.G, sampling.start, total, inputs)
                if not residual < sampling.limit:
                    ended = wide(NUMERICAL)
        samples.steps[row] = count
        samples.status[row] = ended
        samples.residual[row] = worst
        if ended == PENDING:
            put_down(sizes, samples, vectors, row)
        else:
            write_outcome(sizes, sampling, samples, total, row)
