"""Designing for all outcomes: the landing that is least ambiguous, or whose worst case is best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from routh.models.landed import Landing
from routh.problem import ImpactProblem
from routh.progress import counted
from routh.results import Column, Drawable, Tabular
from routh.robust.candidates import Constraint, Made, Maker, Name, choices, problem_of
from routh.robust.scores import ParameterScore, make_score
from routh.robust.search import Search, Tried, by_gradient, by_search, other_starts
from routh.robust.worst import Wanted
from routh.sampling.outcomes import Outcomes
from routh.status import Status
from routh.validation import Array, choice, integer

METHODS = ("auto", "gradient", "search")
_CHECK_SEED = 0x5EED  # added to the seed: samples that the search has never seen


@dataclass(frozen=True, eq=False)
class Designed:
    """One design with its score."""

    point: dict[str, float]  # name -> value, rad (m for slides)
    made: Landing | ImpactProblem = field(repr=False)
    value: float  # with the samples of the search
    checked: float  # with more samples, of another seed: what it is worth
    violation: float  # of the constraints, in units of what they allow: kept up to 1

    @property
    def problem(self) -> ImpactProblem:
        """The impact."""
        return self.made.problem if isinstance(self.made, Landing) else self.made


@dataclass(frozen=True, eq=False)
class Design(Drawable, Tabular):
    """What a design was and has become, and everything that was tried on the way.

    ``status`` is SOLVED where the optimisers came to their end from every start, INCOMPLETE where evaluations
    ran out first, there was no slope to follow, or they gave up. Neither says that no better design exists:
    the search is local, from ``starts`` designs.
    """

    objective: str
    before: Designed
    after: Designed  # the best that keeps all constraints; the one before where none is better
    values: Array = field(repr=False)  # (k,) scores in the order of evaluation; NaN: no such landing
    points: Array = field(repr=False)  # (k, d)
    violations: Array = field(repr=False)  # (k,) kept up to 1
    by: tuple[str, ...] = field(repr=False)  # (k,) "start", "gradient" or "search"
    status: Status
    samples: tuple[int, int]  # of each evaluation, and of the check

    @property
    def evaluations(self) -> int:
        """How many designs were tried."""
        return len(self.values)

    @property
    def improved(self) -> bool:
        """Whether the best design is better than the first by samples that the search has not seen."""
        return bool(self.after.checked < self.before.checked)

    @property
    def ratio(self) -> float:
        """The checked score after over that before; NaN where that was zero."""
        return self.after.checked / self.before.checked if self.before.checked else np.nan

    def __repr__(self) -> str:
        return (
            f"Design({self.objective}: {self.before.checked:.3g} before, {self.after.checked:.3g} after, "
            f"evaluations={self.evaluations}, {self.status.name})"
        )

    def _facts(self) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = [("", "before", "after")]
        rows.append((self.objective, f"{self.before.checked:.4g}", f"{self.after.checked:.4g}"))
        after = self.after.point
        rows += [(name, f"{value:.4g}", f"{after[name]:.4g}") for name, value in self.before.point.items()]
        return rows

    def _coordinates(self) -> dict[str, object]:
        return {"parameter": list(self.before.point)}

    def _columns(self) -> dict[str, Column]:
        return {
            "value": Column(("evaluation",), self.values, "of the objective", "NaN: no such landing"),
            "violation": Column(("evaluation",), self.violations, "1", "of the constraints; kept up to 1"),
            "point": Column(("evaluation", "parameter"), self.points, "rad or m", "what was tried"),
        }


def design(
    landing: Landing | Maker,
    objective: str | Callable[[Outcomes], float] = "ambiguity",
    *,
    over: Mapping[Name, tuple[float, float]],
    constraints: Sequence[Constraint] = (),
    of: Wanted | None = None,
    start: Mapping[Name, float] | None = None,
    method: str = "auto",
    starts: int = 1,
    evaluations: int = 200,
    n: int = 256,
    check: int = 4096,
    seed: int = 0,
) -> Design:
    """The landing that is least ambiguous, or whose worst case is best. Notebooks show a bar meanwhile.

    Parameters
    ----------
    landing : of `routh.models.landing` for MuJoCo; it is made again in other postures with the same model,
        speed, window and restitution. Or a function of the names in ``over`` that returns a landing or an
        `ImpactProblem`, or None where there is none.
    objective : "ambiguity" (`Outcomes.ambiguity`); "worst_case" (`routh.robust.worst_case` of ``of``; without
        it the largest share of the kinetic energy that an outcome keeps); or a function of your own of the
        sampled `Outcomes`. "tipping" is the worst ratio of `routh.robust.tipping`, of a function that returns
        `routh.robust.standing_problem` of landings; "smallest NAME" and "largest NAME" are one of the names
        in ``over``, with constraints such as `routh.robust.no_tipping`. Smaller is better; the score of the
        largest is less the number.
    over : a joint's name, "roll", "pitch" or "yaw" -> (low, high), rad (m for slides). A tuple of names moves
        together.
    constraints : `Constraint`; `same_feet(landing)` keeps the feet where they are.
    start : where to begin; by default the landing's own posture, for a function the middle of the bounds.
    method : "gradient" (SLSQP with slopes of the samples: `Outcomes.vjp`, `routh.robust.sensitivity`),
        "search" (COBYQA, without slopes), or "auto": gradients where they exist, then search.
    starts : how many designs to begin with: the first, and others spread over the bounds.
    evaluations : how many designs may be tried in all.
    n, seed : samples of each evaluation, the same for all.
    check : samples, of another seed, by which the first and the best design are judged in the end.

    Returns
    -------
    Design : before and after, every evaluation, whether the search came to its end.
    """
    choice("method", method, METHODS)
    count = integer("starts", starts, at_least=1)
    most = integer("evaluations", evaluations, at_least=2)
    score = make_score(
        objective, of, integer("n", n, at_least=2), integer("seed", seed, at_least=0, at_most=2**63)
    )
    able = choices(landing, over, start)
    search = Search(able, score, tuple(constraints), most)
    with counted(most, "designs at most") as search.watch:
        first = search.begin()
        begins, ended = [able.share(able.start), *other_starts(search, count - 1, seed)], True
        for k, u in enumerate(begins):
            search.most = most * (k + 1) // len(begins)
            _follow(search, u, method)
            ended = ended and search.ended
    best = search.best() or first
    other = score.again(integer("check", check, at_least=2), seed + _CHECK_SEED)

    def designed(one: Tried) -> Designed:
        made: Made = able.make(one.x)
        problem = problem_of(made)
        assert made is not None
        assert problem is not None
        point = dict(zip(able.names, map(float, one.x), strict=True))
        checked = one.value if isinstance(other, ParameterScore) else other.value(problem)
        return Designed(point, made, one.value, checked, one.violation)

    return Design(
        objective if isinstance(objective, str) else getattr(objective, "__name__", "objective"),
        designed(first),
        designed(best),
        np.array([one.value for one in search.tried]),
        np.array([one.x for one in search.tried]),
        np.array([one.violation for one in search.tried]),
        tuple(one.by for one in search.tried),
        Status.SOLVED if ended else Status.INCOMPLETE,
        (n, check),
    )


def _follow(search: Search, u: Array, method: str) -> None:
    """From one beginning: gradients, then a search from where they came to."""
    before = len(search.tried)
    if method != "search":
        search.run(by_gradient, u, "gradient")
    if method != "gradient":
        own = [one for one in search.tried[before:] if one.violation <= 1.0 and np.isfinite(one.value)]
        at = search.choices.share(min(own, key=lambda one: one.value).x) if own else u
        search.run(by_search, at, "search")
