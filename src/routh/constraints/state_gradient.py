"""From derivatives with respect to a step's matrices to those with respect to the state of a model.

Mass, forces and Jacobians depend smoothly on the state: their derivatives are differences of the model's own
functions, contracted with what the adjoint solve says that each number is worth. No solve is differenced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh.constraints.bridge import STEEL, Compliance, from_model
from routh.constraints.holonomic import StateConstraint
from routh.constraints.inverse import input_count
from routh.constraints.system_gradient import ContactGradient, SystemGradient
from routh.models.base import Model, State
from routh.validation import Array

#: m or rad, m/s or rad/s: differences of fourth order err by its fourth power, and rounding over it
_STEP = 1e-3
_SHARE = 1e-4  # of a gap, for laws of stiffness: they change within a gap's own size

Function = Callable[[State], ArrayLike]


@dataclass(frozen=True, eq=False)
class StateGradient:
    """With respect to the state and the inputs of a model.

    Parameters
    ----------
    q : (nv,), for motions of the configuration along each velocity, per m or rad. Where ``nq = nv`` that is
        the derivative with respect to ``q``.
    v : (nv,), the velocity before.
    u : (nu,), the inputs; empty where the model has none, or actuators that act only where they are given.
    """

    q: Array
    v: Array
    u: Array


def state_gradient(
    model: Model,
    state: State,
    gradient: SystemGradient,
    *,
    dt: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    u: ArrayLike | Function | None = None,
    force: ArrayLike | Function | None = None,
    deformation: ArrayLike | None = None,
) -> StateGradient:
    """The gradient of a step of `from_model` with respect to the state it was taken from.

    Parameters
    ----------
    gradient : of the step: ``differentiate(solve(from_model(...))).gradient(...)``.
    dt, compliance, constraints, u, force, deformation : as in `from_model`; ``u`` and ``force`` may be
        functions of the state, which are then differentiated too.
    """
    held = compliance.at(model.gaps(state.q))

    def worth(at: State, more: ArrayLike | None = None) -> float:
        inputs = u(at) if callable(u) else u
        if more is not None:
            inputs = np.add(more, 0.0 if inputs is None else inputs)
        pushed = force(at) if callable(force) else force
        options = {"dt": dt, "compliance": held, "constraints": constraints}
        system = from_model(model, at, u=inputs, force=pushed, deformation=deformation, **options)  # type: ignore[arg-type]
        return gradient.along(system)

    units = np.eye(model.nv)

    def moved(k: int, x: float) -> float:
        return worth(State(model.integrate(state.q, units[k], x), state.v, state.t))

    def hastened(k: int, x: float) -> float:
        return worth(State(state.q, state.v + x * units[k], state.t))

    q = slopes(moved, model.nv) + _by_laws(model, state, gradient, compliance)
    inputs = np.eye(0 if u is None and hasattr(model, "step_terms") else input_count(model))
    on_u = slopes(lambda k, x: worth(state, x * inputs[k]), len(inputs))
    return StateGradient(q, slopes(hastened, model.nv) + gradient.v, on_u)


def slopes(function: Callable[[int, float], ArrayLike], count: int) -> Array:
    """``d function(k, x) / dx`` at x = 0 for k = 0 to count - 1, by central differences of fourth order."""
    found = []
    for k in range(count):
        ends = [np.asarray(function(k, share * _STEP)) for share in (-2.0, -1.0, 1.0, 2.0)]
        found.append((8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12.0 * _STEP))
    return np.array(found)


def _by_laws(model: Model, state: State, gradient: SystemGradient, compliance: Compliance) -> Array:
    """Through stiffness and damping that are functions of the gaps, (nv,)."""
    contacts = gradient.constraints[0] if model.contacts else None
    if not isinstance(contacts, ContactGradient):
        return np.zeros(model.nv)
    gaps = model.gaps(state.q)
    step = _SHARE * np.maximum(np.abs(gaps), 1e-12)
    worth = np.zeros(len(gaps))
    for law, on_law in ((compliance.stiffness, contacts.stiffness), (compliance.damping, contacts.damping)):
        if callable(law):
            worth += on_law * (law(gaps + step) - law(gaps - step)) / (2.0 * step)
    return worth @ model.jacobians(state.q)[0]
