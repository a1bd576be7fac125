"""Derivatives of a time-stepped motion by one adjoint pass, back through its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import Result, worst_status
from routh.base.status import Status
from routh.base.validation import Array, Options, real_array
from routh.constraints import STEEL, Compliance, ConstrainedSystem, ConstraintForces, differentiate, solve
from routh.constraints.gradients import ContactGradient, StateGradient, SystemGradient, slopes, state_gradient
from routh.constraints.types import Contact, StateConstraint
from routh.models.base import Model, State
from routh.models.robots.wrapping import as_model
from routh.sim.time_stepping import Function, step_through
from routh.sim.trajectory import Trajectory

if TYPE_CHECKING:
    from routh.models.robots.wrapping import Movable, Start

_CONTACT = ("mu", "stiffness", "damping", "tangential_stiffness", "tangential_damping")


@dataclass(frozen=True, eq=False)
class StepGradient(Result):
    """Gradient with respect to where a motion began and what it went through.

    Parameters
    ----------
    q : (nv,), for motions of the first configuration along each velocity; d/dq where ``nq = nv``.
    v : (nv,), the first velocity.
    u : (steps, nu), the inputs of every step.
    force : (steps, nv), further forces in every step.
    contacts : "mu", "stiffness", "damping", "tangential_stiffness", "tangential_damping" -> (nc,), the same
        in all steps; where stiffness is a law of the gap, for the same change of all its values.
    constraints : name -> {"stiffness", "damping"} -> (n,).
    margin : the smallest of the steps', see `routh.constraints.Derivative`.
    status : the tape's: SOLVED where every step is.
    """

    q: Array
    v: Array
    u: Array = field(repr=False)
    force: Array = field(repr=False)
    contacts: dict[str, Array]
    constraints: dict[str, dict[str, Array]]
    margin: float
    status: Status

    @property
    def near_kink(self) -> bool:
        """Whether some step stands near a change of mode."""
        return not self.margin > tolerances.KINK


@dataclass(frozen=True, eq=False)
class StepTape(Result):
    """A time-stepped motion that remembers its steps, so that it can be differentiated."""

    trajectory: Trajectory
    steps: tuple[ConstraintForces, ...] = field(repr=False)
    model: Model = field(repr=False)
    options: Options = field(repr=False)

    @property
    def status(self) -> Status:
        """SOLVED where every step is, else why the first one is not."""
        return worst_status(one.status for one in self.steps)

    @property
    def final(self) -> State:
        """State in which it ended."""
        return self.trajectory.final

    def gradient(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> StepGradient:
        """Gradient of a number that depends on the states; one pass back through the steps.

        Parameters
        ----------
        q : (nq,), its derivative with respect to the last configuration; or (steps + 1, nq), to all of them.
        v : (nv,) or (steps + 1, nv), with respect to velocities.
        """
        count, model = len(self.steps), self.model
        on_q = _spread("q", q, count, model.nq)
        on_v = _spread("v", v, count, model.nv)
        return _Pass(self, on_q, on_v).run()


def trace_steps(
    model: Movable,
    state: Start,
    *,
    dt: float,
    duration: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    u: ArrayLike | Function | None = None,
    force: Function | None = None,
) -> StepTape:
    """`step_through` with D19's scheme, remembering every step.

    Parameters
    ----------
    model, state, dt, duration, compliance, constraints, u, force : as in `step_through`.
    """
    model, steps = as_model(model), list[ConstraintForces]()

    def forces(system: ConstrainedSystem, warm: ConstraintForces | None) -> ConstraintForces:
        steps.append(solve(system, warm=warm))
        return steps[-1]

    options: Options = {"compliance": compliance, "constraints": tuple(constraints), "u": u, "force": force}
    found = step_through(model, state, dt=dt, duration=duration, rule=forces, **options)
    return StepTape(found, tuple(steps), model, options)


class _Pass:
    """A pass back through the steps: what the state at the start of each is worth."""

    def __init__(self, tape: StepTape, on_q: Array, on_v: Array) -> None:
        self.tape, self.model, self.on_q, self.on_v = tape, tape.model, on_q, on_v
        self.straight = self.model.nq == self.model.nv
        self.contacts = {name: np.zeros(len(self.model.contacts)) for name in _CONTACT}
        self.rows = {
            item.name: {"stiffness": np.zeros(len(item)), "damping": np.zeros(len(item))}
            for item in (tape.steps[0].system.constraints if tape.steps else ())
            if item.name != "contacts"
        }

    def run(self) -> StepGradient:
        count = len(self.tape.steps)
        on_q, on_v = self.on_q[-1], self.on_v[-1]  # of configurations (nq,), of velocities
        moved = on_q if self.straight else self._motions(count) @ on_q  # of motions (nv,)
        inputs, forces, margin = [], np.zeros((count, self.model.nv)), np.inf
        memory: list[Array | None] | None = None  # on the springs of each constraint of a step
        for k in reversed(range(count)):
            derivative = differentiate(self.tape.steps[k])
            margin = min(margin, derivative.margin)
            by_q, by_v = self._moving(k, on_q)
            system = derivative.gradient(v=on_v + by_v, deformations=memory)
            found = self._state_gradient(k, system)
            self._collect(k, system)
            inputs.append(found.u)
            forces[k] = system.f
            # contacts remember their springs; other rows have theirs from the state
            named = zip(self.tape.steps[k].system.constraints, system.constraints, strict=True)
            memory = [part.deformation if item.name == "contacts" else None for item, part in named]  # type: ignore[union-attr]
            on_v = found.v + self.on_v[k]
            moved, on_q = self._earlier(k, by_q + found.q)
        u = np.array(inputs[::-1]) if inputs else np.zeros((0, 0))
        parts = self.contacts, self.rows, float(margin), self.tape.status
        return StepGradient(moved, on_v, u, forces, *parts)

    def _state_gradient(self, k: int, system: SystemGradient) -> StateGradient:
        run, solved = self.tape.trajectory, self.tape.steps[k].system
        state = State(run.q[k], run.v[k], run.t[k])
        first = solved.constraints[0] if self.model.contacts else None
        deformation = first.deformation if isinstance(first, Contact) else None
        options = self.tape.options | {"dt": solved.dt, "deformation": deformation}
        return state_gradient(self.model, state, system, **options)

    def _earlier(self, k: int, moved: Array) -> tuple[Array, Array]:
        """What motions of the configuration before step k are worth, (nv,), and its numbers, (nq,)."""
        if self.straight:
            return (moved + self.on_q[k],) * 2
        motions = self._motions(k)
        moved = moved + motions @ self.on_q[k]
        # the numbers obey conditions, such as a quaternion's length: the least of all that agree on motions
        return moved, np.asarray(np.linalg.lstsq(motions, moved, rcond=None)[0], dtype=np.float64)

    def _moving(self, k: int, on_q: Array) -> tuple[Array, Array]:
        """D19 (36), ``q_1 = integrate(q, v_1, h)``: what motions of q and the velocity are worth by it."""
        h, v = self.tape.steps[k].system.dt, self.tape.steps[k].v
        if self.straight:
            return on_q, h * on_q
        model, q, units = self.model, self.tape.trajectory.q[k], np.eye(self.model.nv)
        by_q = slopes(lambda i, x: on_q @ model.integrate(model.integrate(q, units[i], x), v, h), model.nv)
        by_v = slopes(lambda i, x: on_q @ model.integrate(q, v + x * units[i], h), model.nv)
        return by_q, by_v

    def _motions(self, k: int) -> Array:
        """How the configuration of step k changes along each velocity, (nv, nq)."""
        model, q, units = self.model, self.tape.trajectory.q[k], np.eye(self.model.nv)
        return slopes(lambda i, x: model.integrate(q, units[i], x), model.nv)

    def _collect(self, k: int, system: SystemGradient) -> None:
        for item, gradient in zip(self.tape.steps[k].system.constraints, system.constraints, strict=True):
            if item.name == "contacts":
                for part in _CONTACT:
                    self.contacts[part] += getattr(gradient, part)
                continue
            # a model's bounded rows are the friction of contacts
            friction = "tangential_" if isinstance(gradient, ContactGradient) else ""
            for name, total in self.rows[item.name].items():
                total += getattr(gradient, friction + name)


def _spread(field: str, given: ArrayLike | None, count: int, size: int) -> Array:
    """Derivatives with respect to all states, (count + 1, size)."""
    every = np.zeros((count + 1, size))
    if given is None:
        return every
    shapes = [(size,), (count + 1, size)]
    found = real_array(field, given, shapes, f"shape ({size},) or ({count + 1}, {size})")
    every[-1 if found.ndim == 1 else slice(None)] = found
    return every
