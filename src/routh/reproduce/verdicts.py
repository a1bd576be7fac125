"""What the papers say, statement by statement, and what a computation makes of each.

The statements stand in ``said/*.toml`` with the verdict of record. Most name a function of
`routh.reproduce.checks` that computes the numbers and the verdict again: `run` calls it. Those that take
minutes are only run on request, and carry the day on which they were last.
"""

from __future__ import annotations

import enum
import importlib
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from routh.base.status import MissingExtraError

PAPERS = ("HP23", "HP19", "JW17", "D19")  # in this order
Number = float | str


class StatementVerdict(enum.StrEnum):
    """What became of a statement."""

    WORKS = "works"  # true of the implementation, as far as its check goes
    PROVED = "proved"  # in the paper, and nothing to compute
    REFUTED = "refuted"  # a witness contradicts it
    IMPOSSIBLE = "impossible"  # a proof contradicts it
    EXPLAINED = "explained"  # its number does not come out, and why is known
    OPEN = "open"  # neither came out; what was tried is said


@dataclass(frozen=True)
class Finding:
    """What a check found: the verdict and the numbers that it rests on, by name."""

    verdict: StatementVerdict
    numbers: Mapping[str, Number] = field(default_factory=dict)


Check = Callable[[], Finding]


def works(holds: bool, numbers: Mapping[str, Number]) -> Finding:
    """The statement works where what was computed bears it out; else these numbers refute it."""
    return Finding(StatementVerdict.WORKS if holds else StatementVerdict.REFUTED, numbers)


def refuted(witness: bool, numbers: Mapping[str, Number]) -> Finding:
    """The statement is refuted where the witness stands; without one it is open."""
    return Finding(StatementVerdict.REFUTED if witness else StatementVerdict.OPEN, numbers)


def impossible(premise: bool, numbers: Mapping[str, Number]) -> Finding:
    """A proof contradicts the statement where its premise holds; without it the statement is open."""
    return Finding(StatementVerdict.IMPOSSIBLE if premise else StatementVerdict.OPEN, numbers)


def unsettled(settled: bool, numbers: Mapping[str, Number]) -> Finding:
    """The statement is open unless what was tried now brings it out."""
    return Finding(StatementVerdict.WORKS if settled else StatementVerdict.OPEN, numbers)


def explained(reason: bool, numbers: Mapping[str, Number]) -> Finding:
    """The printed number does not come out, and the reason does."""
    return Finding(StatementVerdict.EXPLAINED if reason else StatementVerdict.OPEN, numbers)


@dataclass(frozen=True)
class Statement:
    """One thing that a paper says."""

    where: str  # in the paper: a theorem, a figure, a section
    says: str
    verdict: StatementVerdict  # of record: what the check said when it was last run
    check: str = ""  # "module.function" in routh.reproduce.checks; none where the paper's proof is all
    see: str = ""  # an exhibit that shows it
    proof: str = ""  # where a proof of the verdict stands
    because: str = ""  # the witness, the proof or what was tried; a remark where it works
    ran: str = ""  # the day on which a slow check was last run; "" where it is quick

    @property
    def rests_on(self) -> str:
        """What is proved and what is measured."""
        told = [f"proved ({self.proof})"] if self.proof else []
        return ", ".join([*told, "measured"] if self.check else told)

    @property
    def function(self) -> Check:
        """The function that computes the verdict."""
        module, _, name = self.check.partition(".")
        found: Check = getattr(importlib.import_module(f"routh.reproduce.checks.{module}"), name)
        return found


@cache
def statements() -> dict[str, tuple[Statement, ...]]:
    """All statements, paper by paper, from ``said/hp23.toml`` and the other papers' files."""
    found = {}
    for paper in PAPERS:
        data = tomllib.loads((files("routh.reproduce") / "said" / f"{paper.lower()}.toml").read_text("utf-8"))
        found[paper] = tuple(
            Statement(**{**one, "verdict": StatementVerdict(one["verdict"])}) for one in data["said"]
        )
    return found


def counted(said: Iterable[Statement]) -> str:
    """How many of each verdict, as words."""
    count = Counter(one.verdict for one in said)
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in StatementVerdict if count[verdict])


@dataclass(frozen=True)
class Checked:
    """A statement with what its check found now; None where it was not run, and why."""

    paper: str
    statement: Statement
    finding: Finding | None
    seconds: float = 0.0
    why_not: str = ""

    @property
    def differs(self) -> bool:
        """Whether the verdict is not the one of record."""
        return self.finding is not None and self.finding.verdict != self.statement.verdict


@cache
def _computed(function: Check) -> Finding:
    """What a check finds; several statements may share one."""
    return function()


def run(paper: str, statement: Statement, *, slow: bool = False) -> Checked:
    """Compute a statement's verdict; those of slow checks only where they are asked for."""
    if not statement.check:
        return Checked(paper, statement, None, why_not=f"nothing to compute: proved in {statement.proof}")
    if statement.ran and not slow:
        return Checked(paper, statement, None, why_not=f"slow: last run {statement.ran}; --slow runs it")
    start = time.perf_counter()
    try:
        finding = _computed(statement.function)
    except MissingExtraError as error:
        return Checked(paper, statement, None, why_not=str(error))
    return Checked(paper, statement, finding, time.perf_counter() - start)
