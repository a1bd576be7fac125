"""Audit of laws: which of them answer an impact with one of its outcomes, and which leave the set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from routh import laws, tolerances
from routh.auditing.membership import Audit, audit
from routh.laws.base import ImpactResult
from routh.paths import PathKind
from routh.problem import ImpactProblem
from routh.results import Drawable
from routh.sampling.outcomes import Outcomes
from routh.sampling.sampler import sample
from routh.sampling.straight import path_residual
from routh.status import Status
from routh.validation import Options, choice

#: Share of the speed before: an answer that is farther from every outcome found counts as outside.
FAR = 0.01

#: Answers that a law stands by, though it may have gained energy.
ANSWERS = (Status.SOLVED, Status.ENERGY_GAINED)


@dataclass(frozen=True, eq=False)
class LawAnswer:
    """What one law says of an impact, and where that lies."""

    law: str  # its name in `routh.laws.LAWS`
    result: ImpactResult | None = field(repr=False)  # None where it cannot be asked
    audit: Audit | None = field(repr=False)  # None without an answer
    why: str = ""  # why there is none

    proved: bool = False  # whether its path was checked to be a solution

    @property
    def outside(self) -> bool:
        """Whether its answer breaks a law of impact or is farther than `FAR` from every outcome found."""
        if self.audit is None or self.proved:
            return False
        return bool(self.audit.broken) or not self.audit.distance <= max(FAR, self.audit.resolution)

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.audit is None:
            return self.why
        return "is an outcome: its path is a solution" if self.proved else self.audit.verdict


@dataclass(frozen=True, eq=False)
class LawAudit(Drawable):
    """The answers of laws to one impact, and the sampled set beside which they stand."""

    outcomes: Outcomes = field(repr=False)
    answers: tuple[LawAnswer, ...]

    @property
    def problem(self) -> ImpactProblem:
        """The impact."""
        return self.outcomes.problem

    @property
    def outside(self) -> tuple[str, ...]:
        """Laws whose answer is no outcome."""
        return tuple(one.law for one in self.answers if one.outside)

    def _facts(self) -> list[tuple[object, ...]]:
        return [("law", "its answer"), *((one.law, one.verdict) for one in self.answers)]


def audit_laws(
    problem: ImpactProblem,
    names: Sequence[str] | None = None,
    *,
    n: int = 4096,
    seed: int = 0,
    friction: str = "cone",
    refine: int = 256,
    budget: float | None = None,
) -> LawAudit:
    """Ask laws (names in `routh.laws.LAWS`; default: all with one answer to this) and audit what they say.

    The set is that of ``n`` samples, energetic where the problem has restitution; `routh.audit` says what
    ``refine`` and ``budget`` (seconds, for drawing and for each answer) are. ``friction`` is that of the set
    and of laws that know both. A law that is named and cannot take the problem says why.
    """
    known = tuple(laws.LAWS)
    asked = [name for name in known if name != "set-valued"] if names is None else list(names)
    chosen = {name: laws.named(choice("law", name, known), friction=friction) for name in asked}
    limit: Options = {} if budget is None else {"budget": budget}
    outcomes = sample(problem, n, seed=seed, friction=friction, **limit)
    answers = []
    for name, law in chosen.items():
        try:
            law.check(problem)
        except ValueError as error:
            if names is not None:
                answers.append(LawAnswer(name, None, None, f"cannot be asked: {error}"))
            continue
        result = law(problem)
        if result.status not in ANSWERS:
            answers.append(LawAnswer(name, result, None, f"no answer: {result.status.sentence}"))
            continue
        found = audit(problem, result.v, outcomes=outcomes, refine=refine, budget=budget)
        straight = result.path.kind is PathKind.STRAIGHT
        proved = straight and path_residual(problem, result.path) < 10.0 * tolerances.RESIDUAL
        answers.append(LawAnswer(name, result, found, proved=proved))
    return LawAudit(outcomes, tuple(answers))
