"""The worst outcome of an impact: exactly where that is cheap, by filling towards it otherwise.

A convex function is largest over a polytope at a vertex, so the vertices of the exact set's inner and outer
polytopes give the worst outcome and a certified bound. Elsewhere samples are bred towards the objective
(`routh.fill`), and the bound comes from energy, for linear objectives from `routh.outer_bound`.
`worst_cases` is the same of every row of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Column, ImpactPath, PathKind, Result, Tabular
from routh.base.status import CapacityError, InputError, Status
from routh.base.validation import Array, Options, choice, integer, real
from routh.bounds import EnergyBound, outer_bound
from routh.exact.polytopes import Vertex
from routh.exact.result import ExactSet
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.robust.objectives import Linear, Objective, Own, as_objective
from routh.sampling import sample
from routh.sampling.ambiguity import Direction
from routh.sampling.fill import fill
from routh.sampling.outcomes import Outcomes

Wanted = Objective | Direction | Callable[[Array], ArrayLike]

METHODS = ("auto", "exact", "fill")
_CHEAP = 4  # contacts in the plane up to which "auto" tries the exact set
_SMALL, _PIECES = 4, (200, 30)  # of "auto": exact sets of more dimensions seldom end and get fewer pieces
_WATCHED = 32  # directions of the first round, where the objective has no gradient to begin with
_SPATIAL_ROUND = 32  # samples of a round of filling in space: extreme rates reach nearly as far at once
_EXTREME = {1: 2**14, 2: 256}  # samples of extreme rates that come before it, by the number of tangents
_MOST = {1: 2**15, 2: 2**13}  # samples of filling, by the number of tangents
_PATIENT = 32  # quiet rounds in the plane after which filling ends: the farthest path may be a rare one
_ROUNDS = 8  # times that filling turns to the gradient at the worst outcome so far
_RANK = 1e-13  # share of the largest effect of an impulse: smaller ones are rounding, and left in the ball
_TIED = 1e-9  # share by which vertices and their values may differ and be the same
_GROWTH = 1e-9  # share of the value: a round that adds less is the last


@dataclass(frozen=True, eq=False)
class WorstCase(Result):
    """The outcome in which an objective is largest."""

    value: float  # the objective there; NaN where no outcome was found
    v: Array  # (nv,) the velocity after
    path: ImpactPath | None = field(repr=False)  # None for a limit of outcomes
    bound: float | None  # no outcome is worse than this; None where nothing is proved
    # SOLVED; JAMMED: exact, but some paths never end; NO_IMPACT; INCOMPLETE: samples, a worse one may exist
    status: Status
    method: str  # "exact" or "fill"
    tied: bool = False  # another vertex of the exact set is as bad
    sample: tuple[Outcomes, int] | None = field(default=None, repr=False)  # where filling found it

    @property
    def gap(self) -> float | None:
        """How much worse an outcome could still be: the bound less the value.

        Bounds in space come from energy, momentum and the friction cones alone. For the edge over which a
        lander turns it is 0.4 to 0.9 of the value; where that is small, several times as large.
        """
        return None if self.bound is None else max(self.bound - self.value, 0.0)


class WorstOptions(TypedDict, total=False):
    """Options of `worst_case`."""

    method: str
    budget: float | None
    max_samples: int | None
    climbs: int
    seed: int
    friction: str
    hypothesis: str
    level: int | None


def worst_case(
    problem: ImpactProblem,
    objective: Wanted,
    *,
    method: str = "auto",
    budget: float | None = None,
    max_samples: int | None = None,
    climbs: int = 1024,
    seed: int = 0,
    friction: str = "cone",
    hypothesis: str = "energetic",
    level: int | None = None,
) -> WorstCase:
    """The outcome of an impact that maximises an objective; larger is worse.

    Parameters
    ----------
    problem : the impact.
    objective : (nv,), a contact's name (its normal velocity) or (contact, (1 + nt,)) for a linear function;
        `Quadratic`; or a function of your own, ``f(v (n, nv)) -> (n,)``.
    method : "exact" (planar, inelastic; needs the extra ``exact``), "fill", or "auto": the exact set where it
        has few pieces, for up to four planar contacts, else filling. It tries less on sets of more than four
        dimensions, whose `outer` is a bound where they do not end.
    budget : processor time for the exact set, s. Default: none, so that equal machines or not, the answer is
        the same.
    max_samples : of filling; default: 2^15 in the plane, where they are quick, and 2^13 in space.
    seed, friction, hypothesis : of filling, as in `routh.fill`.
    climbs : linear programs that follow the samples of filling, for changed sequences of contact statuses, as
        in `routh.fill`; only in the plane, inelastic, with several contacts. Some milliseconds each.
    level : of the bound of a linear objective beside filling, as in `routh.outer_bound`. Default: 2 for up to
        four planar inelastic contacts, where it takes some seconds and is several times as tight; else 0, and
        also where groups of contacts have a bound (`routh.exact_set`).
    """
    choice("method", method, METHODS)
    if budget is not None:
        real("budget", budget, above=0.0)
    if method == "exact" and problem.nt == 2:
        raise InputError("method", got="'exact' for contacts in space", wanted="'auto' or 'fill'")
    most = _MOST[problem.nt] if max_samples is None else integer("max_samples", max_samples, at_least=1)
    integer("climbs", climbs, at_least=0)
    wanted = as_objective(problem, objective)
    if not np.any(problem.approaching):
        value = float(wanted.values(problem.v[None])[0])
        nothing = ImpactPath(problem.v[None], np.zeros((0, problem.nc, 1 + problem.nt)), PathKind.STRAIGHT)
        return WorstCase(value, problem.v, nothing, value, Status.NO_IMPACT, "exact")
    bound = None
    if method == "exact" or (method == "auto" and _is_cheap(problem, wanted)):
        limits: Options = {} if budget is None else {"budget": budget}
        if method == "auto":
            limits["pieces"] = _PIECES[int(np.linalg.matrix_rank(problem.J.reshape(-1, problem.nv)) > _SMALL)]
        found, bound = _by_the_exact_set(problem, wanted, limits)
        if found is not None:
            return found
        if method == "exact":
            raise CapacityError(
                "budget", wrong="the exact set was not complete", wanted="more time, or method='fill'"
            )
    straight = problem.nt == 1 and problem.nc > 1 and not np.any(problem.restitution > 0.0)
    settings: Options = {"max_samples": most, "seed": seed, "friction": friction}
    settings |= {"hypothesis": hypothesis, "climbs": climbs if straight else 0}
    settings |= {"patience": _PATIENT} if straight else {}
    if level is None:
        level = 2 if straight and problem.nc <= _CHEAP and bound is None else 0
    found = _by_filling(problem, wanted, settings, level)
    tighter = bound is not None and (found.bound is None or bound < found.bound)
    return replace(found, bound=bound) if tighter else found


def _is_cheap(problem: ImpactProblem, objective: Objective) -> bool:
    """Whether the exact set is tried first; a function of one's own gains no bound from it."""
    known = objective.convex and problem.nt == 1 and not np.any(problem.restitution > 0.0)
    return known and problem.nc <= _CHEAP and find_spec("ppl") is not None


def _by_the_exact_set(
    problem: ImpactProblem, objective: Objective, limits: Options
) -> tuple[WorstCase | None, float | None]:
    """The worst vertex of the inner set and a bound from the outer one; the bound alone where incomplete."""
    from routh.exact.build import exact_set

    exact = exact_set(problem, **limits)
    bound = _outer_bound_of(exact, objective)
    if exact.status not in (Status.SOLVED, Status.JAMMED) or not len(exact.inner):
        by_energy = "energy" in exact.outer_from and isinstance(objective, Linear)
        return None, None if by_energy else bound  # `_energy_bound` has a tighter one
    vertices = exact.vertices()
    points = np.array([[float(x) for x in vertex] for vertex in vertices])
    values = objective.values(points)
    worst = int(np.argmax(values))
    path = _exact_path(exact, vertices[worst])
    near = np.linalg.norm((points - points[worst]) @ problem.cholesky, axis=1) <= _TIED * problem.speed
    tied = values[worst] - values <= _TIED * max(abs(float(values[worst])), np.ptp(values))
    ambiguous = bool(np.any(tied & ~near))
    found = WorstCase(float(values[worst]), points[worst], path, bound, exact.status, "exact", ambiguous)
    return found, bound


def _outer_bound_of(exact: ExactSet, objective: Objective) -> float | None:
    if not objective.convex:
        return None
    frame, radius = exact.outer[0].frame, exact.outer.radius
    points = np.vstack([piece.points for piece in exact.outer])
    bounds = [objective.largest_in_ball(point, radius * frame.speed, frame.half) for point in points]
    return max(bound for bound in bounds if bound is not None)


def _exact_path(exact: ExactSet, target: Vertex) -> ImpactPath | None:
    """A path that the exact checker accepts; None where the vertex is only approached."""
    from routh.exact.checker import rebuild_path, verify_path

    for statuses in exact.statuses_to(target):
        path = rebuild_path(exact.rational, target, statuses)
        if path is not None and verify_path(exact.rational, path, target):
            v = np.array([[float(x) for x in point] for point in path.v])
            impulse = np.array([[[float(x) for x in p] for p in piece] for piece in path.impulses])
            shape = (len(path.impulses), exact.problem.nc, 1 + exact.problem.nt)
            return ImpactPath(v, impulse.reshape(shape), PathKind.STRAIGHT)
    return None


def _by_filling(problem: ImpactProblem, objective: Objective, options: Options, level: int) -> WorstCase:
    """Breed samples towards the objective: along its gradient at the worst outcome, until it stays there."""
    if problem.nt == 2:
        options = {**options, "batch": _SPATIAL_ROUND}
    drawing = {name: options[name] for name in ("seed", "friction", "hypothesis")}
    count = min(_EXTREME[problem.nt], options["max_samples"])
    best = _worst_of(sample(problem, count, rates="extreme", **drawing), objective)
    start = problem.v if isinstance(objective, Linear) else None
    for _ in range(_ROUNDS):
        gradient = None if start is None else objective.gradient(start, max(problem.speed, 1e-300))
        towards = None if gradient is None or not np.any(gradient) else gradient[None]
        climbs = 0 if towards is None else options["climbs"]
        watched = _WATCHED if towards is None else towards
        filling = fill(problem, directions=watched, **{**options, "climbs": climbs})
        worst = _worst_of(filling.outcomes, objective)
        if worst is None:
            break
        grown = best is None or worst[0] > best[0] + _GROWTH * max(abs(best[0]), abs(worst[0]))
        if best is None or worst[0] > best[0]:
            best = worst
        if isinstance(objective, Linear) or not grown:
            break
        start = best[1].v[best[2]]
    bound = _energy_bound(problem, objective, options["hypothesis"], level)
    if best is None:
        return WorstCase(np.nan, np.full(problem.nv, np.nan), None, bound, Status.INCOMPLETE, "fill")
    value, outcomes, index = best
    v, path, at = outcomes.v[index], outcomes.path(index), (outcomes, index)
    return WorstCase(value, v, path, bound, Status.INCOMPLETE, "fill", sample=at)


def _worst_of(outcomes: Outcomes, objective: Objective) -> tuple[float, Outcomes, int] | None:
    """The largest value among samples that ended, and where it is."""
    ended = np.flatnonzero(outcomes.status == Status.SOLVED)
    if not len(ended):
        return None
    values = objective.values(outcomes.v[ended])
    worst = int(np.argmax(values))
    return float(values[worst]), outcomes, int(ended[worst])


def _energy_bound(problem: ImpactProblem, objective: Objective, hypothesis: str, level: int) -> float | None:
    """What energy and momentum allow, and for linear objectives the friction cones, `routh.outer_bound`.

    Impulses change only the part of the velocity that contacts see, and kinetic energy never grows, so the
    velocity after lies in a ball of the energy norm. Poisson's hypothesis can create energy: no bound.
    """
    elastic = bool(np.any(problem.restitution > 0.0))
    if elastic and hypothesis == "poisson":
        return None
    half = problem.cholesky.T
    effects = np.linalg.solve(half.T, problem.J.reshape(-1, problem.nv).T)  # of impulses, in energy units
    left, size, _ = np.linalg.svd(effects, full_matrices=False)
    basis = left[:, size > _RANK * size.max(initial=0.0)]
    moving = half @ problem.v
    inside = basis @ (basis.T @ moving)
    centre: Array = np.asarray(np.linalg.solve(half, moving - inside), dtype=np.float64)
    if not isinstance(objective, Linear):
        return objective.largest_in_ball(centre, float(np.linalg.norm(inside)), half)
    seen = basis.T @ np.linalg.solve(half.T, objective.direction)
    bound = float(objective.direction @ centre + np.linalg.norm(seen) * np.linalg.norm(inside))
    if elastic:
        return min(bound, EnergyBound(problem.replace(restitution=0.0)).elastic_bound(objective.direction))
    # in the coordinates u of what impulses can change, v = centre + span u: fewer, so several times as fast
    span = np.asarray(np.linalg.solve(half, basis), dtype=np.float64)
    own = ImpactProblem(
        np.eye(basis.shape[1]), problem.Jn @ span, problem.Jt @ span, problem.mu, basis.T @ moving
    )
    support = float(outer_bound(own, level=level).support(objective.direction @ span))
    return min(bound, float(objective.direction @ centre) + support)


@dataclass(frozen=True, eq=False)
class WorstCases(Result, Tabular):
    """The worst outcome of every row of a batch; a row that has none says so in ``status``."""

    value: Array  # (n,) the objective in the worst outcome; NaN where no outcome was found
    v: Array = field(repr=False)  # (n, nv) velocities after; NaN where there is none, and in the padding
    bound: Array = field(repr=False)  # (n,) no outcome is worse than this; infinite where nothing is proved
    # (n,) int8, see `WorstCase`; REFUSED; NO_CONTACT where nothing touches, or not what the objective names
    status: np.ndarray
    paths: tuple[ImpactPath | None, ...] = field(repr=False)
    methods: tuple[str, ...] = field(repr=False)  # "exact", "fill", or "" where nothing was to be done

    @property
    def gap(self) -> Array:
        """How much worse an outcome could still be, (n,): infinite without a bound, NaN without a value."""
        return np.where(np.isnan(self.value), np.nan, np.maximum(self.bound - self.value, 0.0))

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, row: int) -> WorstCase:
        k = integer("row", row, at_least=-len(self), at_most=len(self) - 1) % max(len(self), 1)
        bound = float(self.bound[k])
        v = self.v[k][~np.isnan(self.v[k])]
        return WorstCase(
            float(self.value[k]),
            v if len(v) else self.v[k],
            self.paths[k],
            bound if np.isfinite(bound) else None,
            Status(int(self.status[k])),
            self.methods[k],
        )

    def _columns(self) -> Mapping[str, Column]:
        meaning = ", ".join(f"{status.value} {status.name}" for status in Status)
        return {
            "value": Column(("problem",), self.value, "of the objective", "worst outcome"),
            "bound": Column(("problem",), self.bound, "of the objective", "no outcome is worse"),
            "gap": Column(("problem",), self.gap, "of the objective", "bound less value"),
            "status": Column(("problem",), self.status, "1", meaning),
            "v": Column(("problem", "velocity"), self.v, "m/s or rad/s", "generalized velocity after"),
        }


def worst_cases(batch: ImpactBatch, objective: Wanted, **options: Unpack[WorstOptions]) -> WorstCases:
    """`worst_case` of every row of a batch.

    Parameters
    ----------
    batch : the impacts.
    objective : as in `worst_case`, the same for all rows; or (n, nv), a linear function for each.
    options : of `worst_case`. Where ``method="exact"`` runs out of time a row is INCOMPLETE, without a value.
    """
    each = _per_row(batch, objective)
    found = [worst_of_row(batch, row, wanted, options) for row, wanted in enumerate(each)]
    v = np.full((len(batch), batch.nv), np.nan)
    for row, case in enumerate(found):
        v[row, : len(case.v)] = case.v
    return WorstCases(
        value=np.array([case.value for case in found]),
        v=v,
        bound=np.array([np.inf if case.bound is None else case.bound for case in found]),
        status=np.array([case.status for case in found], dtype=np.int8),
        paths=tuple(case.path for case in found),
        methods=tuple(case.method for case in found),
    )


def _per_row(batch: ImpactBatch, objective: Wanted) -> list[Wanted]:
    if isinstance(objective, (Objective, str, tuple)) or callable(objective):
        return [objective] * len(batch)
    given = np.asarray(objective, dtype=np.float64)
    if given.ndim < 2:
        return [given] * len(batch)
    if given.shape != (len(batch), batch.nv):
        raise InputError(
            "objective", got=f"shape {given.shape}", wanted=f"({batch.nv},) or ({len(batch)}, {batch.nv})"
        )
    return [row[:nv] for row, nv in zip(given, batch.size[:, 0], strict=True)]


def worst_of_row(batch: ImpactBatch, row: int, wanted: Wanted, options: WorstOptions) -> WorstCase:
    """`worst_case` of one row; a row that has none, or could not be done, says so in its status."""
    status = Status(int(batch.status[row]))
    unknown = np.full(batch.size[row, 0], np.nan)
    if status is Status.REFUSED or not len(unknown):
        return WorstCase(np.nan, unknown, None, None, status, "")
    if status is Status.NO_CONTACT:  # the velocity stays; a contact that is not there has no velocity
        v = batch.v[row, : len(unknown)]
        value = _value_at(wanted, v)
        nothing = ImpactPath(v[None], np.zeros((0, 0, 1 + batch.nt)), PathKind.STRAIGHT)
        known = not np.isnan(value)
        return WorstCase(value, v, nothing if known else None, value if known else None, status, "")
    if _is_elsewhere(batch, row, wanted):
        return WorstCase(np.nan, unknown, None, None, Status.NO_CONTACT, "")
    try:
        return worst_case(batch[row], wanted, **options)
    except CapacityError:
        return WorstCase(np.nan, unknown, None, None, Status.INCOMPLETE, "exact")


def _is_elsewhere(batch: ImpactBatch, row: int, wanted: Wanted) -> bool:
    """Whether an objective names a contact that this row does not have, but another one has."""
    named = (
        wanted[0] if isinstance(wanted, tuple) and len(wanted) == 2 and np.ndim(wanted[1]) == 1 else wanted
    )
    if isinstance(named, str):
        rows = range(len(batch))
        return named not in batch.names_of(row) and any(named in batch.names_of(k) for k in rows)
    return isinstance(named, int) and len(batch.names_of(row)) <= named < batch.nc


def _value_at(wanted: Wanted, v: Array) -> float:
    """The objective at a velocity (nv,) where nothing touches; NaN for one that names a contact."""
    if isinstance(wanted, (str, tuple)):
        return np.nan
    if not isinstance(wanted, Objective):
        wanted = Own(wanted) if callable(wanted) else Linear(np.asarray(wanted, dtype=np.float64))
    return float(wanted.values(v[None])[0])
