"""Intervals by bootstrap, and which parameters the data determine.

Groups of impacts are drawn again. Refitting every draw is replaced by one Newton step from the estimate, with
the drawn groups' own slopes and curvatures (a k-step bootstrap, Davidson and MacKinnon 1999), so a draw costs
a small linear system. Intervals are studentized: each draw has its own standard error (the sandwich), and
the quantiles of its error over that are what the estimate's interval is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.robust.identify_fit import Fit
from routh.validation import Array

_FLAT = 1e-4  # share of the largest slope below which a direction has none
_NOTHING = 1e-300
_PRIOR = 1.0 / np.sqrt(12.0)  # standard deviation of what is only known to lie in its range
_BENT = 0.1  # share of the curvature of all that a draw must have to use its own
_PART = 0.1  # share of a direction that a parameter may have in it before it is undetermined with it


@dataclass(frozen=True, eq=False)
class Intervals:
    """All as shares of the ranges."""

    low: Array  # (p,)
    high: Array  # (p,)
    error: Array  # (p,) standard error; infinite where undetermined
    determined: np.ndarray  # (p,) bool
    flat: Array  # (k, p) unit directions along which the data say nothing
    draws: Array  # (b, p) the bootstrap's estimates


def intervals(
    fit: Fit, groups: np.ndarray, *, draws: int, confidence: float, seed: int, share: float
) -> Intervals:
    """Intervals of all parameters; ``share``: a determined one's interval is shorter than this."""
    p = len(fit.shares)
    slopes, curvatures = _by_group(fit, groups)
    kept, flat = _directions(slopes, curvatures)
    count = len(slopes)
    weights = np.random.default_rng([seed, 2]).multinomial(count, np.full(count, 1.0 / count), size=draws)
    moved, errors = _steps(slopes, curvatures, np.vstack([np.ones(count), weights]), kept)
    error, moved, errors = errors[0], moved[1:], errors[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 0.0, moved / errors, 0.0)
    tails = np.quantile(t, [0.5 - confidence / 2, 0.5 + confidence / 2], axis=0)
    low = np.clip(fit.shares - tails[1] * error, 0.0, 1.0)
    high = np.clip(fit.shares - tails[0] * error, 0.0, 1.0)
    unknown = (flat**2).sum(axis=0) > _PART
    low[unknown], high[unknown] = 0.0, 1.0
    error = np.where(unknown, np.inf, error)
    determined = ~unknown & ~fit.at_end & (high - low <= share)
    return Intervals(low, high, error, determined, flat, np.clip(fit.shares + moved, 0.0, 1.0).reshape(-1, p))


def _by_group(fit: Fit, groups: np.ndarray) -> tuple[Array, Array]:
    """Sums over groups, of slopes less their mean: a draw's mean slope is then 0 at the estimate itself."""
    names, place = np.unique(groups, return_inverse=True)
    slopes = np.zeros((len(names), fit.slopes.shape[1]))
    curvatures = np.zeros((len(names), *fit.curvatures.shape[1:]))
    np.add.at(slopes, place, fit.slopes - fit.slopes.mean(axis=0))
    np.add.at(curvatures, place, fit.curvatures)
    return slopes, curvatures


def _directions(slopes: Array, curvatures: Array) -> tuple[Array, Array]:
    """Directions that the data determine, (k, p), and those that they do not.

    Along the latter no group's score has a slope; or the curvature of all is so little that the error would
    be as large as that of a number of which only the range is known.
    """
    _, size, axes = np.linalg.svd(slopes, full_matrices=True)
    size = np.append(size, np.zeros(len(axes) - len(size)))
    seen = size > _FLAT * max(size.max(), _NOTHING)
    basis = axes[seen]
    bent, turns = np.linalg.eigh(basis @ curvatures.sum(axis=0) @ basis.T)
    found = turns.T @ basis  # (k, p)
    spread = np.linalg.norm(slopes @ found.T, axis=0)
    known = spread < _PRIOR * bent
    return found[known], np.vstack([axes[~seen], found[~known]])


def _steps(slopes: Array, curvatures: Array, weights: Array, kept: Array) -> tuple[Array, Array]:
    """Newton's steps (b, p) of groups with weights (b, g), and the sandwich's standard errors (b, p).

    Within the directions kept. Where a draw's score is not curved upwards it tells nothing of its own: it
    takes the curvature of all.
    """
    if not len(kept):
        nothing = np.zeros((len(weights), slopes.shape[1]))
        return nothing, nothing
    along, bent = slopes @ kept.T, kept @ curvatures @ kept.T
    every, own = bent.sum(axis=0), np.tensordot(weights, bent, 1)
    upwards = np.linalg.eigvalsh(own)[:, 0] > _BENT * np.linalg.eigvalsh(every)[0]
    bread = np.linalg.inv(np.where(upwards[:, None, None], own, every)) @ kept  # (b, k, p)
    total = weights @ along
    meat = np.einsum("bg,gi,gj->bij", weights, along, along)
    meat -= total[:, :, None] * total[:, None] / weights.sum(axis=1)[:, None, None]
    variance = np.einsum("bkp,bkl,blp->bp", bread, meat, bread)
    return -np.einsum("bkp,bk->bp", bread, total), np.sqrt(np.maximum(variance, 0.0))
