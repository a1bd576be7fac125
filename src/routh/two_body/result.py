"""What came of two-body impacts: one, or a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from routh.status import Status
from routh.two_body._kernel import decode
from routh.validation import Array


@dataclass(frozen=True)
class Energy:
    """Where the kinetic energy went, in joule (floats, or arrays for a batch)."""

    stored: Array | float  # work of the normal force while v_z < 0
    returned: Array | float  # work of the normal force while v_z > 0
    friction: Array | float  # work lost to sliding

    @property
    def lost(self) -> Array | float:
        """Kinetic energy before minus after: negative where a hypothesis created energy."""
        return self.stored - self.returned + self.friction

    @property
    def created(self) -> Array | float:
        """What the normal force returned beyond what it had stored: impossible, and 0 with Stronge."""
        return np.maximum(np.asarray(self.returned) - self.stored, 0.0)[()]


@dataclass(frozen=True, eq=False)
class TwoBodyImpact:
    """One impact; vectors are in the contact frame x, y, normal, as in JW17."""

    W: Array = field(repr=False)  # (3, 3) 1/kg
    v: Array = field(repr=False)  # (3,) m/s, contact velocity before
    mu: float
    e: float
    hypothesis: str
    impulse: Array  # (3,) N s, total impulse on body a
    contact_velocity: Array  # (3,) m/s, after: v + W impulse
    events: str  # letters in order, see docs/theory/two_body.md
    energy: Energy
    status: Status
    margin: float  # W_zz - mu |d|, 1/kg: the impact solution condition (18) holds where it is positive
    residual: float  # dimensionless mismatch between v + W impulse and the velocities carried along

    @property
    def condition_holds(self) -> bool:
        """Whether JW17's impact solution condition (18) holds. The impact is solved either way."""
        return self.margin > 0.0


@dataclass(frozen=True, eq=False)
class TwoBodyBatch:
    """Many impacts; every array has n as its leading axis."""

    impulse: Array  # (n, 3) N s
    contact_velocity: Array  # (n, 3) m/s, after
    energy: Energy  # arrays (n,), J
    status: NDArray[np.int8]  # (n,) values of Status
    event_codes: NDArray[np.int64]  # (n,)
    margin: Array  # (n,) 1/kg, see TwoBodyImpact
    residual: Array  # (n,)
    segments: Array  # (n,) how many series and closed forms each impact took

    def __len__(self) -> int:
        return len(self.status)

    def events(self, i: int) -> str:
        """The letters of impact i, in order."""
        return decode(int(self.event_codes[i]))

    def event_counts(self) -> dict[str, int]:
        """How often each order of events happened, most frequent first."""
        codes, counts = np.unique(self.event_codes, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {decode(int(codes[i])): int(counts[i]) for i in order}
