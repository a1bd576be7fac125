"""A step with friction polygons, in space and in the plane: HP23 (75) by Lemke's method."""

from __future__ import annotations

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling import apart, inlined, kernel
from routh.kernels.algorithm1.lemke import lemke
from routh.kernels.algorithm1.work import Work, velocity_after
from routh.kernels.common.small_linear import solve_linear

PIVOTS_PER_ROW = 20
ROUGH = 1e-12  # a residual above this is refined once


@inlined
def component(directions: Array, push: int, axis: int) -> float:
    """Component of a unit push on a contact: along the normal (``push`` < 0) or a friction direction."""
    if push < 0:
        return 1.0 if axis == 0 else 0.0
    return directions[push, axis - 1] if axis > 0 else 0.0


@inlined
def number_of(nc: int, k: int, contact: int, push: int) -> int:
    """The unknown of HP23 (75) that is the size of a push, see `component`."""
    return nc + contact if push < 0 else 2 * nc + k * contact + push


@apart
def load_polygons(work: Work, directions: Array, nc: int) -> None:
    """Matrix and covering vector of HP23 (75) with unknowns ``[beta; lambda_n; lambda_D; gamma]``."""
    # reads G, mu, root; writes W, cover
    k, width = directions.shape[0], 1 + directions.shape[1]
    W, cover = work.W, work.cover
    for row in range(nc * (3 + k)):
        for column in range(nc * (3 + k)):
            W[row, column] = 0.0
    for i in range(nc):
        root, slack = work.root[i], (2 + k) * nc + i
        cover[i] = cover[slack] = 1.0 / root  # impulses; the other rows are velocities
        W[i, nc + i], W[nc + i, i], W[slack, nc + i] = -1.0, 1.0, work.mu[i]
        for a in range(-1, k):
            row = number_of(nc, k, i, a)
            cover[row] = root
            if a >= 0:
                W[slack, row], W[row, slack] = -1.0, 1.0
            for j in range(nc):
                for b in range(-1, k):
                    total = 0.0  # velocity along the push a for a unit push b
                    for d in range(width):
                        for e in range(width):
                            entry = work.G[i * width + d, j * width + e]
                            total += component(directions, a, d) * entry * component(directions, b, e)
                    W[row, number_of(nc, k, j, b)] = total


@apart
def polygon_step(work: Work, directions: Array, nc: int) -> float:
    """One step from ``inputs`` to ``impulse``; the residual, recomputed from it."""
    # reads G, T, W, after, basis, cover, impulse, inputs, place, q
    # writes T, after, basis, place, q
    # hands on work
    k, nt = directions.shape[0], directions.shape[1]
    size, n, q, inputs = nc * (3 + k), nc * (1 + nt), work.q, work.inputs
    for i in range(nc):
        own = i * (1 + nt)
        q[i], q[nc + i], q[(2 + k) * nc + i] = inputs[n + i], inputs[own], 0.0
        for a in range(k):
            slip = directions[a, 0] * inputs[own + 1]
            if nt == 2:
                slip += directions[a, 1] * inputs[own + 2]
            q[2 * nc + k * i + a] = slip
    lemke(
        work.W, q[:size], work.cover[:size], PIVOTS_PER_ROW * size, tolerances.PIVOT,
        work.T, work.basis[:size], work.place,
    )  # fmt: skip
    read_impulses(work, directions, nc, size, size + 1)
    velocity_after(n, work.G, inputs, work.impulse, work.after)
    residual = step_residual(work, directions, nc)
    return residual if residual <= ROUGH else refine(work, directions, nc, residual)


@apart
def read_impulses(work: Work, directions: Array, nc: int, rows: int, column: int) -> None:
    """Impulses of the basic variables in the first rows, with their values in a column of T."""
    # reads T, basis, impulse, inputs; writes impulse
    k, nt, p = directions.shape[0], directions.shape[1], work.impulse
    n, size = nc * (1 + nt), nc * (3 + k)
    for j in range(n):
        p[j] = 0.0
    for row in range(rows):
        unknown, value = work.basis[row] - size, max(0.0, work.T[row, column])
        if nc <= unknown < 2 * nc:
            i = unknown - nc
            p[i * (1 + nt)] = min(value, work.inputs[n + i])
        elif 2 * nc <= unknown < (2 + k) * nc:
            i = (unknown - 2 * nc) // k
            direction = unknown - 2 * nc - k * i
            for d in range(nt):
                p[i * (1 + nt) + 1 + d] += value * directions[direction, d]


@apart
def refine(work: Work, directions: Array, nc: int, rough: float) -> float:
    """The basic unknowns solved anew from the given data, where that is better; the residual."""
    # reads G, T, W, after, basis, impulse, inputs, q; writes T, after, basis, impulse; hands on work
    k, n = directions.shape[0], nc * (1 + directions.shape[1])
    size, count, T, basis = nc * (3 + k), 0, work.T, work.basis
    for j in range(n):
        T[j, size + 1] = work.impulse[j]
    for row in range(size):
        if size <= basis[row] < 2 * size:
            basis[count] = basis[row]
            count += 1
    for row in range(count):
        own = basis[row] - size
        for column in range(count):
            T[row, column] = work.W[own, basis[column] - size]
        T[row, count] = -work.q[own]
    solve_linear(T, count)
    read_impulses(work, directions, nc, count, count)
    velocity_after(n, work.G, work.inputs, work.impulse, work.after)
    residual = step_residual(work, directions, nc)
    if residual <= rough:
        return residual
    for j in range(n):
        work.impulse[j] = T[j, size + 1]
    return rough


@apart
def step_residual(work: Work, directions: Array, nc: int) -> float:
    """Natural residual of HP23 (75), from the impulses and the velocities after alone.

    NaN where one is not finite: then a velocity is not, either. beta is max(0, -y'). Friction is split into
    its two neighbouring directions.
    """
    # reads after, impulse, inputs, mu
    nt, p, after = directions.shape[1], work.impulse, work.after
    worst, check = 0.0, 0.0
    for i in range(nc):
        own, mu, bound = i * (1 + nt), work.mu[i], work.inputs[nc * (1 + nt) + i]
        normal, velocity = p[own], after[own]
        beta = max(0.0, -velocity)
        worst = max(worst, max(abs(min(beta, bound - normal)), abs(min(normal, max(0.0, velocity)))))
        if nt == 1:
            friction, slip = p[own + 1], after[own + 1]
            gamma = abs(slip)
            # of the two directions the one that pushes: lambda_D >= 0, d . t' + gamma >= 0
            along = slip + gamma if friction > 0.0 else gamma - slip
            tangential = max(abs(min(gamma, mu * normal - abs(friction))), min(abs(friction), along))
        else:
            tangential = facet_residual(
                directions, mu * normal, p[own + 1], p[own + 2], after[own + 1], after[own + 2]
            )
        worst = max(worst, tangential)
        for d in range(1 + nt):
            check += after[own + d]
    return worst + 0.0 * check


@kernel
def facet_residual(directions: Array, most: float, f0: float, f1: float, t0: float, t1: float) -> float:
    """Rows lambda_D and gamma of one spatial contact: friction f up to ``most``, slip t."""
    k = directions.shape[0]
    gamma, gauge, edge = 0.0, 0.0, 0
    for j in range(k):
        other = j + 1 if j + 1 < k else 0
        a0, a1, b0, b1 = directions[j, 0], directions[j, 1], directions[other, 0], directions[other, 1]
        gamma = max(gamma, -a0 * t0 - a1 * t1)
        size = ((b1 - a1) * f0 - (b0 - a0) * f1) / (a0 * b1 - a1 * b0)
        if size > gauge:
            gauge, edge = size, j
    other = edge + 1 if edge + 1 < k else 0
    a0, a1, b0, b1 = directions[edge, 0], directions[edge, 1], directions[other, 0], directions[other, 1]
    area = a0 * b1 - a1 * b0
    size_a, size_b = (f0 * b1 - f1 * b0) / area, (a0 * f1 - a1 * f0) / area
    worst = max(abs(min(gamma, most - gauge)), abs(min(size_a, a0 * t0 + a1 * t1 + gamma)))
    return max(worst, abs(min(size_b, b0 * t0 + b1 * t1 + gamma)))
