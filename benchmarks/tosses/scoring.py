"""How good predictions of measured impacts are, and clouds that know less than the set beside them.

Everything is a share of the speed before, in the kinetic-energy norm of the nominal masses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

import measure
import routh
from routh.auditing.membership import refined
from routh.identification.scores import energy_scores

#: Widths of the Gaussian around every outcome by which a sample becomes a density; the log score chooses one.
WIDTHS = np.geomspace(0.01, 0.6, 48)

CONTROLS = ("cone impulses", "Gaussian", "turned")
BOOTSTRAPS = 1000


@dataclass(frozen=True, eq=False)
class Score:
    """How good one prediction of one impact is."""

    nearest: float
    mean: float  # of the mean outcome
    spread: float  # root mean square distance from the mean outcome
    energy: float  # proper score of a sample: E|X - y| - E|X - X'| / 2
    logs: np.ndarray = field(
        repr=False
    )  # (widths,) minus the log density at what was measured, per dimension
    optimised: float = np.nan  # distance to the set by changing decisions of its nearest samples


def score(points: np.ndarray, optimised: float = np.nan) -> Score:
    """Of outcomes (n, nv) relative to the measured one."""
    away = np.linalg.norm(points, axis=1)
    centre, (n, nv) = points.mean(axis=0), points.shape
    exponents = -0.5 * (away[:, None] / WIDTHS) ** 2
    density = logsumexp(exponents, axis=0) - np.log(n) - nv * np.log(WIDTHS * np.sqrt(2 * np.pi))
    spread = float(np.sqrt(((points - centre) ** 2).sum(axis=1).mean()))
    nearest = float(away.min())
    energy = float(energy_scores(points[None])[0])
    best = np.nan if np.isnan(optimised) else min(nearest, optimised)
    return Score(nearest, float(np.linalg.norm(centre)), spread, energy, -density / nv, best)


def controls(
    problem: routh.ImpactProblem, root: np.ndarray, points: np.ndarray, rng: np.random.Generator
) -> dict[str, Score]:
    """Clouds of as many points that share with the set's samples only its centre and size, or covariance.

    ``root`` (nv, nv) turns velocities into shares. Cone impulses: independent random impulses in the friction
    cones, moved and scaled to the centre and spread of the set.
    """
    n, nv = points.shape
    centre = points.mean(axis=0)
    cloud = points - centre
    spread = np.sqrt((cloud**2).sum(axis=1).mean())
    pushes = rng.exponential(size=(n, problem.nc))
    angle, radius = 2 * np.pi * rng.random((n, problem.nc)), np.sqrt(rng.random((n, problem.nc)))
    disc = radius[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    inside = disc if problem.nt == 2 else 2.0 * rng.random((n, problem.nc, 1)) - 1.0
    sideways = (problem.mu * pushes)[..., None] * inside
    impulses = np.concatenate([pushes[..., None], sideways], axis=-1).reshape(n, -1)
    thrown = impulses @ np.linalg.solve(problem.M, problem.J.reshape(-1, nv).T).T @ root
    thrown -= thrown.mean(axis=0)
    size = np.sqrt((thrown**2).sum(axis=1).mean())
    sizes, axes = np.linalg.eigh(cloud.T @ cloud / n)
    clouds = (
        centre + thrown * (spread / size if size > 0.0 else 0.0),
        centre + rng.normal(size=(n, nv)) * np.sqrt(np.maximum(sizes, 0.0)) @ axes.T,
        centre + cloud @ np.linalg.qr(rng.normal(size=(nv, nv)))[0],
    )
    return {name: score(cloud) for name, cloud in zip(CONTROLS, clouds, strict=True)}


def optimised_distance(outcomes: routh.Outcomes, root: np.ndarray, after: np.ndarray, tries: int) -> float:
    """How near the set comes when decisions of the nearest sample are changed again and again."""
    if outcomes.problem.nc < 2 or tries == 0:
        return float(np.linalg.norm((outcomes.v - after) @ root, axis=1).min())
    far = np.linalg.norm((outcomes.v - after) @ outcomes.problem.cholesky, axis=1)
    best = int(np.argmin(far))
    start = outcomes.v[best], float(far[best])
    found, _ = refined(outcomes, after, start, tries, time.monotonic() + 60.0)
    return float(np.linalg.norm((found - after) @ root))


def interval(
    values: np.ndarray, tosses: np.ndarray, ratio_to: np.ndarray | None = None
) -> tuple[float, float]:
    """95 % bootstrap interval of the median, or of a ratio of medians; whole tosses are drawn, whose impacts
    are not independent."""
    groups = [np.flatnonzero(tosses == t) for t in np.unique(tosses)]

    def number(drawn: np.ndarray) -> float:
        rows = np.concatenate([groups[k] for k in drawn])
        return float(np.median(values[rows]) / (1.0 if ratio_to is None else np.median(ratio_to[rows])))

    return measure.interval(number, len(groups), times=BOOTSTRAPS)


def error_of_mean(values: np.ndarray, tosses: np.ndarray) -> float:
    """Standard error of a mean, whole tosses being independent."""
    sums = np.array([(values[tosses == t] - values.mean()).sum() for t in np.unique(tosses)])
    return float(np.sqrt((sums**2).sum()) / len(values))
