"""Which contact modes a state can continue in; ties between modes are settled by a look ahead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.sim.contact_forces import Mode, ModeForces, contact_problem, forces_of, margins
from routh.sim.mechanism import Mechanism, Snapshot
from routh.sim.modes import find_modes
from routh.validation import Array

_AHEAD = 1e-6  # s, how far ahead ties are looked at
_SLACK = 1e-7  # residual of a mode's equations that is still rounding a moment later


@dataclass(frozen=True, eq=False)
class Selection:
    """What the acceleration problem of one state allows."""

    choices: tuple[ModeForces, ...]  # one per distinct acceleration; none: Painlevé's paradox
    complete: bool  # whether there can be no others


def select(
    mechanism: Mechanism,
    snapshot: Snapshot,
    resting: list[int],
    slipping: np.ndarray,
    excluded: set[Mode],
) -> Selection:
    """The solutions at a state: ``resting`` contacts are closed, those in ``slipping`` (nc,) bool slip.

    Modes in ``excluded`` have just ended at this very state.
    """
    velocity = snapshot.contact_velocity[resting, 1:]
    size = np.linalg.norm(velocity, axis=1, keepdims=True)
    slip = np.where(
        slipping[resting][:, None] & (size > 0.0), velocity / np.where(size > 0.0, size, 1.0), 0.0
    )
    problem = contact_problem(snapshot, resting, mechanism.mu, slip)
    groups, complete = find_modes(problem)
    choices = []
    for group in groups:
        left = [solution for solution in group if solution.mode not in excluded]
        if left:
            scores = (
                [_score(mechanism, snapshot, resting, solution, slip) for solution in left]
                if left[1:]
                else [0.0]
            )
            best = max(scores)
            # of equally good modes the one with the fewest closed contacts: it asks for no force
            near = [s for s, score in zip(left, scores, strict=True) if score >= best - 1e-12]
            choices.append(min(near, key=lambda solution: len(solution.mode)))
    return Selection(tuple(choices), complete)


def _score(
    mechanism: Mechanism, snapshot: Snapshot, resting: list[int], solution: ModeForces, slip: Array
) -> float:
    """The smallest margin a moment later, if the mode is kept until then."""
    force = np.zeros((mechanism.nc, mechanism.width))
    force[resting] = solution.force
    q = mechanism.model.integrate(snapshot.q, snapshot.v, _AHEAD)
    v = snapshot.v + _AHEAD * snapshot.acceleration(force)
    later = mechanism.snapshot(snapshot.t + _AHEAD, q, v)
    begun = slip.copy()
    for hold in solution.mode:
        if hold.direction is not None:
            begun[resting.index(hold.contact)] = hold.direction
    problem = contact_problem(later, resting, mechanism.mu, begun)
    kept = forces_of(problem, solution.mode)
    score = float(margins(problem, kept)[1:].min())
    if not kept.residual < _SLACK:
        score = min(score, -kept.residual)
    for hold in solution.mode:
        i = resting.index(hold.contact)
        if hold.direction is not None and mechanism.mu[hold.contact] > 0.0 and not slip[i].any():
            gained = float(later.contact_velocity[hold.contact, 1:] @ np.asarray(hold.direction)) / _AHEAD
            score = min(score, gained / float(problem.acceleration_unit[i]))
    return score if np.isfinite(score) else -np.inf
