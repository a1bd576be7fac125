"""What a time stepper writes down."""

from __future__ import annotations

import numpy as np

from routh.constraints import Bilateral, ConstrainedSystem, ConstraintForces, Contact
from routh.constraints.types import Constraint
from routh.laws import ImpactLaw, ImpactResult
from routh.models.base import Model, SpringyModel, State
from routh.sim.trajectory import Event, Trajectory
from routh.status import Status
from routh.validation import Array, Options


class StepRecorder:
    """Collects samples, forces, deformations, energies and the worst status between samples."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.elsewhere = model.not_elastic if isinstance(model, SpringyModel) else ()
        self.rows: list[Options] = []
        self.events: list[Event] = []
        self.closed = np.zeros(len(model.contacts), dtype=bool)
        self.stopped = False
        self._reset()

    def _reset(self) -> None:
        self.impulse = np.zeros((len(self.model.contacts), 1 + self.model.nt))
        self.status, self.residual = Status.SOLVED, 0.0

    def count(self, step: ConstraintForces) -> None:
        """Take one step into account."""
        if step.status is not Status.SOLVED:
            self.status = step.status
        self.residual = float(np.maximum(self.residual, step.residual))
        if self.model.contacts:
            self.impulse += step.system.dt * step.forces[0]

    def impact(self, t: float, law: ImpactLaw, result: ImpactResult) -> None:
        """An impact within a step, which the next sample tells the impulses of."""
        names = result.problem.names
        pushed = tuple(names[i] for i in np.flatnonzero(result.impulse[:, 0] > 0.0))
        rows = [[info.name for info in self.model.contacts].index(name) for name in names]
        self.impulse[rows] += result.impulse
        self.residual = float(np.maximum(self.residual, result.residual))
        data: Options = {"closed": names, "soon": dict(result.problem.soon), "law": type(law).__name__}
        data |= {"v_before": result.problem.v.copy(), "v_after": result.v.copy()}
        self.events.append(Event("impact", t, len(self.rows), pushed, data))

    def stop(self, t: float, reason: str, status: Status = Status.OUT_OF_TIME) -> None:
        """The next sample is the last, before its time."""
        self.status, self.stopped = status, True
        self.events.append(
            Event("stop", t, len(self.rows), (), {"reason": reason, "status": self.status.name})
        )

    def sample(self, now: State, system: ConstrainedSystem, last: ConstraintForces | None) -> None:
        """Write down a state, the constraints there and the forces that led to it."""
        items = system.constraints
        deformations = [_deformation(item) for item in items]
        forces = [np.zeros_like(d) for d in deformations] if last is None else list(last.forces)
        names = [item.name for item in items]
        energies = {
            "kinetic": 0.5 * float(now.v @ (system.M @ now.v)),
            "elastic": sum(elastic_energy(item) for item in items if item.name not in self.elsewhere),
        }
        if hasattr(self.model, "potential"):
            energies["potential"] = self.model.potential(now.q)
        self.rows.append(
            {
                "t": now.t,
                "q": now.q,
                "v": now.v,
                "impulses": self.impulse,
                "status": np.int8(self.status),
                "residuals": self.residual,
                "forces": dict(zip(names, forces, strict=True)),
                "deformations": dict(zip(names, deformations, strict=True)),
                "energies": energies,
            }
        )
        self._note_contacts(now, forces)
        self._reset()

    def trajectory(self) -> Trajectory:
        """All of it."""
        columns: Options = {}
        for name, first in self.rows[0].items():
            values = [row[name] for row in self.rows]
            columns[name] = (
                {key: np.array([value[key] for value in values]) for key in first}
                if isinstance(first, dict)
                else np.array(values)
            )
        contacts = tuple(info.name for info in self.model.contacts)
        return Trajectory(**columns, events=tuple(self.events), contacts=contacts)

    def _note_contacts(self, now: State, forces: list[Array]) -> None:
        if not self.model.contacts:
            return
        closed = forces[0][:, 0] > 0.0
        for kind, changed in (("close", closed & ~self.closed), ("open", self.closed & ~closed)):
            names = tuple(self.model.contacts[i].name for i in np.flatnonzero(changed))
            if names:
                self.events.append(Event(kind, now.t, len(self.rows) - 1, names))
        self.closed = closed


def elastic_energy(item: Constraint) -> float:
    """Energy in the springs of a constraint, J; one-sided springs hold none when they are not pressed."""
    phi = item.phi if isinstance(item, Bilateral) else np.minimum(item.phi, 0.0)
    energy = 0.5 * float(item.stiffness @ phi**2)
    if isinstance(item, Contact):
        energy += 0.5 * float(item.tangential_stiffness @ (item.deformation**2).sum(axis=1))
    return energy


def _deformation(item: Constraint) -> Array:
    return np.column_stack([item.phi, item.deformation]) if isinstance(item, Contact) else item.phi
