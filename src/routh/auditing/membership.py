"""Audit: is a velocity after an impact an outcome that the impact can have, and if not, why not?

For the answer of any simulator, or for a measurement. In order: `audit` of one velocity, the laws that it may
break (`broken_laws`), how near the set comes to it (`refined`), and `audit_many` for the rows of a batch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Drawable
from routh.base.rng import event_key
from routh.base.status import CapacityError, InputError, MissingExtraError, Status
from routh.base.text import for_terminal
from routh.base.validation import Array, Options, deadline_of, integer, real, real_array
from routh.kernels.common.arrays import make_rows
from routh.kernels.events import event_samples
from routh.lcp import convex
from routh.problem.friction import project_disc
from routh.problem.impact import FIELDS, ImpactProblem, no_impact
from routh.sampling.batch import BatchOutcomes
from routh.sampling.batch_events import energy_units
from routh.sampling.events import Again
from routh.sampling.fill import EVENTS, changed_keys
from routh.sampling.outcomes import Outcomes
from routh.sampling.sampler import draw, sample
from routh.sampling.settings import ByEvents, drawn_by

#: Share of the speed before within which velocities agree and laws hold, by default.
DEFAULT_TOLERANCE = 1e-6

#: Share of the speed before: an answer with an outcome so near counts as one.
WITHIN = 0.03
IN = "in"
OUTSIDE = "outside, proved"
NOT_FOUND = f"not found within {WITHIN:g}"

ENERGY = "energy gained"
APPROACH = "still approaching"
REACH = "a change of momentum that no contact can give"
CONE = "impulse outside the friction cone"

_PIECES, _SECONDS = 1000, 10.0  # of an exact set: work, alike on every machine, and patience
_LITTER = 16  # changed copies of the nearest sample that are drawn together


@dataclass(frozen=True)
class Broken:
    """A physical law that a velocity after breaks, and by how much."""

    law: str
    amount: float  # share of the speed (of the energy for "energy gained") before
    contact: str | None = None

    def __str__(self) -> str:
        where = f" at {for_terminal(self.contact)}" if self.contact else ""
        return f"{self.law}{where} ({self.amount:.2g})"


@dataclass(frozen=True, eq=False)
class Audit(Drawable):
    """Position of a velocity after relative to the set of outcomes; distances in the kinetic-energy norm."""

    problem: ImpactProblem = field(repr=False)
    v: Array = field(repr=False)  # (nv,)
    nearest: Array = field(repr=False)  # (nv,) the nearest outcome that was found
    distance: float  # to it, as a share of the speed before
    resolution: float  # how far outcomes of the sampled set are from their neighbours, likewise
    broken: tuple[Broken, ...]
    impulse: Array = field(repr=False)  # (nc, 1 + nt) the admissible impulse that explains v best, N s
    tolerance: float
    outcomes: Outcomes = field(repr=False)
    complete: bool = True  # False: the time allowed by budget= ran out before all was drawn and refined
    # whether the exact set has an outcome within the tolerance; None where samples decided, or it cannot
    proved: bool | None = None

    @property
    def status(self) -> Status:
        """OUT_OF_TIME where budget= ended the search, NUMERICAL where no sample is solved."""
        return (
            Status.NUMERICAL
            if not self.outcomes.solved.any()
            else (Status.SOLVED if self.complete else Status.OUT_OF_TIME)
        )

    @property
    def word(self) -> str:
        """One of three words: `IN`, `OUTSIDE` (a law is broken, or the exact set has it not), `NOT_FOUND`."""
        if self.broken or self.proved is False:
            return OUTSIDE
        return IN if self.proved or self.distance <= WITHIN else NOT_FOUND

    @property
    def inside(self) -> bool:
        """Whether the word is `IN`: an outcome was found within 0.03, or the exact set has one."""
        return self.word == IN

    @property
    def verdict(self) -> str:
        """The word, and what it rests on."""
        if self.broken:
            return f"{self.word}; breaks: " + ", ".join(map(str, self.broken))
        if not np.isfinite(self.distance):
            return f"{self.word}: no sample of its set is solved, so no distance is known"
        away = f"nearest sample at {self.distance:.2g} of the speed before"
        if self.proved is not None:
            return f"{IN if self.proved else 'outside'}, proved by the exact set ({away})"
        return f"{self.word} ({away}; samples lie {self.resolution:.2g} apart)"


def audit(
    problem: ImpactProblem,
    v_after: ArrayLike,
    *,
    outcomes: Outcomes | None = None,
    n: int | None = None,
    seed: int | None = None,
    friction: str | None = None,
    refine: int = 0,
    tolerance: float = DEFAULT_TOLERANCE,
    budget: float | None = None,
) -> Audit:
    """Compare a velocity after an impact with the set of its outcomes and with the laws of impact.

    The laws: kinetic energy does not grow; no contact approaches; the change of momentum is that of contact
    impulses, and these are inside Coulomb's cones (the best such impulse by a cone program). An answer of few
    planar contacts that breaks none, and that no sample is as near as samples are to each other, is decided
    by the exact set (extra ``exact``): ``proved``. `Audit.word` says it in one of three words.

    Parameters
    ----------
    problem : the impact.
    v_after : (nv,) from a simulator or a measurement.
    outcomes : the set, where it has been sampled already. Otherwise it is drawn.
    n : samples that are drawn (1024); like ``seed`` and ``friction`` refused together with ``outcomes``.
    seed : of the draw (0).
    friction : of the draw ("cone"), as in `routh.sample`.
    refine : further outcomes to try near the nearest one, each a little changed in its events; near the
        nearest of as many by events where the outcomes were drawn otherwise.
    tolerance : share of the speed before within which laws count as kept.
    budget : seconds for drawing and refining; what is left out then is told by ``complete`` and by the
        statuses of ``outcomes``.
    """
    if not isinstance(problem, ImpactProblem):
        raise no_impact(problem)
    after = real_array("v_after", v_after, [(problem.nv,)], f"shape ({problem.nv},)")
    integer("refine", refine, at_least=0)
    real("tolerance", tolerance, above=0.0)
    deadline = deadline_of(budget)
    limit: Options = {} if budget is None else {"budget": budget}
    drawn = _drawn(problem, outcomes, {"n": n, "seed": seed, "friction": friction}, limit)
    nearest, distance = _nearest(drawn, after)
    if refine:
        nearest, distance = refined(drawn, after, (nearest, distance), refine, deadline)
    impulse, misfit = best_impulse(problem, after)
    found = Audit(
        problem,
        after,
        nearest,
        distance / problem.scaling.speed,
        _resolution(drawn),
        broken_laws(problem, after, tolerance=tolerance, misfit=misfit),
        impulse,
        tolerance,
        drawn,
        time.monotonic() < deadline and not np.any(drawn.status == Status.OUT_OF_TIME),
    )
    near = found.distance <= max(tolerance, found.resolution)
    if found.broken or near or not found.complete or not np.isfinite(found.distance):
        return found
    return replace(found, proved=_decided(problem, after, tolerance))


def _decided(problem: ImpactProblem, after: Array, tolerance: float) -> bool | None:
    """Whether the exact set has an outcome within the tolerance; None where it does not tell."""
    if problem.nt != 1 or problem.restitution.any():
        return None
    from routh.exact.build import exact_set  # few audits ask for it

    try:
        exact = exact_set(problem, pieces=_PIECES, budget=_SECONDS)
    except (MissingExtraError, CapacityError):
        return None
    if bool(exact.contains(after, tolerance=tolerance, which="inner")):
        return True
    return None if bool(exact.contains(after, tolerance=tolerance)) else False


def _drawn(problem: ImpactProblem, outcomes: Outcomes | None, options: Options, limit: Options) -> Outcomes:
    """The outcomes given, or drawn by the options; what cannot be honoured is refused."""
    asked = {name: value for name, value in options.items() if value is not None}
    if outcomes is None:
        return sample(problem, **{"n": 1024, **asked, **limit})
    for name, value in asked.items():
        raise InputError(name, got=f"{value!r} with outcomes", wanted="it only where they are to be drawn")
    for name in FIELDS:
        if not np.array_equal(getattr(outcomes.problem, name), getattr(problem, name)):
            raise InputError(
                "outcomes", wrong=f"are of a problem with another {name}", wanted="those of `problem`"
            )
    return outcomes


def broken_laws(
    problem: ImpactProblem,
    v_after: ArrayLike,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    misfit: float | None = None,
) -> tuple[Broken, ...]:
    """The laws of impact that a velocity after breaks, the worst of each kind.

    ``misfit``: how near contact impulses come to it (`best_impulse`), where that is known.
    """
    after = np.asarray(v_after, dtype=np.float64)
    unit = problem.scaling
    broken = []
    before = float(problem.kinetic_energy())
    gained = (float(problem.kinetic_energy(after)) - before) / (0.5 * unit.speed**2)
    if not gained <= tolerance:
        broken.append(Broken(ENERGY, gained))
    approach = -(problem.Jn @ after) / unit.velocity
    worst = int(np.argmax(approach))
    if not approach[worst] <= tolerance:
        broken.append(Broken(APPROACH, float(approach[worst]), problem.names[worst]))
    columns, change = problem.impulse_columns, (after - problem.v) @ problem.cholesky
    weights = np.linalg.lstsq(columns, change, rcond=None)[0]
    unreachable = float(np.linalg.norm(columns @ weights - change)) / unit.speed
    outside = (best_impulse(problem, after)[1] if misfit is None else misfit) / unit.speed
    if not unreachable <= tolerance:
        broken.append(Broken(REACH, unreachable))
    elif not outside <= tolerance:
        broken.append(Broken(CONE, outside))
    return tuple(broken)


def best_impulse(problem: ImpactProblem, v_after: ArrayLike) -> tuple[Array, float]:
    """Impulses (nc, 1 + nt) in Coulomb's cones that come nearest to ``v_after``, and how near, sqrt(J).

    Minimizes ``|v + M^-1 J^T impulse - v_after|_M`` by a cone program (Clarabel) and recomputes the distance.
    """
    unit, speed = problem.scaling.impulse, problem.scaling.speed
    columns = problem.impulse_columns * np.repeat(unit, 1 + problem.nt) / speed
    after = np.asarray(v_after, dtype=np.float64)
    wanted = (after - problem.v) @ problem.cholesky / speed
    impulse = _project_on_cones(problem, columns, wanted) * unit[:, None]
    impulse[:, 0] = np.maximum(impulse[:, 0], 0.0)
    impulse[:, 1:] = project_disc(impulse[:, 1:], problem.mu * impulse[:, 0])
    misfit = (problem.apply(impulse) - after) @ problem.cholesky
    return impulse, float(np.linalg.norm(misfit))


def _project_on_cones(problem: ImpactProblem, columns: Array, wanted: Array) -> Array:
    """x (nc, 1 + nt) in the friction cones with the least ``|columns x - wanted|``.

    As the smallest t with ``(t, columns x - wanted)`` in a second-order cone, which keeps small distances
    as exact as large ones; the square would not.
    """
    mu, width = problem.mu, 1 + problem.nt
    free = np.ones((problem.nc, width), dtype=bool)
    free[:, 1:] = mu[:, None] > 0.0
    # friction above one: divide the tangents instead, so that rows stay of order one
    share = np.repeat(1.0 / np.maximum(mu, 1.0), width).reshape(free.shape)
    share[:, 0] = np.where(mu > 0.0, np.minimum(mu, 1.0), 1.0)
    nv, count = len(wanted), int(free.sum())
    table = np.zeros((1 + nv + count, 1 + count))  # of the unknowns (t, x)
    table[0, 0], table[1 : 1 + nv, 1:] = -1.0, -columns[:, free.ravel()]
    table[1 + nv :, 1:] = -np.diag(share[free])
    right = np.concatenate([[0.0], -wanted, np.zeros(count)])
    cones = [("second order", 1 + nv)]
    cones += [("second order", width) if m > 0.0 else ("nonnegative", 1) for m in mu]
    x = np.zeros(free.shape)
    x[free] = convex.minimise(np.eye(1 + count)[0], table, right, cones, tolerance=1e-12).x[1:]
    return x


def _nearest(outcomes: Outcomes, after: Array) -> tuple[Array, float]:
    rows = np.flatnonzero(outcomes.solved)
    if rows.size == 0:
        return np.full(len(after), np.nan), float("inf")
    distances = np.linalg.norm((outcomes.v[rows] - after) @ outcomes.problem.cholesky, axis=1)
    best = int(np.argmin(distances))
    return outcomes.v[rows[best]].copy(), float(distances[best])


def _resolution(outcomes: Outcomes, probes: int = 64) -> float:
    """The 90th percentile of the distance from an outcome to its nearest neighbour, over the speed before."""
    points = outcomes.v[outcomes.solved] @ outcomes.problem.cholesky
    if len(points) < 2:
        return 0.0
    chosen = np.linspace(0, len(points) - 1, min(probes, len(points))).astype(int)
    distances = [np.linalg.norm(points - points[i], axis=1) for i in chosen]
    gaps = [np.delete(away, i).min() for i, away in zip(chosen, distances, strict=True)]
    return float(np.quantile(gaps, 0.9)) / outcomes.problem.scaling.speed


def refined(
    outcomes: Outcomes, after: Array, known_best: tuple[Array, float], tries: int, deadline: float
) -> tuple[Array, float]:
    """The outcome nearest to ``after`` (nv,) among ``tries`` more, and its distance in sqrt(J).

    Each try is an outcome of its own: the keys of the nearest sample's events, one or two or all behind one
    changed. Samples that were not drawn by events have none: then as many are drawn that have.
    """
    if not np.isfinite(known_best[1]) or time.monotonic() >= deadline:
        return known_best
    problem = outcomes.problem
    if outcomes.settings.get("method") != "events":
        alike = ("friction", "facets", "seed", "hypothesis")
        told = {name: outcomes.settings[name] for name in alike if name in outcomes.settings}
        outcomes = draw(problem, len(outcomes), ByEvents(**told))
    again = outcomes.replay if isinstance(outcomes.replay, Again) else Again()
    drawing = replace(drawn_by(outcomes.settings, "refine", again.rates), threads=1)
    drawn = drawing.draws(len(outcomes))
    away = np.linalg.norm((outcomes.v - after) @ problem.cholesky, axis=1)
    start = int(np.argmin(np.where(outcomes.solved, away, np.inf)))
    nearest, distance, events = outcomes.v[start].copy(), float(away[start]), int(outcomes.events[start])
    keys = np.array([event_key(drawing.seed, drawing.row, start, k) for k in range(EVENTS)], dtype=np.uint64)
    if again.keys is not None and start < len(again.keys):
        keys[: again.keys.shape[1]] = again.keys[start, :EVENTS]
    rng, rows = np.random.default_rng(drawing.seed), make_rows([problem])
    options = drawing.kernel_options(problem.nt)
    for begin in range(0, tries, _LITTER):
        if time.monotonic() >= deadline:
            break
        size = min(_LITTER, tries - begin)
        litter = changed_keys(np.tile(keys, (size, 1)), np.full(size, events), rng)
        out = event_samples(rows, drawn._replace(n=size, keys=litter), **options)
        far = np.linalg.norm((out.v[0] - after) @ problem.cholesky, axis=1)
        far[out.status[0] != Status.SOLVED] = np.inf
        best = int(np.argmin(far))
        if far[best] < distance:
            keys, events = litter[best], int(out.events[0, best])
            nearest, distance = out.v[0, best].copy(), float(far[best])
    return (nearest, distance) if distance < known_best[1] else known_best


@dataclass(frozen=True, eq=False)
class BatchAudit:
    """What can be said of each row without solving anything; NaN where there was no impact to solve.

    Whether impulses inside the friction cones explain an answer takes a program: `routh.audit` for one row.
    """

    distance: Array  # (rows,) to the nearest outcome, a share of the speed before; infinite where none ended
    nearest: np.ndarray = field(repr=False)  # (rows,) its index among the samples, -1 where there is none
    energy_gained: Array = field(repr=False)  # (rows,) as a share of the kinetic energy before
    approach: Array = field(repr=False)  # (rows,) fastest approach left, a share of the contact's own speed

    def suspects(self, tolerance: float = 0.05) -> np.ndarray:
        """Rows that gain energy, still approach, or lie farther from every outcome than ``tolerance``."""
        found = (self.distance, self.energy_gained, self.approach)
        return np.flatnonzero(np.any([amount > tolerance for amount in found], axis=0))


def audit_many(outcomes: BatchOutcomes, v_after: ArrayLike) -> BatchAudit:
    """Compare velocities after, ``v_after`` (rows, nv), with the sampled outcomes of the same rows.

    Numbers that are not finite are allowed in rows without an impact only.
    """
    batch = outcomes.batch
    shape = batch.v.shape
    given = real_array("v_after", v_after, [shape], f"shape {shape}", finite=False)
    impacts = batch.status == Status.SOLVED
    bad = np.flatnonzero(impacts & ~np.isfinite(given).all(axis=1))
    if bad.size:
        raise InputError(
            "v_after", wrong=f"row {bad[0]} holds a number that is not finite", wanted="finite numbers"
        )
    found, nearest, rows = np.full((3, len(batch)), np.nan), np.full(len(batch), -1), np.flatnonzero(impacts)
    M, Jn, v, after = batch.M[rows], batch.Jn[rows], batch.v[rows], given[rows]
    unit = energy_units(batch)[rows, 0, 0]
    away = outcomes.v[rows] - after[:, None]
    squares = np.where(outcomes.solved[rows], ((away @ M) * away).sum(axis=2), np.inf)
    best = np.argmin(squares, axis=1)
    least = np.maximum(np.take_along_axis(squares, best[:, None], axis=1)[:, 0], 0.0)
    nearest[rows] = np.where(np.isfinite(least), best, -1)
    gained = np.einsum("ki,kij,kj->k", after, M, after) - np.einsum("ki,kij,kj->k", v, M, v)
    padding = np.arange(batch.nv) >= batch.size[rows, :1]
    moved = np.linalg.solve(M + padding[:, None] * np.eye(batch.nv), np.swapaxes(Jn, 1, 2))
    per_impulse = np.where(batch.present[rows], np.einsum("kci,kic->kc", Jn, moved), np.inf)
    approach = -np.einsum("kci,ki->kc", Jn, after) / np.sqrt(unit[:, None] * per_impulse)
    found[:, rows] = np.sqrt(least / unit), gained / unit, np.maximum(approach.max(axis=1), 0.0)
    return BatchAudit(found[0], nearest, found[1], found[2])
