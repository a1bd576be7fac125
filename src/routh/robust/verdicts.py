"""What an answer on tipping comes down to, and how many outcomes have to be drawn before it is one."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from routh.models.regime import TILTED
from routh.sampling.answers import ENOUGH

#: Outcomes of each state to begin with, and where it stops to draw on.
SAMPLES, MOST = 256, 4096

#: Over the square root of the number of outcomes: the share by which the worst of them falls short of what
#: 32768 find, in 99 of 100 states of each body of ``benchmarks/tipping.py draws``: at most 0.086 with 256,
#: 0.051 with 1024, 0.023 with 4096.
_SHORT = 1.75


def short(n: int) -> float:
    """The share by which the worst of so many outcomes may fall short of the worst there is."""
    return float(_SHORT / np.sqrt(n))


class Verdict(StrEnum):
    """May it touch down like this?"""

    GO = "go"
    UNDECIDED = "undecided"  # the worst outcome that was drawn is so near 1 that a worse one may be above
    TILTED = "tilted"  # later impacts decide, which are not looked at
    PARTIAL = "partial"  # too few outcomes are solved
    NO_GO = "no-go"

    @property
    def severity(self) -> int:
        """The larger the worse, to find the worst of several answers."""
        return list(Verdict).index(self)


def verdict_of(ratio: float, evidence: str, regime: str, solved: float, n: int) -> Verdict:
    """One answer from its parts.

    Parameters
    ----------
    ratio : of the worst outcome; NaN without any.
    evidence, regime : of `routh.robust.Tipping`. Proved by energy holds for whatever comes after, by the
        bound for all outcomes of this impact.
    solved : share of the samples.
    """
    if ratio > 1.0:
        return Verdict.NO_GO
    if np.isnan(ratio):
        return Verdict.PARTIAL
    if evidence == "energy":
        return Verdict.GO
    if regime == TILTED:
        return Verdict.TILTED
    if evidence == "bound":
        return Verdict.GO
    if solved < ENOUGH:
        return Verdict.PARTIAL
    return Verdict.UNDECIDED if ratio > 1.0 - short(n) else Verdict.GO
