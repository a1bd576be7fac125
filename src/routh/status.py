"""What can become of a solve: one status for single results and for every sample of a batch."""

from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """Why a solver, a law or a sample ended. The integer values are stored in batches (int8)."""

    SOLVED = 0
    NO_IMPACT = 1
    MAX_STEPS = 2
    JAMMED = 3
    RAY = 4
    MAX_PIVOTS = 5
    NUMERICAL = 6
    INCOMPLETE = 7
    OUT_OF_TIME = 8
    ENERGY_GAINED = 9
    NO_CONTACT = 10
    REFUSED = 11

    @property
    def sentence(self) -> str:
        """One sentence that a person can read."""
        return _SENTENCES[self]

    @property
    def ok(self) -> bool:
        """Whether the result is an answer: solved, or there was nothing to solve."""
        return self in (Status.SOLVED, Status.NO_IMPACT, Status.NO_CONTACT)


_SENTENCES: dict[Status, str] = {
    Status.SOLVED: "Solved; the residual was recomputed outside the solver and is below tolerance.",
    Status.NO_IMPACT: "No contact approaches, so there is no impact and the velocity is unchanged.",
    Status.MAX_STEPS: "The step limit was reached while a contact still approached.",
    Status.JAMMED: "The friction cone is not pointed and the step limit was reached: the contacts may jam.",
    Status.RAY: "The pivoting ended on a ray: no solution was found.",
    Status.MAX_PIVOTS: "The pivot limit was reached before a solution was found.",
    Status.NUMERICAL: "The residual, recomputed outside the solver, or the error is too large or no number.",
    Status.INCOMPLETE: "A budget of time or memory ran out; what was found so far is returned.",
    Status.OUT_OF_TIME: "The time allowed by budget= ran out before this sample was finished.",
    Status.ENERGY_GAINED: "The outcome has more kinetic energy than the restitution asked for allows.",
    Status.NO_CONTACT: "Nothing touches, so there is no impact and the velocity is unchanged.",
    Status.REFUSED: "The state cannot be: it penetrates too deeply, or holds numbers that are not finite.",
}


class RouthError(Exception):
    """Base class of the errors that are not plain bad input."""


class MissingExtraError(RouthError, ImportError):
    """An optional package is missing; the message names the ``pip install`` line that brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; bring it with: pip install 'routh[{extra}]'")


class CapacityError(RouthError, ValueError):
    """The problem is larger than a method accepts; the message says by how much."""


class ModelError(RouthError, ValueError):
    """A model file is malformed, refused or not physical; the message says which and where."""


class StateError(ModelError):
    """A state cannot be: bodies overlap too deeply, or a joint is too far past its limit."""
