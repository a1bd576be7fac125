"""One impact by its set of outcomes and by the classical laws.

`compare` has what a contact-velocity figure shows: the set, the ways there, and what other laws say.
`audit_laws` says which laws answer with one of the outcomes, and which leave the set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Unpack

import numpy as np

from routh import laws
from routh.auditing.membership import IN, Audit, audit
from routh.base import tolerances
from routh.base.results import Column, Drawable, PathKind, Result, Tabular, worst_status
from routh.base.status import CapacityError, Status
from routh.base.validation import Array, Options, choice
from routh.laws import Sequential, Simultaneous
from routh.laws.base import ImpactResult
from routh.problem.impact import ImpactProblem
from routh.sampling.algorithm1 import BySteps, StepOptions, draw_by_steps
from routh.sampling.outcomes import Outcomes
from routh.sampling.path_residual import path_residual
from routh.sampling.sampler import sample

PATH_SAMPLES = 2**16  # samples whose way is followed
DRAWN_AGAIN = 2**10  # samples by events whose paths are drawn again
PATH_STEPS = 10  # increments of a sample whose way is followed
SEQUENCED_CONTACTS = 24  # in space, beyond this no sequences are followed
ENUMERATED_CONTACTS = 5  # beyond this only the canonical simultaneous solution is computed

#: Answers that a law stands by, though it may have gained energy.
ANSWERS = (Status.SOLVED, Status.ENERGY_GAINED)


@dataclass(frozen=True, eq=False)
class Comparison:
    """One impact: samples of its set, velocities on the way, and the outcomes of the classical laws."""

    outcomes: Outcomes
    intermediate: Array = field(repr=False)  # (k, nv) velocities passed through before the end
    sequential: dict[str, ImpactResult] = field(default_factory=dict)  # "A, B, ..." -> result
    simultaneous: tuple[ImpactResult, ...] = ()
    all_simultaneous: bool = True  # whether `simultaneous` holds every solution

    @cached_property
    def ends(self) -> Array:
        """The velocities (k, nv) of the solved samples."""
        solved = self.outcomes.solved
        return self.outcomes.v if solved.all() else self.outcomes.v[solved]

    @cached_property
    def projected(self) -> dict[object, Array]:
        """What pictures have computed of `ends` by now, by what it is: panels share their axes."""
        return {}

    @property
    def problem(self) -> ImpactProblem:
        """The impact that the samples and the laws answer."""
        return self.outcomes.problem


def compare(
    outcomes: Outcomes,
    *,
    ways: bool = True,
    enumerated: int = ENUMERATED_CONTACTS,
    **options: Unpack[StepOptions],
) -> Comparison:
    """Compare samples of an impact with the ways there, both sequences, and the simultaneous solutions.

    The ways are those of the first samples of ``outcomes``, drawn again with its own settings; options
    (device, threads) go to `routh.sampling.sample_by_steps`. The laws have the friction of the samples; they
    are inelastic, so there are none beside samples with restitution.
    """
    problem, friction = outcomes.problem, str(outcomes.settings.get("friction", "cone"))
    way = intermediate_velocities(outcomes, **options) if ways else np.empty((0, problem.nv))
    if np.any(problem.restitution > 0.0):
        return Comparison(outcomes, way, all_simultaneous=False)
    return Comparison(outcomes, way, *_without_choice(problem, enumerated, friction))


@lru_cache(maxsize=32)
def _without_choice(
    problem: ImpactProblem, enumerated: int, friction: str
) -> tuple[dict[str, ImpactResult], tuple[ImpactResult, ...], bool]:
    """What `Comparison` has of the laws: the same for all samples of an impact, so kept for the next ones."""
    solutions, complete = simultaneous_solutions(problem, enumerated=enumerated, friction=friction)
    return sequences(problem, friction=friction), solutions, complete


def intermediate_velocities(outcomes: Outcomes, **options: Unpack[StepOptions]) -> Array:
    """Velocities on the way of the first samples, at a random place of each increment, (k, nv).

    A sample stopped after k increments is the same sample, so its way is found by stopping it earlier.
    """
    settings, problem = outcomes.settings, outcomes.problem
    n = min(len(outcomes), PATH_SAMPLES)
    if settings.get("method") == "events":
        return _along_paths(outcomes, min(n, DRAWN_AGAIN))
    if np.any(problem.restitution > 0.0):  # Algorithm 1 has none
        return np.empty((0, problem.nv))
    drawing = BySteps.of(settings, **options)
    steps = outcomes.steps[:n]
    rng = np.random.default_rng(settings.get("seed", 0))
    start, found = np.broadcast_to(problem.v, (n, problem.nv)), []
    for k in range(1, min(int(steps.max(initial=0)), PATH_STEPS) + 1):
        stopped = draw_by_steps(problem, n, replace(drawing, max_steps=k)).v
        moving = steps >= k
        share = rng.random((int(moving.sum()), 1))
        found.append(start[moving] + share * (stopped[moving] - start[moving]))
        start = stopped
    return np.concatenate(found) if found else np.empty((0, problem.nv))


def _along_paths(outcomes: Outcomes, n: int) -> Array:
    """A velocity at a random place of each straight piece of the first n samples, (k, nv); none in space."""
    problem = outcomes.problem
    if problem.nt != 1 or outcomes.replay is None:
        return np.empty((0, problem.nv))
    rng = np.random.default_rng(outcomes.settings.get("seed", 0))
    found = [np.empty((0, problem.nv))]
    for i in range(n):
        v = outcomes.path(i).v[: PATH_STEPS + 1]
        found.append(v[:-1] + rng.random((len(v) - 1, 1)) * np.diff(v, axis=0))
    return np.concatenate(found)


def sequences(problem: ImpactProblem, *, friction: str = "cone") -> dict[str, ImpactResult]:
    """Single impacts in the order of the contacts and in the reverse order, by their description.

    None in space with very many contacts, where they take minutes.
    """
    if problem.nt == 2 and problem.nc > SEQUENCED_CONTACTS:
        return {}
    forwards = tuple(range(problem.nc))
    found = {}
    for order in dict.fromkeys((forwards, forwards[::-1])):
        names = [problem.names[i] for i in order]
        text = ", ".join(names[:5]) + (", …" if len(names) > 1 else "")
        found[text] = Sequential(order=order, friction=friction)(problem)
    return found


def simultaneous_solutions(
    problem: ImpactProblem, *, enumerated: int = ENUMERATED_CONTACTS, friction: str = "cone"
) -> tuple[tuple[ImpactResult, ...], bool]:
    """All solutions and True; one and False beyond ``enumerated`` contacts or for a cone in space."""
    law = Simultaneous(friction=friction)
    if problem.nc <= enumerated and (problem.nt == 1 or friction == "polyhedral"):
        try:
            return tuple(law.all(problem)), True
        except CapacityError:
            pass
    return (law(problem),), False


@dataclass(frozen=True, eq=False)
class LawAnswer(Result):
    """What one law says of an impact, and where that lies."""

    law: str  # its name in `routh.laws.LAWS`
    result: ImpactResult | None = field(repr=False)  # None where it cannot be asked
    audit: Audit | None = field(repr=False)  # None without an answer
    why: str = ""  # why there is none
    proved: bool = False  # whether its path was checked to be a solution

    @property
    def status(self) -> Status | None:
        """How the law and the comparison ended; None where the law cannot be asked."""
        return (
            None
            if self.result is None
            else worst_status([self.result.status, *([self.audit.status] if self.audit else [])])
        )

    @property
    def word(self) -> str:
        """`routh.auditing.Audit.word` of its answer, "in" where its path is a solution; empty without one."""
        if self.audit is None:
            return ""
        return IN if self.proved else self.audit.word

    @property
    def outside(self) -> bool:
        """Whether its answer is proved to be outside, or no outcome was found near it."""
        return self.word not in ("", IN)

    @property
    def verdict(self) -> str:
        """The law's answer and its audit in one sentence."""
        if self.audit is None:
            return self.why
        return f"{IN}: its path is a solution" if self.proved else self.audit.verdict


@dataclass(frozen=True, eq=False)
class LawAudit(Drawable, Tabular):
    """The answers of laws to one impact, and the sampled set beside which they stand."""

    outcomes: Outcomes = field(repr=False)
    answers: tuple[LawAnswer, ...]

    @property
    def status(self) -> Status:
        """SOLVED where every law that was asked answered and was compared, else why one was not."""
        return worst_status([one.status for one in self.answers if one.status is not None])

    def _columns(self) -> Mapping[str, Column]:
        """One row a law; a law without an answer has NaN and says why."""
        distances = [np.nan if one.audit is None else one.audit.distance for one in self.answers]
        velocities = [
            np.full(self.problem.nv, np.nan) if one.result is None else one.result.v for one in self.answers
        ]
        return {
            "distance": Column(("law",), np.array(distances), "sqrt(J)", "from the nearest outcome"),
            "outside": Column(("law",), np.array([one.outside for one in self.answers], dtype=bool)),
            "why": Column(("law",), np.array([one.why for one in self.answers]), "1", "why there is none"),
            "v": Column(("law", "velocity"), np.reshape(velocities, (-1, self.problem.nv)), "m/s or rad/s"),
        }

    def _coordinates(self) -> Mapping[str, object]:
        return {"law": [one.law for one in self.answers]}

    @property
    def problem(self) -> ImpactProblem:
        """The impact that the laws were asked about."""
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
    """Ask laws what an impact does, and audit what they say.

    The set is energetic where the problem has restitution.

    Parameters
    ----------
    problem : the impact.
    names : in `routh.laws.LAWS`; default: all with one answer to this. A law that is named and cannot take
        the problem says why.
    n, seed : of the samples of the set, as in `routh.sample`.
    friction : of the set, and of laws that know both: "cone" or "polyhedral".
    refine : as in `routh.audit`.
    budget : seconds for drawing, and again for each answer.
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
