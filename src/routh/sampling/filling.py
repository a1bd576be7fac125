"""A sampler that fills the set of outcomes (planar contacts), and a rule for when it has.

Uniform sampling with small steps concentrates (a law of large numbers acts on the rates), with large steps it
carries the error of the step, and an LCP solver returns one of several solutions. Here a sample is a solution
of HP23 (39) itself, event by event: rates are extreme (one contact at a time, or near a face of the simplex)
and persist until something happens; where several continuations exist (a contact at rest may be held, pushed
or left; zero slip may stick or slide), one is drawn. There is no step and no error of a step.

Every decision is a number from a tape. Tapes that reached farthest in some direction are changed a little and
tried again, which moves the sampling towards what is not explored yet; and the farthest outcome with the same
contact statuses as theirs is found by a linear program (`routh.sampling.polishing`) and joins the samples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

import numpy as np

from routh import tolerances
from routh.laws.base import require_inelastic
from routh.problem import ImpactProblem
from routh.sampling.climbing import Walked, climb
from routh.sampling.outcomes import Outcomes
from routh.sampling.polishing import APART, SMOOTH, Statuses, farthest
from routh.status import Status
from routh.validation import Array, integer, real

_ZERO = 1e-11  # scaled velocities below this are zero: rounding of a few dozen segments
_SEGMENTS = 64  # segments of one sample; more is a Zeno-like sequence
_DECISIONS = 8  # numbers of the tape used by one segment, beside two per contact

_BREEDERS = 96  # directions beside the watched ones whose farthest samples are bred
_TRIES = 12  # combinations of stick and slip that a segment may try
_ORDERS = tuple(permutations((0, 1, -1)))  # in which sticking and the two ways to slide are tried


@dataclass(frozen=True, eq=False)
class Filling:
    """Samples that fill the set, and how the support functions grew while they were drawn."""

    outcomes: Outcomes
    directions: Array  # (k, nv), unit in the contact velocities
    support: Array = field(repr=False)  # (rounds, k): support after each round, m/s
    stopped: bool  # True: growth fell below the tolerance; False: the sample limit came first
    tolerance: float

    @property
    def growth(self) -> Array:
        """Growth of the support in each round over the final width, (rounds - 1, k)."""
        return np.diff(self.support, axis=0) / self.width

    @property
    def width(self) -> Array:
        """Final width in each direction, (k,); directions come in opposite pairs."""
        half = self.support.shape[1] // 2
        sums = self.support[-1, :half] + self.support[-1, half:]
        return np.maximum(np.tile(sums, 2), 1e-12 * self.outcomes.problem.scaling.velocity.max())


def fill(
    problem: ImpactProblem,
    *,
    tolerance: float = 1e-3,
    max_samples: int = 2**14,
    directions: int = 32,
    batch: int = 256,
    patience: int = 20,
    climbs: int = 0,
    seed: int = 0,
) -> Filling:
    """Sample until the set has stopped growing in every direction.

    Parameters
    ----------
    tolerance : a round that adds less than this share of the width in every direction counts as quiet.
    max_samples : samples drawn at most.
    directions : even number of directions, in opposite pairs, in which growth is watched.
    batch : samples in a round.
    patience : quiet rounds in a row after which sampling stops.
    climbs : changed sequences of contact statuses that are tried in each watched direction in the end, one
        linear program each (`routh.sampling.climbing`): for problems of many contacts, where tapes rarely
        meet the sequences that reach farthest. What they find joins the samples.
    seed : equal seeds give equal samples.
    """
    require_inelastic(problem, "fill")
    if problem.nt != 1:
        raise ValueError(f"problem: got nt = {problem.nt}; fill is for planar contacts, use sample in space")
    real("tolerance", tolerance, above=0.0)
    integer("max_samples", max_samples, at_least=1)
    integer("patience", patience, at_least=1)
    integer("batch", batch, at_least=1)
    integer("climbs", climbs, at_least=0)
    integer("seed", seed, at_least=0)
    search = _Search(problem, directions, np.random.default_rng(seed))
    support: list[Array] = []
    quiet = 0
    while len(search.samples) < max_samples and quiet < patience:
        before = search.reached
        search.draw(min(batch, max_samples - len(search.samples)), max_samples)
        support.append(search.reached)
        quiet = quiet + 1 if _quiet(before, search.reached, tolerance) else 0
    if climbs:
        search.climb(climbs)
        support.append(search.reached)
    outcomes = _collect(problem, search.samples, {"sampler": "fill", "seed": seed, "tolerance": tolerance})
    return Filling(outcomes, search.rows, np.array(support), quiet >= patience, tolerance)


def _quiet(before: Array, after: Array, tolerance: float) -> bool:
    """Whether a round grew the support by at most the tolerance in every direction."""
    if not np.all(np.isfinite(before)):
        return False
    half = len(after) // 2
    width = np.tile(after[:half] + after[half:], 2)
    return bool(np.all(after - before <= tolerance * width))


def watch_directions(problem: ImpactProblem, count: int) -> Array:
    """Directions (count, nv) in opposite pairs that see only contact velocities, of unit size in them."""
    if integer("directions", count, at_least=2) % 2:
        raise ValueError(f"directions: got {count}; wanted an even number, they come in opposite pairs")
    rng = np.random.default_rng(count)
    unit = np.repeat(problem.scaling.velocity, 1 + problem.nt)
    weights = rng.normal(size=(count // 2, len(unit)))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    rows = weights / unit * problem.scaling.velocity.max() @ problem.J.reshape(-1, problem.nv)
    return np.vstack([rows, -rows])


class _Search:
    """The samples drawn so far, how far they reach, and the tapes that are worth a change."""

    def __init__(self, problem: ImpactProblem, count: int, rng: np.random.Generator) -> None:
        self.rows = watch_directions(problem, count)
        # tapes that reach farthest in more directions than are watched: these keep more kinds of them
        self.bred = np.vstack([self.rows, watch_directions(problem, _BREEDERS)])
        self.rng, self.walk = rng, _Walk(problem)
        self.samples: list[Walked] = []
        self.reached = np.full(count, -np.inf)  # by all samples, in the watched directions
        self._best = np.full(len(self.bred), -np.inf)  # by tapes
        self._elite = [(self.walk.tape(rng), 1)] * len(self.bred)  # those tapes, and how many rows they used
        self._tried: set[tuple[int, tuple[Statuses, ...]]] = set()  # directions and statuses, polished before

    def draw(self, size: int, most: int) -> None:
        """A round of ``size`` samples; the best are polished as long as there are fewer than ``most``."""
        tapes = [self._next_tape(first=not self.samples) for _ in range(size)]
        results = [self.walk.run(tape) for tape in tapes]
        self.samples += results
        ended = [pair for pair in zip(tapes, results, strict=True) if pair[1].status.ok]
        if not ended:
            return
        reach = np.array([result.v for _, result in ended]) @ self.bred.T
        winners = [ended[k] for k in np.argmax(reach, axis=0)]
        for j, (tape, result) in enumerate(winners):
            if reach[:, j].max() > self._best[j]:
                self._best[j], self._elite[j] = reach[:, j].max(), (tape, result.rows)
        self.reached = np.maximum(self.reached, self._best[: len(self.rows)])
        self._polish([result.sequence for _, result in winners[: len(self.rows)]], most)

    def _polish(self, sequences: list[tuple[Statuses, ...]], most: int) -> None:
        """The farthest outcome with the statuses of the farthest sample, for each watched direction."""
        for j, sequence in enumerate(sequences):
            if len(self.samples) >= most or not sequence or (j, sequence) in self._tried:
                continue
            self._tried.add((j, sequence))
            extreme = self.walk.extreme(sequence, self.rows[j])
            if extreme is not None:
                self.samples.append(extreme)
                self.reached = np.maximum(self.reached, self.rows @ extreme.v)

    def climb(self, tries: int) -> None:
        """Climb from the samples in each watched direction.

        In two turns: what one direction finds is a start for the others.
        """
        for row in (*self.rows, *self.rows):
            seeds = [part for part in self.samples if part.status.ok and part.sequence]
            found = climb(self.walk.extreme, seeds, row, (tries + 1) // 2, self.rng)
            self.samples += found
            for part in found:
                self.reached = np.maximum(self.reached, self.rows @ part.v)

    def _next_tape(self, *, first: bool) -> Array:
        """A fresh tape, or, after the first round and more often than not, a changed copy of a good one."""
        rng, fresh = self.rng, self.walk.tape(self.rng)
        if first or rng.random() < 0.25:
            return fresh
        parent, used = self._elite[rng.integers(len(self._elite))]
        kind = rng.random()
        if kind < 0.3:  # the same beginning, another end
            cut = rng.integers(max(used, 1))
            return np.vstack([parent[:cut], fresh[cut:]])
        changes = (1.5, 3.0, 8.0)[
            rng.integers(3)
        ]  # how many decisions that were used are changed, on average
        changed = rng.random(parent.shape) < min(1.0, changes / (max(used, 1) * parent.shape[1]))
        if kind < 0.5:
            return np.where(changed, fresh, parent)
        shift = rng.normal(size=parent.shape) * 10.0 ** rng.uniform(-4.0, -0.5)
        return np.where(changed, np.clip(parent + shift, 0.0, np.nextafter(1.0, 0.0)), parent)


def _collect(problem: ImpactProblem, parts: list[Walked], settings: dict[str, Any]) -> Outcomes:
    n = len(parts)
    return Outcomes(
        problem,
        np.array([part.v for part in parts]).reshape(n, problem.nv),
        np.array([part.impulse for part in parts]).reshape(n, problem.nc, 2),
        np.array([part.segments for part in parts], dtype=np.int32),
        np.array([part.status for part in parts], dtype=np.int8),
        np.array([part.residual for part in parts]),
        settings=settings,
    )


def _some(options: list[tuple[int, ...]], number: float) -> list[tuple[int, ...]]:
    """All combinations, or, where there are many, a few drawn by a number from the tape."""
    combinations = list(product(*options))
    if len(combinations) <= _TRIES:
        return combinations
    chosen = np.random.default_rng(int(number * 2**32)).permutation(len(combinations))[:_TRIES]
    return [combinations[k] for k in chosen]


class _Walk:
    """Solutions of (39) in scaled contact velocities ``c = (y_1, t_1, y_2, ...)``, ``c' = G lambda``."""

    def __init__(self, problem: ImpactProblem) -> None:
        self.problem = problem
        self.nc = problem.nc
        root = np.repeat(np.sqrt(problem.scaling.mass), 2)
        self.G = problem.delassus * root[:, None] * root
        self.start = (problem.contact_velocity() / problem.scaling.velocity[:, None]).ravel()
        self.mu = problem.mu
        self._inverse: dict[tuple[int, ...], Array] = {}

    def tape(self, rng: np.random.Generator) -> Array:
        """Decisions for one sample, (segments, numbers)."""
        return rng.random((_SEGMENTS, _DECISIONS + 2 * self.nc))

    def run(self, tape: Array) -> Walked:
        """The tape's solution."""
        c, impulse = self.start.copy(), np.zeros(2 * self.nc)
        status, used = Status.MAX_STEPS, 0
        rows = 0
        sequence: list[Statuses] = []
        for numbers in tape:
            if c[::2].min() >= -_ZERO:
                status = Status.SOLVED if used else Status.NO_IMPACT
                break
            rows += 1
            chosen = self._rates(c, numbers)
            if chosen is None:
                continue
            rates, change, pushes, slips = chosen
            length = self._length(c, change, pushes)
            if not np.isfinite(length):
                continue
            if numbers[0] < 0.3:  # let go before anything happens
                length *= numbers[1]
            c = c + length * change
            c[np.abs(c) < _ZERO] = 0.0
            impulse += length * rates
            used += 1
            if not sequence or sequence[-1] != slips:
                sequence.append(slips)
        v, scaled, residual = self._outcome(impulse, c)
        if status is Status.SOLVED and not residual < tolerances.RESIDUAL:
            status = Status.NUMERICAL
        return Walked(v, scaled, used, status, residual, rows, tuple(sequence))

    def extreme(self, sequence: tuple[Statuses, ...], direction: Array) -> Walked | None:
        """The farthest outcome in a direction (nv,) of the solutions with these statuses."""
        worth = (direction @ self.problem.response) * np.repeat(self.problem.scaling.impulse, 2)
        found = farthest(self.G, self.start, self.mu, sequence, worth)
        if found is None:
            return None
        v, scaled, residual = self._outcome(found.impulse, found.c)
        if not residual < tolerances.RESIDUAL:
            return None
        moves = tuple(statuses for statuses, moving in zip(sequence, found.moving, strict=True) if moving)
        return Walked(v, scaled, len(moves), Status.SOLVED, max(residual, found.violation), 0, moves)

    def _outcome(self, impulse: Array, c: Array) -> tuple[Array, Array, float]:
        """Velocity, impulse (nc, 2) and the difference between c and the velocity recomputed."""
        scaled = impulse.reshape(self.nc, 2) * self.problem.scaling.impulse[:, None]
        v = self.problem.apply(scaled)
        after = (self.problem.contact_velocity(v) / self.problem.scaling.velocity[:, None]).ravel()
        return v, scaled, float(np.max(np.abs(after - c)))

    def _rates(self, c: Array, numbers: Array) -> tuple[Array, Array, np.ndarray, Statuses] | None:
        """Impulse rates (2 nc,), the change of c they cause, which contacts push, and their statuses."""
        y, t = c[::2], c[1::2]
        weights, held = self._roles(y, numbers)
        pushes = (weights > 0.0) | held
        options: list[tuple[int, ...]] = []
        for i in range(self.nc):
            if not pushes[i]:
                options.append((APART,))
            elif self.mu[i] == 0.0:
                options.append((SMOOTH,))
            elif t[i] != 0.0:
                options.append((int(np.sign(t[i])),))
            else:
                options.append(_ORDERS[int(len(_ORDERS) * numbers[_DECISIONS + i])])
        for slips in _some(options, numbers[5]):
            rates = self._solve(weights, held, slips)
            if rates is not None:
                change = self.G @ rates
                if self._consistent(c, rates, change, pushes, slips):
                    return rates, change, pushes, slips
        return None

    def _roles(self, y: Array, numbers: Array) -> tuple[Array, np.ndarray]:
        """Weights of the contacts that are driven, and the contacts at rest that are held there."""
        below, at = y < -_ZERO, np.abs(y) <= _ZERO
        draw = numbers[_DECISIONS + self.nc :]
        held = at & (draw < 0.5)
        candidates = np.flatnonzero(below | (at & (draw > 0.8)))
        weights = np.zeros(self.nc)
        if numbers[2] < 0.6 or len(candidates) == 1:  # one contact alone
            weights[candidates[int(numbers[3] * len(candidates))]] = 1.0
        else:  # near a face of the simplex
            rough = -np.log1p(-numbers[_DECISIONS : _DECISIONS + self.nc][candidates]) + 1e-9
            weights[candidates] = (rough / rough.max()) ** (1.0 + 4.0 * numbers[4])
        return weights, held & (weights == 0.0)

    def _solve(self, weights: Array, held: np.ndarray, slips: tuple[int, ...]) -> Array | None:
        """Rates with ``y' = 0`` at held contacts and ``t' = 0`` at sticking ones."""
        G, nc = self.G, self.nc
        columns, rows = [], []
        rates = np.zeros(2 * nc)
        for i in range(nc):
            slope = -self.mu[i] * slips[i] if slips[i] in (1, -1) else 0.0
            rates[2 * i] = weights[i]
            rates[2 * i + 1] = slope * weights[i]
            if held[i]:
                column = np.zeros(2 * nc)
                column[2 * i], column[2 * i + 1] = 1.0, slope
                columns.append(column)
                rows.append(2 * i)
            if slips[i] == 0:
                columns.append(np.eye(2 * nc)[2 * i + 1])
                rows.append(2 * i + 1)
        if not rows:
            return rates
        key = (*rows, *slips)
        spread = np.array(columns)
        if key not in self._inverse:
            self._inverse[key] = np.linalg.pinv(G[rows] @ spread.T, rcond=1e-10)
        return rates - spread.T @ (self._inverse[key] @ (G[rows] @ rates))

    def _consistent(
        self, c: Array, rates: Array, change: Array, pushes: np.ndarray, slips: tuple[int, ...]
    ) -> bool:
        """Whether the rates obey Coulomb's law and the limits on who may push, from here on for a while."""
        size = float(np.max(np.abs(rates)))
        tiny = 1e-9 * size
        if not size > 0.0:
            return False
        for i in range(self.nc):
            if not pushes[i]:
                continue
            normal, friction = rates[2 * i], rates[2 * i + 1]
            if normal < -tiny or abs(friction) > self.mu[i] * normal + tiny:
                return False
            if c[2 * i] > -_ZERO and change[2 * i] > tiny:
                return False
            if slips[i] == 0 and abs(change[2 * i + 1]) > tiny:
                return False
            if c[2 * i + 1] == 0.0 and slips[i] in (1, -1) and slips[i] * change[2 * i + 1] < -tiny:
                return False
        return True

    def _length(self, c: Array, change: Array, pushes: np.ndarray) -> float:
        """Impulse until a normal velocity, or the slip of a pushing contact, reaches zero."""
        watched = np.ones(2 * self.nc, dtype=bool)
        watched[1::2] = pushes
        towards = watched & (c * change < 0.0) & (np.abs(c) > _ZERO)
        if not towards.any():
            return np.inf
        return float(np.min(-c[towards] / change[towards]))
