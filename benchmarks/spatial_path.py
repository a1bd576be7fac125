"""Does a path in space solve the model? Written down from HP23 (36) to (40), piece by piece.

It knows nothing of how the path was found: only velocities and the impulses between them.
"""

from __future__ import annotations

import numpy as np

from routh.friction import facet_directions
from routh.paths import ImpactPath
from routh.problem import POISSON, ImpactProblem
from routh.validation import Array

_STILL = 1e-9  # scaled slip below this has no direction


def spatial_path_residual(
    problem: ImpactProblem, path: ImpactPath, *, facets: int | None = None, hypothesis: str = "energetic"
) -> float:
    """How far a path of an impact in space is from a solution, in the problem's own units; NaN stays NaN.

    ``facets``: of the friction polygon; None: the true cone, where friction may differ from its direction at
    the ends of an increment by as much as the slip turns in it, squared. The largest of: momentum of each
    piece; impulses outside their cones; friction that does not oppose slip; an inelastic contact that pushes
    while it separates; energy gained; more returned than restitution allows; approach in the end.
    """
    unit = problem.scaling
    p = path.impulse / unit.impulse[:, None]  # (k, nc, 3)
    c = problem.contact_velocity(path.v) / unit.velocity[:, None]  # (k + 1, nc, 3)
    unexplained = path.v[1:] - path.v[:-1] - (problem.apply(path.impulse) - problem.v)
    worst = [0.0, _largest(np.linalg.norm(unexplained @ problem.cholesky, axis=-1) / unit.speed)]
    worst += [_largest(-p[..., 0]), _largest(-c[-1, :, 0])]
    if facets is None:
        worst.append(_largest(_against_slip(problem.mu, p, c[:-1, :, 1:], c[1:, :, 1:])))
    else:
        worst.append(_largest(_polygon(problem.mu, p, c[:-1, :, 1:], c[1:, :, 1:], facets)))
    middle = 0.5 * (c[1:, :, 0] + c[:-1, :, 0])
    inelastic = problem.restitution == 0.0
    worst.append(_largest(np.minimum(p[..., 0], np.maximum(c[1:, :, 0], c[:-1, :, 0]))[:, inelastic]))
    work = p[..., 0] * middle
    stored, returned = -np.minimum(work, 0.0).sum(axis=0), np.maximum(work, 0.0).sum(axis=0)
    if hypothesis == POISSON:
        stored = np.where(middle < 0.0, p[..., 0], 0.0).sum(axis=0)
        returned = np.where(middle > 0.0, p[..., 0], 0.0).sum(axis=0)
        worst.append(_largest(returned - problem.restitution * stored))
    else:
        worst.append(_largest(returned - problem.restitution**2 * stored))
        energy = problem.kinetic_energy(path.v) / unit.speed**2
        gained = np.diff(energy) if np.all(inelastic) else energy[-1:] - energy[0]
        worst.append(_largest(gained))
    return float(np.max(worst))


def _largest(values: Array) -> float:
    return float(np.max(values)) if values.size else 0.0


def _units(slip: Array) -> Array:
    """Directions of slips (..., 2); zero where there is none."""
    length = np.linalg.norm(slip, axis=-1, keepdims=True)
    return np.where(length > _STILL, slip / np.maximum(length, _STILL), 0.0)


def _against_slip(mu: Array, p: Array, before: Array, after: Array) -> Array:
    """The cone, and friction against the slip of each increment (k, nc)."""
    limit = mu * p[..., 0]
    first, last, middle = _units(before), _units(after), _units(before + after)
    moving = np.linalg.norm(first, axis=-1) + np.linalg.norm(last, axis=-1) > 0.0
    first = np.where(np.linalg.norm(first, axis=-1, keepdims=True) > 0.0, first, middle)
    last = np.where(np.linalg.norm(last, axis=-1, keepdims=True) > 0.0, last, middle)
    mean = (first + 4.0 * middle + last) / 6.0
    turned = np.linalg.norm(last - first, axis=-1)
    missed = np.linalg.norm(p[..., 1:] + limit[..., None] * mean, axis=-1) - limit * turned**2
    outside = np.linalg.norm(p[..., 1:], axis=-1) - limit
    return np.maximum(outside, np.where(moving, missed, 0.0)) / np.maximum(mu, 1.0)


def _polygon(mu: Array, p: Array, before: Array, after: Array, facets: int) -> Array:
    """The same with a friction polygon: friction takes the most from slips on straight increments."""
    corners = facet_directions(2, facets)  # (f, 2), unit
    edges = corners + np.roll(corners, -1, axis=0)
    edges /= np.linalg.norm(edges, axis=1, keepdims=True)
    inner = np.sum(edges * corners, axis=1)  # distances of the edges from the centre
    limit = mu * p[..., 0]
    outside = np.max(-p[..., 1:] @ edges.T - limit[..., None] * inner, axis=-1)
    slip = _units(0.5 * (before + after))
    missed = limit * np.max(slip @ corners.T, axis=-1) + np.sum(p[..., 1:] * slip, axis=-1)
    return np.maximum(outside, missed) / np.maximum(mu, 1.0)
