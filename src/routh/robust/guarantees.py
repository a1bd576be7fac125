"""Does something hold in every outcome? Yes with a certificate, no with a counterexample, or unknown."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack

from routh.problem import ImpactProblem
from routh.robust.worst import Wanted, WorstCase, WorstOptions, worst_case
from routh.validation import real


class Answer(enum.StrEnum):
    """What is known of a condition."""

    PROVED = "proved"  # a certified bound is below the limit
    REFUTED = "refuted"  # an outcome with its impulse path breaks it
    UNKNOWN = "unknown"  # no outcome was found that breaks it, and no proof that none does


@dataclass(frozen=True, eq=False)
class Guarantee:
    """Whether ``objective(v) <= limit`` in every outcome, condition by condition."""

    limits: dict[str, float]
    worst: dict[str, WorstCase]

    def answer_of(self, name: str) -> Answer:
        """What is known of one condition."""
        worst, limit = self.worst[name], self.limits[name]
        if worst.bound is not None and worst.bound <= limit:
            return Answer.PROVED
        return Answer.REFUTED if worst.value > limit and worst.path is not None else Answer.UNKNOWN

    @property
    def answer(self) -> Answer:
        """Of all conditions together: one counterexample refutes, all must be proved."""
        answers = {self.answer_of(name) for name in self.limits}
        if Answer.REFUTED in answers:
            return Answer.REFUTED
        return Answer.PROVED if answers == {Answer.PROVED} else Answer.UNKNOWN

    @property
    def counterexample(self) -> WorstCase | None:
        """The outcome that breaks a condition by the most, with its impulse path, if there is one."""
        broken = [name for name in self.limits if self.answer_of(name) is Answer.REFUTED]
        by = {name: self.worst[name].value - self.limits[name] for name in broken}
        return self.worst[max(by, key=by.__getitem__)] if by else None

    def __bool__(self) -> bool:
        raise TypeError("a Guarantee has three answers; compare .answer with Answer.PROVED")


def holds(
    problem: ImpactProblem,
    conditions: Mapping[str, float | tuple[Wanted, float]],
    **options: Unpack[WorstOptions],
) -> Guarantee:
    """Whether conditions hold in every outcome of an impact.

    Parameters
    ----------
    conditions : a contact's name -> the largest normal velocity with which it may leave, m/s; or any name ->
        (objective, limit), where the objective, as in `worst_case`, must not exceed the limit.
    options : of `worst_case`.

    Example: ``holds(problem, {"heel": 0.1, "toe": 0.1})``: no foot leaves faster than 0.1 m/s.
    """
    if not conditions:
        raise ValueError("conditions: got none; wanted at least one")
    limits, worst = {}, {}
    for name, given in conditions.items():
        objective, limit = given if isinstance(given, tuple) else (name, given)
        limits[name] = real(f"conditions[{name!r}]", limit)
        found = worst_case(problem, objective, **options)
        if found.path is None and found.value > limits[name]:
            # a vertex that outcomes only approach: one of them, with its path, is the counterexample
            filled: WorstOptions = {**options, "method": "fill"}
            near = worst_case(problem, objective, **filled)
            if near.value > limits[name]:
                found = near
        worst[name] = found
    return Guarantee(limits, worst)
