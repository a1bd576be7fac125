"""What is done with an impact, and to which: the options of hooks and wrappers, checked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypedDict

from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import Array, choice, integer, real
from routh.models.simultaneity import Simultaneity

#: "random": every impact gets an outcome of its own. "off": the simulator's own. "fixed": one rule of choice
#: an episode, so that equal impacts have equal outcomes. "worst": the worst of some outcomes by an objective.
#: "noise", for comparison: the simulator's own, after a kick as large as two outcomes differ.
MODES = ("random", "off", "fixed", "worst", "noise")

Mode = str | Callable[[int], str]
Share = float | Callable[[int], float]
Goal = ArrayLike | Callable[[Array], ArrayLike]


class HookOptions(TypedDict, total=False):
    """Keywords of hooks and wrappers, for type checkers: those of `Settings`."""

    mode: Mode
    share: Share
    rates: str
    threshold: float
    window: float | None
    gap: float | None
    single: bool
    limits: bool
    restitution: float
    objective: Goal | None
    k: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Settings:
    """The options that `routh.learn.hook`, `OutcomeRandomization` and `make_vec` share.

    Parameters
    ----------
    mode : one of `MODES`, or a function from the number of steps so far to one.
    share : probability that an impact is replaced, or a function from the number of steps so far to it.
    rates : how outcomes are drawn: "mixed", "uniform" or "extreme", see `routh.sample`.
    threshold : m/s: an impact begins where a contact closes faster.
    window : s: contacts that touch when it begins, or close within this time, take part; default 5 ms.
    gap : m (rad for limits): instead of a window, contacts this near take part.
    single : whether impacts of one contact are replaced too; they have one outcome without restitution.
    limits : whether limits of joints that are reached take part. They begin no impact, and an impact of one
        contact and limits is one of a single contact.
    restitution : of all contacts, 0 to 1, by Stronge's hypothesis.
    objective : of mode "worst", the larger the worse: (nv,) or a function (k, nv) of velocities to (k,).
    k : outcomes among which mode "worst" looks.
    """

    mode: Mode = "random"
    share: Share = 1.0
    rates: str = "mixed"
    threshold: float = 0.1
    window: float | None = None
    gap: float | None = None
    single: bool = False
    limits: bool = True
    restitution: float = 0.0
    objective: Goal | None = None
    k: int = 16

    def __post_init__(self) -> None:
        if not callable(self.mode):
            choice("mode", self.mode, MODES)
        if not callable(self.share):
            real("share", self.share, at_least=0.0, at_most=1.0)
        choice("rates", self.rates, ("mixed", "uniform", "extreme"))
        real("threshold", self.threshold, above=0.0)
        for field in ("window", "gap"):  # the contact that begins an impact is not quite closed
            if getattr(self, field) is not None:
                real(field, getattr(self, field), above=0.0)
        Simultaneity(window=self.window, gap=self.gap)  # refuses both
        real("restitution", self.restitution, at_least=0.0, at_most=1.0)
        integer("k", self.k, at_least=1)
        if self.mode == "worst" and self.objective is None:
            raise InputError("objective", got="None with mode 'worst'", wanted="a direction or a function")

    @property
    def simultaneity(self) -> Simultaneity:
        """Which contacts are part of one impact."""
        return Simultaneity(window=self.window, gap=self.gap)

    def mode_at(self, steps: int) -> str:
        """The mode after so many steps."""
        return choice("mode", self.mode(steps), MODES) if callable(self.mode) else self.mode

    def share_at(self, steps: int) -> float:
        """The probability after so many steps."""
        if callable(self.share):
            return real("share", self.share(steps), at_least=0.0, at_most=1.0)
        return self.share


def linear(begin: float, end: float, steps: int) -> Callable[[int], float]:
    """A schedule for ``share=``: from ``begin`` to ``end`` over so many steps, then constant."""
    for field, value in (("begin", begin), ("end", end)):
        real(field, value, at_least=0.0, at_most=1.0)
    return partial(_between, float(begin), float(end), integer("steps", steps, at_least=1))


def _between(begin: float, end: float, steps: int, step: int) -> float:
    return begin + min(step / steps, 1.0) * (end - begin)
