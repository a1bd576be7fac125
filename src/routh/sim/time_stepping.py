"""Time stepping with constraint forces, D19 (36)-(39), and through impacts: one motion, or many at once.

A step of a fixed length moves along straight lines. With an impact law, contacts that meet on the way, faster
than smooth forces could make them within two steps, collide: all together that touch or close within the
window, and the law gives the velocity after it, which the rest of the step follows (HP19's poster names this
as ongoing work). Slower contacts belong to the constraint forces of the step.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, deadline_of, integer, real, real_array
from routh.constraints import (
    STEEL,
    Bilateral,
    Compliance,
    ConstrainedSystem,
    ConstraintForces,
    Contact,
    from_model,
    solve,
)
from routh.constraints.types import Constraint, StateConstraint
from routh.laws import ImpactLaw, ImpactResult
from routh.models.base import Model, SpringyModel, State
from routh.models.mujoco.model import MujocoModel
from routh.models.robots.wrapping import as_model, start_of
from routh.models.simultaneity import Simultaneity, time_to_contact
from routh.sim.compiled_steps import March, suits
from routh.sim.event_driven import generator
from routh.sim.futures import Bundle
from routh.sim.robot_steps import RobotMarch
from routh.sim.trajectory import Event, Trajectory, contact_changes

if TYPE_CHECKING:
    from routh.models.robots.wrapping import Movable, Start

MOST_IMPACTS = 100  # within one step
_REFINED = 4  # corrections of the time of a touch, which is not linear where bodies turn
_SLOW = 2.0  # times what smooth forces do in a step: slower contacts are not resolved as impacts
_OUT_OF_REACH = 1e9  # m: the gap of a contact that the constraint forces of a step must leave alone
_BEYOND = 1e9  # m and m/s, rad and rad/s: models say nothing of such states
Function = Callable[[State], ArrayLike]
#: How a step finds its forces; it may begin with those of the step before.
StepRule = Callable[[ConstrainedSystem, ConstraintForces | None], ConstraintForces]


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
        told = {"reason": reason, "status": status.name}
        self.events.append(Event("stop", t, len(self.rows), (), told))

    def sample(self, now: State, system: ConstrainedSystem, last: ConstraintForces | None) -> None:
        """Write down a state, the constraints there and the forces that led to it."""
        items = system.constraints
        deformations = [
            np.column_stack([item.phi, item.deformation]) if isinstance(item, Contact) else item.phi
            for item in items
        ]
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
                "impulse": self.impulse,
                "status": np.int8(self.status),
                "residuals": self.residual,
                "forces": dict(zip(names, forces, strict=True)),
                "deformations": dict(zip(names, deformations, strict=True)),
                "energies": energies,
            }
        )
        if self.model.contacts:
            before, self.closed = self.closed, forces[0][:, 0] > 0.0
            names = [info.name for info in self.model.contacts]
            self.events += contact_changes(before, self.closed, names, now.t, len(self.rows) - 1)
        self._reset()

    def trajectory(self) -> Trajectory:
        """The trajectory of all that was recorded."""
        columns: Options = {}
        for name, first in self.rows[0].items():
            values = [row[name] for row in self.rows]
            columns[name] = (
                {key: np.array([value[key] for value in values]) for key in first}
                if isinstance(first, dict)
                else np.array(values)
            )
        contacts = tuple(info.name for info in self.model.contacts)
        named = getattr(self.model, "coordinates", ())
        return Trajectory(**columns, events=tuple(self.events), contacts=contacts, coordinates=named)


def elastic_energy(item: Constraint) -> float:
    """Energy in the springs of a constraint, J; one-sided springs hold none when they are not pressed."""
    phi = item.phi if isinstance(item, Bilateral) else np.minimum(item.phi, 0.0)
    energy = 0.5 * float(item.stiffness @ phi**2)
    if isinstance(item, Contact):
        energy += 0.5 * float(item.tangential_stiffness @ (item.deformation**2).sum(axis=1))
    return energy


@dataclass(frozen=True, eq=False)
class StepImpacts:
    """The impacts of a time stepper with steps of ``dt`` (s)."""

    model: Model
    law: ImpactLaw
    rng: np.random.Generator
    simultaneity: Simultaneity
    dt: float

    def without_collisions(self, system: ConstrainedSystem, now: State) -> ConstrainedSystem:
        """The step without the contacts that are about to collide: no force of it may stop them."""
        first, *others = system.constraints
        fast = self._collide(system, now.q, now.v)[0]
        if not fast.any():
            return system
        kept = copy.copy(first)
        kept.__dict__.update(phi=np.where(fast, _OUT_OF_REACH, first.phi))
        return ConstrainedSystem(system.mass, system.f, system.v, (kept, *others), system.dt)

    def move(
        self, system: ConstrainedSystem, now: State, v: Array, duration: float, record: StepRecorder
    ) -> State:
        """The state ``duration`` (s) after ``now``, moving with velocity v (nv,) and through impacts."""
        q, t, end = now.q, now.t, now.t + duration
        for _ in range(MOST_IMPACTS):
            wait = self._first_touch(system, q, v, end - t)
            if wait is None:
                return State(self.model.integrate(q, v, end - t), v, end)
            q, t = self.model.integrate(q, v, wait), t + wait
            together = self.simultaneity
            problem = self.model.problem(State(q, v, t), window=together.window, gap=together.gap)
            result = self.law(problem, self.rng)
            record.impact(t, self.law, result)
            if not result.status.ok:
                record.stop(t, f"the impact law ended with: {result.status.sentence}", result.status)
                return State(q, v, t)
            v = result.v
        record.stop(t, f"{MOST_IMPACTS} impacts within one step", Status.INCOMPLETE)
        return State(q, v, t)

    def _collide(self, system: ConstrainedSystem, q: Array, v: Array) -> tuple[np.ndarray, Array]:
        """Which contacts come so fast that only an impact can stop them, (nc,) bool; and rates of all."""
        Jn = self.model.jacobians(q)[0]
        rates = Jn @ v
        return rates < -_SLOW * self.dt * np.abs(Jn @ system.mass.solve(system.f)), rates

    def _first_touch(self, system: ConstrainedSystem, q: Array, v: Array, left: float) -> float | None:
        """Time, s from now, at which the first fast contact touches; None: none within ``left`` (s)."""
        fast, rates = self._collide(system, q, v)
        times = np.where(fast, time_to_contact(self.model.gaps(q), rates), np.inf)
        if not times.min(initial=np.inf) <= left:
            return None
        c = int(np.argmin(times))
        wait = float(times[c])
        for _ in range(_REFINED):
            there = self.model.integrate(q, v, wait)
            gap, rate = float(self.model.gaps(there)[c]), float(self.model.jacobians(there)[0][c] @ v)
            if abs(gap) <= tolerances.CLOSED_GAP or not rate < 0.0:
                break
            wait = min(max(wait - gap / rate, 0.0), left)
        return wait


def constraint_forces(system: ConstrainedSystem, warm: ConstraintForces | None) -> ConstraintForces:
    """D19's scheme: forces at the end of the step."""
    return solve(system, warm=warm)


def step_through(
    model: Movable,
    state: Start,
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
    model : what moves; robots of MuJoCo and Pinocchio as in `routh.simulate`.
    state : from where.
    dt : the step, s.
    duration : time to simulate, s; the number of steps is rounded to the nearest.
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
    model = as_model(model)
    begin, deadline = start_of(model, state), deadline_of(budget)
    h = real("dt", dt, above=0.0)
    impacts = None
    if law is not None:
        if constraints:
            raise InputError(
                "law", got="one with constraints, which impact laws do not know", wanted="contacts only"
            )
        if isinstance(model, MujocoModel):
            model.check_impacts()
        impacts = StepImpacts(model, law, generator(seed, stream), Simultaneity(window=window), h)
        compliance = replace(compliance, anticipate=True)
    elif window is not None:
        raise InputError("window", got=f"{window!r} without a law", wanted="a law that resolves impacts")
    steps = round(real("duration", duration, at_least=0.0) / h)
    every = integer("record_every", record_every, at_least=1)
    build = partial(from_model, model, dt=h, compliance=compliance, constraints=tuple(constraints))
    check_names(model, constraints)
    if impacts is None and rule is constraint_forces and suits(model, compliance, constraints):
        quick = _march(model, compliance, constraints, [begin], u, (h, steps, every))
        return quick.alone(u, force, deadline)
    recorder = StepRecorder(model)
    memory = np.zeros((len(model.contacts), model.nt)) if compliance.remembers else None
    now, last, inputs = begin, None, None
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
            now = State(model.integrate(now.q, last.v, h), last.v, begin.t + (step + 1) * h)  # D19 (36)
        else:
            now = impacts.move(system, now, last.v, begin.t + (step + 1) * h - now.t, recorder)
        if not max(np.abs(now.q).max(initial=0.0), np.abs(now.v).max(initial=0.0)) < _BEYOND:
            recorder.stop(before.t, f"a position or velocity went beyond {_BEYOND:g}", Status.NUMERICAL)
            now = before
            break
        memory = None if memory is None else last.deformations[0][:, 1:]
        if recorder.stopped:
            break
    recorder.sample(now, build(now, u=inputs, deformation=memory), last)
    return recorder.trajectory()


def _march(
    model: Model,
    compliance: Compliance,
    constraints: Sequence[StateConstraint],
    states: Sequence[State],
    u: ArrayLike | Function | None,
    steps: tuple[float, int, int],
) -> March:
    """Motions by compiled steps: of which length, how many, and how many from one record to the next."""
    setting: Options = dict(zip(("dt", "steps", "every"), steps, strict=True))
    if isinstance(model, MujocoModel):
        return RobotMarch(model, compliance, states, acts=u is not None, **setting)
    return March(model, compliance, constraints, states, **setting)


def check_names(model: Model, constraints: Sequence[StateConstraint]) -> None:
    """Forces are told by name: raise where two constraints have the same."""
    own = [*(["contacts"] if model.contacts else []), *getattr(model, "rows", ())]
    names = [*own, *(constraint.name for constraint in constraints)]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                "constraints", wrong=f"{name!r} appears twice", wanted=f"distinct names (the model's: {own})"
            )


def step_through_many(
    model: Movable,
    states: Sequence[Start],
    *,
    dt: float,
    duration: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    u: ArrayLike | None = None,
    record_every: int | None = None,
    threads: int | None = None,
    budget: float | None = None,
) -> Bundle:
    """`step_through` from each of the states; every motion is what it would be alone.

    Free bodies and planar mechanisms are compiled and share threads; other models go one after the other.

    Parameters
    ----------
    model : what moves.
    states : from where.
    dt, duration, compliance, constraints : as in `step_through`.
    u : inputs: (nu,) for all, (n, nu) of each motion, or (n, steps, nu) of each of its steps.
    record_every : keep each so-manieth step, and the last; None: only the first state and the last.
    threads : how many; None: as many as there are processors.
    budget : s of waiting allowed for all; motions end where they are, their last status OUT_OF_TIME.
    """
    model = as_model(model)
    deadline, h = deadline_of(budget), real("dt", dt, above=0.0)
    steps = round(real("duration", duration, at_least=0.0) / h)
    every = max(steps, 1) if record_every is None else integer("record_every", record_every, at_least=1)
    if threads is not None:
        integer("threads", threads, at_least=1)
    check_names(model, constraints)
    begins, inputs = [start_of(model, state) for state in states], None
    if u is not None:  # (n, P, nu) of the first P steps; later ones have the last
        n = len(begins)
        wanted = f"shape (nu,), ({n}, nu) or ({n}, {steps}, nu)"
        inputs = real_array("u", u, [(None,), (n, None), (n, steps, None)], wanted)
        if inputs.ndim < 3:
            inputs = np.broadcast_to(inputs, (n, inputs.shape[-1]))[:, None]
    if begins and suits(model, compliance, constraints):
        quick = _march(model, compliance, constraints, begins, inputs, (h, steps, every))
        if inputs is not None:
            quick.push_all(inputs)
        quick.run(steps, deadline, threads=threads)
        return Bundle(tuple(map(quick.trajectory, range(len(begins)))))
    options: Options = {"dt": h, "duration": steps * h, "compliance": compliance, "constraints": constraints}
    found = []
    for k, state in enumerate(begins):
        left = None if budget is None else max(deadline - time.monotonic(), 1e-9)
        own = None if inputs is None else _in_turn(inputs[k], state.t, h)
        found.append(step_through(model, state, u=own, record_every=every, budget=left, **options))
    return Bundle(tuple(found))


def _in_turn(inputs: Array, start: float, h: float) -> Callable[[State], Array]:
    return lambda state: inputs[min(round((state.t - start) / h), len(inputs) - 1)]
