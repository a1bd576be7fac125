"""Time stepping with constraint forces: D19 (36)-(39)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
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
from routh.laws import ImpactLaw
from routh.models.base import Model, State, fitting_state
from routh.models.simultaneity import Simultaneity
from routh.sim.marching import March, suits
from routh.sim.simulate import generator
from routh.sim.step_impacts import StepImpacts
from routh.sim.step_recorder import StepRecorder
from routh.sim.trajectory import Trajectory
from routh.status import Status
from routh.validation import deadline_of, integer, real

_BEYOND = 1e9  # m and m/s, rad and rad/s: models say nothing of such states
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
    law: ImpactLaw | None = None,
    seed: int = 0,
    stream: int = 0,
    window: float | None = None,
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
    law : what resolves impacts, as `routh.laws.SetValued()`, which draws each outcome from the set. Contacts
        that meet on the way of a step, faster than smooth forces make them in two steps, then collide at the
        touch, all that touch or close within ``window`` together, and the rest of the step follows the new
        velocity (event "impact"). What is slower rests on constraint forces, which anticipate. None: no
        impacts, contacts yield and stop by their springs and dampers. A law knows no ``constraints``.
    seed, stream : of the law's draws, as those of `routh.simulate`.
    window : s, with a law: which contacts are simultaneous, as in `routh.simulate`; default 5 ms.
    record_every : keep each so-manieth step, and the last.
    budget : s of waiting allowed; the motion up to then is returned, its last status OUT_OF_TIME.
    """
    deadline = deadline_of(budget)
    h = real("dt", dt, above=0.0)
    impacts = None
    if law is not None:
        if constraints:
            raise ValueError(
                "law: got one with constraints, which impact laws do not know; wanted contacts only"
            )
        rng = generator(seed, stream)
        impacts = StepImpacts(model, law, rng, Simultaneity(window=window), h)
        compliance = replace(compliance, anticipate=True)
    elif window is not None:
        raise ValueError(f"window: got {window!r} without a law; wanted a law that resolves impacts")
    steps = round(real("duration", duration, at_least=0.0) / h)
    every = integer("record_every", record_every, at_least=1)
    build = partial(from_model, model, dt=h, compliance=compliance, constraints=tuple(constraints))
    check_names(model, constraints)
    if impacts is None and rule is constraint_forces and suits(model, compliance, constraints):
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
        before, inputs = now, u(now) if callable(u) else u
        pushed = None if force is None else force(now)
        system = build(
            now, u=inputs, force=pushed, deformation=memory, earlier=None if last is None else last.system
        )
        if step % every == 0:
            recorder.sample(now, system, last)
        if impacts is not None and step == 0:  # what touches from the start collides with the given velocity
            now = impacts.move(system, now, now.v, 0.0, recorder)
            system = build(now, u=inputs, force=pushed, deformation=memory)
        last = rule(system if impacts is None else impacts.without_collisions(system, now), last)
        recorder.count(last)
        if impacts is None:
            now = State(model.integrate(now.q, last.v, h), last.v, state.t + (step + 1) * h)  # D19 (36)
        else:
            now = impacts.move(system, now, last.v, state.t + (step + 1) * h - now.t, recorder)
        if not max(np.abs(now.q).max(initial=0.0), np.abs(now.v).max(initial=0.0)) < _BEYOND:
            recorder.stop(before.t, f"a position or velocity went beyond {_BEYOND:g}", Status.NUMERICAL)
            now = before
            break
        memory = None if memory is None else last.deformations[0][:, 1:]
        if recorder.stopped:
            break
    recorder.sample(now, build(now, u=inputs, deformation=memory), last)
    return recorder.trajectory()


def check_names(model: Model, constraints: Sequence[StateConstraint]) -> None:
    """Forces are told by name: raise where two constraints have the same."""
    own = [*(["contacts"] if model.contacts else []), *getattr(model, "rows", ())]
    names = [*own, *(constraint.name for constraint in constraints)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"constraints: {name!r} stands twice; wanted distinct names (the model's: {own})"
            )
