"""The course of an impact as a curve, for plotting: hodograph, impulse, normal velocity, energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Whole
from routh.base.status import RouthError
from routh.base.validation import Array, integer
from routh.two_body import _layout as at
from routh.two_body import _solve
from routh.two_body._events import evaluate
from routh.two_body._kernel import decode
from routh.two_body._layout import EVENT_TOLERANCE, ScaledImpact, SolverWork, workspace
from routh.two_body.api import approaching, checked_one


@dataclass(frozen=True, eq=False)
class Hodograph(Whole):
    """An impact by points along its course; marks are rows of the arrays."""

    impulse: Array  # (k, 3) N s, x, y, normal
    sliding: Array  # (k, 2) m/s
    normal_velocity: Array  # (k,) m/s
    energy: Array  # (k,) J, what is stored at the contact
    events: str
    marks: tuple[tuple[str, int], ...]  # (letter, row): c, k, s and r where they happened


def hodograph(
    W: ArrayLike,
    v: ArrayLike,
    mu: float,
    e: float,
    *,
    hypothesis: str = "energetic",
    event_tolerance: float = EVENT_TOLERANCE,
    points: int = 40,
) -> Hodograph:
    """The course of an impact.

    Parameters
    ----------
    W, v, mu, e, hypothesis, event_tolerance : as in `impact`.
    points : on each segment.
    """
    given = checked_one(W, v, mu, e, hypothesis, event_tolerance)
    w, velocity = given.W[0], approaching(given.v[0])
    integer("points", points, at_least=2)
    con = _solve.make_contact(w, 1.0, given.mu[0], given.e[0], given.hypothesis, given.near)
    work = workspace()
    state = work.state
    _solve.begin(work.arc, state, con, *velocity)
    rows: list[Array] = []
    for _ in range(at.MAX_SEGMENTS):
        anchor = state.copy()
        _solve.choose_segment(work.series, work.arc.copy(), anchor, con)  # a line's own numbers
        shape, end = _solve.run_segment(work.series, work.arc, state, con)
        rows.append(_sample(work, anchor, con, shape, end, points))
        if state[at.PHASE] == at.DONE:
            break
    else:
        raise RouthError(f"hodograph: the impact has not ended after {at.MAX_SEGMENTS} segments")
    table = np.concatenate(rows)
    table[:, 3:5] = _sliding(w, velocity, table[:, :3])
    events = decode(int(state[at.EVENTS]))
    return Hodograph(table[:, :3], table[:, 3:5], table[:, 5], table[:, 6], events, _marks(table, events))


def _sample(work: SolverWork, anchor: Array, con: ScaledImpact, shape: int, end: float, points: int) -> Array:
    """Points of one segment, (points, 7): impulse, two columns left empty, v_z, E; ``work`` is at its end."""
    rows = np.zeros((points, 7))
    for row, p in zip(rows, np.linspace(0.0, end, points), strict=True):
        evaluate(work.series, work.arc, anchor, con, shape, p)
        row[:3] = anchor[[at.JX, at.JY, at.JZ]] + anchor[[at.P_JX, at.P_JY, at.P_JZ]]
        row[5:] = anchor[at.P_VZ], anchor[at.ENERGY] + anchor[at.P_E]
    # what the end of compression took off the stored energy within this segment
    jump = rows[-1, 6] - work.state[at.ENERGY]
    rows[(rows[:, 5] >= 0.0) & (anchor[at.PHASE] == at.COMPRESSION), 6] -= jump
    return rows


def _sliding(W: Array, v: Array, impulse: Array) -> Array:
    """Sliding velocities (k, 2) after impulses (k, 3), JW17 (19); zero where rounding hides them.

    They follow from the impulse whatever the segment: a line holds stick and slip that resumes alike.
    """
    change = impulse @ W[:2].T
    sliding = v[:2] + change
    rounding = 8.0 * np.finfo(float).eps * (np.abs(v[:2]).max() + np.abs(impulse) @ np.abs(W[:2]).max(axis=0))
    return np.where(np.linalg.norm(sliding, axis=1, keepdims=True) > rounding[:, None], sliding, 0.0)


def _marks(table: Array, events: str) -> tuple[tuple[str, int], ...]:
    """Rows at which the events that lie on the curve itself happened."""
    vz, speed = table[:, 5], np.hypot(table[:, 3], table[:, 4])
    marks = [("c", int(i) + 1) for i in np.flatnonzero((vz[:-1] < 0.0) & (vz[1:] >= 0.0))]
    marks += [("k", int(i) + 1) for i in np.flatnonzero((vz[:-1] >= 0.0) & (vz[1:] < 0.0))]
    if "s" in events:
        marks.append(("s", int(np.argmin(speed))))
    return (*sorted(marks, key=lambda mark: mark[1]), ("r", len(table) - 1))
