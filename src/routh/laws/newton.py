"""Newton's rule for one contact: the normal velocity comes back with the coefficient of restitution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.laws.base import ImpactLaw, ImpactResult
from routh.laws.single_contact import routh_path
from routh.problem import ImpactProblem
from routh.results import ImpactPath, PathKind
from routh.status import Status


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
        impulses = increments[:, None, :]
        velocities = problem.v + np.vstack([np.zeros(2), np.cumsum(increments, axis=0)]) @ problem.response.T
        after = problem.contact_velocity(velocities[-1])[0]
        wanted = -float(problem.restitution[0]) * before[0]
        residual = abs(float(after[0] - wanted)) / float(problem.scaling.velocity[0])
        gained = problem.kinetic_energy(velocities[-1]) > problem.kinetic_energy() * (1.0 + 1e-12)
        status = Status.SOLVED if residual < 10.0 * tolerances.RESIDUAL else Status.NUMERICAL
        status = Status.ENERGY_GAINED if status is Status.SOLVED and gained else status
        path = ImpactPath(velocities, impulses, PathKind.STRAIGHT)
        return ImpactResult(problem, velocities[-1].copy(), impulses.sum(axis=0), status, path, residual)
