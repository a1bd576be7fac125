"""How an impact went: the velocities passed through, and what the increments between them stand for."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from routh.validation import Array


class PathKind(enum.StrEnum):
    """What a law's increments obey one by one; a check needs to know no more of a law."""

    IMPLICIT = "implicit"  # contact laws hold with the velocity at the end of each increment, HP23 (72), (31)
    STRAIGHT = "straight"  # constant rates, with no change of slip or approach inside an increment, HP23 (39)
    CURVED = "curved"  # points along curves of HP23 (39): slip may turn a little inside an increment
    TOTAL = "total"  # increments lump together what was not straight: only their sums mean anything


@dataclass(frozen=True, eq=False)
class ImpactPath:
    """The velocities passed through and the impulse increments between them."""

    v: Array  # (k + 1, nv), first the velocity before, last the velocity after
    impulse: Array  # (k, nc, 1 + nt), N s, increments, normal first
    kind: PathKind = PathKind.TOTAL
