"""Time stepping with constraint forces: D19 (36)-(39)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from routh.constraints import (
    STEEL,
    Compliance,
    ConstrainedSystem,
    ConstraintForces,
    from_model,
    solve,
)
from routh.constraints.holonomic import StateConstraint
from routh.models.base import Model, State, fitting_state
from routh.sim.marching import March, suits
from routh.sim.step_recorder import StepRecorder
from routh.sim.trajectory import Trajectory
from routh.validation import deadline_of, integer, real

Function = Callable[[State], ArrayLike]
#: How a step finds its forces; it may begin with those of the step before.
StepRule = Callable[[ConstrainedSystem, ConstraintForces | None], ConstraintForces]


def constraint_forces(system: ConstrainedSystem, warm: ConstraintForces | None) -> ConstraintForces:
    """D19's scheme: forces at the end of the step."""
    return solve(system, warm=warm)


def step_through(
    model: Model,
    state: State,
    *,
    dt: float,
    duration: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    u: ArrayLike | Function | None = None,
    force: Function | None = None,
    rule: StepRule = constraint_forces,
    record_every: int = 1,
    budget: float | None = None,
) -> Trajectory:
    """Simulate with a fixed step; stable at any stiffness of the constraints and any step.

    Velocities first, by one solve for the constraint forces at the end of the step; then the configuration
    by the new velocity (D19 (37), (36)). Contacts, joints and limits never make the step smaller.

    Parameters
    ----------
    model, state : what moves, and from where.
    dt, duration : step and time to simulate, s; the number of steps is rounded to the nearest.
    compliance : stiffness and damping of the model's contacts.
    constraints : joints and limits by constraint, foundations.
    u : inputs of the model, constant or a function of the state at the start of each step.
    force : further generalised forces (nv,), a function of the state at the start of each step.
    rule : how a step finds its forces. The default is D19's scheme; its own program, with which that is
        compared, is in `routh.reproduce.d19_program`.
    record_every : keep each so-manieth step, and the last.
    budget : s of waiting allowed; the motion up to then is returned, its last status OUT_OF_TIME.
    """
    deadline = deadline_of(budget)
    h = real("dt", dt, above=0.0)
    steps = round(real("duration", duration, at_least=0.0) / h)
    every = integer("record_every", record_every, at_least=1)
    build = partial(from_model, model, dt=h, compliance=compliance, constraints=tuple(constraints))
    _check_names(model, constraints)
    if rule is constraint_forces and suits(model, compliance, constraints):
        now = fitting_state(model, state)
        quick = March(model, compliance, constraints, [now], dt=h, steps=steps, every=every)
        return quick.alone(u, force, deadline)
    recorder = StepRecorder(model)
    memory = np.zeros((len(model.contacts), model.nt)) if compliance.remembers else None
    now, last, inputs = fitting_state(model, state), None, None
    for step in range(steps):
        if time.monotonic() >= deadline:
            recorder.stop(now.t, "the time allowed by budget= ran out")
            break
        inputs = u(now) if callable(u) else u
        pushed = None if force is None else force(now)
        system = build(
            now, u=inputs, force=pushed, deformation=memory, earlier=None if last is None else last.system
        )
        if step % every == 0:
            recorder.sample(now, system, last)
        last = rule(system, last)
        recorder.count(last)
        now = State(model.integrate(now.q, last.v, h), last.v, state.t + (step + 1) * h)  # D19 (36)
        memory = None if memory is None else last.deformations[0][:, 1:]
    recorder.sample(now, build(now, u=inputs, deformation=memory), last)
    return recorder.trajectory()


def _check_names(model: Model, constraints: Sequence[StateConstraint]) -> None:
    names = [*(["contacts"] if model.contacts else []), *(constraint.name for constraint in constraints)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"constraints: {name!r} stands twice; wanted distinct names (the model's: 'contacts')"
            )
