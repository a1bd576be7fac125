"""A step with Coulomb's true cone in space: contact by contact, each solved exactly.

A contact alone has a one-dimensional problem: for a normal impulse the friction on the disc is that of a
convex quadratic, found from its secular equation, and the normal velocity that results is continuous in the
normal impulse, so a bracket finds its zero. Sweeps over the contacts go on until the fixed-point gap is
rounding; where they do not get there, the caller uses the slower sure method.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.algorithm1.work import Contacts, Work, velocity_after
from routh.validation import Array

SWEEPS = 400
CONVERGED = 1e-12  # scaled fixed-point gap at which the sweeps stop
NEWTON, BISECTIONS = 40, 100
ROUNDING = 2.0**-52
LEAST = 1e-300  # of an eigenvalue: where friction moves nothing it is none, and not 0 / 0


@kernel
def load_cone(work: Work, nc: int) -> None:
    """What `cone_step` needs of a row beside its matrix."""
    for i in range(nc):
        find_axes(work.G, i, work.contacts)


@kernel
def find_axes(G: Array, i: int, contacts: Contacts) -> None:
    """Eigenvalues of contact i's tangential block, and cosine and sine of the axis of the smaller one."""
    first = 3 * i + 1
    a, b, d = G[first, first], G[first, first + 1], G[first + 1, first + 1]
    half = 0.5 * (a - d)
    radius = math.sqrt(half * half + b * b)
    large = 0.5 * (a + d) + radius
    small = (a * d - b * b) / large if large > 0.0 else 0.0
    # the axis of the larger one: half the angle of (half, b), from the sum that does not cancel
    cosine, sine = 1.0, 0.0
    if radius > 0.0:
        longer = math.sqrt(0.5 * (radius + abs(half)) / radius)
        shorter = 0.5 * b / (radius * longer)
        cosine, sine = (longer, shorter) if half >= 0.0 else (shorter, longer)
    # a direction that nothing can move along would have eigenvalue 0: friction does nothing there
    contacts.small[i] = max(max(small, ROUNDING * large), LEAST)
    contacts.large[i] = max(large, LEAST)
    contacts.cosine[i], contacts.sine[i] = -sine, cosine


@kernel
def disc_friction(contacts: Contacts, i: int, b0: float, b1: float, radius: float) -> tuple[float, float]:
    """The friction that minimises ``p^T A p / 2 + b^T p`` on a disc, A contact i's tangential block."""
    a0, a1, cosine, sine = contacts.small[i], contacts.large[i], contacts.cosine[i], contacts.sine[i]
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
    G: Array, contacts: Contacts, bound: float, i: int, w0: float, w1: float, w2: float
) -> tuple[float, float, float]:
    """Impulse of contact i, whose velocity without it is w: (normal, friction (2))."""
    first, mu = 3 * i, contacts.mu[i]
    if w0 >= 0.0:
        return 0.0, 0.0, 0.0
    low, high = 0.0, bound
    value_low = w0
    normal = bound
    f0, f1 = disc_friction(
        contacts, i, w1 + G[first + 1, first] * normal, w2 + G[first + 2, first] * normal, mu * normal
    )
    value = w0 + G[first, first] * normal + G[first, first + 1] * f0 + G[first, first + 2] * f1
    if value <= 0.0:
        return normal, f0, f1
    value_high = value
    side = 0
    for _ in range(BISECTIONS):  # regula falsi, Illinois
        normal = (low * value_high - high * value_low) / (value_high - value_low)
        f0, f1 = disc_friction(
            contacts, i, w1 + G[first + 1, first] * normal, w2 + G[first + 2, first] * normal, mu * normal
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
def cone_gap(nc: int, contacts: Contacts, bound: Array, p: Array, after: Array) -> float:
    """Gap of ``lambda_n = clip(lambda_n - y')``, ``lambda_t = proj(lambda_t - t')``; NaN stays NaN."""
    worst = 0.0
    for i in range(nc):
        first = 3 * i
        normal = abs(p[first] - min(max(p[first] - after[first], 0.0), bound[i]))
        q0, q1 = p[first + 1] - after[first + 1], p[first + 2] - after[first + 2]
        length, radius = math.sqrt(q0 * q0 + q1 * q1), contacts.mu[i] * max(p[first], 0.0)
        shrink = radius / length if length > radius else 1.0
        d0, d1 = p[first + 1] - shrink * q0, p[first + 2] - shrink * q1
        gap = max(normal, math.sqrt(d0 * d0 + d1 * d1))
        worst = gap if not gap <= worst else worst
    return worst


@kernel
def cone_step(work: Work, nc: int) -> float:
    """One step from ``inputs`` by sweeps from no impulse; the gap, recomputed."""
    n, G, contacts = 3 * nc, work.G, work.contacts
    c, bound, p, after = work.inputs, work.inputs[n:], work.impulse, work.after
    for row in range(n):
        p[row] = 0.0
    gap = 0.0
    for sweep in range(SWEEPS + 1):
        velocity_after(n, G, c, p, after)  # afresh in every sweep: changes would gather rounding
        gap = cone_gap(nc, contacts, bound, p, after)
        if sweep == SWEEPS or (sweep > 0 and gap <= CONVERGED):
            break
        for i in range(nc):
            first = 3 * i
            w0, w1, w2 = after[first], after[first + 1], after[first + 2]
            for j in range(3):
                w0 -= G[first, first + j] * p[first + j]
                w1 -= G[first + 1, first + j] * p[first + j]
                w2 -= G[first + 2, first + j] * p[first + j]
            normal, f0, f1 = contact_alone(G, contacts, bound[i], i, w0, w1, w2)
            d0, d1, d2 = normal - p[first], f0 - p[first + 1], f1 - p[first + 2]
            for row in range(n):
                after[row] += G[row, first] * d0 + G[row, first + 1] * d1 + G[row, first + 2] * d2
            p[first], p[first + 1], p[first + 2] = normal, f0, f1
    return gap
