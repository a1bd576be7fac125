"""Collects the samples and events of an event-driven simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from routh.models.base import Model
from routh.sim.mode_motion import Sample
from routh.sim.trajectory import Event, Trajectory
from routh.status import Status
from routh.validation import Array


class Recorder:
    """Rows of a trajectory under construction; ``ds = dt + sum of normal impulse`` (HP23 (46), (52))."""

    def __init__(self, model: Model, t: float, q: Array, v: Array) -> None:
        self.model = model
        self.names = tuple(info.name for info in model.contacts)
        self._zero = self._waiting = np.zeros((len(self.names), 1 + model.nt))
        self.t, self.s, self.q, self.v = [t], [0.0], [q.copy()], [v.copy()]
        self.impulses, self.forces, self.forces_after = [self._zero], [self._zero], [self._zero]
        self.status, self.residuals = [Status.SOLVED], [0.0]
        self.events: list[Event] = []

    @property
    def index(self) -> int:
        """Of the last sample."""
        return len(self.t) - 1

    def add(
        self,
        t: float,
        q: Array,
        v: Array,
        impulse: Array,
        *,
        force: Array | None = None,
        status: Status = Status.SOLVED,
        residual: float = 0.0,
    ) -> None:
        """A sample with the impulses (nc, 1 + nt) since the one before; dropped where s does not move."""
        impulse = impulse + self._waiting
        s = self.s[-1] + (t - self.t[-1]) + float(impulse[:, 0].sum())
        if not s > self.s[-1]:
            if status.ok:
                # nothing happened, or less than s can resolve: keep the newer state, count the impulse later
                self.q[-1], self.v[-1], self._waiting = q.copy(), v.copy(), impulse
                return
            s = math.nextafter(self.s[-1], math.inf)
        self._waiting = self._zero
        self.t.append(t)
        self.s.append(s)
        self.q.append(q.copy())
        self.v.append(v.copy())
        self.impulses.append(impulse)
        self.forces.append(self._zero if force is None else force)
        self.forces_after.append(self.forces[-1])
        self.status.append(status)
        self.residuals.append(residual)

    def extend(self, samples: Sequence[Sample]) -> None:
        """Samples of a smooth motion after the first, which is the last sample so far."""
        since = samples[0].impulse
        for sample in samples[1:]:
            self.add(sample.t, sample.q, sample.v, sample.impulse - since, force=sample.force)
            since = sample.impulse

    def begin(self, force: Array) -> None:
        """Smooth motion begins at the last sample with these contact forces."""
        self.forces_after[-1] = force

    def settle(self, v: Array) -> None:
        """The velocity of the last sample without what is left of a slip that has come to its end."""
        self.v[-1] = v.copy()

    def event(self, kind: str, contacts: tuple[int, ...] = (), **data: object) -> None:
        """Something that happened at the last sample."""
        names = tuple(self.names[i] for i in contacts)
        self.events.append(Event(kind, self.t[-1], self.index, names, data))

    def trajectory(self) -> Trajectory:
        """Everything so far."""
        q, v = np.array(self.q), np.array(self.v)
        energies = getattr(self.model, "energies", self._energies)(q, v)
        return Trajectory(
            np.array(self.t),
            q,
            v,
            s=np.array(self.s),
            impulses=np.array(self.impulses),
            events=tuple(self.events),
            forces={"contacts": np.array(self.forces), "contacts after": np.array(self.forces_after)},
            energies=energies,
            status=np.array(self.status, dtype=np.int8),
            residuals=np.array(self.residuals),
            contacts=self.names,
        )

    def _energies(self, q: Array, v: Array) -> dict[str, Array]:
        """Energies at the samples, of models that do not tell many at once."""
        found = {"kinetic": np.array([0.5 * w @ self.model.mass(p) @ w for p, w in zip(q, v, strict=True)])}
        potential = getattr(self.model, "potential", None)
        if potential is not None:
            found["potential"] = np.array([potential(p) for p in q])
        return found
