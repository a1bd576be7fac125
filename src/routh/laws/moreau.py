"""Moreau's law: Newton's restitution and Coulomb's friction at all contacts at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base.status import Status
from routh.laws.base import ImpactLaw, ImpactResult, at_once
from routh.laws.cone_program import Cones, associated_impulse
from routh.problem.impact import ImpactProblem
from routh.step import make_step
from routh.step.base import residual_tolerance


@dataclass(frozen=True)
class Moreau(ImpactLaw):
    """``0 <= impulse _|_ y+ + e y- >= 0`` at every contact at once, with Coulomb's friction after the impact.

    What Siconos, Nimble and time-stepping codes call Newton's impact law (Moreau 1988, *Unilateral contact
    and dry friction in finite freedom dynamics*). ``y`` is the normal velocity; where a contact
    separates before, e counts as zero there, so that none is ever left approaching.

    Guaranteed: impulses in the cones; no contact approaches after. Without friction and with one e for all
    contacts: energy never grows, and the velocity is unique. With friction or different e it can gain energy
    (Kane and Levinson 1985): then the status is ENERGY_GAINED. With friction there can be several solutions,
    and which one is found may depend on the order of the contacts. With e = 0 it is `Simultaneous`.

    Parameters
    ----------
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    associated : solve one convex cone program instead (Anitescu 2006), as Chrono and MuJoCo do. Then the
        velocity is unique and does not depend on the order of the contacts, but contacts that slide leave
        the ground with mu times their slip.
    """

    friction: str = "cone"
    facets: int | None = None
    associated: bool = False

    honours_restitution = True

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after. ``rng`` is not used."""
        rebound = problem.restitution * np.maximum(-(problem.Jn @ problem.v), 0.0)
        if self.associated:
            cones = Cones.of(problem, self.friction, self.facets)
            impulse, residual = associated_impulse(problem, rebound, cones)
            status = Status.SOLVED if residual < residual_tolerance(problem.mu) else Status.NUMERICAL
            status = status if np.isfinite(residual) else Status.RAY  # no velocity is in the dual cones
            return at_once(problem, impulse, status, residual)
        step = make_step(problem, friction=self.friction, facets=self.facets)
        found = step.solve(problem.v, None, rebound=rebound)
        return at_once(problem, found.impulse, found.status, found.residual)


def convex_moreau(*, friction: str = "cone", facets: int | None = None) -> Moreau:
    """Make Moreau's law by one convex cone program, see `Moreau`."""
    return Moreau(friction, facets, associated=True)
