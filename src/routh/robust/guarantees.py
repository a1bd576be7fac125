"""Does something hold in every outcome? Yes with a certificate, no with a counterexample, or unknown."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack, overload

import numpy as np

from routh.base.results import Column, Result, Tabular, status_column, worst_status
from routh.base.status import InputError, Status
from routh.base.validation import integer, real
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.robust.either import least_separation
from routh.robust.worst import Wanted, WorstCase, WorstOptions, worst_case, worst_of_row

Conditions = Mapping[str | tuple[str, ...], float | tuple[Wanted, float]]


class Answer(enum.StrEnum):
    """What is known of a condition."""

    PROVED = "proved"  # a certified bound is below the limit
    REFUTED = "refuted"  # an outcome with its impulse path breaks it
    UNKNOWN = "unknown"  # no outcome was found that breaks it, and no proof that none does


@dataclass(frozen=True, eq=False)
class Guarantee(Result):
    """Whether ``objective(v) <= limit`` in every outcome, condition by condition."""

    limits: dict[str, float]
    worst: dict[str, WorstCase]

    @property
    def status(self) -> Status:
        """SOLVED where every worst case is, else why one is not."""
        return worst_status(one.status for one in self.worst.values())

    def answer_of(self, name: str) -> Answer:
        """What is known of one condition."""
        worst, limit = self.worst[name], self.limits[name]
        if worst.bound is not None and worst.bound <= limit:
            return Answer.PROVED
        return Answer.REFUTED if worst.value > limit and worst.path is not None else Answer.UNKNOWN

    @property
    def answer(self) -> Answer:
        """Answer over all conditions together: one counterexample refutes, all must be proved."""
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


@dataclass(frozen=True, eq=False)
class Guarantees(Result, Tabular):
    """`Guarantee` of every row of a batch."""

    rows: tuple[Guarantee, ...]

    @property
    def status(self) -> np.ndarray:
        """See `Status`, (n,) int8."""
        return np.array([int(row.status) for row in self.rows], dtype=np.int8)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> Guarantee:
        return self.rows[integer("row", row, at_least=-len(self), at_most=len(self) - 1)]

    @property
    def answers(self) -> np.ndarray:
        """What is known of each row, (n,) strings; compare with ``Answer.PROVED`` and the others."""
        return np.array([row.answer.value for row in self.rows], dtype="U8")

    @property
    def counterexamples(self) -> tuple[WorstCase | None, ...]:
        """Counterexample of each row that is refuted."""
        return tuple(row.counterexample for row in self.rows)

    def _columns(self) -> Mapping[str, Column]:
        columns = {
            "answer": Column(("problem",), self.answers),
            "status": status_column("problem", self.status),
        }
        for name in self.rows[0].limits if self.rows else ():
            values = np.array([row.worst[name].value for row in self.rows])
            columns[f"worst {name}"] = Column(("problem",), values, "of the objective", "worst outcome")
        return columns

    def __bool__(self) -> bool:
        raise TypeError("Guarantees have three answers a row; compare .answers with Answer.PROVED")


@overload
def holds(problem: ImpactProblem, conditions: Conditions, **options: Unpack[WorstOptions]) -> Guarantee: ...


@overload
def holds(problem: ImpactBatch, conditions: Conditions, **options: Unpack[WorstOptions]) -> Guarantees: ...


def holds(
    problem: ImpactProblem | ImpactBatch, conditions: Conditions, **options: Unpack[WorstOptions]
) -> Guarantee | Guarantees:
    """Whether conditions hold in every outcome of an impact, or of each impact of a batch.

    Example: ``holds(problem, {"heel": 0.1, "toe": 0.1})``: no foot leaves faster than 0.1 m/s.
    ``holds(problem, {("heel", "toe"): 0.0})``: heel or toe stays.

    Parameters
    ----------
    problem : an impact, or a batch.
    conditions : a contact's name -> the largest normal velocity with which it may leave, m/s; or any name ->
        (objective, limit), where the objective, as in `worst_case`, must not exceed the limit. The same for
        all rows of a batch. What is said of a contact that a row does not have stays unknown. Several names
        in a tuple: at least one of them leaves no faster; one problem only.
    options : of `worst_case`.
    """
    if not conditions:
        raise InputError("conditions", got="none", wanted="at least one")
    limits: dict[str, float] = {}
    objectives: dict[str, Wanted] = {}
    either: dict[str, WorstCase] = {}
    for name, given in conditions.items():
        if isinstance(name, tuple):
            if isinstance(given, tuple) or not isinstance(problem, ImpactProblem):
                raise InputError(
                    f"conditions[{name!r}]", wanted="a speed (m/s) for a single problem, not a batch"
                )
            words = " or ".join(name)
            limits[words] = real(f"conditions[{name!r}]", given)
            either[words] = least_separation(problem, name, options)
            continue
        objectives[name], limit = given if isinstance(given, tuple) else (name, given)
        limits[name] = real(f"conditions[{name!r}]", limit)
    if isinstance(problem, ImpactProblem):
        found = {name: worst_case(problem, wanted, **options) for name, wanted in objectives.items()}
        judged = _judged(problem, objectives, limits, found, options)
        return Guarantee(limits, judged.worst | either)
    rows = []
    for k in range(len(problem)):
        found = {name: worst_of_row(problem, k, wanted, options) for name, wanted in objectives.items()}
        there = problem.status[k] == Status.SOLVED
        rows.append(_judged(problem[k] if there else None, objectives, limits, found, options))
    return Guarantees(tuple(rows))


def _judged(
    problem: ImpactProblem | None,
    objectives: Mapping[str, Wanted],
    limits: dict[str, float],
    worst: dict[str, WorstCase],
    options: WorstOptions,
) -> Guarantee:
    """A vertex that outcomes only approach has no path: one of them, with its path, is the counterexample."""
    filled: WorstOptions = {**options, "method": "fill"}
    for name, found in worst.items():
        if problem is not None and found.path is None and found.value > limits[name]:
            near = worst_case(problem, objectives[name], **filled)
            if near.value > limits[name]:
                worst[name] = near
    return Guarantee(limits, worst)
