"""Gauss-Seidel sweeps over the contacts: the fast way to one increment, checked, with the tableau behind it.

With prescribed normal impulses friction is a convex quadratic program over one polygon per contact, for
which sweeps of exact blocks converge, to the only velocity there is. Contacts whose normal impulse is not
prescribed join the sweeps without that promise. What has not converged, and what may not be the only
solution, is left to `routh.kernels.tableau`, whose choice among several is the reference's. In the plane
"may not" means that it is not proved; in space, where proofs are rare and tableaus large, that sweeps from
two ends differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import kernel
from routh.kernels.elastic_arrays import (
    BOUND,
    FLOOR,
    KEPT_PUSH,
    KEPT_THEN,
    KIND,
    NOTHING,
    NOW,
    PUSH,
    RATE,
    THEN,
)

if TYPE_CHECKING:
    from routh.kernels.elastic_arrays import Elastic, Scratch
    from routh.validation import Array

SWEPT = 1e-13  # residual, dimensionless: the sweeps stop below it
ENOUGH = 1e-10  # residual below which the tableau is not asked
SWEEPS = 300
CHECK_EVERY = 5
SAME = 1e-8  # velocities that differ by less, in units of the speed before, are one solution


@kernel
def move(G: Array, flat: Array) -> None:
    """Contact velocities THEN from those NOW and the impulses PUSH."""
    for row in range(flat.shape[1]):
        value = flat[NOW, row]
        for column in range(flat.shape[1]):
            value += G[row, column] * flat[PUSH, column]
        flat[THEN, row] = value


@kernel
def sweep_surely(problem: Elastic, share: float, scratch: Scratch) -> float:
    """Fill PUSH and THEN for ``share`` of the rates; the residual, or 1 where others may solve it."""
    nt, flat = problem.directions.shape[1], scratch.flat
    residual = sweep(problem, share, False, scratch)
    if not residual < ENOUGH or only_solution(problem, scratch):
        return residual
    if nt == 1:
        return 1.0
    for row in range(flat.shape[1]):
        flat[KEPT_THEN, row], flat[KEPT_PUSH, row] = flat[THEN, row], flat[PUSH, row]
    if not sweep(problem, share, True, scratch) < ENOUGH:
        return 1.0
    apart = 0.0
    for row in range(flat.shape[1]):
        apart = max(apart, abs(flat[THEN, row] - flat[KEPT_THEN, row]))
        flat[THEN, row], flat[PUSH, row] = flat[KEPT_THEN, row], flat[KEPT_PUSH, row]
    return residual if apart < SAME else 1.0


@kernel
def sweep(problem: Elastic, share: float, opposite: bool, scratch: Scratch) -> float:
    """One run of sweeps, its residual; it starts from full impulses where contacts approach, or opposite."""
    G, dirs, mu = problem.G, problem.directions, problem.mu
    nc, nt, flat, work = len(mu), dirs.shape[1], scratch.flat, scratch.ledger
    for i in range(nc):
        first = i * (1 + nt)
        work[BOUND, i] = share * work[RATE, i]
        work[FLOOR, i] = work[BOUND, i] if work[KIND, i] != NOTHING else 0.0
        full = (flat[NOW, first] < 0.0) != opposite
        flat[PUSH, first] = work[BOUND, i] if full else work[FLOOR, i]
        for d in range(nt):
            flat[PUSH, first + 1 + d] = 0.0
    move(G, flat)
    residual = 1.0
    for count in range(1, SWEEPS + 1):
        for i in range(nc):
            if work[FLOOR, i] < work[BOUND, i]:
                normal_block(G, i * (1 + nt), work[FLOOR, i], work[BOUND, i], flat)
            radius = mu[i] * flat[PUSH, i * (1 + nt)]
            if nt == 1:
                line_block(G, i * 2 + 1, radius, flat)
            else:
                polygon_block(G, dirs, i * 3 + 1, radius, flat)
        if count % CHECK_EVERY == 0:
            move(G, flat)
            residual = violation(problem, scratch)
            if residual < SWEPT:
                break
    return residual


@kernel
def only_solution(problem: Elastic, scratch: Scratch) -> bool:
    """Whether no other solution of the increment that was found has another velocity (sufficient).

    Let another one differ by the impulses d, E^2 = d^T G d, and let contact i be free, with friction and
    without impulse here: y_i, t_i its velocities in THEN. Then (docs/theory/elastic.md)
    ``E^2 <= sum_i d_n,i min(mu_i |t_i| - y_i, mu_i s_i E)`` where ``s_i^2 = tr G_tt,i`` and ``d_n,i`` is at
    most the bound. So contacts with ``y_i > mu_i |t_i|`` do not count, E is at most ``reach``, and
    contact i cannot push unless ``y_i <= sqrt(G_nn,i) E``.
    """
    G, mu, nt = problem.G, problem.mu, problem.directions.shape[1]
    flat, work = scratch.flat, scratch.ledger
    reach = 0.0
    for count in range(2):
        for i in range(len(mu)):
            if mu[i] == 0.0 or work[FLOOR, i] == work[BOUND, i]:
                continue
            first = i * (1 + nt)
            if flat[PUSH, first] > 0.0:
                return False
            slide, mobility = 0.0, 0.0
            for row in range(first + 1, first + 1 + nt):
                slide += flat[THEN, row] ** 2
                mobility += G[row, row]
            if flat[THEN, first] > mu[i] * slide**0.5:
                continue
            if count == 0:
                reach += mu[i] * work[BOUND, i] * mobility**0.5
            elif not flat[THEN, first] > G[first, first] ** 0.5 * reach:
                return False
    return True


@kernel
def change(G: Array, row: int, size: float, flat: Array) -> None:
    """Add ``size`` to one impulse."""
    flat[PUSH, row] += size
    for other in range(flat.shape[1]):
        flat[THEN, other] += G[other, row] * size


@kernel
def normal_block(G: Array, row: int, floor: float, bound: float, flat: Array) -> None:
    """The normal impulse of one contact between its bounds, all others held."""
    best = flat[PUSH, row] - flat[THEN, row] / G[row, row]
    best = min(max(best, floor), bound)
    change(G, row, best - flat[PUSH, row], flat)


@kernel
def line_block(G: Array, row: int, radius: float, flat: Array) -> None:
    """Planar friction of one contact, all others held."""
    slope = G[row, row]
    best = flat[PUSH, row]
    if slope > 0.0:
        best -= flat[THEN, row] / slope
    best = min(max(best, -radius), radius)
    change(G, row, best - flat[PUSH, row], flat)


@kernel
def polygon_block(G: Array, dirs: Array, row: int, radius: float, flat: Array) -> None:
    """Spatial friction of one contact: the least of ``s.A s / 2 + b.s`` over the polygon, all others held."""
    a11, a12, a22 = G[row, row], G[row, row + 1], G[row + 1, row + 1]
    s1, s2 = flat[PUSH, row], flat[PUSH, row + 1]
    b1 = flat[THEN, row] - a11 * s1 - a12 * s2
    b2 = flat[THEN, row + 1] - a12 * s1 - a22 * s2
    best1, best2 = 0.0, 0.0
    if radius > 0.0:
        det = a11 * a22 - a12 * a12
        inside = False
        if det > 1e-14 * a11 * a22:
            best1 = (a12 * b2 - a22 * b1) / det
            best2 = (a12 * b1 - a11 * b2) / det
            inside = gauge(dirs, best1, best2) <= radius
        if not inside:
            least = 1e300
            k = dirs.shape[0]
            for j in range(k):
                p1, p2 = radius * dirs[j, 0], radius * dirs[j, 1]
                e1, e2 = radius * dirs[(j + 1) % k, 0] - p1, radius * dirs[(j + 1) % k, 1] - p2
                slope = e1 * (a11 * p1 + a12 * p2 + b1) + e2 * (a12 * p1 + a22 * p2 + b2)
                curve = a11 * e1 * e1 + 2.0 * a12 * e1 * e2 + a22 * e2 * e2
                along = min(max(-slope / curve, 0.0), 1.0) if curve > 0.0 else (1.0 if slope < 0.0 else 0.0)
                c1, c2 = p1 + along * e1, p2 + along * e2
                value = 0.5 * (a11 * c1 * c1 + 2.0 * a12 * c1 * c2 + a22 * c2 * c2) + b1 * c1 + b2 * c2
                if value < least:
                    least, best1, best2 = value, c1, c2
    change(G, row, best1 - s1, flat)
    change(G, row + 1, best2 - s2, flat)


@kernel
def gauge(dirs: Array, s1: float, s2: float) -> float:
    """The factor by which the polygon of the unit ``dirs`` (in order of their angles) must grow to hold s."""
    k = dirs.shape[0]
    largest = 0.0
    for j in range(k):
        n1, n2 = dirs[j, 0] + dirs[(j + 1) % k, 0], dirs[j, 1] + dirs[(j + 1) % k, 1]
        height = n1 * dirs[j, 0] + n2 * dirs[j, 1]
        largest = max(largest, (n1 * s1 + n2 * s2) / height)
    return largest


@kernel
def violation(problem: Elastic, scratch: Scratch) -> float:
    """How far PUSH and THEN are from HP23 (72) with its floor; see `PolyhedralStep.residual`."""
    dirs, mu, flat, work = problem.directions, problem.mu, scratch.flat, scratch.ledger
    nc, k, nt = len(mu), dirs.shape[0], dirs.shape[1]
    largest = 0.0
    for i in range(nc):
        first = i * (1 + nt)
        push = flat[PUSH, first]
        clipped = min(max(push - flat[THEN, first], work[FLOOR, i]), work[BOUND, i])
        least, power = 1e300, 0.0
        for j in range(k):
            along = 0.0
            for d in range(nt):
                along += dirs[j, d] * flat[THEN, first + 1 + d]
            least = min(least, along)
        for d in range(nt):
            power += flat[PUSH, first + 1 + d] * flat[THEN, first + 1 + d]
        gap = max(abs(push - clipped), abs(power - mu[i] * push * least))
        if not gap < 1e300:
            return 1e300
        largest = max(largest, gap)
    return largest
