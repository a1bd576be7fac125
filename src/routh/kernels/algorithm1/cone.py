"""A step with Coulomb's true cone in space: contact by contact in sweeps, or all of them at once.

One contact has a one-dimensional problem: for a normal impulse the friction on the disc is that of a
convex quadratic, found from its secular equation, and the normal velocity that results is continuous in the
normal impulse, so a bracket finds its zero. Sweeps over the contacts go on until the fixed-point gap is
rounding.

Where contacts squeeze each other (a box that lands nearly flat) sweeps would need thousands of turns. There
Newton's method solves for all impulses at once: first from where the sweeps are, then from nothing along a
path of softer contacts (`harden`), which leads to one solution however singular the matrix is.
"""

from __future__ import annotations

import math

from routh.compiling import apart, kernel
from routh.kernels.algorithm1.work import Work, velocity_after
from routh.kernels.common.one_contact import between, disc_axes, narrowed, on_disc, pulled_to_disc
from routh.kernels.common.small_linear import factorise, substitute

SWEEPS, MOST_SWEEPS = 3, 400  # in so many sweeps for each contact the gap must fall
FALLING = 0.4  # to this share of what it was; at most
CONVERGED = 1e-12  # scaled fixed-point gap at which the sweeps stop
BISECTIONS = 100
# softness: that of a hard contact, the first of the path, by how much it falls, how often it may
HARD, SOFTEST, FALLS, FALLS_AT_MOST = 1e-13, 0.1, 0.1, 100
SMOOTH = 10.0  # times the softness: the impulse by which kinks at the ends of normal impulses are rounded
# Newton steps for one softness; of those, steps at full length, though the residual may grow; few
NEWTON, FULL, FEW = 40, 8, 4
SOLVED, ROUNDING = 1e-3, 1e-14  # residual as a share of the softness, and at least


@kernel
def load_cone(work: Work, nc: int) -> None:
    """What `cone_step` needs of a row beside its matrix."""
    # reads G; writes cosine, large, sine, small
    G = work.G
    for i in range(nc):
        t, u = 3 * i + 1, 3 * i + 2
        large, small, cosine, sine = disc_axes(G[t, t], G[t, u], G[u, u])
        work.large[i], work.small[i], work.cosine[i], work.sine[i] = large, small, cosine, sine


@kernel
def pushed(work: Work, i: int, w0: float, w1: float, w2: float, normal: float) -> tuple[float, float, float]:
    """Friction (2) of contact i at a normal impulse, and its normal velocity after both."""
    # reads G, mu
    G, n, t, u = work.G, 3 * i, 3 * i + 1, 3 * i + 2
    axes = work.large[i], work.small[i], work.cosine[i], work.sine[i]
    f0, f1 = on_disc(axes, w1 + G[t, n] * normal, w2 + G[u, n] * normal, work.mu[i] * normal)
    return f0, f1, w0 + G[n, n] * normal + G[n, t] * f0 + G[n, u] * f1


@kernel
def solve_contact(
    work: Work, bound: float, i: int, w0: float, w1: float, w2: float
) -> tuple[float, float, float]:
    """Impulse of contact i, whose velocity without it is w: (normal, friction (2))."""
    # hands on work
    if w0 >= 0.0:
        return 0.0, 0.0, 0.0
    normal = bound
    f0, f1, value = pushed(work, i, w0, w1, w2, normal)
    if value <= 0.0:
        return normal, f0, f1
    bracket = 0.0, w0, bound, value, 0
    for _ in range(BISECTIONS):
        normal = between(bracket)
        f0, f1, value = pushed(work, i, w0, w1, w2, normal)
        if abs(value) <= 1e-16 or bracket[2] - bracket[0] <= 1e-16 * bound:
            break
        bracket = narrowed(bracket, normal, value)
    return normal, f0, f1


@kernel
def cone_gap(work: Work, nc: int) -> float:
    """Gap of ``lambda_n = clip(lambda_n - y')``, ``lambda_t = proj(lambda_t - t')``; NaN stays NaN."""
    # reads after, impulse, inputs, mu
    bound, p, after, worst = work.inputs[3 * nc :], work.impulse, work.after, 0.0
    for i in range(nc):
        first = 3 * i
        normal = abs(p[first] - min(max(p[first] - after[first], 0.0), bound[i]))
        q0, q1 = p[first + 1] - after[first + 1], p[first + 2] - after[first + 2]
        length, radius = math.sqrt(q0 * q0 + q1 * q1), work.mu[i] * max(p[first], 0.0)
        shrink = radius / length if length > radius else 1.0
        d0, d1 = p[first + 1] - shrink * q0, p[first + 2] - shrink * q1
        gap = max(normal, math.sqrt(d0 * d0 + d1 * d1))
        worst = gap if not gap <= worst else worst
    return worst


@kernel
def linearise(work: Work, nc: int, eps: float) -> float:
    """Equations of a Newton step at `impulse`: matrix W, right-hand side q; the size of their residual.

    Contacts of softness ``eps`` push with ``lambda_n = clip(lambda_n - y' - eps lambda_n, 0, bound)``, its
    kinks rounded (Chen, Harker, Kanzow and Smale), and stick with ``t' = -eps lambda_t / (mu lambda_n)``.
    """
    # reads G, W, after, impulse, inputs, mu, q; writes W, after, q
    n, G, p, after, A, q = 3 * nc, work.G, work.impulse, work.after, work.W, work.q
    velocity_after(n, G, work.inputs, p, after)
    square = 0.0
    for i in range(nc):
        at, mu = 3 * i, work.mu[i]
        diagonal, normal = G[at, at], p[at]
        pull = normal - (after[at] + eps * normal) / diagonal
        beyond, round_off = pull - work.inputs[n + i], 4.0 * (SMOOTH * eps) ** 2
        low, high = math.sqrt(pull * pull + round_off), math.sqrt(beyond * beyond + round_off)
        free = 0.5 * (pull / low - beyond / high)  # 1 between the ends, 0 at them
        q[at] = 0.5 * (pull + low - beyond - high) - normal
        rho = 2.0 / max(G[at + 1, at + 1] + G[at + 2, at + 2], 1e-6 * diagonal)
        creeps = eps / max(mu * normal, 1e-6)
        d00, d01, d10, d11, p00, p01, p10, p11, u0, u1, r0, r1 = pulled_to_disc(
            p[at + 1], p[at + 2], after[at + 1], after[at + 2], mu * normal, rho, creeps
        )
        q[at + 1], q[at + 2] = -r0, -r1
        for j in range(n):
            A[at, j] = free * G[at, j] / diagonal
            A[at + 1, j] = p00 * G[at + 1, j] + p01 * G[at + 2, j]
            A[at + 2, j] = p10 * G[at + 1, j] + p11 * G[at + 2, j]
        A[at, at] += 1.0 - free * (1.0 - eps / diagonal)
        A[at + 1, at] -= mu * u0
        A[at + 2, at] -= mu * u1
        A[at + 1, at + 1] += d00
        A[at + 1, at + 2] += d01
        A[at + 2, at + 1] += d10
        A[at + 2, at + 2] += d11
        square += q[at] ** 2 + r0 * r0 + r1 * r1
    return math.sqrt(square)


@apart
def newton(work: Work, nc: int, eps: float) -> int:
    """Newton's method from `impulse` for contacts of softness ``eps``: its steps; -1: it fails.

    Full steps first: a step that enlarges the residual often lands where it then falls.
    """
    # reads T, W, basis, impulse, inputs, q; writes T, W, basis, impulse, q; hands on work
    n, p, enough = 3 * nc, work.impulse, max(ROUNDING, SOLVED * eps)
    size = linearise(work, nc, eps)
    for number in range(NEWTON):
        if size <= enough:
            return number
        if not factorise(work.W, work.basis, n):
            return -1
        substitute(work.W, work.basis, work.q, n)
        for row in range(n):
            work.T[row, 0], work.T[row, 1] = p[row], work.q[row]
        before, share = size, 1.0
        while True:
            for row in range(n):
                p[row] = work.T[row, 0] + share * work.T[row, 1]
            for i in range(nc):
                p[3 * i] = min(max(p[3 * i], 0.0), work.inputs[n + i])
            size = linearise(work, nc, eps)
            if number < FULL or size <= (1.0 - 0.1 * share) * before or share < 0.02:
                break
            share *= 0.4
    return NEWTON if size <= enough else -1


@kernel
def harden(work: Work, nc: int) -> None:
    """Impulses of hard contacts, along a path of softer ones from no impulse on.

    How deep the softness falls depends on how easy the last fall was.
    """
    # reads T, impulse; writes T, impulse; hands on work
    n, p, eps, reached, falls = 3 * nc, work.impulse, SOFTEST, 0.0, FALLS
    for row in range(n):
        p[row] = 0.0
    for _ in range(FALLS_AT_MOST):
        steps = newton(work, nc, eps)
        if steps >= 0:
            if eps <= HARD:
                return
            reached, falls = eps, falls * falls if steps <= FEW else falls
            for row in range(n):
                work.T[row, 2] = p[row]
        elif reached == 0.0:
            return
        else:
            falls = math.sqrt(falls)
            for row in range(n):
                p[row] = work.T[row, 2]
        eps = max(reached * falls, HARD)


@kernel
def cone_step(work: Work, nc: int) -> float:
    """One step from ``inputs``, by sweeps from no impulse or by Newton's method; the gap, recomputed."""
    # reads G, after, impulse, inputs; writes after, impulse; hands on work
    n, G = 3 * nc, work.G
    c, bound, p, after = work.inputs, work.inputs[n:], work.impulse, work.after
    for row in range(n):
        p[row] = 0.0
    gap, before = math.inf, math.inf
    for sweep in range(MOST_SWEEPS + 1):
        velocity_after(n, G, c, p, after)  # afresh in every sweep: changes would gather rounding
        gap = cone_gap(work, nc)
        if sweep > 0 and gap <= CONVERGED:
            return gap
        if sweep % (SWEEPS * nc) == 0 and sweep > 0:
            if not gap < FALLING * before:
                break
            before = gap
        for i in range(nc):
            first = 3 * i
            w0, w1, w2 = after[first], after[first + 1], after[first + 2]
            for j in range(3):
                w0 -= G[first, first + j] * p[first + j]
                w1 -= G[first + 1, first + j] * p[first + j]
                w2 -= G[first + 2, first + j] * p[first + j]
            normal, f0, f1 = solve_contact(work, bound[i], i, w0, w1, w2)
            d0, d1, d2 = normal - p[first], f0 - p[first + 1], f1 - p[first + 2]
            for row in range(n):
                after[row] += G[row, first] * d0 + G[row, first + 1] * d1 + G[row, first + 2] * d2
            p[first], p[first + 1], p[first + 2] = normal, f0, f1
    if newton(work, nc, HARD) < 0:
        harden(work, nc)
    velocity_after(n, G, c, p, after)
    return cone_gap(work, nc)
