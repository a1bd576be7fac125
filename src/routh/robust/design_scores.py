"""What a design makes small: a number for an impact, and its slope where there is one.

Samples are common to all designs: as many of the same seed for each, so that designs differ by what they do
and not by what was drawn. Slopes hold the decisions of the samples, see `routh.Outcomes.vjp`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from routh.base.status import CapacityError, InputError, Status
from routh.base.validation import Array, choice
from routh.problem.impact import ImpactProblem
from routh.robust.feet import standing, tipping_ratio
from routh.robust.objectives import Quadratic
from routh.robust.sensitivities import NoOutcomeError, sensitivity
from routh.robust.worst import Wanted, worst_case
from routh.sampling import sample
from routh.sampling.ambiguity import measure_ambiguity
from routh.sampling.events import select
from routh.sampling.outcomes import Outcomes

Slopes = dict[str, Array]  # field of the problem -> derivative, shaped like the field
_FIELDS = ("v", "M", "Jn", "Jt", "mu")


@dataclass(frozen=True)
class Score(ABC):
    """A number for an impact, the smaller the better."""

    @abstractmethod
    def value(self, problem: ImpactProblem) -> float:
        """The score of an impact; NaN where no sample ended."""

    def slopes(self, problem: ImpactProblem) -> Slopes | None:
        """Derivatives by the problem's fields; None where there is none."""
        return None


@dataclass(frozen=True)
class AmbiguityScore(Score):
    """The diameter of the sampled outcomes over the speed before."""

    n: int
    seed: int

    def value(self, problem: ImpactProblem) -> float:
        """The ambiguity of an impact; 0 where nothing approaches: there is one outcome."""
        return 0.0 if not np.any(problem.approaching) else sample(problem, self.n, seed=self.seed).ambiguity

    def slopes(self, problem: ImpactProblem) -> Slopes | None:
        """Slopes of the distance of the two samples farthest apart: ``|v_i - v_j|_M / |v|_M``."""
        outcomes = sample(problem, self.n, seed=self.seed)
        found = measure_ambiguity(outcomes)
        if not found.diameter > 0.0:
            return None
        pair = select(outcomes, found.pair)
        apart = pair.v[0] - pair.v[1]
        speed = problem.speed
        pull = problem.M @ apart / (found.diameter * speed)
        parts = pair.vjp(np.array([pull, -pull]))
        slopes = {name: parts[name].sum(axis=0) for name in _FIELDS}
        slopes["v"] = slopes["v"] - found.score / speed**2 * (problem.M @ problem.v)
        slopes["M"] = slopes["M"] + 0.5 * (
            np.outer(apart, apart) / (found.diameter * speed)
            - found.score / speed**2 * np.outer(problem.v, problem.v)
        )
        return slopes if all(np.isfinite(part).all() for part in slopes.values()) else None


@dataclass(frozen=True)
class WorstScore(Score):
    """The worst of an objective over all outcomes; without one, the kinetic energy kept, as a share."""

    of: Wanted | None
    n: int
    seed: int

    def value(self, problem: ImpactProblem) -> float:
        """See `worst_case`; NaN where there is no energy of which a share could be kept."""
        if self.of is None and not problem.speed > 0.0:
            return np.nan
        return worst_case(problem, self._wanted(problem), max_samples=self.n, seed=self.seed).value

    def slopes(self, problem: ImpactProblem) -> Slopes | None:
        """See `sensitivity`."""
        try:
            found = sensitivity(problem, self._wanted(problem), max_samples=self.n, seed=self.seed)
        except (NoOutcomeError, CapacityError):
            return None
        slopes = {name: np.array(found.gradient[name]) for name in _FIELDS}
        if self.of is None:  # the objective itself depends on the mass and on the velocity before
            square, after = problem.speed**2, found.worst.v
            share = found.value / square
            slopes["M"] += np.outer(after, after) / square - share * np.outer(problem.v, problem.v)
            slopes["v"] -= 2.0 * share * (problem.M @ problem.v)
        return slopes

    def _wanted(self, problem: ImpactProblem) -> Wanted:
        return Quadratic(problem.M / problem.speed**2) if self.of is None else self.of


@dataclass(frozen=True)
class TippingScore(Score):
    """The worst rate about an edge of the support over the critical one."""

    n: int
    seed: int

    def value(self, problem: ImpactProblem) -> float:
        """See `routh.robust.feet.tipping_ratio`."""
        return tipping_ratio(sample(standing(problem), self.n, rates="extreme", seed=self.seed))

    def slopes(self, problem: ImpactProblem) -> Slopes | None:
        """Slopes of the worst sample, its decisions held, and of the edge itself."""
        known = standing(problem)
        outcomes = sample(known, self.n, rates="extreme", seed=self.seed)
        ended = outcomes.status == Status.SOLVED
        ratios = np.where(ended[:, None], known.support.ratios(outcomes.v), -np.inf)
        row, edge = map(int, np.unravel_index(int(np.argmax(ratios)), ratios.shape))
        if not np.isfinite(ratios[row, edge]):
            return None
        worst = select(outcomes, (row,))
        parts = worst.vjp(known.edge_rates[edge])
        slopes = {name: np.array(parts[name][0]) for name in _FIELDS}
        slopes["edge_rates"] = np.zeros_like(known.edge_rates)
        slopes["edge_rates"][edge] = worst.v[0]
        return slopes if all(np.isfinite(part).all() for part in slopes.values()) else None


@dataclass(frozen=True)
class ParameterScore:
    """One of the chosen numbers itself: what is made small or large while constraints hold."""

    name: str
    sign: float  # 1: the smallest, -1: the largest


@dataclass(frozen=True)
class OwnScore(Score):
    """A function of one's own of the sampled outcomes."""

    function: Callable[[Outcomes], float]
    n: int
    seed: int

    def value(self, problem: ImpactProblem) -> float:
        """The function's value, whatever it is."""
        return float(self.function(sample(problem, self.n, seed=self.seed)))


def make_score(
    objective: str | Callable[[Outcomes], float], of: Wanted | None, n: int, seed: int
) -> Score | ParameterScore:
    """The score that an objective's name, or a function, stands for."""
    if callable(objective):
        if of is not None:
            raise InputError(
                "of", wrong="given together with a function of your own; it is for 'worst_case' only"
            )
        return OwnScore(objective, n, seed)
    word, _, name = objective.partition(" ")
    if name and word in ("smallest", "largest"):
        return ParameterScore(name, 1.0 if word == "smallest" else -1.0)
    known = ("ambiguity", "worst_case", "tipping", "smallest NAME", "largest NAME")
    if choice("objective", objective, known[:3]) == "worst_case":
        return WorstScore(of, n, seed)
    if objective == "tipping" and of is None:
        return TippingScore(n, seed)
    if of is not None:
        raise InputError("of", wrong="given together with 'ambiguity'; it is for 'worst_case' only")
    return AmbiguityScore(n, seed)
