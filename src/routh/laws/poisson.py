"""Poisson's law in two phases for several contacts with friction (Glocker and Pfeiffer)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base.status import Status
from routh.laws.base import ImpactLaw, ImpactResult, in_phases
from routh.problem.impact import ImpactProblem
from routh.step import make_step


@dataclass(frozen=True)
class Poisson(ImpactLaw):
    """Compression as in `Simultaneous`, then every contact returns at least e times its normal impulse.

    Glocker and Pfeiffer 1995, *Multiple impacts with friction in rigid multibody systems*, without tangential
    restitution; Simbody's law is of this kind (Uchida, Sherman and Delp 2015). Expansion solves
    ``0 <= impulse - e impulse_C _|_ y+ >= 0`` with Coulomb's friction for the impulse of expansion and the
    slip at its end.

    Guaranteed: impulses in the cones; no contact approaches after; with e = 0 it is `Simultaneous`. Not
    guaranteed: energy, which can grow with friction or different e (then the status is ENERGY_GAINED);
    uniqueness. Where contacts are redundant, or a phase has several solutions, the order of the contacts can
    change the answer: impulses of compression are then not unique, and expansion starts from them.

    Parameters
    ----------
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    """

    friction: str = "cone"
    facets: int | None = None

    honours_restitution = True

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after both phases. ``rng`` is not used."""
        step = make_step(problem, friction=self.friction, facets=self.facets)
        compression = step.solve(problem.v, None)
        returned = problem.restitution * np.maximum(compression.impulse[:, 0], 0.0)
        if compression.status is not Status.SOLVED or not np.any(returned > 0.0):
            return in_phases(problem, [compression.impulse], compression.status, compression.residual)
        expansion = step.solve(compression.v, None, held=returned)
        impulses = [compression.impulse, expansion.impulse]
        residual = max(compression.residual, expansion.residual)
        return in_phases(problem, impulses, expansion.status, residual)
