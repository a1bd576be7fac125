"""Forces without stepping, and the inputs for a wanted acceleration: D19 1.2 and 2.3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import Result
from routh.base.status import InputError, Status
from routh.base.validation import Array, choice, real, real_array
from routh.constraints.compliance import STEEL, Compliance, from_model
from routh.constraints.solving import ConstraintForces, solve
from routh.constraints.system import ActingRows, ConstrainedSystem
from routh.constraints.types import StateConstraint
from routh.models.base import Model, State
from routh.models.robots.wrapping import as_model, start_of
from routh.problem.friction import project_disc

if TYPE_CHECKING:
    from routh.models.robots.wrapping import Movable, Start


@dataclass(frozen=True, eq=False)
class InverseResult(Result):
    """Inputs, the constraint forces that go with them, and what they achieve.

    Parameters
    ----------
    u : (nu,), inputs in N or N m, of least norm among those that come nearest.
    forces : the forward solve under these inputs.
    acceleration : (nv,), what the forward solve gives.
    error : largest difference to the wanted acceleration, scaled by the largest acceleration in play; where
        the mechanism has fewer inputs than motions it need not vanish.
    status : `SOLVED` where the forward solve under ``u`` is solved and gives the wanted acceleration.
    """

    u: Array
    forces: ConstraintForces = field(repr=False)
    acceleration: Array = field(repr=False)
    error: float
    status: Status


def forces_at(
    model: Movable,
    state: Start,
    *,
    dt: float,
    u: ArrayLike | None = None,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    force: ArrayLike | None = None,
    deformations: str = "given",
    touching: float = 1e-4,
) -> ConstraintForces:
    """Constraint forces at a state for given inputs, without moving: for control and estimation.

    Parameters
    ----------
    model, state, u, compliance, constraints, force : as in `from_model`.
    dt : s, the horizon over which the constraints answer.
    deformations : "given", as the state has them; or "zero", where they are too small to be measured (D19
        section 7). Springs then hold the rates against which their stiffness answers within ``dt``: stiff
        constraints get the forces that keep them from moving, whatever the error of the measured state.
    touching : m or rad, with "zero": contacts and limits that are this close count as touching.
    """
    choice("deformations", deformations, ("given", "zero"))
    options = {"compliance": compliance, "constraints": constraints, "u": u, "force": force}
    robot = as_model(model)
    system = from_model(robot, start_of(robot, state), dt=dt, **options)  # type: ignore[arg-type]
    if deformations == "zero":
        near = real("touching", touching, at_least=0.0)
        undeformed = [item.undeformed(near) for item in system.constraints]
        system = ConstrainedSystem(system.mass, system.f, system.v, undeformed, dt)
    return solve(system)


def inputs_for(
    model: Model,
    state: State,
    acceleration: ArrayLike,
    *,
    dt: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    force: ArrayLike | None = None,
) -> InverseResult:
    """The inputs under which the constrained mechanism has a wanted mean acceleration over ``dt``.

    Given the velocity after, ``v_1 = v + dt acceleration``, the force of every constraint follows from its
    own law, row by row: no system is to be solved, and it is unique even for redundant constraints. The
    inputs then make up what is missing in ``M a = f + B u + G^T lambda``.

    Parameters
    ----------
    model, state, compliance, constraints, force : as in `from_model`.
    acceleration : (nv,), the mean over the step.
    dt : the step, s.
    """
    wanted = real_array("acceleration", acceleration, [(model.nv,)], f"shape ({model.nv},)")
    options = {"dt": dt, "compliance": compliance, "constraints": constraints, "force": force}
    count = input_count(model)
    if count == 0:
        raise InputError("model", got="no inputs", wanted="at least one actuated coordinate")

    def forces_under(u: Array) -> Array:
        """All forces (nv,) at the wanted velocity, those of the rows by their laws."""
        system = from_model(model, state, u=u, **options)  # type: ignore[arg-type]
        return system.f + system.rows.G.T @ _forces_of_velocity(system.rows, state.v + dt * wanted)

    system = from_model(model, state, u=np.zeros(count), **options)  # type: ignore[arg-type]
    rows, rest = system.rows, forces_under(np.zeros(count))
    unit = 1e-3 if hasattr(model, "step_terms") else 1.0  # a servo may saturate under more
    B = np.array([forces_under(unit * each) - rest for each in np.eye(count)]).T / unit
    u = np.linalg.lstsq(B, system.M @ wanted - rest, rcond=None)[0]
    forces = solve(from_model(model, state, u=u, **options))  # type: ignore[arg-type]
    got = forces.acceleration
    scale = max(
        np.abs(wanted).max(), np.abs(rows.mass.solve(system.f)).max(), np.abs(state.v).max() / dt, 1e-300
    )
    error = float(np.abs(got - wanted).max() / scale)
    good = forces.status.ok and error < tolerances.RESIDUAL_HUGE_FRICTION
    return InverseResult(u, forces, got, error, Status.SOLVED if good else Status.INCOMPLETE)


def input_count(model: Model) -> int:
    """How many inputs a model takes: what it says, or one per velocity."""
    if hasattr(model, "actuated"):
        return len(model.actuated)
    return int(getattr(model, "nu", model.nv))


def _forces_of_velocity(rows: ActingRows, v: Array) -> Array:
    """Flat forces (n,) by the laws alone, for a known velocity at the end of the step."""
    rate = rows.G @ v + rows.h * rows.gamma
    force = -rows.K * rows.phi - (rows.X / rows.h) * rate
    first = rows.tangents.start
    force[rows.nb : first] = np.maximum(force[rows.nb : first], 0.0)
    tangential = force[rows.tangents].reshape(rows.nc, rows.nt)
    force[rows.tangents] = project_disc(tangential, rows.mu * force[rows.normals]).ravel()
    return force
