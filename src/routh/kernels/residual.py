"""Residuals of a step, recomputed from its impulses and velocities alone, outside the pivoting."""

from __future__ import annotations

from typing import Any

from routh.kernels.compiling import kernel


@kernel
def velocity_after(shape: Any, G: Any, c: Any, p: Any, after: Any) -> None:
    """Contact velocities ``c + G p`` (n,)."""
    n = shape[0] * (1 + shape[1])
    for row in range(n):
        value = c[row]
        for j in range(n):
            value += G[row, j] * p[j]
        after[row] = value


@kernel
def normal_residual(normal: float, velocity: float, bound: float) -> float:
    """Rows beta and lambda_n of the natural residual of HP23 (75), with beta = max(0, -y')."""
    beta = max(-velocity, 0.0)
    return max(abs(min(beta, bound - normal)), abs(min(normal, velocity + beta)))


@kernel
def step_residual(shape: Any, dirs: Any, normals: Any, mu: Any, bound: Any, p: Any, after: Any) -> float:
    """Natural residual of HP23 (75): impulses p (n,), contact velocities after (n,); NaN stays NaN.

    Friction is split into its two neighbouring directions; ``normals`` (k, nt) are the friction polygon's.
    """
    nt = shape[1]
    worst = 0.0
    for i in range(shape[0]):
        first = i * (1 + nt)
        worst = _larger(worst, normal_residual(p[first], after[first], bound[i]))
        if nt == 1:
            friction, slip = p[first + 1], after[first + 1]
            gamma = abs(slip)
            worst = _larger(worst, abs(min(gamma, mu[i] * p[first] - abs(friction))))
            # of the two directions the one that pushes: lambda_D >= 0, d . t' + gamma >= 0
            along = slip + gamma if friction > 0.0 else gamma - slip
            worst = _larger(worst, min(abs(friction), along))
        else:
            worst = _larger(worst, _facet_residual(dirs, normals, mu[i], first, p, after))
    return worst


@kernel
def _facet_residual(dirs: Any, normals: Any, mu: float, first: int, p: Any, after: Any) -> float:
    """Rows lambda_D and gamma of one spatial contact."""
    f0, f1, t0, t1 = p[first + 1], p[first + 2], after[first + 1], after[first + 2]
    k = dirs.shape[0]
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
    worst = _larger(worst, abs(min(size_a, a0 * t0 + a1 * t1 + gamma)))
    return _larger(worst, abs(min(size_b, b0 * t0 + b1 * t1 + gamma)))


@kernel
def _larger(worst: float, value: float) -> float:
    """The larger one; a NaN wins, and stays."""
    return worst if worst >= value or worst != worst else value
