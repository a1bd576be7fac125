"""Impacts and accumulations of impacts against HP23 (49), (72) and (39)."""

from __future__ import annotations

import numpy as np

from routh import tolerances
from routh.friction import facet_directions
from routh.models.simultaneity import TOUCHING
from routh.paths import PathKind
from routh.sim.evidence import Evidence
from routh.sim.trajectory import Event
from routh.validation import Array, Options

_ROUNDING = 1e-5  # share of the momentum at hand below which an impulse is as good as none


def check_impact(e: Evidence, i: int) -> None:
    """(49): t and q stand still, and v changes by impulses that the law allows."""
    trajectory = e.trajectory
    q, before, after = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
    event = next((one for one in reversed(e.impact_events) if one.index < i), None)
    impulse = e.impulses[i]
    M, J = e.model.mass(q), e.J(q)
    noise = e.noise(q, e.before_impact[i])
    e.book.note("q stands still in impacts", i, float(np.abs(q - trajectory.q[i - 1]).max()), 0.0)
    unexplained = M @ (after - before) - np.tensordot(impulse, J, axes=2)
    # an impulse that s, which counts normal ones, is too coarse for is recorded with the next sample
    cone = np.maximum(1.0, e.mu)[:, None, None]
    unresolved = float(np.spacing(e.s[i])) * (cone * np.abs(J)).sum(axis=(0, 1))
    e.momentum("momentum of impacts", i, unexplained, tolerances.VERIFY_MOMENTUM, unresolved)
    closed = e.may_touch(i)
    data = {} if event is None else event.data
    away = _window_distance(e, i, data)
    if away is not None:
        closed |= e.gaps[i] <= away
    if not np.any(e.restitution[closed] > 0.0):
        gained = e.speed[i] - e.speed[i - 1]
        e.book.note("impacts dissipate", i, gained, tolerances.VERIFY_REST * e.before_impact[i])
        slowest = float((J[closed, 0] @ before / noise[closed]).min(initial=np.inf))
        e.book.note("impact only where nothing separates", i, slowest, 1.0)
    size = max(float(np.abs(impulse).max()), _ROUNDING * float(e.before_impact[i]) / float(e.root(q).max()))
    kind = data.get("path", PathKind.TOTAL)
    directions = None
    if e.model.nt == 2 and data.get("friction", "polyhedral") == "polyhedral":
        directions = facet_directions(2, data.get("facets"))
    # (72c), (72d) at the end of an implicit increment; (38), (16) in the middle of a straight piece
    velocity = J @ (after if kind == PathKind.IMPLICIT else 0.5 * (before + after))
    for c in map(int, np.flatnonzero(np.abs(impulse).max(axis=1) > 0.0)):
        allowed = tolerances.VERIFY_GAP * e.reach[i] + (0.0 if away is None else float(away[c]))
        e.book.note("force at a distance", i, e.gaps[i, c], allowed)
        e.cone(i, c, impulse[c], size)
        if kind not in (PathKind.IMPLICIT, PathKind.STRAIGHT):
            continue
        unsure = float(noise[c])
        if e.restitution[c] == 0.0:
            power = float(impulse[c, 0]) * float(velocity[c, 0])
            e.book.note("normal impulses dissipate", i, power, size * unsure)
        slip = velocity[c, 1:]
        e.dissipation(i, c, impulse[c], slip, size=size, noise=unsure, directions=directions)


def _window_distance(e: Evidence, i: int, data: Options) -> Array | None:
    """How far open each contact may be that takes part, (nc,) m: what it approaches by within the window."""
    if data.get("window") is None or "v_before" not in data:
        return None
    rate = e.J(e.trajectory.q[i])[:, 0] @ data["v_before"]
    return np.maximum(-rate * float(data["window"]), TOUCHING)


def check_accumulation(e: Evidence, i: int, event: Event) -> None:
    """The jump to a Zeno point: impacts before it decay, momentum balances, nothing approaches after.

    Where cycles of impacts repeat, the last two cycles tell what remains of a geometric sequence. Where
    they are random, each is shorter than the one before by 0.9 at most, on average: the rest of such a
    sequence lasts less than twice the last four.
    """
    trajectory = e.trajectory
    cycle = int(event.data.get("cycle", 0))
    width = cycle or 4
    intervals = np.diff(np.unique([one.t for one in e.impact_events if one.index < i]))
    before, last = intervals[-2 * width : -width].sum(), intervals[-width:].sum()
    decays = len(intervals) >= 2 * width and last < before
    e.book.note("impacts decay before an accumulation", i, 0.0 if decays else np.inf, 1.0)
    skipped = trajectory.t[i] - trajectory.t[i - 1]
    rest = 1.01 * last / (before / last - 1.0) if cycle and decays else 2.0 * last
    e.book.note("skipped time", i, skipped, rest)
    q, v0, v1 = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
    push = np.tensordot(e.impulses[i], e.J(q), axes=2)
    smooth = skipped * e.smooth_force(trajectory.t[i], q, v1)
    unexplained = e.model.mass(q) @ (v1 - v0) - push - smooth
    e.momentum("momentum at accumulations", i, unexplained, tolerances.VERIFY_ZENO)
    size = float(np.abs(e.impulses[i]).max(initial=0.0))
    for c in range(len(e.mu)):
        e.cone(i, c, e.impulses[i, c], size)


def check_outcomes(e: Evidence) -> None:
    """After the last increment of an impact no closed contact approaches."""
    t = e.trajectory.t
    for i in range(1, len(t)):
        ends = t[i] == t[i - 1] and (i + 1 == len(t) or t[i + 1] > t[i])
        if ends and e.trajectory.ok:
            q, closed = e.trajectory.q[i], e.gaps[i] <= tolerances.CLOSED_GAP
            approach = -(e.J(q)[:, 0] @ e.trajectory.v[i]) / e.noise(q, e.before_impact[i])
            e.book.note("no approach after impacts", i, float(approach[closed].max(initial=0.0)), 1.0)
