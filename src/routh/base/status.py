"""What can become of a solve: one status for single results and for every sample of a batch."""

from __future__ import annotations

import enum
from importlib import import_module
from types import ModuleType
from typing import Self


class Status(enum.IntEnum):
    """Why a solver, a law or a sample ended. The integer values are stored in batches (int8)."""

    sentence: str  #: One sentence that a person can read.

    def __new__(cls, code: int, sentence: str = "") -> Self:
        """A member: its integer, with the sentence as an attribute."""
        member = int.__new__(cls, code)
        member._value_, member.sentence = code, sentence
        return member

    SOLVED = 0, "Solved; the residual was recomputed outside the solver and is below tolerance."
    NO_IMPACT = 1, "No contact approaches, so there is no impact and the velocity is unchanged."
    MAX_STEPS = 2, "The step limit was reached while a contact still approached."
    JAMMED = 3, "The friction cone is not pointed and the step limit was reached: the contacts may jam."
    RAY = 4, "The pivoting ended on a ray: no solution was found."
    MAX_PIVOTS = 5, "The pivot limit was reached before a solution was found."
    NUMERICAL = 6, "The residual, recomputed outside the solver, or the error is too large or no number."
    INCOMPLETE = 7, "A budget of time or memory ran out; what was found so far is returned."
    OUT_OF_TIME = 8, "The time allowed by budget= ran out before this sample was finished."
    ENERGY_GAINED = 9, "The outcome has more kinetic energy than the restitution asked for allows."
    NO_CONTACT = 10, "Nothing touches, so there is no impact and the velocity is unchanged."
    REFUSED = (
        11,
        "The state is impossible: bodies overlap too deeply, or it holds numbers that are not finite.",
    )

    @property
    def ok(self) -> bool:
        """Whether the result is an answer: solved, or there was nothing to solve."""
        return self in (Status.SOLVED, Status.NO_IMPACT, Status.NO_CONTACT)


class RouthError(Exception):
    """Base class of the errors that are not plain bad input."""


class MissingExtraError(RouthError, ImportError):
    """An optional package is missing; the message says what brings it."""

    def __init__(self, package: str, extra: str) -> None:
        from routh.base.installation import install_line  # only where something is missing

        super().__init__(f"{package} is not installed; bring it with: {install_line(extra)}")


class MissingLibraryError(MissingExtraError):
    """A package is installed, and lacks a library of the system; the message names the library."""

    def __init__(self, package: str, said: str) -> None:
        advice = "; on Debian and Ubuntu: apt install libgomp1" if "libgomp" in said else ""
        ImportError.__init__(self, f"{package} is installed and does not load: {said}{advice}")


def optional(module: str, extra: str, package: str = "") -> ModuleType:
    """A module of an optional package; where it is missing, the error says which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        if not isinstance(error, ModuleNotFoundError) and ".so" in str(error):
            raise MissingLibraryError(package or module, str(error)) from None
        raise MissingExtraError(package or module, extra) from None


class NoGPUError(RouthError, RuntimeError):
    """``device="cuda"`` on a machine without a GPU that can be used."""


class CapacityError(RouthError, ValueError):
    """The problem is larger than a method accepts; the message says by how much."""


class ModelError(RouthError, ValueError):
    """A model file is malformed, refused or not physical; the message says which and where."""


class StateError(ModelError):
    """A state cannot be: bodies overlap too deeply, or a joint is too far past its limit."""
