"""Parameters at which the mean energy score of measured impacts is least, and how surely.

`ScoreObjective` is the score with its slopes, on which `fit` goes down. `intervals` come from a bootstrap:
groups of impacts are drawn again. Refitting every draw is replaced by one Newton step from the estimate, with
the drawn groups' own slopes and curvatures (a k-step bootstrap, Davidson and MacKinnon 1999), so a draw costs
a small linear system. Intervals are studentized: each draw has its own standard error (the sandwich), and the
quantiles of its error over that are what the estimate's interval is made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from routh.base.status import Status
from routh.base.validation import Array, Options
from routh.identification.impacts import NOISE, Bounds, MeasuredImpacts, slopes_of
from routh.identification.scores import DrawnImpacts, Errors, Scale, draw, energy_scores, score_slopes
from routh.sampling.batch import BatchOutcomes
from routh.sampling.outcomes import DATA

_DIFFERENCE = 0.01  # of a range: the least over which slopes are compared for the curvature
_FARTHEST = 0.1  # of a range: the most
_ENOUGH = 1e-4  # share of the score: quasi-Newton steps that gain less are left to Newton's
_STEPS = 6  # of Newton's method at the end
_LONGEST = 0.1  # of a range: the longest of these steps
_NEARBY = 0.02  # of a range: how far curvatures hold
_STILL = 1e-4  # of a range: a step that ends them
_FLAT = 1e-4  # share of the largest slope below which a direction has none
_NOTHING = 1e-300
_PRIOR = 1.0 / np.sqrt(12.0)  # standard deviation of what is only known to lie in its range
_BENT = 0.1  # share of the curvature of all that a draw must have to use its own
_PART = 0.1  # share of a direction that a parameter may have in it before it is undetermined with it


@dataclass(eq=False)
class ScoreObjective:
    """Energy scores of all impacts, and their derivatives by the parameters as shares of their ranges.

    A sample's decisions are held, as in `routh.Outcomes.vjp`, and the random numbers are the same for all
    values; the problems' arrays change with the parameters by differences of the builder alone.
    """

    impacts: MeasuredImpacts
    bounds: Bounds
    scale: Scale
    errors: Errors
    n: int
    options: Options
    failed: int = 0  # samples that did not end, of the last call
    lost: int = 0  # samples without a derivative, of the last call of `slopes`
    calls: dict[str, int] = field(default_factory=lambda: {"values": 0, "slopes": 0})

    def values(self, shares: Array) -> Array:
        """Scores, (n,)."""
        self.calls["values"] += 1
        return energy_scores(self._points(shares)[1])

    def slopes(self, shares: Array) -> tuple[Array, Array]:
        """Scores (n,) and their derivatives (n, p)."""
        self.calls["slopes"] += 1
        drawn, points = self._points(shares)
        cotangents = np.einsum("ksj,kij->ksi", score_slopes(points), self.scale.root)
        arrays = slopes_of(self.impacts, self.bounds, shares)
        fields = [name for name in DATA if any(name in slope for slope in arrays)]
        found = np.zeros((len(self.impacts), len(arrays)))
        self.lost = 0
        for rows, outcomes in ((drawn.single, drawn.once), (drawn.several, drawn.many)):
            if outcomes is not None and fields:
                bars = self._bars(outcomes, cotangents[rows], fields)
                found[rows] = np.column_stack([_contract(bars, slope, rows) for slope in arrays])
        if NOISE in self.bounds.names:
            k = self.bounds.names.index(NOISE)
            width = self.bounds.high[k] - self.bounds.low[k]
            found[:, k] = width * np.sum(cotangents * self.errors.numbers, axis=(1, 2))
        return energy_scores(points), found

    def _points(self, shares: Array) -> tuple[DrawnImpacts, Array]:
        values = self.bounds.values(shares)
        drawn = draw(self.impacts.batch(values), self.n, self.options)
        self.failed = drawn.failed
        return drawn, self.scale.points(self.errors.added(drawn.v, values), self.impacts.after)

    def _bars(self, outcomes: BatchOutcomes, cotangents: Array, fields: list[str]) -> dict[str, Array]:
        """Derivatives of the impacts' scores by their data, (rows, ...); samples without one count as fixed.

        ``cotangents`` (rows, samples, nv), of which an impact with one outcome has the sum.
        """
        if outcomes.v.shape[1] == 1:
            cotangents = cotangents.sum(axis=1, keepdims=True)
        found = outcomes.vjp(cotangents, wrt=fields, threads=self.options.get("threads"))
        impact = outcomes.batch.status == Status.SOLVED
        known = np.isfinite(found[fields[0]]).reshape(*cotangents.shape[:2], -1).all(axis=2)
        self.lost += int(np.count_nonzero(~known[impact]))
        bars = {name: np.nansum(found[name], axis=1) for name in fields}
        if "v" in bars:  # without an impact the velocity stays, also where a state was refused
            bars["v"][~impact] = cotangents[~impact].sum(axis=1)
        return bars


def _contract(bars: Mapping[str, Array], slope: Mapping[str, Array], rows: np.ndarray) -> Array:
    """Derivatives of the scores by one parameter, (rows,)."""
    parts = [bars[name] * slope[name][rows] for name in bars if name in slope]
    return sum((part.reshape(len(rows), -1).sum(axis=1) for part in parts), start=np.zeros(len(rows)))


@dataclass(frozen=True, eq=False)
class Fit:
    """The least mean score: its place in shares of the ranges, and what is known there of every impact."""

    shares: Array  # (p,)
    scores: Array  # (n,)
    slopes: Array  # (n, p)
    curvatures: Array  # (n, p, p) symmetric
    at_end: np.ndarray  # (p,) bool: at an end of its range
    step: Array  # (p,) Newton's step that was not taken any more: how far from the least the shares may be


def fit(objective: ScoreObjective, start: Array, *, scan: int, iterations: int) -> Fit:
    """Scan the ranges, go down by quasi-Newton steps, and finish by Newton's on the slopes."""
    shares = _scanned(objective, start, scan)
    options = {"maxiter": iterations, "ftol": _ENOUGH, "gtol": 1e-5}
    limits: Options = {"bounds": [(0.0, 1.0)] * len(start), "options": options}

    def mean(x: Array) -> tuple[Array, ...]:
        return tuple(part.mean(axis=0) for part in objective.slopes(x))

    found = minimize(mean, shares, jac=True, method="L-BFGS-B", **limits)
    return _finished(objective, np.asarray(found.x))


def _scanned(objective: ScoreObjective, start: Array, scan: int) -> Array:
    """The best of the start and some evenly spread values."""
    best, lowest = start, float(objective.values(start).mean())
    if scan:
        from scipy.stats import qmc  # half a second, and only a scan needs it

        spread = qmc.Sobol(len(start), seed=0).random(scan)
        for shares in 0.05 + 0.9 * spread:
            value = float(objective.values(shares).mean())
            if value < lowest:
                best, lowest = shares, value
    return best


def _finished(objective: ScoreObjective, shares: Array) -> Fit:
    """Newton's steps to where the mean slope vanishes: slopes tell that place better than values.

    Single samples jump where their decisions change, which values follow and slopes average out. Curvatures
    are those of a place nearby: after longer ways they are computed again.
    """
    scores, slopes = objective.slopes(shares)
    centre, curvatures = shares, _curvatures(objective, shares, slopes)
    for _ in range(_STEPS):
        if np.abs(shares - centre).max(initial=0.0) > _NEARBY:
            centre, curvatures = shares, _curvatures(objective, shares, slopes)
        mean = slopes.mean(axis=0)
        free = ~(((shares <= 0.0) & (mean > 0.0)) | ((shares >= 1.0) & (mean < 0.0)))
        trial = np.clip(shares + _newton(curvatures.mean(axis=0), mean, free), 0.0, 1.0)
        step = trial - shares
        if np.abs(step).max(initial=0.0) <= _STILL:
            break
        trial_scores, trial_slopes = objective.slopes(trial)
        if not np.linalg.norm(trial_slopes.mean(axis=0)[free]) < np.linalg.norm(mean[free]):
            break
        shares, scores, slopes = trial, trial_scores, trial_slopes
    if np.abs(shares - centre).max(initial=0.0) > _NEARBY:
        curvatures = _curvatures(objective, shares, slopes)
    at_end = (shares <= 0.0) | (shares >= 1.0)
    return Fit(shares, scores, slopes, curvatures, at_end, step)


def _newton(curvature: Array, slope: Array, free: np.ndarray) -> Array:
    """A step downhill, in the directions in which the score curves upwards only."""
    step = np.zeros(len(slope))
    size, axes = np.linalg.eigh(curvature[np.ix_(free, free)])
    good = size > 1e-6 * max(size.max(initial=0.0), 0.0)
    along = axes[:, good].T @ slope[free]
    step[free] = -axes[:, good] @ (along / size[good])
    return step * min(1.0, _LONGEST / max(np.abs(step).max(initial=0.0), _LONGEST))


def _curvatures(objective: ScoreObjective, shares: Array, slopes: Array) -> Array:
    """Second derivatives of every impact's score, (n, p, p), by differences of slopes.

    First along the parameters; then again along the principal directions of what was found, each over about
    its own standard error, if that is longer: single samples' jumps would hide the curvature of a weakly
    determined direction.
    """
    p = len(shares)
    first = curvatures_along(objective, shares, np.eye(p), np.full(p, _DIFFERENCE))
    bent, axes = np.linalg.eigh(first.sum(axis=0))
    spread = np.linalg.norm((slopes - slopes.mean(axis=0)) @ axes, axis=0)
    errors = spread / np.maximum(bent, 1e-12 * max(bent.max(), 1e-300))
    if errors.max() <= 2.0 * _DIFFERENCE:
        return first
    return curvatures_along(objective, shares, axes, np.clip(errors, _DIFFERENCE, _FARTHEST))


def curvatures_along(objective: ScoreObjective, shares: Array, axes: Array, steps: Array) -> Array:
    """Curvatures from differences of slopes along the columns of ``axes``; ways end where ranges do."""
    ways, differences = [], []
    for axis, step in zip(axes.T, steps, strict=True):
        ends = [np.clip(shares + sign * step * axis, 0.0, 1.0) for sign in (-1.0, 1.0)]
        less, more = (objective.slopes(end)[1] for end in ends)
        ways.append(ends[1] - ends[0])
        differences.append(more - less)
    found = np.einsum("knp,kq->npq", np.array(differences), np.linalg.pinv(np.array(ways)).T)
    return 0.5 * (found + np.swapaxes(found, 1, 2))


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of the parameters, all as shares of the ranges."""

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
