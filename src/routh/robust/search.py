"""The search of a design: SciPy's optimisers on a score, every evaluation written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

from routh.problem import ImpactProblem
from routh.robust.candidates import Choices, Constraint, Made, problem_of
from routh.robust.scores import ParameterScore, Score
from routh.validation import Array

_ROUNDS = 12  # of Newton's method onto the constraints
_CHORDS = 3  # rounds with one Jacobian
_EXACT = 1e-3  # share of what a constraint allows to which it is met then
_RANK = 1e-6  # singular values below this share of the largest are none: feet of one robot move together
_STEP = 1e-4  # share of a range: step of differences of models (their distances are known to 1e-6 m)
_DRAWN = 20  # designs looked at for each one to begin with
_FAR = 1e3  # value of a constraint where there is no landing
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
    by: str  # "start", "gradient" or "search"


@dataclass
class Search:
    """Evaluations of one design, at most ``most``."""

    choices: Choices
    score: Score
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
            raise ValueError("landing: the design begins where nothing lands; wanted a landing to begin with")
        self.sizes = {constraint: len(constraint.values(made)) for constraint in self.constraints}
        first = self.tell(u)
        if not np.isfinite(first):
            raise ValueError(f"objective: got {first:g} where the design begins; wanted a finite number")
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
        problem = problem_of(made)
        value = np.nan if problem is None else self.value(problem, self.choices.at(at))
        violation = np.inf
        if made is not None:
            violation = max((constraint.violation(made) for constraint in self.constraints), default=0.0)
        self.tried.append(Tried(self.choices.at(at), value, violation, self.by))
        self.watch(len(self.tried))
        self._values[key] = value if violation <= 1.0 or not self.held else np.nan
        return self._values[key]

    def value(self, problem: ImpactProblem, x: Array) -> float:
        """The score of an impact that choices (d,) make."""
        if isinstance(self.score, ParameterScore):
            return self.score.of_choice(dict(zip(self.choices.names, map(float, x), strict=True)))
        return self.score.value(problem)

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
        for k in range(_ROUNDS):
            off = self._off(at)
            if off <= _EXACT or not off < _FAR / min(constraint.within for constraint in self.held):
                break
            if k % _CHORDS == 0:
                back = np.asarray(np.linalg.pinv(self._differences(at, self.held), rcond=_RANK))
            at = np.clip(at - back @ (self._of(at, self.held) - self._wanted(self.held)), 0.0, 1.0)
        return at

    def _off(self, u: Array) -> float:
        """How far the equations are from being met, in units of what they allow."""
        off = np.abs(self._of(u, self.held) - self._wanted(self.held))
        return float(
            np.max(off / np.repeat([c.within for c in self.held], [self.sizes[c] for c in self.held]))
        )

    def _wanted(self, some: Sequence[Constraint]) -> Array:
        return np.concatenate([np.full(self.sizes[constraint], constraint.low) for constraint in some])

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
        """For an optimiser: finite everywhere."""
        value = self.tell(u)
        return value if np.isfinite(value) else self.bad

    def slope(self, u: Array) -> Array | None:
        """Of `tell` by shares of the ranges, (d,): the problem's slopes, chained with its differences."""
        u = self.on_constraints(u)
        made = problem_of(self.made(u))
        if made is None:
            return None
        if isinstance(self.score, ParameterScore):
            own = np.array([name == self.score.name for name in self.choices.names])
            return np.where(own, self.score.sign * (self.choices.high - self.choices.low), 0.0)
        slopes = self.score.slopes(made)
        if slopes is None:
            return None
        found = np.empty(len(u))
        for k, step in enumerate(_STEP * np.eye(len(u))):
            above, below = problem_of(self.made(u + step)), problem_of(self.made(u - step))
            if not (_alike(made, above) and _alike(made, below)):
                return None
            width = np.clip(u + step, 0.0, 1.0)[k] - np.clip(u - step, 0.0, 1.0)[k]
            found[k] = sum(
                float(np.sum(slope * (getattr(above, name) - getattr(below, name))))
                for name, slope in slopes.items()
            )
            found[k] /= width
        if self.held:  # moving onto the constraints undoes what leaves them
            across = self._differences(u, self.held)
            found = found - np.linalg.pinv(across, rcond=_RANK) @ across @ found
        return found

    def known(self) -> list[NonlinearConstraint]:
        """The constraints that are no equations, for SciPy."""
        if not self.left:
            return []
        low = [np.full(self.sizes[constraint], constraint.low) for constraint in self.left]
        high = [np.full(self.sizes[constraint], constraint.high) for constraint in self.left]
        return [
            NonlinearConstraint(
                lambda u: self._of(self.on_constraints(u), self.left),
                np.concatenate(low),
                np.concatenate(high),
                jac=lambda u: self._differences(u, self.left),
            )
        ]

    def run(self, how: Callable[[Search, Array], bool], u: Array, by: str) -> None:
        """One run of an optimiser; it stops at the latest when the evaluations are spent."""
        self.by, self.ended = by, False
        with suppress(_SpentError, _NoSlopeError):
            self.ended = how(self, u)

    def best(self) -> Tried | None:
        """The design with the least score of those that keep all constraints; None where none does."""
        kept = [one for one in self.tried if one.violation <= 1.0 and np.isfinite(one.value)]
        return min(kept, key=lambda one: one.value) if kept else None


def _alike(a: ImpactProblem, b: ImpactProblem | None) -> bool:
    return b is not None and a.names == b.names and a.Jt.shape == b.Jt.shape


def by_gradient(search: Search, u: Array) -> bool:
    """Sequential quadratic programs (SLSQP); whether they converged. Stops where a slope does not exist."""

    def slope(at: Array) -> Array:
        found = search.slope(at)
        if found is None:
            raise _NoSlopeError
        return found

    found = minimize(
        search.objective,
        u,
        jac=slope,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(u),
        constraints=search.known(),
        options={"maxiter": search.most, "ftol": 1e-8},
    )
    return bool(found.success)


def by_search(search: Search, u: Array) -> bool:
    """Quadratic models of the score in a trust region, without slopes (COBYQA, Ragonneau and Zhang).

    Whether they converged.
    """
    first, last = _RADIUS
    found = minimize(
        search.objective,
        u,
        method="COBYQA",
        bounds=[(0.0, 1.0)] * len(u),
        constraints=search.known(),
        options={"initial_tr_radius": first, "final_tr_radius": last, "maxfev": search.most},
    )
    return bool(found.success)


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
