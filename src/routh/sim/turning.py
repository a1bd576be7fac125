"""How fast slip in space can turn: what bounds the steps of an explicit integrator.

The slip s of a sliding contact obeys ``ds/dt = ... - S mu lambda_n s / |s|``, where S is the response of slip
to friction while the other contacts of the mode stay as they are. Its direction therefore answers a
disturbance with the rate ``mu lambda_n S / |s|``, which is stiff where slip is slow.
"""

from __future__ import annotations

import math

import numpy as np

from routh.sim.contact_forces import ContactProblem, Mode, ModeForces, equations
from routh.validation import Array

NO_SLIP = 1e-9  # m/s, below which slip in space keeps the direction it had: the integrator knows no better
_TURN = 3.0  # slip that turns may change by half of itself in a step, which is 1.5 of the times of a rate
_ASIDE = 0.01 * NO_SLIP  # m/s, how far slip that keeps its direction may be from its line when it ends
_STOP = 2.0  # slip that ends straight may be followed for twice as long as it lasts
_BEND = 100.0  # 1/s: the acceleration of slip that ends changes its direction by less
_SINGULAR = 1e-11  # singular values below this share of the largest count as zero


def ends_straight(found: ModeForces, speed: Array, already: np.ndarray) -> np.ndarray:
    """Which contacts of a mode stop so soon that what they leave of their line is no slip, (m,) bool.

    With the acceleration a the slip s ends after |s| / |a|. By then the part of a across the slip, and what a
    turns by, have moved it aside by less than can be told. ``speed`` (m,) m/s is how fast contacts slip.
    Those that did so ``already`` (m,) go on while they slow down: slip has no direction near its end.
    """
    straight = np.zeros(len(speed), dtype=bool)
    for i, (hold, push) in enumerate(zip(found.mode, found.acceleration[:, 1:], strict=True)):
        if hold.direction is not None and (along := float(push @ np.asarray(hold.direction))) < 0.0:
            size = float(np.linalg.norm(push))
            across = math.sqrt(max(size**2 - along**2, 0.0))
            straight[i] = already[i] or speed[i] * (across + _BEND * speed[i]) < _ASIDE * size
    return straight


def turning_rates(
    problem: ContactProblem, found: ModeForces, speed: Array, straight: np.ndarray
) -> tuple[float, float]:
    """The fastest rates, 1/s, at which slip changes, and at which its direction answers a disturbance.

    An explicit integrator has to follow both, an implicit one the first alone. Both are 0 where nothing
    slides with friction. ``found`` are the forces of a mode that holds the problem's contacts in their order,
    ``speed`` (m,) m/s how fast these slip, above zero. Those in ``straight`` (m,) bool keep their direction
    until they stop.
    """
    width, mode = problem.free.shape[1], found.mode
    rubbing = [i for i, hold in enumerate(mode) if not hold.sticks and problem.mu[i] > 0.0]
    if not rubbing:
        return 0.0, 0.0
    tangents = np.concatenate([np.arange(i * width + 1, (i + 1) * width) for i in rubbing])
    response = _slip_response(problem, mode, tangents)
    per_slip = np.zeros_like(response)  # friction against a change of slip, N s/m
    turning = stopping = 0.0
    for k, i in enumerate(rubbing):
        along = np.asarray(mode[i].direction)
        across = np.eye(width - 1) - np.outer(along, along)
        strength = problem.mu[i] * abs(float(found.force[i, 0])) / float(speed[i])
        push = found.acceleration[i, 1:]
        if straight[i]:
            stopping = max(stopping, _STOP * float(np.linalg.norm(push)) / float(speed[i]))
            continue
        at = slice(k * (width - 1), (k + 1) * (width - 1))
        per_slip[at, at] = strength * across
        # of slip, where it ends with this acceleration
        aside = float(np.linalg.norm(across @ push) * speed[i])
        if aside > NO_SLIP * float(np.linalg.norm(push)):
            turning = max(turning, float(np.linalg.norm(push)) / float(speed[i]))
    # near a singular mode the held contacts answer without bound, though the motion may go on: without them
    alone = float(np.linalg.norm(problem.G[np.ix_(tangents, tangents)] @ per_slip, 2))
    answer = min(float(np.linalg.norm(response @ per_slip, 2)), alone)
    return max(_TURN * turning, stopping), answer


def _slip_response(problem: ContactProblem, mode: Mode, tangents: np.ndarray) -> Array:
    """Acceleration of slip per friction force there, 1/kg, while the mode's equations go on to hold."""
    form = equations(problem.contacts, problem.mu, problem.free.shape[1], mode)
    held = problem.G[form.picked]
    answer = np.linalg.lstsq(held @ form.columns, held[:, tangents], rcond=_SINGULAR)[0]
    moved = problem.G[tangents]
    return np.asarray(moved[:, tangents] - moved @ form.columns @ answer, dtype=np.float64)
