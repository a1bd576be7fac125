"""Smooth motion in one contact mode, until the mode ends: SciPy's integrator, roots on its dense output."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq

from routh import tolerances
from routh.sim.mode_motion import Look, ModeMotion, Sample
from routh.validation import Array

_NODES = np.array([0.2, 0.4, 0.6, 0.8, 1.0])  # where a step is looked at
_PER_STEP = 12  # samples of one step of the integrator, at least
_CRAWL, _MOST_CRAWLS = 1e-10, 100  # s: so many steps in a row below this, and the motion leads nowhere
_HALVINGS = 30  # how near to the start of a step a hop is looked for


@dataclass(frozen=True)
class Options:
    """Accuracy of the smooth parts, see `routh.simulate`."""

    rtol: float
    atol: float
    max_step: float  # s
    gap: float  # m
    deadline: float = math.inf  # of `time.monotonic`, s


@dataclass(frozen=True, eq=False)
class Flow:
    """One smooth piece of motion."""

    samples: tuple[Sample, ...]  # the first one is its beginning, the last one its end
    reason: str  # "end", "close", "graze", "open", "slip", "stick", "singular", "out of time"
    contacts: tuple[int, ...] = ()  # whose condition ended it


def run_mode(
    motion: ModeMotion, t: float, q: Array, v: Array, end: float, grid: Sequence[float], options: Options
) -> Flow:
    """Move in one mode until ``end`` or until something happens; samples at the times of ``grid``."""
    y, _, first = motion.settled(t, motion.begin(q, v))
    solver = DOP853(motion.slope, t, y, end, rtol=options.rtol, atol=options.atol, max_step=options.max_step)
    samples = [first]
    waiting = [moment for moment in grid if t < moment < end]
    crawled = 0
    while True:
        motion.aim(solver.t, solver.y)
        solver.max_step = min(options.max_step, motion.slip_time(solver.t, solver.y))
        solver.step()
        crawled = crawled + 1 if solver.step_size is not None and solver.step_size < _CRAWL else 0
        if solver.status == "failed" or crawled > _MOST_CRAWLS:
            last = motion.settled(solver.t, solver.y)[2]
            return Flow((*samples, last), "singular", tuple(motion.contacts))
        dense = solver.dense_output()
        hit = _first_event(motion, dense, float(solver.t_old), float(solver.t), options.gap)
        until = float(solver.t if hit is None else hit[0])
        for moment in _times(waiting, float(solver.t_old), float(solver.t), until):
            samples.append(motion.settled(moment, dense(moment))[2])
        waiting = [moment for moment in waiting if moment >= until]
        if hit is not None:
            return Flow((*samples, motion.settled(until, dense(until))[2]), hit[1], hit[2])
        solver.y, solver.f, last = motion.settled(solver.t, solver.y)
        if solver.status == "finished":
            return Flow((*samples, last), "end")
        if time.monotonic() > options.deadline:
            return Flow((*samples, last), "out of time")


def _times(grid: list[float], start: float, stop: float, until: float) -> list[float]:
    """Times in (start, until) at which a step is sampled: the grid, or a dozen to a step if that is finer."""
    coarse = [start, *(moment for moment in grid if start < moment < until)]
    spacing = (stop - start) / _PER_STEP
    times: list[float] = []
    for a, b in zip(coarse, [*coarse[1:], until], strict=True):
        parts = max(int(np.ceil((b - a) / spacing - 1e-9)), 1)
        times += [a + (b - a) * k / parts for k in range(parts)]
    return times[1:]


def _first_event(
    motion: ModeMotion, dense: Callable[[float], Array], start: float, stop: float, gap: float
) -> tuple[float, str, tuple[int, ...]] | None:
    """The earliest time in a step at which a gap closes or the mode ends, with what and where."""
    before, t_before = motion.look(dense, start), start
    for node in _NODES:
        t = start + node * (stop - start)
        now = motion.look(dense, t)
        hits = [*_gap_hits(motion, dense, before, now, t_before, t, gap)]
        for k in np.flatnonzero(_ended(motion, before, now)):
            when = _margin_root(motion, dense, int(k), before.margin[k], t_before, t)
            hits.append((when, *_named(motion, motion.kinds[k])))
        if hits:
            return min(hits, key=lambda hit: hit[0])
        before, t_before = now, t
    return None


def _ended(motion: ModeMotion, before: Look, now: Look) -> np.ndarray:
    """Margins of the mode that are broken, or, of slip, that have changed sign: there it turned back."""
    stopped = motion.slides & (before.margin > 0.0) & (now.margin < 0.0)
    return np.asarray(stopped | ~(now.margin >= -tolerances.CONTACT_FORCE))


def _named(motion: ModeMotion, kind: tuple[str, int]) -> tuple[str, tuple[int, ...]]:
    return kind[0], tuple(motion.contacts) if kind[1] < 0 else (kind[1],)


def _margin_root(
    motion: ModeMotion,
    dense: Callable[[float], Array],
    k: int,
    at_start: float,
    t0: float,
    t1: float,
) -> float:
    if not at_start > 0.0:
        return t0
    return _root(lambda t: float(motion.look(dense, t).margin[k]), t0, t1)


def _gap_hits(
    motion: ModeMotion, dense: Callable[[float], Array], a: Look, b: Look, t0: float, t1: float, gap: float
) -> list[tuple[float, str, tuple[int, ...]]]:
    """Free contacts that touch between two looks, also those that only dip below zero in between."""
    hits: list[tuple[float, str, tuple[int, ...]]] = []
    model, mechanism = motion.mechanism.model, motion.mechanism
    slack = 0.01 * gap  # a contact that has just opened may start a rounding error below zero
    for j, contact in enumerate(motion.free):

        def distance(t: float, contact: int = contact) -> float:
            return float(model.gaps(motion.split(dense(t))[0])[contact])

        def rate(t: float, contact: int = contact) -> float:
            return float(mechanism.normal_velocity(*motion.split(dense(t)))[contact])

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
