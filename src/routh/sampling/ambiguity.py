"""How ambiguous an impact is: how far apart its outcomes are, and in which direction of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import Result, Whole
from routh.base.status import InputError, Status
from routh.base.validation import Array, integer, real_array
from routh.problem.impact import ImpactProblem

# Pairs of outcomes that the search for the diameter may look at: a second or so.
_PAIR_BUDGET = 2**28
_BLOCK = 1024
_LOOKED_AT = 2**12  # points that tell the principal axes
_CELLS = 512  # of the grid that tells points which belong to no farthest pair
_SAME = 1e-13  # of the diameter: points this near to each other are one

Direction = ArrayLike | str | tuple[int | str, ArrayLike]


class Sampled(Protocol):
    """What is read of a sampled set here; `routh.Outcomes` is one."""

    @property
    def problem(self) -> ImpactProblem: ...  # noqa: D102

    @property
    def v(self) -> Array: ...  # noqa: D102

    @property
    def impulse(self) -> Array: ...  # noqa: D102

    @property
    def solved(self) -> np.ndarray: ...  # noqa: D102

    @property
    def modes(self) -> np.ndarray: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Ambiguity(Result):
    """The size of a sampled set of outcomes; lengths are in the kinetic-energy norm, sqrt(J).

    Sets are judged by their solved samples. With one outcome only, everything is zero; with none, nothing
    is known, and everything is NaN.
    """

    score: float  # diameter over the speed before: dimensionless, between 0 and 2
    diameter: float
    exact: bool  # whether the diameter is that of the samples, or a lower bound within `upper`
    upper: float  # an upper bound of the samples' diameter
    pair: tuple[int, int]  # indices of two outcomes that are this far apart
    direction: Array  # (nv,) most uncertain direction of motion, of unit kinetic-energy norm
    explained: float  # its share of the total variance
    mode_probability: Array  # (nc, 3) of separating, sticking, sliding at each contact, among solved ones

    @property
    def status(self) -> Status:
        """NUMERICAL where no sample is solved, so that nothing is known."""
        return Status.SOLVED if np.isfinite(self.score) else Status.NUMERICAL

    def __float__(self) -> float:
        return self.score


@dataclass(frozen=True, eq=False)
class Extreme(Whole):
    """The outcome farthest along a direction."""

    index: int
    v: Array  # (nv,) velocity after
    impulse: Array  # (nc, 1 + nt) N s
    value: float  # how far along the direction
    direction: Array  # (nv,) so that value = direction . v


def measure_ambiguity(outcomes: Sampled) -> Ambiguity:
    """Diameter, most uncertain direction and mode probabilities of a set of outcomes.

    The diameter of the samples is exact while the search takes less than 2^28 pairs, since outcomes near the
    centre cannot belong to the farthest pair. The direction is the first principal axis of the outcomes.
    """
    problem = outcomes.problem
    rows = np.flatnonzero(outcomes.solved)
    if rows.size == 0:
        nan = np.nan
        direction, modes = np.full(problem.nv, nan), np.full((problem.nc, 3), nan)
        return Ambiguity(nan, nan, False, nan, (0, 0), direction, nan, modes)
    points = outcomes.v[rows] @ problem.cholesky  # kinetic-energy norm made Euclidean, (k, nv)
    centred = points - points.mean(axis=0)
    squares, axes = np.linalg.eigh(centred.T @ centred)  # the largest last
    diameter, i, j, exact, upper = farthest_pair(centred)
    direction = np.linalg.solve(problem.cholesky.T, axes[:, -1])
    moving = diameter > tolerances.SAME_VELOCITY * problem.scaling.speed
    modes = outcomes.modes[rows]
    return Ambiguity(
        score=diameter / problem.scaling.speed,
        diameter=diameter,
        exact=exact,
        upper=upper,
        pair=(int(rows[i]), int(rows[j])),
        direction=_oriented(direction) if moving else np.zeros(problem.nv),
        explained=float(squares[-1] / squares.sum()) if moving else 0.0,
        mode_probability=np.stack([(modes == mode).mean(axis=0) for mode in range(3)], axis=1),
    )


@dataclass(frozen=True, eq=False)
class Principal:
    """The directions along which samples spread, the widest first."""

    directions: Array  # (k, nv) velocities of unit kinetic-energy norm, orthogonal to each other in it
    widths: Array  # (k,) standard deviations along them, in the kinetic-energy norm, sqrt(J)
    shares: Array  # (k,) of the whole variance
    mean: Array  # (nv,) velocity


def covariance(outcomes: Sampled) -> Array:
    """Covariance of the velocities after, (nv, nv), over the solved samples; NaN where there are none."""
    v = outcomes.v[outcomes.solved]
    if not len(v):
        return np.full((outcomes.problem.nv,) * 2, np.nan)
    centred = v - v.mean(axis=0)
    return np.asarray(centred.T @ centred / len(v), dtype=np.float64)


def principal(outcomes: Sampled, k: int | None = None) -> Principal:
    """The ``k`` widest directions of the solved samples (default: all), in the kinetic-energy norm."""
    problem = outcomes.problem
    count = problem.nv if k is None else integer("k", k, at_least=1, at_most=problem.nv)
    v = outcomes.v[outcomes.solved]
    if not len(v):
        nothing = np.full(count, np.nan)
        return Principal(np.full((count, problem.nv), np.nan), nothing, nothing, np.full(problem.nv, np.nan))
    points = (v - v.mean(axis=0)) @ problem.cholesky
    values, axes = np.linalg.eigh(points.T @ points / len(v))
    order = np.argsort(-values)[:count]
    variances = np.maximum(values, 0.0)
    back = np.linalg.solve(problem.cholesky.T, axes[:, order]).T
    whole = max(float(variances.sum()), 1e-300)
    directions = np.array([_oriented(row) for row in back])
    return Principal(directions, np.sqrt(variances[order]), variances[order] / whole, v.mean(axis=0))


def farthest_pair(points: Array, *, pairs: int = _PAIR_BUDGET) -> tuple[float, int, int, bool, float]:
    """Distance and indices of the two points (n, d) farthest apart, whether that is exact, an upper bound.

    At most ``pairs`` are looked at. Exact means: but for rounding (`_SAME` of the distance).

    Many samples end at the same place: one of each is looked at. Of the others, only those in cells that are
    far enough from some other cell can belong to a farther pair. The few that are left are taken from the
    outside in: by the triangle inequality through the centre, a pair can beat the best one only if its two
    radii add up to more.
    """
    turned = _principal(points)
    best, first, second = _extremes(turned)
    kept = np.arange(len(points))
    if best > 0.0:
        kept = np.flatnonzero(_distinct(turned, _SAME * best))
        for _ in range(4):
            if len(kept) <= _BLOCK:
                break
            spots = turned[:, kept]
            found, i, j = _extremes(spots)
            if found > best:
                best, first, second = found, int(kept[i]), int(kept[j])
            near = ~_in_far_cells(spots, best * (1.0 + _SAME))
            if 8 * np.count_nonzero(near) < len(kept):
                break
            kept = kept[~near]
    if len(kept) == 0:  # nothing is farther apart than the best pair
        kept = np.array([first, second])
    spots = turned[:, kept].T
    centre = 0.5 * (spots.min(axis=0) + spots.max(axis=0))
    radii = np.linalg.norm(spots - centre, axis=1)
    order = np.argsort(-radii, kind="stable")
    outside, radius = spots[order], radii[order]
    spent, start, exact, upper = 0, 0, True, 0.0
    while start < len(outside) and radius[0] + radius[start] > best:
        stop = min(start + _BLOCK, len(outside))
        reachable = int(np.searchsorted(-radius, -(best - radius[start]), side="left"))
        partners = outside[: min(reachable, stop)]
        spent += len(partners) * (stop - start)
        if spent > pairs:
            exact, upper = False, float(radius[0] + radius[start])
            break
        distance = _distances(outside[start:stop], partners)
        row, column = np.unravel_index(int(np.argmax(distance)), distance.shape)
        if distance[row, column] > best:
            best = float(distance[row, column])
            first, second = int(kept[order[start + int(row)]]), int(kept[order[int(column)]])
        start = stop
    best = float(np.linalg.norm(points[first] - points[second]))  # from the two points themselves
    return best, first, second, exact, best if exact else upper


def distinct(points: Array) -> np.ndarray:
    """Rows of points (n, d) such that every other one is, but for rounding, at the place of one of them.

    Not the fewest: a few that could go stay.
    """
    turned = _principal(points)
    return np.flatnonzero(_distinct(turned, _SAME * _extremes(turned)[0]))


def _principal(points: Array) -> Array:
    """Points (n, d) about their mean in their principal axes, where boxes around them are tight: (d, n).

    Mean and axes are those of some of the points: any axes would do, these are nearly the tightest.
    """
    some = points[:: max(len(points) // _LOOKED_AT, 1)]
    mean = some.mean(axis=0)
    _, axes = np.linalg.eigh((some - mean).T @ (some - mean))
    turned = axes.T @ points.T
    turned -= (axes.T @ mean)[:, None]
    return turned


def _extremes(spots: Array) -> tuple[float, int, int]:
    """A far pair to start with: of the points (d, n) that are farthest along the axes."""
    ends = np.unique(np.concatenate([spots.argmin(axis=1), spots.argmax(axis=1)]))
    distance = _distances(spots[:, ends].T, spots[:, ends].T)
    i, j = np.unravel_index(int(np.argmax(distance)), distance.shape)
    return float(np.linalg.norm(spots[:, ends[i]] - spots[:, ends[j]])), int(ends[i]), int(ends[j])


def _distinct(spots: Array, same: float) -> np.ndarray:
    """Points (d, n) less those within ``same``, in every coordinate, of one that stays: (n,) bool."""
    mixed = np.random.default_rng(0).normal(size=len(spots)) @ spots  # equal where points are
    low, high = mixed.min(), mixed.max()
    if not high > low:
        return np.ones(spots.shape[1], dtype=bool)
    count = spots.shape[1]
    shelf = ((mixed - low) * (2.0 * count / (high - low))).astype(np.intp)
    latest = np.empty(2 * count + 1, dtype=np.intp)
    latest[shelf] = np.arange(count)
    stays = latest[shelf]  # one of those on the same shelf
    twin = stays != np.arange(count)
    for row in spots:
        twin &= np.abs(row - row[stays]) <= same
    return ~twin


def _in_far_cells(spots: Array, best: float) -> np.ndarray:
    """Points (d, n) whose cell of a grid has another one that reaches beyond ``best`` from it, (n,) bool."""
    low, size = spots.min(axis=1), np.ptp(spots, axis=1)
    parts = np.ones(len(spots), dtype=np.int64)
    while 2 * parts.prod() <= _CELLS:
        parts[np.argmax(size / parts)] *= 2
    cell = np.zeros(spots.shape[1], dtype=np.intp)
    for k in range(len(spots)):
        if parts[k] == 1 or size[k] == 0.0:
            continue
        place = ((spots[k] - low[k]) * (parts[k] / size[k])).astype(np.intp)
        cell = cell * parts[k] + np.minimum(place, parts[k] - 1)
    bottom, top = np.full((len(spots), _CELLS), np.inf), np.full((len(spots), _CELLS), -np.inf)
    for k, row in enumerate(spots):
        np.minimum.at(bottom[k], cell, row)
        np.maximum.at(top[k], cell, row)
    used = np.flatnonzero(np.isfinite(bottom[0]))
    bottom, top = bottom[:, used], top[:, used]
    apart = np.zeros((len(used), len(used)))  # squares of the largest distances between boxes
    for lows, highs in zip(bottom, top, strict=True):
        reach = highs[:, None] - lows
        apart += np.maximum(reach, reach.T) ** 2
    far = np.zeros(_CELLS, dtype=bool)
    far[used] = (apart > best**2).any(axis=1)
    return np.asarray(far[cell])


def extreme(outcomes: Sampled, direction: Direction) -> Extreme:
    """The solved outcome with the largest component along ``direction``.

    Parameters
    ----------
    outcomes : of one impact.
    direction : (nv,), the outcome maximizes ``direction . v``; or the name of a contact, whose normal
        velocity is maximized; or (contact, (1 + nt,)), a direction of this contact's velocity, normal first.
    """
    along = as_functional(outcomes.problem, direction)
    rows = np.flatnonzero(outcomes.solved)
    if rows.size == 0:
        raise InputError("outcomes", wrong="no sample is solved", wanted="at least one outcome")
    values = outcomes.v[rows] @ along
    best = int(rows[int(np.argmax(values))])
    return Extreme(best, outcomes.v[best], outcomes.impulse[best], float(values.max()), along)


def as_functional(problem: ImpactProblem, direction: Direction) -> Array:
    """A direction, given as in `extreme`, as the row (nv,) that is multiplied with velocities."""
    if isinstance(direction, str):
        return problem.Jn[problem.index(direction)].copy()
    if _names_contact(direction):
        contact, within = cast("tuple[int | str, ArrayLike]", direction)
        width = 1 + problem.nt
        weights = real_array("direction", within, [(width,)], f"(contact, shape ({width},))")
        return weights @ problem.J[problem.index(contact)]
    along = real_array(
        "direction", cast("ArrayLike", direction), [(problem.nv,)], f"shape ({problem.nv},) or a contact"
    )
    if not np.any(along):
        raise InputError("direction", got="zeros", wanted="a direction that is not zero")
    return along


def _names_contact(direction: object) -> bool:
    return (
        isinstance(direction, tuple)
        and len(direction) == 2
        and isinstance(direction[0], (str, int))
        and isinstance(direction[1], (Sequence, np.ndarray))
    )


def _distances(left: Array, right: Array) -> Array:
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2.0 * left @ right.T
    return np.sqrt(np.maximum(squares, 0.0))


def _oriented(direction: Array) -> Array:
    """The same axis with its largest entry positive, so that equal sets give equal directions."""
    return direction * np.sign(direction[np.argmax(np.abs(direction))])
