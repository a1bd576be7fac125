"""Smooth motion in one contact mode, until the mode ends: SciPy's integrator, roots on its dense output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq

from routh import tolerances
from routh.sim.contact_forces import Hold, Mode, ModeForces, contact_problem, forces_of
from routh.sim.mechanism import Mechanism, Snapshot
from routh.validation import Array

_NODES = np.array([0.2, 0.4, 0.6, 0.8, 1.0])  # where a step is looked at
_PER_STEP = 12  # samples of one step of the integrator, at least
_SHORTEST = 1e-5  # s, steps are not cut below this for the sake of turning slip
_CRAWL, _MOST_CRAWLS = 1e-10, 100  # s: so many steps in a row below this, and the motion leads nowhere
_HALVINGS = 30  # how near to the start of a step a hop is looked for
_NO_SLIP = 1e-12  # m/s, below which a slip direction in space is that of the mode


@dataclass(frozen=True)
class Options:
    """Accuracy of the smooth parts, see `routh.simulate`."""

    rtol: float
    atol: float
    max_step: float  # s
    gap: float  # m


@dataclass(frozen=True, eq=False)
class Sample:
    """A state on the way, with the contact forces there and the impulses since the flow began."""

    t: float
    q: Array
    v: Array
    force: Array  # (nc, 1 + nt) N
    impulse: Array  # (nc, 1 + nt) N s


@dataclass(frozen=True, eq=False)
class Flow:
    """One smooth piece of motion."""

    samples: tuple[Sample, ...]  # the first one is its beginning, the last one its end
    reason: str  # "end", "close", "graze", "open", "slip", "stick", "singular"
    contacts: tuple[int, ...] = ()  # whose condition ended it


class ModeMotion:
    """The ordinary differential equation of one mode: ``y = [q, v, contact impulses]``."""

    def __init__(self, mechanism: Mechanism, mode: Mode) -> None:
        self.mechanism, self.mode = mechanism, mode
        self.nq, self.nv = mechanism.model.nq, mechanism.model.nv
        self.contacts = [hold.contact for hold in mode]
        self.free = [i for i in range(mechanism.nc) if i not in self.contacts]
        self.sticking = [hold.contact for hold in mode if hold.sticks]
        self.sliding = [hold.contact for hold in mode if not hold.sticks]
        self._no_slip = np.zeros((len(mode), mechanism.width - 1))

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """Configuration, velocity, impulses."""
        q, v = y[: self.nq], y[self.nq : self.nq + self.nv]
        return q, v, y[self.nq + self.nv :].reshape(self.mechanism.nc, self.mechanism.width)

    def forces(self, snapshot: Snapshot) -> ModeForces:
        """What the mode needs at a state."""
        problem = contact_problem(snapshot, self.contacts, self.mechanism.mu, self._no_slip)
        return forces_of(problem, self.present(snapshot))

    def present(self, snapshot: Snapshot) -> Mode:
        """The mode with the directions of slip that it has now; in the plane these never change."""
        if self.mechanism.width == 2 or not self.sliding:
            return self.mode
        slip = snapshot.contact_velocity[:, 1:]
        return tuple(hold if hold.sticks else _turned(hold, slip[hold.contact]) for hold in self.mode)

    def slope(self, t: float, y: Array) -> Array:
        """``dy/dt``, HP23 (9) and (10)."""
        q, v, _ = self.split(y)
        snapshot = self.mechanism.snapshot(t, q, v)
        force = self.spread(self.forces(snapshot).force)
        return np.concatenate([self.mechanism.rate(q, v), snapshot.acceleration(force), force.ravel()])

    def spread(self, force: Array) -> Array:
        """Forces of the mode's contacts as forces of all contacts, (nc, 1 + nt)."""
        result = np.zeros((self.mechanism.nc, self.mechanism.width))
        result[self.contacts] = force
        return result

    def projected(self, y: Array) -> Array:
        """The state with closed contacts exactly closed, without drift."""
        q, v, impulse = self.split(y)
        if self.contacts:
            q = self.mechanism.close(q, self.contacts)
            v = self.mechanism.hold(q, v, self.sticking, self.sliding)
        elif self.nq != self.nv:
            q = self.mechanism.model.integrate(q, np.zeros(self.nv), 0.0)  # unit quaternions
        else:
            return y
        return np.concatenate([q, v, impulse.ravel()])

    def slip_time(self, t: float, y: Array) -> float:
        """The longest step, s, in which an explicit method can follow turning slip in space.

        The direction of slip obeys an equation with the rate ``mu lambda_n G_tt / |slip|``, which is stiff
        where slip is slow. In the plane slip does not turn.
        """
        if self.mechanism.width == 2 or not self.sliding:
            return np.inf
        q, v, _ = self.split(y)
        snapshot = self.mechanism.snapshot(t, q, v)
        problem = contact_problem(snapshot, self.contacts, self.mechanism.mu, self._no_slip)
        force = forces_of(problem, self.present(snapshot)).force[:, 0]
        slip = np.linalg.norm(snapshot.contact_velocity[self.sliding, 1:], axis=1).min()
        tangential = problem.G.diagonal().reshape(len(force), -1)[:, 1:].max(axis=1)
        rate = float(np.sum(problem.mu * np.abs(force) * tangential))
        return max(2.0 * float(slip) / rate, _SHORTEST) if rate > 0.0 else np.inf

    def sample(self, t: float, y: Array) -> Sample:
        """A state to be recorded."""
        q, v, impulse = self.split(y)
        force = self.spread(self.forces(self.mechanism.snapshot(t, q, v)).force)
        return Sample(t, q.copy(), v.copy(), force, impulse.copy())


def run_mode(
    motion: ModeMotion, t: float, q: Array, v: Array, end: float, grid: Sequence[float], options: Options
) -> Flow:
    """Move in one mode until ``end`` or until something happens; samples at the times of ``grid``."""
    mechanism = motion.mechanism
    zero = np.zeros(mechanism.nc * mechanism.width)
    y = motion.projected(np.concatenate([q, v, zero]))
    solver = DOP853(motion.slope, t, y, end, rtol=options.rtol, atol=options.atol, max_step=options.max_step)
    samples = [motion.sample(t, y)]
    waiting = [time for time in grid if t < time < end]
    crawled = 0
    while True:
        solver.max_step = min(options.max_step, motion.slip_time(solver.t, solver.y))
        solver.step()
        crawled = crawled + 1 if solver.step_size is not None and solver.step_size < _CRAWL else 0
        if solver.status == "failed" or crawled > _MOST_CRAWLS:
            return Flow((*samples, motion.sample(solver.t, solver.y)), "singular", tuple(motion.contacts))
        dense = solver.dense_output()
        hit = _first_event(motion, dense, float(solver.t_old), float(solver.t), options.gap)
        until = solver.t if hit is None else hit[0]
        for time in _times(waiting, float(solver.t_old), float(solver.t), float(until)):
            samples.append(motion.sample(time, motion.projected(dense(time))))
        waiting = [time for time in waiting if time >= until]
        if hit is not None:
            y = motion.projected(dense(until))
            return Flow((*samples, motion.sample(until, y)), hit[1], hit[2])
        solver.y = motion.projected(solver.y)
        solver.f = motion.slope(solver.t, solver.y)
        if solver.status == "finished":
            return Flow((*samples, motion.sample(solver.t, solver.y)), "end")


def _times(grid: list[float], start: float, stop: float, until: float) -> list[float]:
    """Times in (start, until) at which a step is sampled: the grid, or a dozen to a step if that is finer."""
    coarse = [start, *(time for time in grid if start < time < until)]
    spacing = (stop - start) / _PER_STEP
    times: list[float] = []
    for a, b in zip(coarse, [*coarse[1:], until], strict=True):
        parts = max(int(np.ceil((b - a) / spacing - 1e-9)), 1)
        times += [a + (b - a) * k / parts for k in range(parts)]
    return times[1:]


@dataclass(frozen=True, eq=False)
class _Look:
    """The conditions of a mode at one time of a step."""

    gap: Array  # of the free contacts, m
    rate: Array  # their rates, m/s
    margin: Array  # of the mode, dimensionless, or m/s for slip
    kind: tuple[tuple[str, int], ...]  # what a negative margin means, and for which contact


def _look(motion: ModeMotion, dense: Callable[[float], Array], t: float, toward: Snapshot | None) -> _Look:
    q, v, _ = motion.split(dense(t))
    mechanism = motion.mechanism
    gap = mechanism.model.gaps(q)[motion.free]
    if not motion.mode:
        return _Look(gap, mechanism.normal_velocity(q, v)[motion.free], np.zeros(0), ())
    snapshot = mechanism.snapshot(t, q, v)
    velocity = snapshot.contact_velocity
    problem = contact_problem(snapshot, motion.contacts, mechanism.mu, motion._no_slip)
    solution = forces_of(problem, motion.present(snapshot))
    start = velocity if toward is None else toward.contact_velocity
    values = [tolerances.CONTACT_FORCE - solution.residual]
    kind = [("slip", -1)]
    for i, hold in enumerate(motion.mode):
        force = solution.force[i] / problem.force_unit[i]
        values.append(float(force[0]))
        kind.append(("open", hold.contact))
        if hold.direction is None:
            values.append(float(mechanism.mu[hold.contact] * force[0] - np.linalg.norm(force[1:])))
            kind.append(("slip", hold.contact))
        elif mechanism.mu[hold.contact] > 0.0:
            before = _turned(hold, start[hold.contact, 1:]) if mechanism.width > 2 else hold
            values.append(float(velocity[hold.contact, 1:] @ np.asarray(before.direction)))
            kind.append(("stick", hold.contact))
    return _Look(gap, velocity[motion.free, 0], np.array(values), tuple(kind))


def _first_event(
    motion: ModeMotion, dense: Callable[[float], Array], start: float, stop: float, gap: float
) -> tuple[float, str, tuple[int, ...]] | None:
    """The earliest time in a step at which a gap closes or the mode ends, with what and where."""
    toward = motion.mechanism.snapshot(start, *motion.split(dense(start))[:2]) if motion.mode else None
    before, t_before = _look(motion, dense, start, toward), start
    for node in _NODES:
        t = start + node * (stop - start)
        now = _look(motion, dense, t, toward)
        hits = [*_gap_hits(motion, dense, before, now, t_before, t, gap)]
        for k in np.flatnonzero(~(now.margin >= -tolerances.CONTACT_FORCE)):
            when = _margin_root(motion, dense, toward, int(k), before.margin[k], t_before, t)
            hits.append((when, *_named(motion, now.kind[k])))
        if hits:
            return min(hits, key=lambda hit: hit[0])
        before, t_before = now, t
    return None


def _named(motion: ModeMotion, kind: tuple[str, int]) -> tuple[str, tuple[int, ...]]:
    return kind[0], tuple(motion.contacts) if kind[1] < 0 else (kind[1],)


def _margin_root(
    motion: ModeMotion,
    dense: Callable[[float], Array],
    toward: Snapshot | None,
    k: int,
    at_start: float,
    t0: float,
    t1: float,
) -> float:
    if not at_start > 0.0:
        return t0
    return _root(lambda t: float(_look(motion, dense, t, toward).margin[k]), t0, t1)


def _gap_hits(
    motion: ModeMotion, dense: Callable[[float], Array], a: _Look, b: _Look, t0: float, t1: float, gap: float
) -> list[tuple[float, str, tuple[int, ...]]]:
    """Free contacts that touch between two looks, also those that only dip below zero in between."""
    hits: list[tuple[float, str, tuple[int, ...]]] = []
    model, mechanism = motion.mechanism.model, motion.mechanism
    slack = 0.01 * gap  # a contact that has just opened may start a rounding error below zero
    for j, contact in enumerate(motion.free):

        def distance(t: float, contact: int = contact) -> float:
            return float(model.gaps(motion.split(dense(t))[0])[contact])

        def rate(t: float, contact: int = contact) -> float:
            return float(mechanism.normal_velocity(*motion.split(dense(t))[:2])[contact])

        lowest = t1
        if a.rate[j] < 0.0 < b.rate[j] and min(a.gap[j], b.gap[j]) < (t1 - t0) * (b.rate[j] - a.rate[j]):
            lowest = _root(rate, t0, t1)
        if not (b.gap[j] < -slack or (lowest < t1 and distance(lowest) < -slack)):
            if lowest < t1 and a.gap[j] > gap >= distance(lowest):
                hits.append((lowest, "graze", (contact,)))
            continue
        first: float | None = t0
        if not a.gap[j] > 0.0:
            first = _hop(distance, rate, t0, lowest, slack)
        when = t0 if first is None else _root(distance, first, lowest)
        hits.append((when, "close", (contact,)))
    return hits


def _hop(
    distance: Callable[[float], float], rate: Callable[[float], float], t0: float, t1: float, slack: float
) -> float | None:
    """A time at which a contact that is closed at t0 and t1 is open; None where it sinks from the start.

    A contact that opens with no velocity, only with an acceleration, rises with the square of time: it is
    looked for ever nearer to t0.
    """
    if rate(t0) > 0.0 > rate(t1):
        return _root(rate, t0, t1)  # the top
    times = (t0 + (t1 - t0) * 0.5**k for k in range(1, _HALVINGS))
    return next((t for t in times if distance(t) > slack), None)


def _root(function: Callable[[float], float], a: float, b: float) -> float:
    at_a, at_b = function(a), function(b)
    if at_a == 0.0 or at_a * at_b > 0.0:
        return a if abs(at_a) < abs(at_b) else b
    return float(brentq(function, a, b, xtol=1e-15, rtol=8.9e-16))


def _turned(hold: Hold, slip: Array) -> Hold:
    size = float(np.linalg.norm(slip))
    return replace(hold, direction=tuple(slip / size)) if size > _NO_SLIP else hold
