"""Routh's method for one planar contact: exact and piecewise linear (HP23 (36), Wang and Mason 1992)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.laws.base import ImpactLaw, ImpactResult
from routh.problem import ImpactProblem
from routh.results import ImpactPath, PathKind
from routh.status import Status
from routh.validation import Array


@dataclass(frozen=True)
class SingleContact(ImpactLaw):
    """The normal impulse grows until the contact no longer approaches; friction follows the slip."""

    planar = one_contact = True

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after, with the path's breakpoints (slip stops or reverses)."""
        increments = routh_path(problem.delassus, problem.contact_velocity()[0], float(problem.mu[0]))
        impulses = increments[:, None, :]
        velocities = [problem.v]
        for impulse in impulses:
            velocities.append(problem.apply(impulse, velocities[-1]))
        path = ImpactPath(np.array(velocities), impulses, PathKind.STRAIGHT)
        residual = abs(float(problem.Jn[0] @ path.v[-1] / problem.scaling.velocity[0]))
        status = Status.SOLVED if residual < tolerances.RESIDUAL else Status.NUMERICAL
        return ImpactResult(problem, path.v[-1].copy(), impulses.sum(axis=0), status, path, residual)


def routh_path(G: Array, contact_velocity: Array, mu: float) -> Array:
    """Impulse increments (k, 2), normal first, between the breakpoints of Routh's method in the plane.

    ``G`` (2, 2) is the contact's inverse inertia, ``contact_velocity`` (2,) its (normal, tangential)
    velocity with normal < 0. While slip has sign s, friction is ``-mu s`` per unit of normal impulse. Where
    slip stops, it stays stopped if the friction needed for that is inside the cone, else it reverses.
    """
    y, t = float(contact_velocity[0]), float(contact_velocity[1])
    increments: list[tuple[float, float]] = []
    if t != 0.0:
        friction = -mu * np.sign(t)
        until_slip_stops = _time_to_zero(t, G[1, 0] + G[1, 1] * friction)
        until_end = _time_to_zero(y, G[0, 0] + G[0, 1] * friction)
        duration = min(until_slip_stops, until_end)
        increments.append((duration, friction * duration))
        if until_end <= until_slip_stops:
            return np.array(increments)
        y += (G[0, 0] + G[0, 1] * friction) * duration
    # slip is zero: the friction that keeps it there, or the edge of the cone nearest to it
    holding = -G[1, 0] / G[1, 1] if G[1, 1] > 0.0 else 0.0
    friction = float(np.clip(holding, -mu, mu))
    duration = _time_to_zero(y, G[0, 0] + G[0, 1] * friction)
    increments.append((duration, friction * duration))
    return np.array(increments)


def _time_to_zero(value: float, rate: float) -> float:
    """When ``value + rate s`` reaches zero: infinite where it never does."""
    if value == 0.0:
        return 0.0
    return -value / rate if value * rate < 0.0 else float("inf")
