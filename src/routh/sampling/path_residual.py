"""Does a path of straight pieces solve the model? Written down again from HP23 (36) to (40), piece by piece.

What is checked of a sample here is checked by the kernel too; this is the readable form, which knows nothing
of how the path was found.
"""

from __future__ import annotations

import numpy as np

from routh.base import tolerances
from routh.base.results import ImpactPath
from routh.base.validation import Array
from routh.problem.impact import POISSON, ImpactProblem

_ROUNDING = 1e-11  # scaled velocities below this are zero: rounding of a hundred pieces and more
_LEAST = 0.5 * tolerances.BUDGET  # less than this left to return is nothing
_LEAST_IMPULSE = tolerances.BUDGET_IMPULSE  # likewise, with Poisson's hypothesis


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
    least, most = _budgets(e, push, y, hypothesis)  # (k + 1, nc)
    pushing = np.minimum(push, np.maximum(y[:-1], y[1:]))
    hidden = (e > 0.0) & (0.5 * (y[:-1] + y[1:]) * push <= tolerances.BUDGET)  # by a rest that rounding hides
    broken = [
        np.linalg.norm(unexplained @ problem.cholesky, axis=1) / unit.speed,
        _friction(problem.mu, impulse, c[:-1, :, 1], c[1:, :, 1]),
        np.where((most[:-1] > 0.0) | hidden, 0.0, pushing),
        -y[-1],
        np.maximum(least[-1], -most[-1]),
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


def _budgets(e: Array, push: Array, y: Array, hypothesis: str) -> tuple[Array, Array]:
    """The least and the most that contacts may have to return before each piece and in the end, (k + 1, nc).

    They differ with Poisson's hypothesis alone, where a contact rests up to rounding and has something to
    return: whether it still approaches, and so is compressed, or returns cannot be told from its velocity.
    """
    low, high = np.zeros(y.shape), np.zeros(y.shape)
    if np.any(e > 0.0):
        for k, pushed in enumerate(push):
            before, after = y[k], y[k + 1]
            compressed = (before < 0.0) | (after < 0.0)
            if hypothesis == POISSON:
                rests = (before == 0.0) & (after == 0.0)
                surely = compressed | (rests & (high[k] <= 0.0))
                high[k + 1] = _rounded(high[k], compressed | rests, e * pushed, pushed, _LEAST_IMPULSE)
                low[k + 1] = _rounded(low[k], surely, e * pushed, pushed, _LEAST_IMPULSE)
                low[k + 1] = np.maximum(low[k + 1], np.minimum(high[k + 1], 0.0))
            else:
                work = 0.5 * (before + after) * pushed
                high[k + 1] = _rounded(high[k], compressed, -(e**2) * work, work, _LEAST)
                low[k + 1] = high[k + 1]
    return low, high


def _rounded(budget: Array, compressed: Array, gained: Array, returned: Array, least: float) -> Array:
    """What is left to return after a piece; what nobody had to return is not missed."""
    left = np.where(compressed, budget + gained, budget - returned * (budget > 0.0))
    return np.where(left > least, left, np.minimum(left, 0.0) * (budget > 0.0))
