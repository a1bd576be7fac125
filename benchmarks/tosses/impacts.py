"""Find impacts in tracked tosses: the state carried to contact, and the velocity measured after.

Velocities are differences of poses, so each belongs to an interval between two frames. Flight conserves the
angular momentum and, but for gravity, the velocity of the centre of mass, whatever joints do. An interval is
disturbed where these change by more than jitter. An impact is a short run of disturbed intervals with flight
before it and, for a clean measurement, after it: only in flight is the velocity that an impact left behind
not changed further by contact forces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tosses.bodies import GRAVITY, Body


@dataclass(frozen=True, eq=False)
class Flow:
    """Motion in flight at some moment."""

    momentum: np.ndarray  # (6,) velocity of the centre of mass, and angular momentum over mass and arm, m/s
    rates: np.ndarray  # (joints,) rad/s

    def later(self, seconds: float) -> Flow:
        """In free flight."""
        return Flow(self.momentum - np.array([0.0, 0.0, GRAVITY * seconds, 0.0, 0.0, 0.0]), self.rates)


@dataclass(frozen=True, eq=False)
class Impact:
    """One impact: what was before and after, carried to the frame before it."""

    toss: int
    q: np.ndarray  # (nq,) at the last frame before
    before: Flow  # at that frame
    after: Flow  # carried back to the same moment where it flies
    flies: bool  # free flight after the impact
    noise: float  # m/s: standard error of the momentum before
    noise_after: float
    meeting: float  # s after the last frame before: where the paths before and after meet


@dataclass(frozen=True, eq=False)
class Contact:
    """An impact at the moment of contact."""

    toss: int
    q: np.ndarray  # (nq,)
    before: np.ndarray  # (nv,)
    after: np.ndarray  # (nv,) measured
    heights: np.ndarray  # (corners,) m, of sharp corners above the lowest one


def load(body: Body, path: Path) -> tuple[list[Impact], float]:
    """All impacts of a file of tosses, and the time between frames (s)."""
    with np.load(path, allow_pickle=False) as data:
        start, dt = data["start"], float(data["dt"])
        q = body.configurations(data)
    found: list[Impact] = []
    for toss in range(len(start) - 1):
        found += _impacts_of(body, toss, q[start[toss] : start[toss + 1]], dt)
    return found, dt


def _impacts_of(body: Body, toss: int, q: np.ndarray, dt: float) -> list[Impact]:
    rule, flow, rates = body.tracking, body.flow(q, dt), body.rates(q, dt)
    change = np.diff(flow, axis=0)
    change[:, 2] += GRAVITY * dt
    disturbed = np.linalg.norm(change, axis=1) > rule.disturbed
    found, i = [], 0
    while i < len(disturbed):
        if not disturbed[i]:
            i += 1
            continue
        j = i
        while j < len(disturbed) and disturbed[j]:
            j += 1
        quiet_before = _quiet(disturbed[:i][::-1]) + 1
        quiet_after = _quiet(disturbed[j:]) + 1
        if j - i <= rule.longest and quiet_before >= rule.before[0] and quiet_after >= rule.after[0]:
            counts = min(quiet_before, rule.before[1]), min(quiet_after, rule.after[1])
            impact = _measured(body, toss, q, (flow, rates), (i, j), counts, dt)
            if impact is not None:
                found.append(impact)
        i = j
    return found


def _quiet(disturbed: np.ndarray) -> int:
    """How many of the first changes are not disturbed."""
    return int(np.argmax(disturbed)) if disturbed.any() else len(disturbed)


def _measured(
    body: Body,
    toss: int,
    q: np.ndarray,
    moving: tuple[np.ndarray, np.ndarray],
    ends: tuple[int, int],
    counts: tuple[int, int],
    dt: float,
) -> Impact | None:
    """The impact between intervals ``ends``, the last before and the first after; None if not steady."""
    (i, j), frame, rule = ends, ends[0] + 1, body.tracking
    before, scatter, fall = _average(moving, (i - counts[0] + 1, i + 1), frame, dt, flies=True)
    later = j, j + counts[1]
    *_, fall_after = _average(moving, later, frame, dt, flies=True)
    flies = abs(fall_after + GRAVITY) < rule.falling
    after, scatter_after, _ = _average(moving, later, frame, dt, flies=flies)
    steady = max(scatter, scatter_after) < rule.steady and abs(fall + GRAVITY) < rule.falling
    if not steady or np.linalg.norm(after.momentum - before.momentum) < rule.smallest:
        return None
    noise, noise_after = np.array([scatter, scatter_after]) / np.sqrt(counts)
    impact = Impact(toss, q[frame], before, after, flies, float(noise), float(noise_after), 0.0)
    return replace(impact, meeting=_meeting(body, impact, q[j], j - frame, dt))


def _average(
    moving: tuple[np.ndarray, np.ndarray],
    span: tuple[int, int],
    frame: int,
    dt: float,
    *,
    flies: bool,
) -> tuple[Flow, float, float]:
    """The flow at a frame from intervals ``span``, its scatter, and the vertical acceleration.

    Weights are those of a line through the poses: errors of poses are independent, those of differences not.
    """
    begin, end = span
    flow, rates = moving[0][begin:end].copy(), moving[1][begin:end]
    time = (np.arange(begin, end) + 0.5 - frame) * dt
    place = np.arange(1, end - begin + 1)
    weights = place * place[::-1] / (place * place[::-1]).sum()
    acceleration = float(np.polyfit(time, flow[:, 2], 1)[0])
    if flies:
        flow[:, 2] += GRAVITY * time
    mean = weights @ flow
    scatter = float(np.sqrt(((flow - mean) ** 2).sum(axis=1).mean()))
    return Flow(mean, weights @ rates), scatter, acceleration


def _meeting(body: Body, impact: Impact, later_q: np.ndarray, frames: int, dt: float) -> float:
    """When the flight before and the motion after come nearest to each other, s after the last frame."""
    times = np.linspace(-2.0 * dt, (frames + 2) * dt, 81)
    after = impact.after.later(frames * dt) if impact.flies else impact.after
    earlier = _path(body, impact.q, impact.before, times)
    later = _path(body, later_q, after, times - frames * dt)
    if not impact.flies:
        later[:, 2] += 0.5 * GRAVITY * (times - frames * dt) ** 2
    miss = ((body.points(earlier) - body.points(later)) ** 2).sum(axis=(1, 2))
    return float(times[np.argmin(miss)])


def _path(body: Body, q: np.ndarray, flow: Flow, times: np.ndarray) -> np.ndarray:
    return body.carry(q, body.velocity(q, flow.momentum, flow.rates), times)


def at_contact(body: Body, impact: Impact, height: float, dt: float) -> Contact:
    """Carry the flight before to the first moment at which the lowest corner is at ``height`` (m)."""
    times = np.linspace(-2.0 * dt, (body.tracking.longest + 1) * dt, 241)
    path = _path(body, impact.q, impact.before, times)
    heights = body.points(path)[..., 2]
    lowest = heights.min(axis=1)
    below = np.flatnonzero(lowest <= height)
    k = int(below[0]) if below.size else int(np.argmin(lowest))
    before = impact.before.later(float(times[k]))
    after = impact.after.later(float(times[k])) if impact.flies else impact.after
    velocities = (body.velocity(path[k], flow.momentum, flow.rates) for flow in (before, after))
    return Contact(impact.toss, path[k], *velocities, heights[k] - lowest[k])


def meeting_height(body: Body, impact: Impact) -> float:
    """Height of the lowest corner where the paths before and after meet, m: where the table seems to be."""
    path = _path(body, impact.q, impact.before, np.array([impact.meeting]))
    return float(body.points(path)[..., 2].min())
