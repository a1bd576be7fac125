"""Does a path of straight pieces solve the model? Written down again from HP23 (36) to (40), piece by piece.

What is checked of a sample here is checked by the kernel too; this is the readable form, which knows nothing
of how the path was found.
"""

from __future__ import annotations

import numpy as np

from routh import tolerances
from routh.paths import ImpactPath
from routh.problem import ImpactProblem
from routh.step.elastic import POISSON
from routh.validation import Array

_ROUNDING = 1e-11  # scaled velocities below this are zero: rounding of a hundred pieces and more
_LEAST = 0.5 * tolerances.BUDGET  # less than this left to return is nothing


def path_residual(problem: ImpactProblem, path: ImpactPath, *, hypothesis: str = "energetic") -> float:
    """How far a path of a planar impact is from a solution, in the problem's own units; NaN stays NaN.

    The largest of: momentum of each piece; impulses outside their cones; friction that does not oppose slip;
    a contact that pushes while it separates and has nothing to return; energy gained; approach, or something
    left to return, in the end.
    """
    unit, e = problem.scaling, problem.restitution
    impulse = path.impulse / unit.impulse[:, None]  # (k, nc, 2)
    c = problem.contact_velocity(path.v) / unit.velocity[:, None]  # (k + 1, nc, 2)
    c = np.where(np.abs(c) <= _ROUNDING, 0.0, c)  # whether a contact is compressed or returns is its sign
    y, push = c[..., 0], impulse[..., 0]
    unexplained = path.v[1:] - problem.apply(path.impulse, path.v[:-1])
    budget = _budgets(e, push, y, hypothesis)  # (k + 1, nc)
    pushing = np.minimum(push, np.maximum(y[:-1], y[1:]))
    hidden = (e > 0.0) & (0.5 * (y[:-1] + y[1:]) * push <= tolerances.BUDGET)  # by a rest that rounding hides
    broken = [
        np.linalg.norm(unexplained @ problem.cholesky, axis=1) / unit.speed,
        _friction(problem.mu, impulse, c[:-1, :, 1], c[1:, :, 1]),
        np.where((budget[:-1] > 0.0) | hidden, 0.0, pushing),
        -y[-1],
        np.abs(budget[-1]),
    ]
    if hypothesis != POISSON:  # Poisson's hypothesis can create energy
        energy = problem.kinetic_energy(path.v[-1]) - problem.kinetic_energy(path.v[0])
        broken.append(energy / unit.speed**2)
    return float(np.max([np.max(one, initial=0.0) for one in broken]))


def _friction(mu: Array, p: Array, before: Array, after: Array) -> Array:
    """The cone, and friction against slip wherever on the piece there is some, (4, k, nc)."""
    limit, friction = mu * p[..., 0], p[..., 1]
    forwards, backwards = np.maximum(before, after), np.maximum(-before, -after)
    broken = [-p[..., 0], np.abs(friction) - limit]
    broken += [np.minimum(forwards, limit + friction), np.minimum(backwards, limit - friction)]
    return np.array(broken)


def _budgets(e: Array, push: Array, y: Array, hypothesis: str) -> Array:
    """What the contacts may return before each piece and in the end, (k + 1, nc), for normal velocities y."""
    budget = np.zeros(y.shape)
    if np.any(e > 0.0):
        for k, pushed in enumerate(push):
            budget[k + 1] = _budget(e, budget[k], pushed, y[k], y[k + 1], hypothesis)
    return budget


def _budget(e: Array, budget: Array, push: Array, before: Array, after: Array, hypothesis: str) -> Array:
    """What the contacts may return after a piece; each is compressed or returns, never both."""
    compressed = (before < 0.0) | (after < 0.0)
    if hypothesis == POISSON:
        rests = (before == 0.0) & (after == 0.0) & (budget <= 0.0)
        left = np.where(compressed | rests, budget + e * push, budget - push * (budget > 0.0))
    else:
        work = 0.5 * (before + after) * push
        left = np.where(compressed, budget - e**2 * work, budget - work)
    return np.where(left > _LEAST, left, np.minimum(left, 0.0) * (budget > 0.0))
