"""How well sets of outcomes foretell measured velocities: the energy score, and what must stand beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import pdist

from routh.base import tolerances
from routh.base.results import Column, Tabular, Whole
from routh.base.status import Status
from routh.base.validation import Array, Options
from routh.identification.impacts import NOISE, MeasuredImpacts, Values
from routh.problem.batch import ImpactBatch
from routh.sampling import sample
from routh.sampling.batch import BatchOutcomes

_TURNS = 8  # random turns of a cloud that are averaged
_NOTHING = 1e-300
_ENDED = (Status.SOLVED, Status.NO_IMPACT, Status.NO_CONTACT)


@dataclass(frozen=True, eq=False)
class Scale:
    """The coordinates in which outcomes are compared: shares of the speed before, kinetic-energy norm."""

    root: Array  # (n, nv, nv) so that |v @ root| is the norm

    @classmethod
    def of(cls, batch: ImpactBatch) -> Scale:
        """Scale by masses and velocities of these problems; a body at rest counts in units of its mass."""
        half = np.linalg.cholesky(batch.M)
        speed = np.linalg.norm(np.einsum("ki,kij->kj", batch.v, half), axis=1)
        return cls(half / np.where(speed > 0.0, speed, 1.0)[:, None, None])

    def points(self, velocities: Array, after: Array) -> Array:
        """Outcomes (n, samples, nv) relative to the measured ones (n, nv)."""
        return np.einsum("ksi,kij->ksj", velocities - after[:, None], self.root)


@dataclass(frozen=True, eq=False)
class DrawnImpacts:
    """The outcomes of all impacts; those with one contact have one outcome and are drawn once."""

    single: np.ndarray  # rows with one outcome
    several: np.ndarray  # the other rows
    once: BatchOutcomes | None
    many: BatchOutcomes | None
    v: Array  # (n, samples, nv); where a sample did not end, the velocity before
    failed: int  # how many did not


def draw(batch: ImpactBatch, n: int, options: Options) -> DrawnImpacts:
    """Draw every impact with its own random numbers, equal for equal seeds: common random numbers."""
    one = (batch.size[:, 1] <= 1) | (batch.status != Status.SOLVED)
    single, several = np.flatnonzero(one), np.flatnonzero(~one)
    once = sample(batch.take(single), 1, **options) if single.size else None
    many = sample(batch.take(several), n, **options) if several.size else None
    v = np.empty((len(batch), n, batch.nv))
    failed = 0
    for rows, found in ((single, once), (several, many)):
        if found is not None:
            lost = ~np.isin(found.status, _ENDED) | ~np.isfinite(found.v).all(axis=2)
            v[rows] = np.where(lost[:, :, None], batch.v[rows][:, None], found.v)
            failed += int(np.count_nonzero(lost))
    return DrawnImpacts(single, several, once, many, v, failed)


def energy_scores(points: Array) -> Array:
    """``E|X - y| - E|X - X'| / 2`` of samples (n, samples, d) relative to the measured point, (n,).

    All pairs of different samples count, so that the expectation does not depend on their number.
    """
    n = points.shape[1]
    found = np.linalg.norm(points, axis=2).mean(axis=1)
    if n > 1:
        found = found - np.array([pdist(cloud).sum() for cloud in points]) / (n * (n - 1))
    return found


def score_slopes(points: Array) -> Array:
    """Derivatives of `energy_scores` by the points, (n, samples, d); 0 between points that coincide."""
    n = points.shape[1]
    slopes = _directions(points) / n
    if n > 1:
        for cloud, slope in zip(points, slopes, strict=True):
            slope -= _directions(cloud[:, None] - cloud[None]).sum(axis=1) / (n * (n - 1))
    return slopes


def _directions(arrows: Array) -> Array:
    length = np.linalg.norm(arrows, axis=-1, keepdims=True)
    return np.where(length > _NOTHING, arrows / np.maximum(length, _NOTHING), 0.0)


@dataclass(frozen=True, eq=False)
class Scores(Whole, Tabular):
    """How good predictions are, (n,) each; distances are shares of the speed before.

    The nearest outcome alone proves nothing, since it comes nearer when a set is inflated: compare it with
    ``turned``, and sets with each other by ``energy``.
    """

    energy: Array  # E|X - y| - E|X - X'| / 2, proper: the true distribution has the least
    nearest: Array  # distance of the nearest outcome
    mean: Array  # distance of the mean outcome
    spread: Array  # root mean square distance of the outcomes from their mean
    turned: Array  # nearest of the same cloud, randomly turned about its mean
    n: int
    noise: bool = field(default=False)  # whether ``energy`` is of outcomes with the noise of the measurement

    def _columns(self) -> Mapping[str, Column]:
        names = ("energy", "nearest", "mean", "spread", "turned")
        return {name: Column(("impact",), getattr(self, name), "of the speed before") for name in names}

    def rows(self, labels: Mapping[str, np.ndarray] | None = None) -> list[dict[str, float | str]]:
        """Numbers of a table: medians, and the mean of the score, of all or of each mask (n,) by name."""
        groups = labels or {"all": np.ones(len(self.energy), dtype=bool)}
        table: list[dict[str, float | str]] = []
        for name, mask in groups.items():
            row: dict[str, float | str] = {"impacts": name, "count": float(np.count_nonzero(mask))}
            if np.any(mask):
                row["energy"] = float(self.energy[mask].mean())
                for column in ("nearest", "mean", "spread", "turned"):
                    row[column] = float(np.median(getattr(self, column)[mask]))
            table.append(row)
        return table


def assess(points: Array, noisy: Array | None = None, *, seed: int = 0) -> Scores:
    """Scores of clouds (n, samples, d) relative to the measured point; ``noisy``: with noise, if any."""
    centre = points.mean(axis=1)
    cloud = points - centre[:, None]
    size = np.linalg.norm(points, axis=2)
    rng = np.random.default_rng(seed)
    d = points.shape[2]
    turned = np.zeros(len(points))
    for _ in range(_TURNS):
        turns = np.linalg.qr(rng.normal(size=(len(points), d, d)))[0]
        turned += np.linalg.norm(cloud @ turns + centre[:, None], axis=2).min(axis=1) / _TURNS
    return Scores(
        energy_scores(points if noisy is None else noisy),
        size.min(axis=1),
        np.linalg.norm(centre, axis=1),
        np.sqrt((cloud**2).sum(axis=2).mean(axis=1)),
        turned,
        points.shape[1],
        noisy is not None,
    )


class Errors:
    """Errors of measurement that are added to outcomes: the same numbers for all values of parameters."""

    def __init__(self, noise: Array, shape: tuple[int, int, int], seed: int) -> None:
        self.any = bool(np.any(noise > 0.0))
        rng = np.random.default_rng([seed, 1])
        self.numbers = rng.normal(size=shape) * noise if self.any else np.zeros((1, 1, shape[2]))

    def added(self, v: Array, values: Values) -> Array:
        """Velocities with errors."""
        return v + values.get(NOISE, 1.0) * self.numbers if self.any else v


def know_nothing(batch: ImpactBatch, n: int, seed: int) -> Array:
    """Velocities after (n, samples, nv) by one who knows no contact law: any that impulses and energy allow.

    Uniform, in the kinetic-energy norm, over the ball of those that impulses at the contacts can reach and
    that have at most the energy before.
    """
    rng = np.random.default_rng([seed, 2])
    half = np.linalg.cholesky(batch.M)
    before = np.einsum("ki,kij->kj", batch.v, half)  # |before| is the speed
    found = np.empty((len(batch), n, batch.nv))
    for k, L in enumerate(half):
        there = batch.present[k]
        rows = np.vstack([batch.Jn[k][there], batch.Jt[k][there].reshape(-1, batch.nv)])
        left, values, _ = np.linalg.svd(np.linalg.solve(L, rows.T), full_matrices=False)
        basis = left[:, values > tolerances.DEPENDENT * values.max(initial=0.0)]  # what impulses change
        inside = before[k] @ basis
        directions = rng.normal(size=(n, basis.shape[1]))
        directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), _NOTHING)
        radii = rng.random((n, 1)) ** (1.0 / max(basis.shape[1], 1))
        points = before[k] + (np.linalg.norm(inside) * radii * directions - inside) @ basis.T
        found[k] = np.linalg.solve(L.T, points.T).T
    return found


def predicted(
    impacts: MeasuredImpacts, values: Values, scale: Scale, errors: Errors, n: int, options: Options
) -> Scores:
    """What the outcomes of some values are worth."""
    v = draw(impacts.batch(values), n, options).v
    noisy = scale.points(errors.added(v, values), impacts.after) if errors.any else None
    return assess(scale.points(v, impacts.after), noisy)
