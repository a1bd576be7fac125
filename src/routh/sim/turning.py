"""How fast slip in space can turn: what bounds the steps of an explicit integrator.

The slip s of a sliding contact obeys ``ds/dt = ... - S mu lambda_n s / |s|``, where S is the response of slip
to friction while the other contacts of the mode stay as they are. Its direction therefore answers a
disturbance with the rate ``mu lambda_n S / |s|``, which is stiff where slip is slow.
"""

from __future__ import annotations

import numpy as np

from routh.sim.contact_forces import ContactProblem, Mode, ModeForces, equations
from routh.validation import Array

NO_SLIP = 1e-9  # m/s, below which slip in space keeps the direction it had: the integrator knows no better
_TURN = 4.0  # slip that turns may change by half of itself in a step, which is two of the times of a rate
_SINGULAR = 1e-11  # singular values below this share of the largest count as zero


def turning_rate(problem: ContactProblem, found: ModeForces, speed: Array) -> float:
    """The fastest rate, 1/s, at which directions of slip change; 0 where nothing slides with friction.

    ``found`` are the forces of a mode that holds the problem's contacts in their order, ``speed`` (m,) m/s
    how fast these slip, above zero.
    """
    width, mode = problem.free.shape[1], found.mode
    rubbing = [i for i, hold in enumerate(mode) if not hold.sticks and problem.mu[i] > 0.0]
    if not rubbing:
        return 0.0
    tangents = np.concatenate([np.arange(i * width + 1, (i + 1) * width) for i in rubbing])
    response = _slip_response(problem, mode, tangents)
    per_slip = np.zeros_like(response)  # friction against a change of slip, N s/m
    turning = 0.0
    for k, i in enumerate(rubbing):
        along = np.asarray(mode[i].direction)
        across = np.eye(width - 1) - np.outer(along, along)
        strength = problem.mu[i] * abs(float(found.force[i, 0])) / float(speed[i])
        at = slice(k * (width - 1), (k + 1) * (width - 1))
        per_slip[at, at] = strength * across
        push = found.acceleration[i, 1:]
        # of slip, where it ends with this acceleration
        aside = float(np.linalg.norm(across @ push) * speed[i])
        if aside > NO_SLIP * float(np.linalg.norm(push)):
            turning = max(turning, float(np.linalg.norm(push)) / float(speed[i]))
    # near a singular mode the held contacts answer without bound, though the motion may go on: without them
    alone = float(np.linalg.norm(problem.G[np.ix_(tangents, tangents)] @ per_slip, 2))
    return max(min(float(np.linalg.norm(response @ per_slip, 2)), alone), _TURN * turning)


def _slip_response(problem: ContactProblem, mode: Mode, tangents: np.ndarray) -> Array:
    """Acceleration of slip per friction force there, 1/kg, while the mode's equations go on to hold."""
    form = equations(problem.contacts, problem.mu, problem.free.shape[1], mode)
    held = problem.G[form.picked]
    answer = np.linalg.lstsq(held @ form.columns, held[:, tangents], rcond=_SINGULAR)[0]
    moved = problem.G[tangents]
    return np.asarray(moved[:, tangents] - moved @ form.columns @ answer, dtype=np.float64)
