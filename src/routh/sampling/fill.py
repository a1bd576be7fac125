"""A sampler that fills the set of outcomes, and a rule for when it has.

Samples come in rounds from the kernels of `routh.sampling.events`, so each is a solution of HP23 (39) itself.
Everything that a sample decides at an event follows from the event's key (64 bits): with the keys of another
up to some event it takes the same path up to there. The keys of samples that reached farthest in some
direction are changed and tried again (`Herd`), which moves the sampling towards what is not explored yet. In
the plane, without restitution, the farthest outcome with the same contact statuses as theirs is found by a
linear program (`routh.sampling.status_sequences`) and joins the samples.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import ImpactPath, Result
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, deadline_of, integer, real, real_array, seconds_left
from routh.kernels.common.arrays import Outputs, make_rows
from routh.kernels.events import event_samples, piecewise_path, scaled_pieces
from routh.problem.impact import ENERGETIC, ImpactProblem, no_impact
from routh.sampling.events import Again
from routh.sampling.outcomes import Outcomes
from routh.sampling.settings import ByEvents
from routh.sampling.status_sequences import Polisher, Walk, climb

EVENTS = 48  # events of a sample that have keys of their own; later ones draw by seed and sample

_FRESH = 0.25  # share of samples that have no parent
_TAIL = 0.4  # share of the others that keep a beginning only; the rest has one or two events changed
_BREEDERS = 96  # directions beside the watched ones whose farthest samples are bred
_PERSISTENCE = 0.3  # of the rates drawn, in the plane: bred samples gain by more corners and longer paths
_SEEDS = 32  # farthest samples, and as many others, from which climbing starts


def fresh_keys(n: int, rng: np.random.Generator) -> np.ndarray:
    """Keys (n, EVENTS) without a parent."""
    return rng.integers(0, 2**64, size=(n, EVENTS), dtype=np.uint64)


def changed_keys(keys: np.ndarray, events: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Changed copies of keys (n, EVENTS) of samples with so many pieces (n,); some are fresh."""
    n, fresh = len(keys), fresh_keys(len(keys), rng)
    used = events + 2  # a stage or two may have led to no piece
    first, second = (rng.random((2, n)) * used).astype(np.int64)
    place = np.arange(EVENTS)
    tail = place >= first[:, None]
    single = (place == first[:, None]) | (place == second[:, None])
    changed = np.where((rng.random(n) < _TAIL)[:, None], tail, single)
    changed |= (rng.random(n) < _FRESH)[:, None]
    return np.where(changed, fresh, keys)


class Herd:
    """Keys of the samples that reached farthest, one for each direction."""

    def __init__(self, directions: Array, rng: np.random.Generator) -> None:
        self.directions, self._rng = directions, rng  # (k, nv)
        self.reach = np.full(len(directions), -np.inf)
        self.keys = np.zeros((len(directions), EVENTS), dtype=np.uint64)
        self.events = np.zeros(len(directions), dtype=np.int64)  # pieces of those samples

    def children(self, n: int) -> np.ndarray:
        """Keys (n, EVENTS) of new samples; fresh ones as long as no sample has ended."""
        if not np.all(np.isfinite(self.reach)):
            return fresh_keys(n, self._rng)
        parent = self._rng.integers(len(self.reach), size=n)
        return changed_keys(self.keys[parent], self.events[parent], self._rng)

    def learn(self, keys: np.ndarray, v: Array, events: np.ndarray) -> None:
        """Keep those samples (keys (n, EVENTS), outcomes (n, nv)) that reach farther than any before."""
        if not len(v):
            return
        reach = self.directions @ v.T  # (k, n)
        best = np.argmax(reach, axis=1)
        far = reach[np.arange(len(best)), best]
        better = far > self.reach
        self.reach = np.maximum(self.reach, far)
        self.keys[better] = keys[best[better]]
        self.events[better] = events[best[better]]


@dataclass(frozen=True, eq=False)
class Filling(Result):
    """Samples that fill the set, and how the support functions grew while they were drawn."""

    outcomes: Outcomes
    directions: Array  # (k, nv), unit in the contact velocities
    support: Array = field(repr=False)  # (rounds, k): support after each round, m/s
    stopped: bool  # True: growth fell below the tolerance; False: the sample limit or the budget came first
    tolerance: float

    @property
    def status(self) -> Status:
        """INCOMPLETE where the set still grew when the sample limit or the budget came."""
        return Status.SOLVED if self.stopped and self.outcomes.solved.any() else Status.INCOMPLETE

    @property
    def growth(self) -> Array:
        """Growth of the support in each round over the final width, (rounds - 1, k)."""
        return np.diff(self.support, axis=0) / self.width

    @property
    def width(self) -> Array:
        """Final width in each direction, (k,); directions come in opposite pairs."""
        return _width(self.support[-1], self.outcomes.problem)


def fill(
    problem: ImpactProblem,
    *,
    tolerance: float = 1e-3,
    max_samples: int = 2**14,
    directions: int | ArrayLike = 32,
    batch: int = 1024,
    patience: int = 3,
    climbs: int = 0,
    seed: int = 0,
    hypothesis: str = ENERGETIC,
    friction: str = "cone",
    facets: int | None = None,
    threads: int | None = None,
    budget: float | None = None,
) -> Filling:
    """Sample until the set has stopped growing in every direction.

    Parameters
    ----------
    problem : the impact.
    tolerance : a round that adds less than this share of the width in every direction counts as quiet.
    max_samples : samples drawn at most.
    directions : even number of directions, in opposite pairs, in which growth is watched; or directions
        (k, nv) of your own, which are watched together with their opposites.
    batch : samples in a round.
    patience : quiet rounds in a row after which sampling stops.
    climbs : changed sequences of contact statuses that are tried in each watched direction (of your own: not
        in their opposites) in the end, one linear program each (`sampling.status_sequences`): for problems of
        many contacts, where samples rarely meet the sequences that reach farthest. What they find joins the
        samples. Planar, inelastic.
    seed : equal seeds give equal samples.
    hypothesis, friction, facets, threads : as in `routh.sample`.
    budget : seconds after which nothing further is begun; ``stopped`` is then False. What was drawn is the
        same, samples of the last round that were not drawn have Status.OUT_OF_TIME.
    """
    if not isinstance(problem, ImpactProblem):
        raise no_impact(problem)
    deadline = deadline_of(budget)
    real("tolerance", tolerance, above=0.0)
    integer("max_samples", max_samples, at_least=1)
    integer("patience", patience, at_least=1)
    integer("batch", batch, at_least=1)
    integer("climbs", climbs, at_least=0)
    integer("seed", seed, at_least=0)
    told: Options = {"friction": friction, "facets": facets, "threads": threads}
    drawing = ByEvents(seed=seed, hypothesis=hypothesis, **told)
    if isinstance(directions, int):
        wanted = watched = watch_directions(problem, directions)
    else:
        nv = problem.nv
        wanted = real_array("directions", directions, [(None, nv)], f"a number, or shape (k, {nv})")
        if not len(wanted) or not np.all(np.any(wanted, axis=1)):
            raise InputError("directions", got="none, or one that is zero", wanted="directions that are not")
        watched = np.vstack([wanted, -wanted])
    search = _Search(problem, watched, drawing)
    if climbs and search.polisher is None:
        raise InputError("climbs", got=climbs, wanted="0 in space and with restitution")
    support: list[Array] = []
    quiet = 0
    # room is left for one polished sample a direction
    polished = 0 if search.polisher is None else len(watched)
    drawn = max(max_samples - polished, (max_samples + 1) // 2)
    while len(search) < drawn and quiet < patience and (not len(search) or time.monotonic() < deadline):
        before = search.reached
        search.draw(min(batch, drawn - len(search)), seconds_left(deadline))
        support.append(search.reached)
        known, allowed = np.all(np.isfinite(before)), tolerance * _width(search.reached, problem)
        quiet = quiet + 1 if known and np.all(search.reached - before <= allowed) else 0
    search.polish(max_samples, deadline)
    if climbs:
        search.climb(wanted, climbs, deadline)
    support.append(search.reached)
    return Filling(search.outcomes(tolerance), search.rows, np.array(support), quiet >= patience, tolerance)


def _width(support: Array, problem: ImpactProblem) -> Array:
    half = len(support) // 2
    sums = support[:half] + support[half:]
    return np.maximum(np.tile(sums, 2), 1e-12 * problem.scaling.velocity.max())


def watch_directions(problem: ImpactProblem, count: int) -> Array:
    """Directions (count, nv) in opposite pairs that see only contact velocities, of unit size in them."""
    if integer("directions", count, at_least=2) % 2:
        raise InputError("directions", got=count, wanted="an even number, they come in opposite pairs")
    rng = np.random.default_rng(count)
    unit = np.repeat(problem.scaling.velocity, 1 + problem.nt)
    weights = rng.normal(size=(count // 2, len(unit)))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    rows = weights / unit * problem.scaling.velocity.max() @ problem.J.reshape(-1, problem.nv)
    return np.vstack([rows, -rows])


class _Search:
    """The samples drawn so far, how far they reach, and the keys that are worth a change."""

    def __init__(self, problem: ImpactProblem, rows: Array, drawing: ByEvents) -> None:
        self.problem = problem
        self.rows = rows  # directions in opposite pairs, (k, nv)
        self.rng = np.random.default_rng(drawing.seed)
        # samples that reach farthest in more directions than are watched: these keep more kinds of them
        self.herd = Herd(np.vstack([self.rows, watch_directions(problem, _BREEDERS)]), self.rng)
        straight = problem.nt == 1 and not np.any(problem.restitution > 0.0)
        self.drawing = replace(drawing, persistence=_PERSISTENCE) if straight else drawing
        self.how = drawing.kernel_options(problem.nt)
        self.polisher = Polisher(problem) if straight else None
        self.reached = np.full(len(rows), -np.inf)  # by all samples, in the watched directions
        self._prepared = make_rows([problem])
        self._rounds: list[tuple[Outputs, np.ndarray]] = []  # samples and their keys
        self._walks: list[Walk] = []  # what was found by linear programs

    def __len__(self) -> int:
        return sum(len(keys) for _, keys in self._rounds) + len(self._walks)

    def draw(self, size: int, budget: float | None = None) -> None:
        """A round of ``size`` samples."""
        keys = self.herd.children(size)
        draw = replace(self.drawing, row=len(self._rounds)).draws(size, keys)
        out = event_samples(self._prepared, draw, budget=budget, **self.how)
        self._rounds.append((out, keys))
        ended = np.flatnonzero(out.status[0] <= Status.NO_IMPACT)  # SOLVED comes before it
        self.herd.learn(keys[ended], out.v[0, ended], out.events[0, ended])
        self.reached = np.maximum(self.reached, self.herd.reach[: len(self.rows)])

    def polish(self, most: int, deadline: float) -> None:
        """The farthest outcome with the statuses of the farthest sample, for each watched direction."""
        if self.polisher is None or not len(self._ended):
            return
        ended, v = self._ended, self._velocities()
        best = ended[np.argmax(self.rows @ v[ended].T, axis=1)]
        for sample in np.unique(best):
            walk = self._walk(int(sample))
            if time.monotonic() >= deadline:
                return
            if walk.sequence and len(self) < most:
                self._add(*self.polisher.improved(walk, self.rows[best == sample])[: most - len(self)])

    def climb(self, rows: Array, tries: int, deadline: float) -> None:
        """Climb from the samples in each of these directions.

        In two turns: what one direction finds is a start for the others.
        """
        assert self.polisher is not None
        ended, v = self._ended, self._velocities()
        others = [self._walk(int(k)) for k in self.rng.permutation(ended)[:_SEEDS]]
        for row in (*rows, *rows):
            if time.monotonic() >= deadline:
                return
            best = ended[np.argsort(v[ended] @ row)[-_SEEDS:]]
            seeds = [*(self._walk(int(k)) for k in best), *others, *self._walks]
            seeds = [walk for walk in seeds if walk.sequence]
            self._add(*climb(self.polisher.extreme, seeds, row, (tries + 1) // 2, self.rng))

    def __call__(self, _: Outcomes, sample: int) -> ImpactPath:
        """The pieces of a sample, drawn again by its keys."""
        integer("sample", sample, at_least=0, at_most=len(self) - 1)
        drawn = len(self) - len(self._walks)
        if sample >= drawn:
            return self._walks[sample - drawn].path
        return piecewise_path(self.problem, self._pieces(sample), self.drawing.friction)

    def pull(self, _: Outcomes, cotangents: Array, **options: Any) -> dict[str, np.ndarray]:
        """Derivatives of all samples, see `routh.sampling.derivatives.pull`; NaN for those of programs."""
        if options.pop("side", None) is not None:
            raise InputError("side", wrong="samples bred by `fill` have none", wanted="samples of `sample`")
        parts, start = [], 0
        for row, (out, keys) in enumerate(self._rounds):
            stop = start + len(keys)
            arrays = (out.v[0], out.impulse[0], out.events[0], out.status[0], out.residual[0])
            drawn = Outcomes(self.problem, *arrays, settings=replace(self.drawing, row=row).record())
            given = cotangents if len(cotangents) == 1 else cotangents[start:stop]
            parts.append(Again(keys=keys).pull(drawn, given, **options))
            start = stop
        return {name: self._joined([part[name] for part in parts]) for name in parts[0]}

    def _joined(self, rounds: list[np.ndarray]) -> np.ndarray:
        """Arrays of the rounds, followed by what is said of samples by linear programs: nothing."""
        k, first = len(self._walks), rounds[0]
        unknown = np.ones(k, bool) if first.dtype == bool else np.full((k, *first.shape[1:]), np.nan)
        return np.concatenate([*rounds, unknown])

    def outcomes(self, tolerance: float) -> Outcomes:
        """All samples as outcomes."""
        rounds, walks, problem = [out for out, _ in self._rounds], self._walks, self.problem
        k, nc = len(walks), problem.nc
        found = {name: np.concatenate([getattr(out, name)[0] for out in rounds]) for name in Outputs._fields}
        joule = problem.scaling.speed**2 if found["work"].shape[2] else None
        impulse = [walk.path.impulse.sum(axis=0) for walk in walks]
        return Outcomes(
            problem,
            np.concatenate([found["v"], np.reshape([walk.v for walk in walks], (k, problem.nv))]),
            np.concatenate([found["impulse"], np.reshape(impulse, (k, nc, 1 + problem.nt))]),
            np.append(found["events"], [len(walk.pieces) for walk in walks]).astype(np.int32),
            np.append(found["status"], [Status.SOLVED] * k).astype(np.int8),
            np.append(found["residual"], [walk.residual for walk in walks]),
            settings={**self.drawing.record(), "method": "fill", "tolerance": tolerance},
            stored=None if joule is None else found["work"][:, 0] * joule,
            returned=None if joule is None else found["work"][:, 1] * joule,
            error=found["error"] if problem.nt == 2 and self.drawing.friction == "cone" else None,
            replay=self,
        )

    def _add(self, *walks: Walk) -> None:
        for walk in walks:
            self._walks.append(walk)
            self.reached = np.maximum(self.reached, self.rows @ walk.v)

    @property
    def _ended(self) -> np.ndarray:
        """Numbers of the samples by rounds that have ended."""
        return np.flatnonzero(np.concatenate([out.status[0] for out, _ in self._rounds]) == Status.SOLVED)

    def _velocities(self) -> Array:
        return np.concatenate([out.v[0] for out, _ in self._rounds])

    def _pieces(self, sample: int) -> Array:
        """The scaled impulses of a sample by rounds."""
        row = 0
        while sample >= len(self._rounds[row][1]):
            sample -= len(self._rounds[row][1])
            row += 1
        keys = self._rounds[row][1]
        draw = replace(self.drawing, row=row).draws(len(keys), keys)
        cone: Options = {name: self.how[name] for name in ("friction", "facets")}
        return scaled_pieces(self._prepared, draw, sample, **cone)

    def _walk(self, sample: int) -> Walk:
        assert self.polisher is not None
        return self.polisher.walk(self._pieces(sample))
