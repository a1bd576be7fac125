"""What can become of a solve: one status for single results and for every sample of a batch."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
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
    UNDECIDED = 12, "Neither proved nor refuted by what was tried."

    @property
    def ok(self) -> bool:
        """Whether the result is an answer: solved, or there was nothing to solve."""
        return self in (Status.SOLVED, Status.NO_IMPACT, Status.NO_CONTACT)


class RouthError(Exception):
    """Base class of all errors of routh: bad input (`InputError`) and what is not there to be used."""


@dataclass(frozen=True)
class Option:
    """An option to try: Python writes ``name=value``, a command line its flag."""

    name: str
    value: str = ""
    then: str = ""  # what it does, as in "adds level ground"

    def spelt(self, flag: str = "") -> str:
        """The option as a keyword, or as a flag where one is told."""
        value = "" if self.value == "True" else self.value
        written = f"{flag} {value}".rstrip() if flag else f"{self.name}={self.value}"
        return f"{written}, which {self.then}" if self.then else written


class InputError(RouthError, ValueError):
    """Bad input: which field, what came or what is wrong with it, what was wanted, and what to try.

    ``by`` is the option that sets what is wanted; an advice is an option to try or a whole sentence.
    """

    def __init__(
        self,
        field: object = "",
        *,
        got: object = "",
        wrong: object = "",
        wanted: object = "",
        by: str = "",
        advice: Sequence[Option | str] = (),
    ) -> None:
        self.field, self.got, self.wrong, self.wanted = str(field), str(got), str(wrong), str(wanted)
        self.by, self.advice = by, tuple(advice)
        super().__init__(self.sentence())

    def sentence(self, field: str | None = None, flags: Mapping[str, str] | None = None) -> str:
        """All of it in one line; a command line tells the ``field`` as typed, and its ``flags`` by name.

        What a command line has no flag for is left out.
        """
        field = self.field if field is None else field
        said = self.wrong or (f"got {self.got}" if self.got else "")
        if self.wanted:
            said += f"{'; ' if said else ''}wanted {self.wanted}"
        by = f"{self.by}=" if flags is None else flags.get(self.by, "")
        said += f" ({by})" if self.by and by else ""
        options = [one for one in self.advice if isinstance(one, Option)]
        tried = [
            one.spelt() if flags is None else one.spelt(flags[one.name])
            for one in options
            if flags is None or one.name in flags
        ]
        told = [f"Try {' or '.join(tried)}."] if tried else []
        told += [one for one in self.advice if isinstance(one, str)]
        return (f"{field}: " if field else "") + said + (f". {' '.join(told)}" if told else "")

    def __str__(self) -> str:
        return self.sentence()

    def __reduce__(self) -> tuple[object, ...]:
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[InputError], args: tuple[object, ...], fields: dict[str, object]) -> InputError:
    """An error out of another process, whatever its constructor asks for."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


_LISTED = 8  # words, of which the nearest is enough where there are more


def no_such(field: object, got: object, options: Iterable[object]) -> InputError:
    """The refusal of a word that is none of the ``options``; it names the nearest."""
    words = [str(option) for option in options]
    near = get_close_matches(str(got), words, n=1)
    wanted = "" if near and len(words) > _LISTED else f"one of {', '.join(map(repr, words))}"
    advice = [f"Did you mean {near[0]!r}?"] if near else []
    return InputError(field, got=repr(got), wanted=wanted, advice=advice)


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


class CapacityError(InputError):
    """The problem is larger than a method accepts; the message says by how much."""


class ModelError(InputError):
    """A model file is malformed, refused or not physical; the message says which and where."""


class StateError(ModelError):
    """A state cannot be: bodies overlap too deeply, or a joint is too far past its limit."""
