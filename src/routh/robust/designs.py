"""Designing for all outcomes: the landing that is least ambiguous, or whose worst case is best.

`design` is the front door and comes last. Before it stand the search, SciPy's optimisers on a score with
every evaluation written down (`Search`), and what it finds (`Design`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

from routh.base.progress import counted
from routh.base.results import Column, Drawable, Tabular
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, choice, integer
from routh.models.landings import Landing
from routh.problem.impact import ImpactProblem
from routh.robust.candidates import Choices, Constraint, Made, Maker, Name, problem_of
from routh.robust.design_scores import ParameterScore, Score, make_score
from routh.robust.least import least_share
from routh.robust.worst import Wanted
from routh.sampling.outcomes import Outcomes

METHODS = ("auto", "gradient", "search", "bisection")
_CHECK_SEED = 0x5EED  # added to the seed: samples that the search has never seen
_ROUNDS = 12  # of Newton's method onto the constraints
_CHORDS = 3  # rounds with one Jacobian
_EXACT = 1e-3  # share of what a constraint allows to which it is met then
_RANK = 1e-6  # singular values below this share of the largest are none: feet of one robot move together
_STEP = 1e-4  # share of a range: step of differences of models (their distances are known to 1e-6 m)
_DRAWN = 20  # designs looked at for each one to begin with
_FAR = 1e3  # value of a constraint where there is no landing
_ASKED = 40  # designs that are asked whether they surely keep the constraints, the best first
_RADIUS = 0.2, 1e-3  # share of the ranges: trust region of the derivative-free method, first and last


class _SpentError(Exception):
    """No more evaluations are allowed."""


class _NoSlopeError(Exception):
    """The score has no derivative where the optimiser asks for one."""


@dataclass(frozen=True, eq=False)
class Tried:
    """One design that was tried."""

    x: Array  # (d,)
    value: float  # NaN where there is no such landing
    violation: float  # of all constraints, in units of what they allow: kept up to 1
    by: str  # "start", "gradient", "search" or "bisection"


@dataclass
class Search:
    """Evaluations of one design, at most ``most``."""

    choices: Choices
    score: Score | ParameterScore
    constraints: Sequence[Constraint]
    most: int
    tried: list[Tried] = field(default_factory=list)
    by: str = "start"
    watch: Callable[[int], None] = lambda done: None  # called with how many designs were tried

    def __post_init__(self) -> None:
        self._made: dict[bytes, Made] = {}
        self._values: dict[bytes, float] = {}
        self._moved: dict[bytes, Array] = {}
        self.bad = np.inf  # what the optimiser is told where there is no landing; set by the first value
        self.ended = True  # whether the last optimiser came to its end
        self.sizes: dict[Constraint, int] = {}
        self.held = [constraint for constraint in self.constraints if constraint.low == constraint.high]
        self.left = [constraint for constraint in self.constraints if constraint.low != constraint.high]

    def made(self, u: Array) -> Made:
        """The landing at shares of the ranges; the last few hundred are kept."""
        key = np.asarray(u, dtype=np.float64).tobytes()
        if key not in self._made:
            if len(self._made) > 400:
                self._made.clear()
            self._made[key] = self.choices.make(self.choices.at(u))
        return self._made[key]

    def begin(self) -> Tried:
        """The design that it begins with; refuses one that is no landing."""
        u = self.choices.share(self.choices.start)
        made = self.made(u)
        if made is None:
            raise InputError(
                "landing", wrong="the design begins where nothing lands", wanted="a landing to begin with"
            )
        self.sizes = {constraint: len(constraint.values(made)) for constraint in self.constraints}
        first = self.tell(u)
        if not np.isfinite(first):
            raise InputError("objective", got=f"{first:g} where the design begins", wanted="a finite number")
        self.bad = first + 10.0 * max(abs(first), 1.0)
        return self.tried[0]

    def tell(self, u: Array) -> float:
        """The score of one design, moved onto the constraints; NaN where there is none."""
        key = np.asarray(u, dtype=np.float64).tobytes()
        if key in self._values:
            return self._values[key]
        if len(self.tried) >= self.most:
            raise _SpentError
        at = self.on_constraints(u)
        made = self.made(at)
        value, violation = np.nan, np.inf
        if made is not None:
            value = self.value(made, self.choices.at(at))
            violation = max((constraint.violation(made) for constraint in self.constraints), default=0.0)
        self.tried.append(Tried(self.choices.at(at), value, violation, self.by))
        self.watch(len(self.tried))
        self._values[key] = value if violation <= 1.0 or not self.held else np.nan
        return self._values[key]

    def value(self, made: Landing | ImpactProblem, x: Array) -> float:
        """The score of what choices (d,) make."""
        if isinstance(self.score, ParameterScore):
            name = choice("objective", self.score.name, self.choices.names)
            return self.score.sign * float(x[self.choices.names.index(name)])
        return self.score.value(made.problem if isinstance(made, Landing) else made)

    def on_constraints(self, u: Array) -> Array:
        """The nearest design, to first order, that meets the constraints that are equations."""
        if not self.held:
            return u
        key = np.asarray(u, dtype=np.float64).tobytes()
        if key not in self._moved:  # optimisers ask about the same few designs again and again
            self._moved[key] = self._onto(u)
        return self._moved[key].copy()

    def _onto(self, u: Array) -> Array:
        at: Array = np.clip(u, 0.0, 1.0)
        back: Array = np.empty((0, 0))
        sizes = [self.sizes[constraint] for constraint in self.held]
        wanted = np.repeat([constraint.low for constraint in self.held], sizes)
        allowed = np.repeat([constraint.within for constraint in self.held], sizes)
        for k in range(_ROUNDS):
            missed = self._of(at, self.held) - wanted
            off = float(np.max(np.abs(missed) / allowed))
            if off <= _EXACT or not off < _FAR / allowed.min():
                break
            if k % _CHORDS == 0:
                back = np.asarray(np.linalg.pinv(self._differences(at, self.held), rcond=_RANK))
            at = np.clip(at - back @ missed, 0.0, 1.0)
        return at

    def _of(self, u: Array, some: Sequence[Constraint]) -> Array:
        """Values of some constraints, in their own units, (k,)."""
        posture = self.choices.posture
        if posture is not None and all(constraint.of_posture is not None for constraint in some):
            qpos = posture(self.choices.at(u))
            return np.concatenate([np.atleast_1d(c.of_posture(qpos)) for c in some if c.of_posture])
        made = self.made(u)
        if made is None:
            return np.full(sum(self.sizes[constraint] for constraint in some), _FAR)
        return np.concatenate([constraint.values(made) for constraint in some])

    def _differences(self, u: Array, some: Sequence[Constraint]) -> Array:
        """Slopes of some constraints by differences within the ranges, (k, d)."""
        columns = []
        for k, step in enumerate(_STEP * np.eye(len(u))):
            above, below = np.clip(u + step, 0.0, 1.0), np.clip(u - step, 0.0, 1.0)
            columns.append((self._of(above, some) - self._of(below, some)) / (above[k] - below[k]))
        return np.stack(columns, axis=1)

    def objective(self, u: Array) -> float:
        """The objective for an optimiser: finite everywhere."""
        value = self.tell(u)
        return value if np.isfinite(value) else self.bad

    def slope(self, u: Array) -> Array:
        """Slope of `tell` by shares of ranges, (d,): the problem's slopes chained with its differences."""
        u = self.on_constraints(u)
        made = problem_of(self.made(u))
        if made is None:
            raise _NoSlopeError
        if isinstance(self.score, ParameterScore):
            own = np.array([name == self.score.name for name in self.choices.names])
            return np.where(own, self.score.sign * (self.choices.high - self.choices.low), 0.0)
        slopes = self.score.slopes(made)
        if slopes is None:
            raise _NoSlopeError
        found = np.empty(len(u))
        for k, step in enumerate(_STEP * np.eye(len(u))):
            above, below = problem_of(self.made(u + step)), problem_of(self.made(u - step))
            if not (_alike(made, above) and _alike(made, below)):
                raise _NoSlopeError
            width = np.clip(u + step, 0.0, 1.0)[k] - np.clip(u - step, 0.0, 1.0)[k]
            changes = {name: getattr(above, name) - getattr(below, name) for name in slopes}
            found[k] = sum(float(np.sum(slopes[name] * changes[name])) for name in slopes) / width
        if self.held:  # moving onto the constraints undoes what leaves them
            across = self._differences(u, self.held)
            found = found - np.linalg.pinv(across, rcond=_RANK) @ across @ found
        return found

    def known(self) -> list[NonlinearConstraint]:
        """The constraints that are no equations, for SciPy."""
        if not self.left:
            return []
        sizes = [self.sizes[c] for c in self.left]
        return [
            NonlinearConstraint(
                lambda u: self._of(self.on_constraints(u), self.left),
                np.repeat([c.low for c in self.left], sizes),
                np.repeat([c.high for c in self.left], sizes),
                jac=lambda u: self._differences(u, self.left),
            )
        ]

    def run(self, u: Array, by: str) -> None:
        """One run of an optimiser; it stops at the latest when the evaluations are spent.

        By "gradient": sequential quadratic programs (SLSQP), which stop where a slope does not exist. By
        "search": quadratic models of the score in a trust region, without slopes (COBYQA, Ragonneau and
        Zhang).
        """
        self.by, self.ended = by, False
        first, last = _RADIUS
        region: Options = {"initial_tr_radius": first, "final_tr_radius": last, "maxfev": self.most}
        how: Options = {"method": "COBYQA", "options": region}
        if by == "gradient":
            how = {"method": "SLSQP", "jac": self.slope, "options": {"maxiter": self.most, "ftol": 1e-8}}
        limits: Options = {"bounds": [(0.0, 1.0)] * len(u), "constraints": self.known()}
        with suppress(_SpentError, _NoSlopeError):
            self.ended = bool(minimize(self.objective, u, **how, **limits).success)

    def best(self, since: int = 0) -> Tried | None:
        """The least score of those tried since then that keep all constraints; None where none does."""
        kept = [one for one in self.tried[since:] if one.violation <= 1.0 and np.isfinite(one.value)]
        return min(kept, key=lambda one: one.value) if kept else None


def _alike(a: ImpactProblem, b: ImpactProblem | None) -> bool:
    return b is not None and a.names == b.names and a.Jt.shape == b.Jt.shape


def other_starts(search: Search, count: int, seed: int) -> list[Array]:
    """Designs to begin with beside the given one, spread over the ranges and on the constraints."""
    found: list[Array] = []
    if count < 1:
        return found
    from scipy.stats import qmc  # half a second, and only several starts need it

    for u in qmc.Halton(len(search.choices.names), seed=seed).random(_DRAWN * count):
        at = search.on_constraints(u)
        made = search.made(at)
        if made is not None and all(constraint.violation(made) <= 1.0 for constraint in search.held):
            found.append(at)
        if len(found) == count:
            break
    return found


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
        """The impact of this design."""
        return self.made.problem if isinstance(self.made, Landing) else self.made


@dataclass(frozen=True, eq=False)
class Design(Drawable, Tabular):
    """What a design was and has become, and everything that was tried on the way.

    ``status`` is SOLVED where the optimisers came to their end from every start and the design keeps its
    constraints with other samples, too; INCOMPLETE for a ``reason``. Neither says that no better design
    exists: the search is local, from ``starts`` designs.
    """

    objective: str
    before: Designed
    after: Designed  # the best that surely keeps all constraints; the one before where none does
    values: Array = field(repr=False)  # (k,) scores in the order of evaluation; NaN: no such landing
    points: Array = field(repr=False)  # (k, d)
    violations: Array = field(repr=False)  # (k,) kept up to 1
    by: tuple[str, ...] = field(repr=False)  # (k,) "start", "gradient", "search" or "bisection"
    status: Status
    n: tuple[int, int]  # of each evaluation, and of the check
    reason: str = ""  # why the status is not SOLVED

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
            f"evaluations={self.evaluations}, {self.status.name}{': ' if self.reason else ''}{self.reason})"
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
    of : the objective of "worst_case".
    over : a joint's name, "roll", "pitch" or "yaw" -> (low, high), rad (m for slides). A tuple of names moves
        together.
    constraints : `Constraint`; `same_feet(landing)` keeps the feet where they are.
    start : where to begin; by default the landing's own posture, for a function the middle of the bounds.
    method : "gradient" (SLSQP with slopes of the samples: `Outcomes.vjp`, `routh.robust.sensitivity`),
        "search" (COBYQA, without slopes), "bisection" (of one number, which is itself the objective), or
        "auto": bisection where that is so, else gradients where they exist, then search.
    starts : how many designs to begin with: the first, and others spread over the bounds.
    evaluations : how many designs may be tried in all.
    n : samples of each evaluation.
    seed : of these samples, the same in every evaluation.
    check : samples, of another seed, by which the first and the best design are judged in the end.

    Returns
    -------
    Design
        Before and after, every evaluation, whether the search came to its end.
    """
    how = choice("method", method, METHODS)
    count = integer("starts", starts, at_least=1)
    most = integer("evaluations", evaluations, at_least=2)
    score = make_score(
        objective, of, integer("n", n, at_least=2), integer("seed", seed, at_least=0, at_most=2**63)
    )
    able = Choices(landing, over, start)
    search = Search(able, score, tuple(constraints), most)
    with counted(most, "designs at most") as search.watch:
        first = search.begin()
        begins, ended = [able.share(able.start), *other_starts(search, count - 1, seed)], True
        alone = isinstance(score, ParameterScore) and len(able.names) == 1 and not search.held
        if how == "bisection" and not alone:
            raise InputError("method", got="'bisection'", wanted="one name in over, which is the objective")
        if alone and constraints and how in ("auto", "bisection"):
            ended = _bisect(search)
        else:
            for k, u in enumerate(begins):
                search.most = most * (k + 1) // len(begins)
                _follow(search, u, how)
                ended = ended and search.ended
    best, sure = _surest(search, first)
    spent = len(search.tried) >= search.most
    reasons = {
        "no design that was tried surely keeps the constraints": not sure,
        "the evaluations ran out": not ended and spent,
        "the optimiser gave up or had no slope to follow": not ended and not spent,
    }
    reason = next((why for why, so in reasons.items() if so), "")
    search.score = make_score(objective, of, integer("check", check, at_least=2), seed + _CHECK_SEED)

    def designed(one: Tried) -> Designed:
        made = able.make(one.x)
        assert made is not None
        point = dict(zip(able.names, map(float, one.x), strict=True))
        return Designed(point, made, one.value, search.value(made, one.x), one.violation)

    return Design(
        objective if isinstance(objective, str) else getattr(objective, "__name__", "objective"),
        designed(first),
        designed(best),
        np.array([one.value for one in search.tried]),
        np.array([one.x for one in search.tried]),
        np.array([one.violation for one in search.tried]),
        tuple(one.by for one in search.tried),
        Status.INCOMPLETE if reason else Status.SOLVED,
        (n, check),
        reason,
    )


def _bisect(search: Search) -> bool:
    """The least (or largest) number from which on the constraints surely hold; whether it came to its end."""
    search.by = "bisection"
    upwards = isinstance(search.score, ParameterScore) and search.score.sign < 0.0

    def holds(share: float) -> bool:
        u = np.array([1.0 - share if upwards else share])
        search.tell(u)
        made, x = search.made(u), search.choices.at(u)
        if made is not None and all(constraint.is_sure(made) for constraint in search.constraints):
            return True
        for k, one in enumerate(search.tried):
            if np.array_equal(one.x, x):
                search.tried[k] = replace(one, violation=np.inf)
        return False

    with suppress(_SpentError):
        return least_share(holds) is not None
    return False


def _surest(search: Search, first: Tried) -> tuple[Tried, bool]:
    """The least score of those tried that keep the constraints with other samples; else the first one."""
    kept = [one for one in search.tried if one.violation <= 1.0 and np.isfinite(one.value)]
    for one in sorted(kept, key=lambda one: one.value)[:_ASKED]:
        made = search.choices.make(one.x)
        if made is not None and all(constraint.is_sure(made) for constraint in search.constraints):
            return one, True
    return first, False


def _follow(search: Search, u: Array, method: str) -> None:
    """Follow gradients from one beginning, then search from where they came to."""
    before = len(search.tried)
    if method != "search":
        search.run(u, "gradient")
    if method != "gradient":
        best = search.best(since=before)
        search.run(u if best is None else search.choices.share(best.x), "search")
