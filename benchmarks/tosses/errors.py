"""The control that sets have to face: a law with one outcome, and errors that it made at other impacts.

Errors are carried from one impact to another as shares of the speed, in a frame that goes with the body or
with its motion, whitened by the kinetic energy, so that lengths stay. Of the impact that is predicted,
nothing but the state before is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist, pdist

import measure
from tosses.comparing import Sample

#: The horizontal axis that errors are told by: from the middle to the lowest corner, or along the motion.
#: They are mirrored so that the other one lies to the left; "both sides" counts mirror images, too.
FRAMES = ("corner", "corner, both sides", "motion", "motion, both sides")
FORMS = tuple(f"{shape}, {frame}" for shape in ("points", "Gaussian") for frame in FRAMES)
DRAWS = 256  # of a Gaussian
#: Impacts that the guess of no error, of the law itself, counts as, in the mean of a Gaussian.
PRIOR = 3.0


def local(sample: Sample, v: np.ndarray, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """Velocities (n, nv) as shares of the speed in the frames of their impacts, and their mirror images."""
    body, batch = sample.body, sample.measured(0.0, 0.0).batch(sample.body.nominal)
    speed = np.sqrt(np.einsum("ki,kij,kj->k", batch.v, batch.M, batch.v))
    points = body.points(sample.q)
    rows = np.arange(len(points))
    corner = (points[rows, points[..., 2].argmin(axis=1)] - points.mean(axis=1))[:, :2]
    motion = body.heading(np.einsum("kij,kj->ki", batch.M, sample.before))
    ahead, aside = (corner, motion) if frame.startswith("corner") else (motion, corner)
    ahead = ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-12)
    left = np.where(ahead[:, 0] * aside[:, 1] - ahead[:, 1] * aside[:, 0] < 0.0, -1.0, 1.0)
    found = []
    for side in (left, -left):
        A = body.seen(sample.q, ahead, side)
        back = np.linalg.inv(A)
        half = np.linalg.cholesky(np.swapaxes(back, 1, 2) @ batch.M @ back)
        found.append(np.einsum("kji,kjl,kl->ki", half, A, v) / speed[:, None])
    return found[0], found[1]


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of a law at the impacts that are predicted, and at those that it is known at."""

    new: np.ndarray  # (n, nv)
    known: np.ndarray  # (copies, m, nv)

    def points(self, rows: np.ndarray) -> np.ndarray:
        """Energy scores (n,) of as many equally likely outcomes as errors are known."""
        cloud = self.known[:, rows].reshape(-1, self.new.shape[1])
        spread = 2.0 * pdist(cloud).sum() / len(cloud) ** 2
        return cdist(self.new, cloud).mean(axis=1) - 0.5 * spread

    def gaussian(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Energy scores (n,) of a Gaussian: mean shrunk to the law's, covariance to a sphere (OAS)."""
        cloud = self.known[:, rows].reshape(-1, self.new.shape[1])
        (n, d), k = cloud.shape, len(rows)
        centre = cloud.mean(axis=0) * k / (k + PRIOR)
        S = (cloud - centre).T @ (cloud - centre) / n
        trace, square = np.trace(S), (S**2).sum()
        excess = (k + 1.0 - 2.0 / d) * (square - trace**2 / d)
        share = min(1.0, ((1.0 - 2.0 / d) * square + trace**2) / excess) if excess > 0.0 else 1.0
        S = ((1.0 - share) * S + share * trace / d * np.eye(d)) * (1.0 + 1.0 / (k + PRIOR))
        half = rng.normal(size=(DRAWS // 2, d)) @ np.linalg.cholesky(S + 1e-12 * np.eye(d)).T
        drawn = np.concatenate([half, -half])
        return cdist(self.new, centre + drawn).mean(axis=1) - np.linalg.norm(drawn, axis=1).mean() / np.sqrt(
            2
        )


def scores(errors: Errors, k: int, shape: str, repeats: int, seed: int = 0) -> np.ndarray:
    """Mean energy scores (n,) with ``k`` of the known errors, drawn ``repeats`` times; 0: the law alone."""
    if k == 0:
        return np.linalg.norm(errors.new, axis=1)
    total, m = np.zeros(len(errors.new)), errors.known.shape[1]
    times = 1 if k == m else repeats
    for turn in range(times):
        rng = np.random.default_rng([seed, turn])
        rows = rng.permutation(m)[:k]
        total += errors.points(rows) if shape == "points" else errors.gaussian(rows, rng)
    return total / times


def worth(ks: np.ndarray, means: np.ndarray, wanted: float) -> float:
    """The k from which on the control is as good as ``wanted``, interpolated in log(1 + k)."""
    better = np.flatnonzero(means <= wanted)
    if not better.size:
        return np.inf
    i = int(better[0])
    if i == 0:
        return float(ks[0])
    share = (means[i - 1] - wanted) / (means[i - 1] - means[i])
    low, high = np.log1p(ks[i - 1]), np.log1p(ks[i])
    return float(np.expm1(low + share * (high - low)))


def by_tosses(number: Callable[[np.ndarray], float], tosses: np.ndarray) -> tuple[float, float]:
    """95 % interval of a function of rows, by resampling whole tosses."""
    groups = [np.flatnonzero(tosses == t) for t in np.unique(tosses)]
    return measure.interval(
        lambda drawn: number(np.concatenate([groups[g] for g in drawn])),
        len(groups),
        times=1000,
        method="nearest",
    )
