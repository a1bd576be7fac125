"""Impacts in time stepping: what meets within a step is resolved by a law, at the touch.

HP19's poster names it as ongoing work: time-stepping simulation through impact. A step of a fixed length
moves along straight lines. Contacts that meet on the way, faster than smooth forces could make them within
two steps, collide: all together that touch or close within the window, and the law gives the velocity after
it, which the rest of the step follows. Slower contacts belong to the constraint forces of the step.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.constraints import ConstrainedSystem
from routh.laws import ImpactLaw
from routh.models.base import Model, State
from routh.models.simultaneity import Simultaneity, time_to_contact
from routh.sim.step_recorder import StepRecorder
from routh.status import Status
from routh.validation import Array

MOST_IMPACTS = 100  # within one step
_REFINED = 4  # corrections of the time of a touch, which is not linear where bodies turn
_SLOW = 2.0  # times what smooth forces do in a step: slower contacts are not resolved as impacts
_OUT_OF_REACH = 1e9  # m: the gap of a contact that the constraint forces of a step must leave alone


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
            problem = self.model.problem(
                State(q, v, t), window=self.simultaneity.window, gap=self.simultaneity.gap
            )
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
        """When the first contact touches that comes fast, s from now; None: none within ``left`` (s)."""
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
