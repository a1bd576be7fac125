"""A step with Coulomb's true cone in space: contact by contact, each solved exactly.

One contact has a one-dimensional problem: for a normal impulse the friction on the disc is that of a
convex quadratic, found from its secular equation, and the normal velocity that results is continuous in the
normal impulse, so a bracket finds its zero. Sweeps over the contacts go on until the fixed-point gap is
rounding; where they do not get there, the caller uses the slower sure method.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.algorithm1.work import Contacts, Work, velocity_after
from routh.kernels.common.one_contact import between, disc_axes, narrowed, on_disc
from routh.validation import Array

SWEEPS = 400
CONVERGED = 1e-12  # scaled fixed-point gap at which the sweeps stop
BISECTIONS = 100


@kernel
def load_cone(work: Work, nc: int) -> None:
    """What `cone_step` needs of a row beside its matrix."""
    G, contacts = work.G, work.contacts
    for i in range(nc):
        t, u = 3 * i + 1, 3 * i + 2
        large, small, cosine, sine = disc_axes(G[t, t], G[t, u], G[u, u])
        contacts.large[i], contacts.small[i] = large, small
        contacts.cosine[i], contacts.sine[i] = cosine, sine


@kernel
def pushed(
    G: Array, contacts: Contacts, i: int, w0: float, w1: float, w2: float, normal: float
) -> tuple[float, float, float]:
    """Friction (2) of contact i at a normal impulse, and its normal velocity after both."""
    n, t, u = 3 * i, 3 * i + 1, 3 * i + 2
    axes = contacts.large[i], contacts.small[i], contacts.cosine[i], contacts.sine[i]
    f0, f1 = on_disc(axes, w1 + G[t, n] * normal, w2 + G[u, n] * normal, contacts.mu[i] * normal)
    return f0, f1, w0 + G[n, n] * normal + G[n, t] * f0 + G[n, u] * f1


@kernel
def solve_contact(
    G: Array, contacts: Contacts, bound: float, i: int, w0: float, w1: float, w2: float
) -> tuple[float, float, float]:
    """Impulse of contact i, whose velocity without it is w: (normal, friction (2))."""
    if w0 >= 0.0:
        return 0.0, 0.0, 0.0
    normal = bound
    f0, f1, value = pushed(G, contacts, i, w0, w1, w2, normal)
    if value <= 0.0:
        return normal, f0, f1
    bracket = 0.0, w0, bound, value, 0
    for _ in range(BISECTIONS):
        normal = between(bracket)
        f0, f1, value = pushed(G, contacts, i, w0, w1, w2, normal)
        if abs(value) <= 1e-16 or bracket[2] - bracket[0] <= 1e-16 * bound:
            break
        bracket = narrowed(bracket, normal, value)
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
            normal, f0, f1 = solve_contact(G, contacts, bound[i], i, w0, w1, w2)
            d0, d1, d2 = normal - p[first], f0 - p[first + 1], f1 - p[first + 2]
            for row in range(n):
                after[row] += G[row, first] * d0 + G[row, first + 1] * d1 + G[row, first + 2] * d2
            p[first], p[first + 1], p[first + 2] = normal, f0, f1
    return gap
