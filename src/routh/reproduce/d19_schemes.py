"""The Euler schemes of D19 section 3 and its appendix A, to compare the constraint scheme with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from routh import tolerances
from routh.constraints.forces import ConstraintForces, scatter
from routh.constraints.solve import solve
from routh.constraints.system import ActingRows, ConstrainedSystem
from routh.constraints.types import Bilateral, Constraint, Contact, Unilateral
from routh.friction import project_disc
from routh.reproduce.d19_program import solve_paper
from routh.sim.step_through import CONSTRAINT_RULE, Ahead, StepRule
from routh.status import Status
from routh.validation import Array, choice

SCHEMES = ("constraint", "implicit", "semi-implicit", "explicit")
_IMPLICIT_ITERATIONS = 50


def iteration_matrix(scheme: str, *, m: float, k: float, b: float, dt: float) -> Array:
    """``(x, v)_1 = A (x, v)_0`` of the unforced spring-mass-damper, (2, 2): D19 (10), and (11)-(14) solved.

    The scheme is stable where no eigenvalue is larger than one in magnitude.
    """
    choice("scheme", scheme, SCHEMES)
    h = dt
    if scheme == "explicit":
        return np.array([[1.0, h], [-h * k / m, 1.0 - h * b / m]])
    if scheme == "semi-implicit":
        row = np.array([-h * k / m, 1.0]) / (1.0 + h * b / m)
    else:
        # implicit Euler; the constraint scheme is the same on a linear spring
        row = np.array([-h * k / m, 1.0]) / (1.0 + (h * h * k + h * b) / m)
    return np.stack([np.array([1.0, 0.0]) + h * row, row])


def explicit(system: ConstrainedSystem) -> ConstraintForces:
    """Springs and dampers from the start of the step: D19 (8), (18)."""
    rows = system.rows
    force = _one_sided(rows, -rows.K * rows.phi - rows.B * (rows.G @ system.v))
    v = rows.v_free + rows.h * rows.acceleration(force)
    nothing = solve(ConstrainedSystem(system.M, system.f, system.v, [], system.dt))
    return replace(
        nothing,
        system=system,
        v=v,
        forces=scatter(system, force),
        rates=scatter(system, rows.G @ v),
        deformations=scatter(system, rows.phi + rows.h * (rows.G @ v)),
    )


def implicit(
    system: ConstrainedSystem,
    ahead: Ahead,
    warm: ConstraintForces | None = None,
) -> ConstraintForces:
    """Implicit Euler: springs and their directions at the end of the step, by linearising there again.

    With a guess v_k of the velocity after and G_k, phi_k at the configuration that it leads to,
    ``phi_1 = phi_k + h G_k (v_1 - v_k)``, which is one more solve of the same kind.
    """
    h = system.dt
    found = solve(system, warm=warm)
    for _ in range(_IMPLICIT_ITERATIONS):
        guess = found.v
        items = [_pulled_back(item, guess, h) for item in ahead(guess)]
        found = solve(ConstrainedSystem(system.M, system.f, system.v, items, h), warm=found)
        change = np.abs(found.v - guess).max(initial=0.0) / max(np.abs(found.v).max(initial=0.0), 1e-300)
        if change <= 1e-13:
            return found
    return found if change <= tolerances.RESIDUAL else replace(found, status=Status.INCOMPLETE)


def semi_implicit(system: ConstrainedSystem) -> ConstraintForces:
    """Springs from the start of the step, dampers from its end: D19 (11)-(12). No friction."""
    if any(isinstance(item, Contact) and item.mu.any() for item in system.constraints):
        raise ValueError("rule: got 'semi-implicit' with friction; wanted another one, or mu = 0")
    push = sum((_spring_force(item) for item in system.constraints), np.zeros(system.nv))
    dampers = [_damper(item) for item in system.constraints]
    return solve(ConstrainedSystem(system.M, system.f + push, system.v, dampers, system.dt))


def _pulled_back(item: Constraint, guess: Array, h: float) -> Constraint:
    """The rows at the guessed end, with the deformation that a step from the start must see."""
    if isinstance(item, Contact):
        return _like(item, phi=item.phi - h * (item.Jn @ guess))
    make = Bilateral if isinstance(item, Bilateral) else Unilateral
    phi = item.phi - h * (item.G @ guess)
    return make(item.G, phi, stiffness=item.stiffness, damping=item.damping, name=item.name)


def _like(item: Contact, **changes: Any) -> Contact:
    """A contact with some values changed and without the bias."""
    Jt = item.Jt if sparse.issparse(item.Jt) else item.Jt.reshape(len(item), item.nt, -1)
    names = ("mu", "stiffness", "damping", "tangential_stiffness", "tangential_damping", "deformation")
    values = {name: getattr(item, name) for name in (*names, "nt", "anticipate", "name")}
    return Contact(item.Jn, Jt, **{"phi": item.phi, **values, **changes})


def _spring_force(item: Constraint) -> Array:
    """Generalised force of the springs alone, (nv,)."""
    force = -item.stiffness * item.phi
    if isinstance(item, Bilateral):
        return item.G.T @ force
    J = item.Jn if isinstance(item, Contact) else item.G
    return J.T @ np.maximum(force, 0.0)


def _damper(item: Constraint) -> Constraint:
    """The same rows without their springs; one-sided ones act where they are pressed."""
    if isinstance(item, Contact):
        return _like(item, stiffness=0.0)
    damping = item.damping if isinstance(item, Bilateral) else np.where(item.phi <= 0.0, item.damping, 0.0)
    make = Bilateral if isinstance(item, Bilateral) else Unilateral
    return make(item.G, item.phi, stiffness=0.0, damping=damping, name=item.name)


def _one_sided(rows: ActingRows, force: Array) -> Array:
    """Forces cut to what can push, and to the friction disc, in place."""
    force[rows.nb : rows.tangents.start] = np.maximum(force[rows.nb : rows.tangents.start], 0.0)
    tangential = force[rows.tangents].reshape(rows.nc, rows.nt)
    force[rows.tangents] = project_disc(tangential, rows.mu * force[rows.normals]).ravel()
    return force


#: What `routh.step_through` can be run by instead of D19's scheme.
RULES = {
    "constraint": CONSTRAINT_RULE,
    "implicit": StepRule(lambda system, warm, ahead: implicit(system, ahead, warm)),
    "semi-implicit": StepRule(lambda system, warm, ahead: semi_implicit(system)),
    "explicit": StepRule(lambda system, warm, ahead: explicit(system), by_velocity_before=True),  # D19 (7)
    "paper": StepRule(lambda system, warm, ahead: solve_paper(system)),
}
