"""Residuals of a step, recomputed from its impulses and velocities alone, outside the pivoting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import finite, inlined

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Sizes, Step
    from routh.validation import Array


@inlined
def velocity_after(n: int, G: Array, c: Array, p: Array, after: Array) -> None:
    """Contact velocities ``c + G p`` (n,); G is symmetric, so its rows are added up."""
    for half in range(n // 2):  # two rows at a time fit into one instruction
        row = 2 * half
        first, second = c[row], c[row + 1]
        for j in range(n):
            first, second = first + G[j, row] * p[j], second + G[j, row + 1] * p[j]
        after[row], after[row + 1] = first, second
    if n % 2 == 1:
        value = c[n - 1]
        for j in range(n):
            value += G[j, n - 1] * p[j]
        after[n - 1] = value


@finite
def step_residual(sizes: Sizes, step: Step, inputs: Array, p: Array, after: Array) -> float:
    """Natural residual of HP23 (75): impulses p (n,) and the velocities after (n,) that they bring.

    NaN where one is not finite: then a velocity is not, either. beta is max(0, -y'). Friction is split into
    its two neighbouring directions.
    """
    nc, nt, _ = sizes
    mu = step.mu
    worst, check = 0.0, after[0]
    for i in range(nc):
        first = i * (1 + nt)
        normal, velocity = p[first], after[first]
        beta = max(0.0, -velocity)
        own = max(abs(min(beta, inputs[nc * (1 + nt) + i] - normal)), abs(min(normal, max(0.0, velocity))))
        if nt == 1:
            friction, slip = p[first + 1], after[first + 1]
            gamma = abs(slip)
            # of the two directions the one that pushes: lambda_D >= 0, d . t' + gamma >= 0
            along = slip + gamma if friction > 0.0 else gamma - slip
            tangential = max(abs(min(gamma, mu[i] * normal - abs(friction))), min(abs(friction), along))
        else:
            tangential = _facet_residual(sizes, step, mu[i], first, p, after)
        worst = max(worst, max(own, tangential))  # in pairs: none waits for all before it
    for j in range(1, nc * (1 + nt)):
        check += after[j]
    return worst + 0.0 * check


@finite
def _facet_residual(sizes: Sizes, step: Step, mu: float, first: int, p: Array, after: Array) -> float:
    """Rows lambda_D and gamma of one spatial contact."""
    f0, f1, t0, t1 = p[first + 1], p[first + 2], after[first + 1], after[first + 2]
    k, dirs, normals = sizes[2], step.directions, step.normals
    gamma, gauge, edge = 0.0, 0.0, 0
    for j in range(k):
        gamma = max(gamma, -dirs[j, 0] * t0 - dirs[j, 1] * t1)
        size = normals[j, 0] * f0 + normals[j, 1] * f1
        if size > gauge:
            gauge, edge = size, j
    worst = abs(min(gamma, mu * p[first] - gauge))
    after_edge = edge + 1 if edge + 1 < k else 0
    a0, a1, b0, b1 = dirs[edge, 0], dirs[edge, 1], dirs[after_edge, 0], dirs[after_edge, 1]
    area = a0 * b1 - a1 * b0
    size_a, size_b = (f0 * b1 - f1 * b0) / area, (a0 * f1 - a1 * f0) / area
    worst = max(worst, abs(min(size_a, a0 * t0 + a1 * t1 + gamma)))
    return max(worst, abs(min(size_b, b0 * t0 + b1 * t1 + gamma)))
