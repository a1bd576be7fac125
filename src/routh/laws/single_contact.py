"""One planar contact by Routh's method, exact and piecewise linear (HP23 (36), Wang and Mason 1992).

Inelastic (`SingleContact`), or with Newton's rule: the normal velocity comes back with the coefficient of
restitution (`Newton`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base import tolerances
from routh.base.results import PathKind
from routh.base.status import Status
from routh.base.validation import Array
from routh.laws.base import ImpactLaw, ImpactResult
from routh.problem.impact import ImpactProblem


@dataclass(frozen=True)
class SingleContact(ImpactLaw):
    """The normal impulse grows until the contact no longer approaches; friction follows the slip."""

    planar = one_contact = True

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after, with the path's breakpoints (slip stops or reverses)."""
        increments = routh_path(problem.delassus, problem.contact_velocity()[0], float(problem.mu[0]))
        path = problem.path(increments[:, None, :], PathKind.STRAIGHT)
        residual = abs(float(problem.Jn[0] @ path.v[-1] / problem.scaling.velocity[0]))
        status = Status.SOLVED if residual < tolerances.RESIDUAL else Status.NUMERICAL
        return ImpactResult(problem, path.v[-1].copy(), path.impulse.sum(axis=0), status, path, residual)


@dataclass(frozen=True)
class Newton(ImpactLaw):
    """``Jn v+ = -e Jn v-`` at one planar contact; friction follows Routh's method during compression.

    The impulse of compression is that of Routh's inelastic method. Restitution adds a normal impulse with
    friction in the same ratio as in the last part of compression, so the total stays in Coulomb's cone.
    With friction Newton's rule can give energy back that compression did not take: then the status of the
    result is ENERGY_GAINED.
    """

    honours_restitution = planar = one_contact = True

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after compression and restitution."""
        G, before = problem.delassus, problem.contact_velocity()[0]
        increments = routh_path(G, before, float(problem.mu[0]))
        ratio = increments[-1, 1] / increments[-1, 0] if increments[-1, 0] > 0.0 else 0.0
        gain = G[0, 0] + G[0, 1] * ratio  # normal velocity per normal impulse
        returned = -float(problem.restitution[0]) * before[0] / gain
        if returned > 0.0:
            increments = np.vstack([increments, [returned, ratio * returned]])
        path = problem.path(increments[:, None, :], PathKind.STRAIGHT)
        v, wanted = path.v[-1].copy(), -float(problem.restitution[0]) * before[0]
        residual = abs(float(problem.Jn[0] @ v - wanted)) / float(problem.scaling.velocity[0])
        gained = problem.kinetic_energy(v) > problem.kinetic_energy() * (1.0 + 1e-12)
        status = Status.SOLVED if residual < 10.0 * tolerances.RESIDUAL else Status.NUMERICAL
        status = Status.ENERGY_GAINED if status is Status.SOLVED and gained else status
        return ImpactResult(problem, v, path.impulse.sum(axis=0), status, path, residual)


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
    """Time at which ``value + rate s`` reaches zero: infinite if it never does."""
    if value == 0.0:
        return 0.0
    return -value / rate if value * rate < 0.0 else float("inf")
