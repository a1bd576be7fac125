"""Smooth motion in one contact mode, until the mode ends: steps, and roots on their dense output.

A `Course` takes the steps, by SciPy's integrators for every model, or compiled (`QuickCourse`) for planar
mechanisms with few contacts; `run_mode` follows one to the first event.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.kernels.motion.course import ADVANCE, GAP, LOOK, MARGIN, RATE, SETTLE, CourseLook, Request, drive
from routh.kernels.motion.forces import RUBS, STICKS, ModeArrays, make_found
from routh.kernels.motion.place import make_place
from routh.kernels.motion.runge_kutta import ALL_STAGES, DONE, FEW_DIGITS, POWERS, UNKNOWN, ModePath, tableau
from routh.models.planar import PlanarModel
from routh.sim.mode_motion import Look, ModeMotion, Sample
from routh.sim.short_steps import ShortStep

if TYPE_CHECKING:
    from scipy.integrate import DOP853, Radau

_SHORT = 1e-3  # s: where slip allows no longer steps compiled code follows it, in steps of that at most
_LATER, _SHORTEST = 1.2, 1e-5  # a step ends after a contact should close, by this factor; s
_LASTS, _LASTING = 5e-5, 1e3  # s, and steps: an implicit integrator goes on where it is stiff for longer
_NODES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # where a step is looked at
_LOOKS = 4  # at each interval between samples, where compiled code looks
# samples of a step, at least: the integrator could make short ones longer, implicit ones are cubics
_PER_STEP, _PER_SHORT_STEP, _PER_IMPLICIT_STEP = 12, 6, 3
_BETWEEN = 0.4  # share of a step at which its dense output is looked at
_CLEARLY = 0.3  # share of what `verify` allows that it may be off there
_LEAST_SHARE = 1e-3  # of the longest step while slip turns, below which that says nothing
_CRAWL, _MOST_CRAWLS = 1e-10, 100  # s: so many steps in a row below this, and the motion leads nowhere
MOST_WORKS = 400  # steps and events that may lead (nearly) nowhere
_LAST_DIGITS = 1e-14  # share of the time by which an event is put before where its condition is broken
_ROUNDING = 1e-11  # m/s: slip that was never more has not begun, and does not turn back
_HALVINGS = 30  # how near to the start of a step a hop is looked for
MOST_CONTACTS = 8  # of a compiled mode: for more, the linear algebra of SciPy and NumPy is as fast


class Patience:
    """Ends motions that lead nowhere, by counts that are the same on every machine.

    Parameters
    ----------
    least : s; `MOST_WORKS` steps and events that together take it no further than this are too many.
    most : steps and events in all.
    """

    def __init__(self, least: float, most: int) -> None:
        self.least, self.most = least, most
        self._mark, self._since, self._done = -math.inf, 0, 0

    def lost(self, t: float) -> str:
        """One more step or event at t (s): why the motion has to end here, or nothing."""
        self._done += 1
        if t - self._mark > self.least:
            self._mark, self._since = t, 0
        self._since += 1
        if self._since > MOST_WORKS:
            return f"{MOST_WORKS} steps and events led no further than {self.least:.3g} s"
        return f"{self.most} steps and events were reached" if self._done > self.most else ""


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

    Where slow slip in space makes the motion stiff, compiled code goes on through it (`ShortStep`), or
    SciPy's implicit Radau where it lasts.
    What is seen of it belongs to its last step, from ``t_old`` to ``t`` (s). ``fastest`` is the greatest
    speed |v|_M so far.
    """

    slipped = np.zeros(1, dtype=bool)  # margins of slip that was once more than rounding

    def __init__(
        self,
        motion: ModeMotion,
        t: float,
        q: Array,
        v: Array,
        end: float,
        options: Options,
        fastest: float = 0.0,
    ) -> None:
        self.motion, self.options, self._end, self._fastest = motion, options, end, fastest
        self._y, self._slope, self.start = motion.settled(t, motion.begin(q, v))
        # impulses are integrals of forces, which nearly redundant contacts share with few digits; they move v
        self._atol = np.full(motion.size, FEW_DIGITS * options.atol)
        self._atol[: motion.nq + motion.nv] = options.atol
        self.t_old = self.t = t
        self._solver: DOP853 | Radau | None = None
        self._short: ShortStep | None = None  # the last step, where it was one
        self._samples = _PER_STEP  # of the last step, if it was no short one
        self._share = 1.0  # of the longest step while slip turns: so long may the next one be

    def step(self) -> bool:
        """Go on by one step; False where the integrator fails."""
        options, motion = self.options, self.motion
        bend, turning, lasts = motion.aim(self.t, self._y)
        begun, self._short = self._short is None and self._solver is None, None
        # most motions in a mode are short
        stiff = lasts > max(_SHORT if begun else _LASTS, _LASTING * turning) and turning < _SHORT
        closes = max(_LATER * motion.closing(self.t, self._y, self._slope), _SHORTEST)
        if not stiff and min(turning, closes) < min(_SHORT, options.max_step) and motion.quick:
            length = min(_SHORT, options.max_step, self._end - self.t, motion.mechanism.short, closes)
            accuracy = options.rtol, options.atol
            short = ShortStep(
                motion, self.t, self._y, length, self._fastest, accuracy=accuracy, tableau=tableau()
            )
            reaches = motion.mechanism.short if short.reaches >= length else 0.0
            motion.mechanism.short = max(reaches, short.reaches)
            if short.known:
                self._short, self._dense, self._marks = short, short, short.marks()
                self.t_old, self.t, self._y, self._solver = self.t, short.t, short(short.t), None
                return True
            motion.aim(self.t, self._y)  # that step took it along
        from scipy.integrate import DOP853, Radau  # slow to load, and not for compiled motions

        solver, kind = self._solver, Radau if stiff else DOP853
        self._share = min(2.0 * self._share, 1.0)
        while True:
            bound = self._share * (bend if stiff else turning)
            if not isinstance(solver, kind):
                first = min(turning, bound, options.max_step, self._end - self.t)
                own = {"jac": motion.stiff_jacobian, "first_step": first}
                begin = motion.slope, self.t, self._y, self._end
                solver = kind(*begin, rtol=options.rtol, atol=self._atol, **(own if stiff else {}))
            solver.max_step = min(options.max_step, bound)
            bounded = bound < min(options.max_step, solver.h_abs)  # by slip that could turn
            self._samples = _PER_IMPLICIT_STEP if stiff else _PER_SHORT_STEP if bounded else _PER_STEP
            solver.y, solver.f = self._y, self._slope
            solver.step()
            if solver.status == "failed":
                return False
            self._dense = solver.dense_output()
            if not bounded or self._follows(float(solver.t)) or self._share < _LEAST_SHARE:
                break
            self._share, solver = 0.4 * self._share, None
        self._solver, self._y = solver, solver.y
        self.t_old, self.t = float(solver.t_old), float(solver.t)
        return True

    def _follows(self, end: float) -> bool:
        """Whether a step to ``end`` obeys the equation of motion between its ends, as `verify` wants."""
        motion, h = self.motion, end - self.t
        at = self.t + _BETWEEN * h
        ahead, y, behind = (self._dense(x) for x in (at - 1e-3 * h, at, at + 1e-3 * h))
        off = (behind - ahead) / (2e-3 * h) - motion.slope(at, y)
        q, v = motion.split(y)
        speed = motion.mechanism.speed
        still = 1.5 * tolerances.VERIFY_INTEGRATOR * self._fastest
        allowed = tolerances.VERIFY_DYNAMICS * speed(q, motion.mechanism.snapshot(at, q, v).free)
        allowed += self._samples * still / h
        return speed(q, off[motion.nq : motion.nq + motion.nv]) <= _CLEARLY * allowed

    @property
    def knows_stops(self) -> bool:
        """Whether the last step ends where slip stops, so that nobody needs to look for it."""
        return self._short is not None

    @property
    def stopped(self) -> tuple[int, ...]:
        """Contacts whose slip came to its end with the last step, where that is known."""
        return () if self._short is None else self._short.stopped

    def times(self, grid: list[float], until: float) -> list[float]:
        """Times of the last step before ``until`` at which it is sampled: the grid, or more if need be."""
        if self._short is None:
            return _times(grid, self.t_old, self.t, until, self._samples)
        inside = [moment for moment in grid if self.t_old < moment]
        return sorted({moment for moment in (*inside, *self._marks) if moment < until})

    def nodes(self) -> list[float]:
        """Times at which the last step is looked at, from its beginning to its end."""
        if self._short is not None:
            ends = np.array([self.t_old, *self._marks, self.t])
            inside = ends[:-1, None] + np.diff(ends)[:, None] * np.arange(_LOOKS) / _LOOKS
            return [*inside.ravel().tolist(), self.t]
        return [self.t_old + node * (self.t - self.t_old) for node in _NODES]

    def looks(self, times: Sequence[float]) -> Look:
        """Gaps and margins at some times."""
        if self._short is not None:
            return self._short.looks(times)
        seen = [self.motion.look(t, self._dense(t)) for t in times]
        return Look(*(np.array([getattr(one, name) for one in seen]) for name in ("gap", "rate", "margin")))

    def crossing(self, what: str, j: int, a: float, b: float) -> float:
        """Time at which gap, rate or margin (``what``) number j vanishes between two times of the step.

        Where it has the same sign at both it is the one at which it is smaller.
        """
        function = partial({"gap": self._gap, "rate": self._rate, "margin": self._margin}[what], j)
        at_a, at_b = function(a), function(b)
        if what == "margin" and at_a < 0.0 > at_b:  # drift hid it: the step began without
            a, at_a = self.t_old, function(self.t_old)
        if at_a == 0.0 or at_a * at_b > 0.0:
            return a if abs(at_a) < abs(at_b) else b
        from scipy.optimize import brentq

        when = float(brentq(function, a, b, xtol=1e-18, rtol=8.9e-16))
        back = math.ulp(when)
        while at_a > 0.0 > function(when) and back < _LAST_DIGITS * when:
            when, back = max(when - back, a), 2.0 * back  # forces may change within the last digits of time
        return when

    def _gap(self, j: int, t: float) -> float:
        q = self.motion.split(self._dense(t))[0]
        return float(self.motion.mechanism.model.gaps(q)[self.motion.free[j]])

    def _rate(self, j: int, t: float) -> float:
        state = self.motion.split(self._dense(t))
        return float(self.motion.mechanism.normal_velocity(*state)[self.motion.free[j]])

    def _margin(self, j: int, t: float) -> float:
        # without drift, as it will be recorded: near a stop the last digits of a velocity turn friction
        return float(self.motion.margin(self.motion.without_drift(t, self._dense(t)))[j])

    def samples(self, times: Sequence[float]) -> list[Sample]:
        """The motion at some times, without drift."""
        if self._short is not None and times:
            return self._short.samples(times)
        return [self.motion.settled(t, self._dense(t))[2] for t in times]

    def settle(self, t: float) -> Sample:
        """The motion at a time of the step without drift, from which it goes on."""
        whole = t == self.t and self._short is None  # a short step says which way slip goes there, too
        y = self._y if whole else self._dense(t)
        self._y, self._slope, last = self.motion.settled(t, y)
        return last


@dataclass(frozen=True, eq=False)
class Flow:
    """One smooth piece of motion."""

    samples: tuple[Sample, ...]  # the first one is its beginning, the last one its end
    reason: str  # "end", "close", "graze", "open", "slip", "stick", "jam", "singular", "out of time", "lost"
    contacts: tuple[int, ...] = ()  # whose condition ended it


def run_mode(
    course: Course,
    end: float,
    grid: Sequence[float],
    options: Options,
    leaving: Set[int] = frozenset(),
    patience: Patience | None = None,
) -> Flow:
    """Move in one mode until ``end`` or until something happens; samples at the times of ``grid``.

    ``leaving`` are the contacts that are closed at the start and separate with a velocity.
    """
    samples = [course.start]
    contacts = tuple(course.motion.contacts)
    waiting = [moment for moment in grid if course.t < moment < end]
    crawled = 0
    while True:
        going = course.step()
        crawled = crawled + 1 if course.t - course.t_old < _CRAWL else 0
        if not going or crawled > _MOST_CRAWLS:
            return Flow((*samples, course.settle(course.t)), "singular", contacts)
        hit = _first_event(course, options.gap, leaving)
        if hit is None and course.stopped:
            hit = course.t, "stick", course.stopped
        until = course.t if hit is None else hit[0]
        samples += course.samples(course.times(waiting, until))
        waiting = [moment for moment in waiting if moment >= until]
        if hit is not None:
            return Flow((*samples, course.settle(until)), hit[1], hit[2])
        samples.append(course.settle(course.t))
        if course.t >= end:
            return Flow(tuple(samples), "end")
        if time.monotonic() > options.deadline:
            return Flow(tuple(samples), "out of time")
        if patience is not None and patience.lost(course.t):
            return Flow(tuple(samples), "lost")


def _times(grid: list[float], start: float, stop: float, until: float, count: int) -> list[float]:
    """Times in (start, until) at which a step is sampled: the grid, or ``count`` to a step if finer."""
    coarse = [start, *(moment for moment in grid if start < moment < until)]
    spacing = (stop - start) / count
    times: list[float] = []
    for a, b in zip(coarse, [*coarse[1:], until], strict=True):
        parts = max(math.ceil((b - a) / spacing - 1e-9), 1)
        times += [a + (b - a) * k / parts for k in range(parts)]
    return times[1:]


def _first_event(course: Course, gap: float, leaving: Set[int]) -> tuple[float, str, tuple[int, ...]] | None:
    """The earliest time in a step at which a gap closes or the mode ends, with what and where."""
    motion, times = course.motion, course.nodes()
    seen = course.looks(times)
    before, now = seen.margin[:-1], seen.margin[1:]
    # margins of the mode that are broken, or, of slip that was once more than rounding, have changed sign
    slipped = course.slipped | np.logical_or.accumulate(motion.slides & (before > _ROUNDING))
    broken = ~(now >= -tolerances.CONTACT_FORCE) | (slipped & (before > 0.0) & (now < 0.0))
    course.slipped = slipped[-1]
    if course.knows_stops:
        broken &= ~motion.slides
    falls, gained = seen.rate[:-1] < 0.0, np.diff(seen.rate, axis=0)
    near = np.minimum(seen.gap[:-1], seen.gap[1:]) < np.diff(times)[:, None] * gained
    dips = falls & (seen.rate[1:] > 0.0) & near  # it may touch only in between
    touches = dips | ((falls | (seen.rate[1:] < 0.0)) & (seen.gap[1:] < 0.0))
    for k in np.flatnonzero(broken.any(axis=1) | touches.any(axis=1)).tolist():
        hits = []
        for j in np.flatnonzero(touches[k]).tolist():
            hits += _gap_hits(course, seen, times, (k, j), bool(dips[k, j]), gap, leaving)
        for i in np.flatnonzero(broken[k]).tolist():
            begun = before[k, i] > 0.0
            when = course.crossing("margin", i, times[k], times[k + 1]) if begun else times[k]
            hits.append((when, *motion.kinds[i]))
        if hits:
            return _before_others(course, min(hits, key=lambda hit: hit[0]), times[k], before[k])
    return None


def _before_others(
    course: Course, hit: tuple[float, str, tuple[int, ...]], start: float, before: Array
) -> tuple[float, str, tuple[int, ...]]:
    """The event, or what breaks the mode from ``start`` to it: forces may pass through infinity and back."""
    motion = course.motion
    while True:
        broken = course.looks([hit[0]]).margin[0] < -tolerances.CONTACT_FORCE
        others = np.flatnonzero(broken & (before > 0.0) & ~motion.slides).tolist()
        hits = [(course.crossing("margin", i, start, hit[0]), *motion.kinds[i]) for i in others]
        first = min(hits, key=lambda other: other[0], default=hit)
        if not first[0] < hit[0] or first[1:] == hit[1:]:
            return hit
        hit = first


def _gap_hits(
    course: Course,
    seen: Look,
    times: list[float],
    at: tuple[int, int],
    dips: bool,
    gap: float,
    leaving: Set[int],
) -> list[tuple[float, str, tuple[int, ...]]]:
    """Whether free contact j touches between looks k and k + 1 (``at``), also where it only ``dips``."""
    (k, j), contact = at, course.motion.free[at[1]]
    t0, t1, a, b = times[k], times[k + 1], float(seen.gap[k, j]), float(seen.gap[k + 1, j])
    slack = 0.01 * gap  # a contact that has just opened may start a rounding error above or below zero
    lowest = course.crossing("rate", j, t0, t1) if dips else t1
    depth = float(course.looks([lowest]).gap[0, j]) if lowest < t1 else np.inf
    # a light foot may hop lower than the slack: what it fell on below zero would be speed from nowhere,
    # enough to make two feet throw each other up for ever
    back = contact in leaving and b < 0.0 and seen.rate[k + 1, j] < 0.0
    if not (back or b < -slack or depth < -slack):
        return [(lowest, "graze", (contact,))] if a > gap >= depth else []
    first: float | None = t0
    if not a > slack:
        first = _hop(course, j, float(seen.rate[k, j]), t0, lowest, slack)
    when = t0 if first is None else course.crossing("gap", j, first, lowest)
    return [(when, "close", (contact,))]


def _hop(course: Course, j: int, rate: float, t0: float, t1: float, slack: float) -> float | None:
    """A time at which a contact that is closed at t0 and t1 is open; None where it sinks from the start.

    A contact that opens with no velocity, only with an acceleration, rises with the square of time: it is
    looked for ever nearer to t0.
    """
    if rate > 0.0 > course.looks([t1]).rate[0, j]:
        return course.crossing("rate", j, t0, t1)  # the top
    for k in range(1, _HALVINGS):
        t = t0 + (t1 - t0) * 0.5**k
        if course.looks([t]).gap[0, j] > slack:
            return t
    return None


class NotKnownError(Exception):
    """Compiled code does not know the forces: `Course` does."""


def suits(motion: ModeMotion) -> bool:
    """Whether compiled code can follow a motion: one of few contacts, in the plane, without inputs."""
    planar = type(motion.mechanism.model) is PlanarModel and motion.mechanism.control is None
    return planar and len(motion.mode) <= MOST_CONTACTS


class QuickCourse(Course):
    """A course by compiled code; raises `NotKnownError` where it does not know the forces."""

    def __init__(
        self,
        motion: ModeMotion,
        t: float,
        q: Array,
        v: Array,
        end: float,
        options: Options,
        fastest: float = 0.0,
    ) -> None:
        self.motion, self._fastest = motion, fastest
        self.t_old = self.t = t
        assert isinstance(motion.mechanism.model, PlanarModel)
        model = motion.mechanism.model.arrays
        mode = _mode_arrays(motion)
        y = motion.begin(q, v)
        clock = np.array([t, t, 0.0, end, options.max_step, options.rtol, options.atol])
        slope, tried, way = np.zeros((3, len(y)))
        room = y, slope, y.copy(), tried, way, np.zeros((POWERS, len(y))), np.zeros((ALL_STAGES, len(y)))
        place, found = make_place(model), make_found(len(mode.does), 2, len(v))
        self._way = ModePath(model, mode, tableau(), clock, *room, place, found, None)
        self._short, self._samples = None, _PER_STEP
        self._one = _room(motion, 1)
        self.start = self.settle(t)

    def step(self) -> bool:
        """Go on by one step; False where the integrator fails."""
        done = drive(self._way, Request(ADVANCE, 0, np.zeros(0)), self._one)
        if done == UNKNOWN:
            raise NotKnownError
        self.t_old, self.t = self._way.clock[:2].tolist()
        return bool(done == DONE)

    def looks(self, times: Sequence[float]) -> Look:
        """Gaps and margins at some times."""
        seen = self._see(times, settled=False)
        return Look(seen.gap[:, 0], seen.gap[:, 1], seen.margin)

    def crossing(self, what: str, j: int, a: float, b: float) -> float:
        """Time at which gap, rate or margin (``what``) number j vanishes between two times of the step."""
        kind = {"gap": GAP, "rate": RATE, "margin": MARGIN}[what]
        when = drive(self._way, Request(kind, j, np.array([a, b])), self._one)
        if not when == when:
            raise NotKnownError
        return float(when)

    def samples(self, times: Sequence[float]) -> list[Sample]:
        """The motion at some times, without drift."""
        seen = self._see(times, settled=True)
        parts = seen.state[:, 0], seen.state[:, 1], seen.push[:, 0], seen.push[:, 1]
        return list(map(Sample, times, *parts))

    def settle(self, t: float) -> Sample:
        """The motion at a time of the step without drift, from which it goes on."""
        return self.samples([t])[0]

    def _see(self, times: Sequence[float], *, settled: bool) -> CourseLook:
        seen = _room(self.motion, len(times))
        request = Request(SETTLE if settled else LOOK, 0, np.array(times, dtype=np.float64))
        if times and drive(self._way, request, seen) == UNKNOWN:
            raise NotKnownError
        return seen


def _room(motion: ModeMotion, n: int) -> CourseLook:
    """Make room for what is seen at n times."""
    nv, nc, free = motion.nv, motion.mechanism.nc, len(motion.free)
    return CourseLook(
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
