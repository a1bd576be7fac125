"""Which contacts of a mechanism are simultaneous, and which of them are redundant.

One notion in the whole library: the time until touch at the approach speed. A contact takes part in an impact
if it touches, or if it would touch within ``window`` seconds at the velocity before; ``gap`` is the explicit
alternative, all contacts within a distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from routh.base import tolerances
from routh.base.status import InputError
from routh.base.validation import Array, real
from routh.problem.impact import ImpactProblem

#: s: contacts that close within this time are simultaneous; the order of a contact's duration.
WINDOW = 5e-3

#: Contacts that close within so many windows, but not within one, are named in results.
SOON = 3.0

#: m (rad for limits of hinges): what is this near touches. Distances of meshes are known to about as much.
TOUCHING = 1e-6

#: A single state is refused where bodies overlap by more than this (m), or a joint is farther past its limit
#: (rad): no solver of a simulator lets that happen in a state that is meant.
DEEPEST, PAST_LIMIT = 0.02, 0.1

#: The same for rows of batches and for rollouts, whose soft contacts go deeper: of random Walker2d states
#: 39 % are deeper than 5 mm, some 65 mm.
DEEPEST_OF_MANY, PAST_LIMIT_OF_MANY = 0.1, 0.4


#: How elastic contacts are: all of them, by name, or one each; "contact": each by its own spring (MuJoCo's
#: ``solref``; see `routh.models.regime`).
Restitution = float | Mapping[str, float] | Sequence[float] | Literal["contact"]

#: Of landings, of `routh.robust.tipping`, and of every command that takes a robot.
RESTITUTION: Literal["contact"] = "contact"


def time_to_contact(dist: Array, rate: Array) -> Array:
    """Times at which gaps close that change at ``rate``, (nc,) s; 0: closed, infinite: they open."""
    times = np.divide(dist, -rate, out=np.full(np.shape(dist), np.inf), where=rate < 0.0)
    return np.where(dist <= 0.0, 0.0, times)


@dataclass(frozen=True, kw_only=True)
class Simultaneity:
    """Which contacts are part of one impact: what touches, and what closes within ``window``.

    Or, where a ``gap`` is given, all within that distance instead.
    """

    window: float | None = None  # s; None: `WINDOW`, or none where a gap is given
    gap: float | None = None  # m; rad for limits of hinges
    touching: float = TOUCHING  # m, rad

    def __post_init__(self) -> None:
        for field in ("window", "gap", "touching"):
            value = getattr(self, field)
            if value is not None and not (field == "gap" and value == np.inf):  # all contacts
                real(field, value, at_least=0.0)
        if self.window is not None and self.gap is not None:
            both = f"{self.gap:g} together with window={self.window:g}"
            raise InputError("gap", got=both, wanted="one of the two")
        if self.window is None and self.gap is None:
            object.__setattr__(self, "window", WINDOW)

    @property
    def near(self) -> float:
        """The distance up to which a contact always counts, m."""
        return self.touching if self.gap is None else self.gap

    @property
    def horizon(self) -> float:
        """The time within which an open contact must close to count, s; 0 where a gap decides."""
        return self.window or 0.0

    def counts(self, dist: Array, rate: Array) -> np.ndarray:
        """Which contacts take part, (nc,) bool, by their distances (m) and the rates of these (m/s)."""
        return (dist <= self.near) | (time_to_contact(dist, rate) <= self.horizon)

    def closes_soon(self, dist: Array, rate: Array) -> np.ndarray:
        """Which contacts take no part, but would with a window of `SOON` times the length, (nc,) bool."""
        late = time_to_contact(dist, rate) <= SOON * self.horizon
        return late & ~self.counts(dist, rate)

    def __str__(self) -> str:
        if self.gap is not None:
            return f"is within {self.gap:g} m"
        return f"touches or closes within {self.horizon * 1e3:g} ms"


@dataclass(frozen=True, kw_only=True)
class Rules(Simultaneity):
    """Which contacts take part in an impact, how elastic they are, and which states are refused."""

    limits: bool = True  # of joints and tendons
    restitution: Restitution = 0.0
    deepest: float | None = DEEPEST  # m; None: any
    past_limit: float | None = PAST_LIMIT  # rad; None: any

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("gap", "deepest", "past_limit"):
            if getattr(self, field) is not None:
                real(field, getattr(self, field), at_least=0.0)

    def most(self, unit: str, kind: str = "contact") -> float:
        """How far a contact or limit whose distance is in m or rad may be past it.

        A tendon that is too long overlaps with nothing: it is held to ``past_limit``, in m.
        """
        limit = self.deepest if unit == "m" and kind != "tendon-limit" else self.past_limit
        return np.inf if limit is None else limit


def redundancy(problem: ImpactProblem) -> tuple[str, ...]:
    """The contacts of a face, or of several, that say the same as the others; every one of them is kept.

    Their normals are combinations of the others', in the kinetic-energy metric.
    """
    normals = problem.impulse_columns[:, :: 1 + problem.nt]  # (nv, nc)
    found = []
    for k, name in enumerate(problem.names):
        others, own = np.delete(normals, k, axis=1), normals[:, k]
        misfit = others @ np.linalg.lstsq(others, own, rcond=None)[0] - own
        if np.linalg.norm(misfit) <= tolerances.DEPENDENT * np.linalg.norm(own):
            found.append(name)
    return tuple(found)
