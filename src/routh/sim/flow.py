"""Smooth motion in one contact mode, until the mode ends: steps, and roots on their dense output."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.sim.course import Course, Options
from routh.sim.mode_motion import Look, ModeMotion, Sample

_NODES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # where a step is looked at
_PER_STEP, _PER_SHORT_STEP = 12, 6  # samples of a step, at least: the integrator could make short ones longer
_CRAWL, _MOST_CRAWLS = 1e-10, 100  # s: so many steps in a row below this, and the motion leads nowhere
_HALVINGS = 30  # how near to the start of a step a hop is looked for


@dataclass(frozen=True, eq=False)
class Flow:
    """One smooth piece of motion."""

    samples: tuple[Sample, ...]  # the first one is its beginning, the last one its end
    reason: str  # "end", "close", "graze", "open", "slip", "stick", "singular", "out of time"
    contacts: tuple[int, ...] = ()  # whose condition ended it


def run_mode(course: Course, end: float, grid: Sequence[float], options: Options) -> Flow:
    """Move in one mode until ``end`` or until something happens; samples at the times of ``grid``."""
    samples = [course.start]
    contacts = tuple(course.motion.contacts)
    waiting = [moment for moment in grid if course.t < moment < end]
    crawled = 0
    while True:
        going = course.step()
        crawled = crawled + 1 if course.t - course.t_old < _CRAWL else 0
        if not going or crawled > _MOST_CRAWLS:
            return Flow((*samples, course.settle()), "singular", contacts)
        hit = _first_event(course, options.gap)
        until = course.t if hit is None else hit[0]
        samples += course.samples(
            _times(waiting, course.t_old, course.t, until, _PER_SHORT_STEP if course.short else _PER_STEP)
        )
        waiting = [moment for moment in waiting if moment >= until]
        if hit is not None:
            return Flow((*samples, *course.samples([until])), hit[1], hit[2])
        last = course.settle()
        if course.t >= end:
            return Flow((*samples, last), "end")
        if time.monotonic() > options.deadline:
            return Flow((*samples, last), "out of time")


def _times(grid: list[float], start: float, stop: float, until: float, count: int) -> list[float]:
    """Times in (start, until) at which a step is sampled: the grid, or ``count`` to a step if finer."""
    coarse = [start, *(moment for moment in grid if start < moment < until)]
    spacing = (stop - start) / count
    times: list[float] = []
    for a, b in zip(coarse, [*coarse[1:], until], strict=True):
        parts = max(math.ceil((b - a) / spacing - 1e-9), 1)
        times += [a + (b - a) * k / parts for k in range(parts)]
    return times[1:]


def _first_event(course: Course, gap: float) -> tuple[float, str, tuple[int, ...]] | None:
    """The earliest time in a step at which a gap closes or the mode ends, with what and where."""
    motion, start, length = course.motion, course.t_old, course.t - course.t_old
    times = [start + node * length for node in _NODES]
    looks = iter(course.looks(times))
    before = next(looks)
    for t_before, t, now in zip(times, times[1:], looks, strict=False):
        hits = _gap_hits(course, before, now, t_before, t, gap)
        for k in np.flatnonzero(_ended(motion, before, now)):
            begun = before.margin[k] > 0.0
            when = course.crossing("margin", int(k), t_before, t) if begun else t_before
            hits.append((when, *motion.kinds[k]))
        if hits:
            return min(hits, key=lambda hit: hit[0])
        before = now
    return None


def _ended(motion: ModeMotion, before: Look, now: Look) -> np.ndarray:
    """Margins of the mode that are broken, or, of slip, that have changed sign: there it turned back."""
    stopped = motion.slides & (before.margin > 0.0) & (now.margin < 0.0)
    return np.asarray(stopped | ~(now.margin >= -tolerances.CONTACT_FORCE))


def _gap_hits(
    course: Course, a: Look, b: Look, t0: float, t1: float, gap: float
) -> list[tuple[float, str, tuple[int, ...]]]:
    """Free contacts that touch between two looks, also those that only dip below zero in between."""
    hits: list[tuple[float, str, tuple[int, ...]]] = []
    slack = 0.01 * gap  # a contact that has just opened may start a rounding error above or below zero
    for j, contact in enumerate(course.motion.free):
        lowest = t1
        if a.rate[j] < 0.0 < b.rate[j] and min(a.gap[j], b.gap[j]) < (t1 - t0) * (b.rate[j] - a.rate[j]):
            lowest = course.crossing("rate", j, t0, t1)
        depth = next(iter(course.looks([lowest]))).gap[j] if lowest < t1 else np.inf
        if not (b.gap[j] < -slack or depth < -slack):
            if a.gap[j] > gap >= depth:
                hits.append((lowest, "graze", (contact,)))
            continue
        first: float | None = t0
        if not a.gap[j] > slack:
            first = _hop(course, j, a.rate[j], t0, lowest, slack)
        when = t0 if first is None else course.crossing("gap", j, first, lowest)
        hits.append((when, "close", (contact,)))
    return hits


def _hop(course: Course, j: int, rate: float, t0: float, t1: float, slack: float) -> float | None:
    """A time at which a contact that is closed at t0 and t1 is open; None where it sinks from the start.

    A contact that opens with no velocity, only with an acceleration, rises with the square of time: it is
    looked for ever nearer to t0.
    """
    if rate > 0.0 > next(iter(course.looks([t1]))).rate[j]:
        return course.crossing("rate", j, t0, t1)  # the top
    times = [t0 + (t1 - t0) * 0.5**k for k in range(1, _HALVINGS)]
    looks = course.looks(times)
    return next((t for t, look in zip(times, looks, strict=True) if look.gap[j] > slack), None)
