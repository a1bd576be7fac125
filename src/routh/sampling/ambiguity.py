"""How ambiguous an impact is: how far apart its outcomes are, and in which direction of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from routh import tolerances
from routh.problem import ImpactProblem
from routh.validation import Array, integer, real_array

# Pairs of outcomes that the search for the diameter may look at: a second or so.
_PAIR_BUDGET = 2**28
_BLOCK = 1024

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
class Ambiguity:
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

    def __float__(self) -> float:
        return self.score


@dataclass(frozen=True, eq=False)
class Extreme:
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
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    diameter, i, j, exact, upper = farthest_pair(centred @ axes.T)
    direction = np.linalg.solve(problem.cholesky.T, axes[0])
    total = float((values**2).sum())
    moving = diameter > tolerances.SAME_VELOCITY * problem.scaling.speed
    modes = outcomes.modes[rows]
    return Ambiguity(
        score=diameter / problem.scaling.speed,
        diameter=diameter,
        exact=exact,
        upper=upper,
        pair=(int(rows[i]), int(rows[j])),
        direction=_oriented(direction) if moving else np.zeros(problem.nv),
        explained=float(values[0] ** 2 / total) if moving else 0.0,
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
    """Of the velocities after, (nv, nv), over the solved samples; NaN where there are none."""
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

    At most ``pairs`` are looked at.

    Points that are nearer than the best pair so far to every corner of the box around all others belong to no
    farther pair, which leaves few. They are taken from the outside in: by the triangle inequality through the
    centre, a pair can beat the best one only if its two radii add up to more.
    """
    kept, turned = np.arange(len(points)), _principal(points)
    best, first, second = _two_sweeps(turned)
    for _ in range(3):
        near = _reach(turned[kept]) < best
        if not near.any():
            break
        kept = kept[~near | (kept == first) | (kept == second)]
    spots = turned[kept]
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


def _principal(points: Array) -> Array:
    """The points (n, d) about their mean in their principal axes, in which boxes around them are tight."""
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ axes)


def _reach(points: Array) -> Array:
    """Upper bounds (n,) on the distance of each point to any other: the farthest corner of their box."""
    far = np.maximum(points - points.min(axis=0), points.max(axis=0) - points)
    return np.linalg.norm(far, axis=1) * (1.0 + 1e-12)


def extreme(outcomes: Sampled, direction: Direction) -> Extreme:
    """The solved outcome with the largest component along ``direction``.

    Parameters
    ----------
    direction : (nv,), the outcome maximizes ``direction . v``; or the name of a contact, whose normal
        velocity is maximized; or (contact, (1 + nt,)), a direction of this contact's velocity, normal first.
    """
    along = as_functional(outcomes.problem, direction)
    rows = np.flatnonzero(outcomes.solved)
    if rows.size == 0:
        raise ValueError("outcomes: no sample is solved; wanted at least one outcome")
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
        raise ValueError("direction: got zeros; wanted a direction")
    return along


def _names_contact(direction: object) -> bool:
    return (
        isinstance(direction, tuple)
        and len(direction) == 2
        and isinstance(direction[0], (str, int))
        and isinstance(direction[1], (Sequence, np.ndarray))
    )


def _two_sweeps(points: Array) -> tuple[float, int, int]:
    """A far pair to start with: the point farthest from the outermost one, and so on for a few rounds."""
    first, second, best = 0, 0, -1.0
    current = 0
    for _ in range(4):
        distance = np.linalg.norm(points - points[current], axis=1)
        other = int(np.argmax(distance))
        if distance[other] > best:
            best, first, second = float(distance[other]), max(current, other), min(current, other)
        current = other
    return best, first, second


def _distances(left: Array, right: Array) -> Array:
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2.0 * left @ right.T
    return np.sqrt(np.maximum(squares, 0.0))


def _oriented(direction: Array) -> Array:
    """The same axis with its largest entry positive, so that equal sets give equal directions."""
    return direction * np.sign(direction[np.argmax(np.abs(direction))])
