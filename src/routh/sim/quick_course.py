"""The course of a planar mechanism, compiled: for few contacts some twenty times as fast as SciPy's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from scipy.integrate import DOP853

from routh.kernels.motion.course import ADVANCE, GAP, LOOK, MARGIN, RATE, SETTLE, Request, Seen, drive
from routh.kernels.motion.forces import RUBS, STICKS, ModeArrays, make_found
from routh.kernels.motion.place import make_place
from routh.kernels.motion.runge_kutta import (
    ALL_STAGES,
    DENSE,
    DONE,
    FIFTH,
    POWERS,
    STAGES,
    TABLEAU_ROWS,
    THIRD,
    UNKNOWN,
    Motion,
)
from routh.models.planar import PlanarModel
from routh.sim.course import Course, Options
from routh.sim.mode_motion import Look, ModeMotion, Sample
from routh.validation import Array

MOST_CONTACTS = 8  # of a mode: for more, the linear algebra of SciPy and NumPy is as fast

_NO_TIMES = np.zeros(0)
_KINDS = {"gap": GAP, "rate": RATE, "margin": MARGIN}


class NotKnownError(Exception):
    """Compiled code does not know the forces: `Course` does."""


def suits(motion: ModeMotion) -> bool:
    """Whether compiled code can follow a motion: one of few contacts, in the plane, without inputs."""
    planar = type(motion.mechanism.model) is PlanarModel and motion.mechanism.control is None
    return planar and len(motion.mode) <= MOST_CONTACTS


class QuickCourse(Course):
    """A course by compiled code; raises `NotKnownError` where it does not know the forces."""

    def __init__(
        self, motion: ModeMotion, t: float, q: Array, v: Array, end: float, options: Options
    ) -> None:
        self.motion = motion
        self.t_old = self.t = t
        assert isinstance(motion.mechanism.model, PlanarModel)
        model = motion.mechanism.model.arrays
        mode = _mode_arrays(motion)
        y = motion.begin(q, v)
        clock = np.array([t, t, 0.0, end, options.max_step, options.rtol, options.atol])
        slope, tried, way = np.zeros((3, len(y)))
        room = y, slope, y.copy(), tried, way, np.zeros((POWERS, len(y))), np.zeros((ALL_STAGES, len(y)))
        place, found = make_place(model), make_found(len(mode.does), 2, len(v))
        self._way = Motion(model, mode, _tableau(), clock, *room, place, found)
        self._one = _room(motion, 1)
        self.start = self.settle()

    def step(self) -> bool:
        """Go on by one step; False where the integrator fails."""
        done = drive(self._way, Request(ADVANCE, 0, _NO_TIMES), self._one)
        if done == UNKNOWN:
            raise NotKnownError
        self.t_old, self.t = self._way.clock[:2].tolist()
        return bool(done == DONE)

    def looks(self, times: Sequence[float]) -> Iterable[Look]:
        """Gaps and margins at some times."""
        seen = self._see(times, settled=False)
        return map(Look, seen.gap[:, 0], seen.gap[:, 1], seen.margin)

    def crossing(self, what: str, j: int, a: float, b: float) -> float:
        """When a gap, a rate or a margin (``what``) number j vanishes between two times of the step."""
        when = drive(self._way, Request(_KINDS[what], j, np.array([a, b])), self._one)
        if not when == when:
            raise NotKnownError
        return float(when)

    def samples(self, times: Sequence[float]) -> list[Sample]:
        """The motion at some times, without drift."""
        seen = self._see(times, settled=True)
        parts = seen.state[:, 0], seen.state[:, 1], seen.push[:, 0], seen.push[:, 1]
        return list(map(Sample, times, *parts))

    def settle(self) -> Sample:
        """The end of the step without drift, from which the motion goes on."""
        return self.samples([self.t])[0]

    def _see(self, times: Sequence[float], *, settled: bool) -> Seen:
        seen = _room(self.motion, len(times))
        request = Request(SETTLE if settled else LOOK, 0, np.array(times, dtype=np.float64))
        if times and drive(self._way, request, seen) == UNKNOWN:
            raise NotKnownError
        return seen


def _room(motion: ModeMotion, n: int) -> Seen:
    """For what is seen at n times."""
    nv, nc, free = motion.nv, motion.mechanism.nc, len(motion.free)
    return Seen(
        np.empty((n, 2, nv)),
        np.zeros((n, 2, nc, 2)),
        np.empty((n, 2, free)),
        np.empty((n, len(motion.slides))),
    )


def _mode_arrays(motion: ModeMotion) -> ModeArrays:
    does = np.zeros(len(motion.mode), dtype=np.int64)
    does[motion.stuck], does[motion.rubbing] = STICKS, RUBS
    way = [(hold.direction or (0.0,))[0] for hold in motion.mode]
    form = motion.equations
    return ModeArrays(
        np.array([*motion.contacts, *motion.free], dtype=np.int64),
        does,
        np.array(form.picked, dtype=np.int64),
        np.array(form.columns, dtype=np.float64, order="C"),
        np.array([motion.mu, way]).reshape(2, len(does)),
    )


@cache
def _tableau() -> Array:
    """SciPy's coefficients of DOP853."""
    rows = np.zeros((TABLEAU_ROWS, ALL_STAGES))
    rows[:STAGES, :STAGES], rows[STAGES, :STAGES] = DOP853.A, DOP853.B
    rows[STAGES + 1 : ALL_STAGES] = DOP853.A_EXTRA
    rows[FIFTH, : STAGES + 1], rows[THIRD, : STAGES + 1] = DOP853.E5, DOP853.E3
    rows[DENSE:] = DOP853.D
    return rows
