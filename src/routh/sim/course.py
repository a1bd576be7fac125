"""The course of one smooth piece of motion, step by step: SciPy's integrator on the equation of a mode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from scipy.integrate import DOP853, Radau
from scipy.optimize import brentq

from routh.sim.mode_motion import Look, ModeMotion, Sample
from routh.validation import Array

_STIFF, _SHARE = 3e-5, 0.2  # s: an implicit integrator takes over where steps would be shorter, by so much,
_PATIENCE = 20  # for so many steps: slip that comes to its end is stiff for a few


@dataclass(frozen=True)
class Options:
    """Accuracy of the smooth parts, see `routh.simulate`."""

    rtol: float
    atol: float
    max_step: float  # s
    gap: float  # m
    deadline: float = math.inf  # of `time.monotonic`, s


class Course:
    """A motion in one mode that is under way, by SciPy's DOP853, for every model.

    Where slow slip in space makes the motion stiff, SciPy's implicit Radau goes on with the same tolerances.
    What is seen of it belongs to its last step, from ``t_old`` to ``t`` (s). That is ``short`` where slip
    that could turn bounds it, not what the integrator can follow.
    """

    short = False

    def __init__(
        self, motion: ModeMotion, t: float, q: Array, v: Array, end: float, options: Options
    ) -> None:
        self.motion, self._longest, self._end = motion, options.max_step, end
        self._rtol, self._atol, self._stiff = options.rtol, options.atol, 0
        y, _, self.start = motion.settled(t, motion.begin(q, v))
        self.t_old = self.t = t
        self._solver: DOP853 | Radau = DOP853(
            motion.slope, t, y, end, rtol=options.rtol, atol=options.atol, max_step=options.max_step
        )

    def step(self) -> bool:
        """Go on by one step; False where the integrator fails."""
        solver, motion = self._solver, self.motion
        bend, turning = motion.aim(solver.t, solver.y)
        stiff = turning < min(_STIFF, _SHARE * min(bend, self._end - solver.t))
        self._stiff = self._stiff + 1 if stiff else 0
        if self._stiff > _PATIENCE and isinstance(solver, DOP853):
            self._solver = solver = Radau(
                motion.slope,
                solver.t,
                solver.y,
                self._end,
                rtol=self._rtol,
                atol=self._atol,
                first_step=turning,
                jac=motion.stiff_jacobian,
            )
        if isinstance(solver, Radau):
            turning = bend
        solver.max_step = min(self._longest, turning)
        self.short = turning < min(self._longest, solver.h_abs)
        solver.step()
        if solver.status == "failed":
            return False
        self.t_old, self.t = float(solver.t_old), float(solver.t)
        self._dense = solver.dense_output()
        return True

    def looks(self, times: Sequence[float]) -> Iterable[Look]:
        """Gaps and margins at some times."""
        return (self.motion.look(t, self._dense(t)) for t in times)

    def crossing(self, what: str, j: int, a: float, b: float) -> float:
        """When a gap, a rate or a margin (``what``) number j vanishes between two times of the step.

        Where it has the same sign at both it is the one at which it is smaller.
        """
        function = partial({"gap": self._gap, "rate": self._rate, "margin": self._margin}[what], j)
        at_a, at_b = function(a), function(b)
        if at_a == 0.0 or at_a * at_b > 0.0:
            return a if abs(at_a) < abs(at_b) else b
        return float(brentq(function, a, b, xtol=1e-15, rtol=8.9e-16))

    def _gap(self, j: int, t: float) -> float:
        q = self.motion.split(self._dense(t))[0]
        return float(self.motion.mechanism.model.gaps(q)[self.motion.free[j]])

    def _rate(self, j: int, t: float) -> float:
        state = self.motion.split(self._dense(t))
        return float(self.motion.mechanism.normal_velocity(*state)[self.motion.free[j]])

    def _margin(self, j: int, t: float) -> float:
        return float(self.motion.look(t, self._dense(t)).margin[j])

    def samples(self, times: Sequence[float]) -> list[Sample]:
        """The motion at some times, without drift."""
        return [self.motion.settled(t, self._dense(t))[2] for t in times]

    def settle(self) -> Sample:
        """The end of the step without drift, from which the motion goes on."""
        solver = self._solver
        solver.y, solver.f, last = self.motion.settled(solver.t, solver.y)
        return last
