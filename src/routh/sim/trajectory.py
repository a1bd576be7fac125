"""The motion that a simulator returns: one type for event-driven simulation and for time stepping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import DIRECTIONS, Column, Drawable, Tabular
from routh.base.status import InputError, Status
from routh.base.storage import Stored
from routh.base.validation import Array, Options
from routh.models.base import State
from routh.problem.impact import soon_sentence

_TOLD = 12  # events that a notebook lists
_ARRAYS = ("t", "q", "v", "s", "impulse", "status", "residuals")
_GROUPS = ("forces", "deformations", "energies")


@dataclass(frozen=True)
class Event:
    """Something that happened at one instant: an impact, a contact that opens or closes, a stop."""

    kind: str  # e.g. "impact", "open", "close", "stop"
    t: float  # s
    index: int  # the sample of the trajectory at or after which it happened
    contacts: tuple[str, ...] = ()
    data: Options = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class InAugmentedTime:
    """A motion as a function of ``s``, with ``ds = dt + sum of normal impulse``.

    Rates belong to the interval from one sample to the next and are its exact means; they add up to one:
    in free flight time passes at rate 1, in an impact at rate 0 (HP23 (47), (49), (52), Fig. 8).
    """

    s: Array  # (T,)
    t: Array  # (T,) s
    q: Array  # (T, nq)
    v: Array  # (T, nv)
    time_rate: Array  # (T - 1,) dt/ds
    normal_rate: Array  # (T - 1, nc) d(normal impulse)/ds
    contacts: tuple[str, ...] = ()

    def at(self, s: ArrayLike) -> tuple[Array, Array, Array]:
        """Time, configuration and velocity at any s, linearly between samples."""
        where = np.asarray(s, dtype=np.float64)
        return (
            np.asarray(np.interp(where, self.s, self.t)),
            np.stack([np.interp(where, self.s, column) for column in self.q.T], axis=-1),
            np.stack([np.interp(where, self.s, column) for column in self.v.T], axis=-1),
        )


@dataclass(frozen=True, eq=False)
class Trajectory(Drawable, Tabular, Stored):
    """Samples of a motion, in order of time; all arrays share the leading axis ``T``.

    A time stepper leaves ``s`` as None. An event-driven simulator writes the augmented time of HP23 into
    it: within an impact ``t`` stands still while ``s`` goes on, so equal times may follow each other.

    Parameters
    ----------
    t : (T,), time in s, never decreasing.
    q : (T, nq), configuration.
    v : (T, nv), velocity.
    s : (T,), augmented time, strictly increasing, or None.
    impulse : (T, nc, 1 + nt), contact impulses in N s gathered since the sample before, normal first;
        row 0 is zero.
    events : what happened, in order.
    forces : constraint forces by name, each (T, ...), held over the step that ends at the sample, in N.
    deformations : spring deformations by name, each (T, ...), at the sample, in m (negative: compressed).
    energies : energies by name ("kinetic", "elastic", "potential" where the model tells it), each (T,), in J.
    status : (T,), int8 codes of `Status` of the solve that led to the sample.
    residuals : (T,), scaled residual of that solve, recomputed outside the solver.
    contacts : names of the contacts, in the order of ``impulse`` (event-driven simulation).
    coordinates : names of the columns of ``q``, of models that name them; `rates` has those of ``v``.
    """

    t: Array
    q: Array
    v: Array
    s: Array | None = None
    impulse: Array | None = None
    events: tuple[Event, ...] = ()
    forces: Mapping[str, Array] = field(default_factory=dict)
    deformations: Mapping[str, Array] = field(default_factory=dict)
    energies: Mapping[str, Array] = field(default_factory=dict)
    status: np.ndarray | None = None
    residuals: Array | None = None
    contacts: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    _kind: ClassVar = "trajectory"

    def __post_init__(self) -> None:
        length = len(self.t)
        named: dict[str, np.ndarray | None] = {name: getattr(self, name) for name in _ARRAYS}
        for group in _GROUPS:
            named |= {f"{group}[{name!r}]": array for name, array in getattr(self, group).items()}
        for name, array in named.items():
            if array is not None and len(array) != length:
                raise InputError(name, got=f"{len(array)} samples", wanted=f"{length}, as many as t")
        if not np.all(np.diff(self.t) >= 0):
            raise InputError("t", got="a time that decreases or is not a number", wanted="times in order")
        if self.s is not None and not np.all(np.diff(self.s) > 0):
            raise InputError(
                "s", got="an augmented time that does not increase", wanted="strictly increasing"
            )

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, index: int) -> State:
        """The state at sample ``index`` (negative: from the end)."""
        return State(self.q[index], self.v[index], float(self.t[index]))

    def __repr__(self) -> str:
        ends = f"{self.t[0]:.4g} to {self.t[-1]:.4g} s" if len(self) else "empty"
        return f"Trajectory({ends}, samples={len(self)}, impacts={count_impacts(self.events)}, ok={self.ok})"

    @property
    def soon(self) -> dict[str, float]:
        """Contacts that took no part in an impact although they would have closed within three windows.

        Name -> the shortest time (s) at which one was seen; another window would have counted them.
        """
        return earliest(event.data.get("soon", {}) for event in self.events)

    @property
    def rates(self) -> tuple[str, ...]:
        """Names of the columns of ``v``: a quaternion (up to "root.qz") turns at rates up to "root.wz"."""
        turning = {f".q{axis}": f".w{axis}" for axis in "xyz"} if self.q.shape[1] > self.v.shape[1] else {}
        kept = [name for name in self.coordinates if not (turning and name.endswith(".qw"))]
        return tuple(name[:-3] + turning[name[-3:]] if name[-3:] in turning else name for name in kept)

    def _sentences(self) -> list[str]:
        return soon_sentence(self.soon)

    def _facts(self) -> list[tuple[object, ...]]:
        shown = [(f"{e.t:.6g}", e.kind, ", ".join(e.contacts)) for e in self.events[:_TOLD]]
        return [("t, s", "event", "contacts"), *shown] if shown else []

    def _coordinates(self) -> dict[str, object]:
        named = {} if self.impulse is None else {"direction": list(DIRECTIONS[self.impulse.shape[2]])}
        words = {"contact": self.contacts, "coordinate": self.coordinates, "velocity": self.rates}
        return {"t": self.t, **named, **{name: list(of) for name, of in words.items() if of}}

    def _columns(self) -> dict[str, Column]:
        found = {
            "q": Column(("t", "coordinate"), self.q, "m or rad", "configuration"),
            "v": Column(("t", "velocity"), self.v, "m/s or rad/s", "generalized velocity"),
        }
        if self.s is not None:
            found["s"] = Column(("t",), self.s, "s + N s", "augmented time")
        if self.impulse is not None:
            at = ("t", "contact", "direction")
            found["impulse"] = Column(at, self.impulse, "N s", "gathered since the sample before")
        for group, units in (("forces", "N"), ("deformations", "m"), ("energies", "J")):
            for name, values in getattr(self, group).items():
                found[f"{group}_{name}"] = Column(("t", *self._further(group, name, values)), values, units)
        if self.status is not None:
            found["status"] = Column(("t",), self.status, "1", "see routh.Status")
        return found

    def _further(self, group: str, name: str, values: Array) -> tuple[str, ...]:
        """Dimensions beside time: those of the impulses, or numbers where there is something else."""
        if self.impulse is not None and values.shape[1:] == self.impulse.shape[1:]:
            return "contact", "direction"
        return tuple(f"{group}_{name}_{k}" for k in range(values.ndim - 1))

    def parts(self) -> tuple[Options, dict[str, np.ndarray]]:
        """What a file holds of it: words and numbers for JSON, and arrays (T, ...) by name."""
        arrays = {name: getattr(self, name) for name in _ARRAYS if getattr(self, name) is not None}
        groups = {group: list(getattr(self, group)) for group in _GROUPS}
        for group in _GROUPS:
            arrays |= {f"{group}_{k}": array for k, array in enumerate(getattr(self, group).values())}
        events = [[e.kind, e.t, e.index, e.contacts, _pairs(e.data)] for e in self.events]
        named = {"contacts": self.contacts, "coordinates": self.coordinates}
        return {"groups": groups, "events": events, **named}, arrays

    @classmethod
    def of_parts(cls, told: Options, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `parts`; raises KeyError, TypeError or ValueError where they are not whole."""
        groups: Options = {
            group: {str(name): arrays[f"{group}_{k}"] for k, name in enumerate(told["groups"][group])}
            for group in _GROUPS
        }
        events = tuple(_event(*event) for event in told["events"])
        given: Options = {name: arrays[name] for name in _ARRAYS if name in arrays}
        named: Options = {name: tuple(map(str, told.get(name, ()))) for name in ("contacts", "coordinates")}
        return cls(**given, **groups, events=events, **named)

    @property
    def final(self) -> State:
        """The last state."""
        return self[-1]

    @property
    def ok(self) -> bool:
        """Whether every solve on the way was solved."""
        return self.status is None or all(Status(int(code)).ok for code in np.unique(self.status))

    def in_s(self) -> InAugmentedTime:
        """The motion over augmented time (HP23 (43)-(53)), in which the velocity is continuous."""
        if self.s is None or self.impulse is None:
            raise InputError(
                "s", got="None", wanted="a trajectory of `routh.simulate`, time stepping has no s"
            )
        ds = np.diff(self.s)
        normal = self.impulse[1:, :, 0]
        return InAugmentedTime(
            self.s, self.t, self.q, self.v, np.diff(self.t) / ds, normal / ds[:, None], self.contacts
        )

    def failures(self) -> list[tuple[float, Status]]:
        """Time and status of every solve that was not solved."""
        codes = np.zeros(0) if self.status is None else self.status
        pairs = ((float(t), Status(int(code))) for t, code in zip(self.t, codes, strict=False))
        return [(t, status) for t, status in pairs if not status.ok]


def count_impacts(events: Sequence[Event]) -> int:
    """How many of the events are impacts."""
    return sum(event.kind.startswith("impact") for event in events)


def earliest(seen: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The shortest time (s) of each name."""
    found: dict[str, float] = {}
    for times in seen:
        for name, time in times.items():
            found[name] = min(time, found.get(name, time))
    return found


def contact_changes(
    before: np.ndarray, now: np.ndarray, names: Sequence[str], t: float, index: int
) -> list[Event]:
    """Contacts that push now (nc,) bool and did not before, and the other way round, at a sample."""
    changes = {"close": now & ~before, "open": before & ~now}
    which = {kind: tuple(compress(names, changed)) for kind, changed in changes.items()}
    return [Event(kind, t, index, contacts) for kind, contacts in which.items() if contacts]


def _told(value: object) -> object:
    """What an event knows, for JSON: arrays, tuples and dictionaries say what they are."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, tuple):
        return {"tuple": [_told(one) for one in value]}
    if isinstance(value, dict):
        return {"dict": _pairs(value)}
    if isinstance(value, list):
        return [_told(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _pairs(data: Options) -> list[list[object]]:
    return [[name, _told(value)] for name, value in data.items()]


def _heard(value: object) -> object:
    """The inverse of `_told`."""
    if isinstance(value, list):
        return [_heard(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=np.dtype(value["dtype"]))
    if "dict" in value:
        return {str(name): _heard(one) for name, one in value["dict"]}
    return tuple(_heard(one) for one in value["tuple"])


def _event(kind: str, t: float, index: int, contacts: list[str], data: list[tuple[str, object]]) -> Event:
    known = {str(name): _heard(value) for name, value in data}
    return Event(str(kind), float(t), int(index), tuple(map(str, contacts)), known)
