"""A simultaneous law with energetic restitution that never adds energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array, integer
from routh.laws.base import ImpactLaw, ImpactResult, has_ended, in_phases
from routh.laws.cone_program import Cones, friction_impulse
from routh.problem.impact import ImpactProblem
from routh.step import make_step
from routh.step.base import along_normals, scaled_delassus

_HARDEST = 1e6  # times the impulse of compression: an expansion beyond it jams


@dataclass(frozen=True)
class Energetic(ImpactLaw):
    """Compression as in `Simultaneous`; expansion returns e^2 of the work that the normals took up.

    Stronge's hypothesis (1990, *Rigid body collisions with friction*) for all contacts together, in two
    algebraic phases. In compression normal impulses ``p`` take up the work ``p (-y- - y_C) / 2`` each. In
    expansion they are ``s e p`` with one s for all, friction is Coulomb's with the slip at the end (the least
    energy that it can leave, one convex program), and s is where the normals have returned e^2 of each
    contact's work, or where the kinetic energy has regained as much, whichever comes first. Where a contact
    approaches afterwards, both phases are done again. The algebraic form is this library's.

    Guaranteed: energy never grows, for any e and friction; impulses in the cones; no contact approaches after
    (or the status is MAX_STEPS, or JAMMED where friction holds, however hard the normals push). With e = 0 it
    is `Simultaneous`; without friction and with one e for all it is `Moreau` where one round suffices. Not
    guaranteed: uniqueness, and that the order of the contacts does not matter, where compression has several
    solutions or contacts are redundant.

    Parameters
    ----------
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    max_rounds : how often both phases are done before the law gives up, with status MAX_STEPS.
    """

    friction: str = "cone"
    facets: int | None = None
    max_rounds: int = 1000

    honours_restitution = True

    def __post_init__(self) -> None:
        integer("max_rounds", self.max_rounds, at_least=1)

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after the last expansion. ``rng`` is not used."""
        step = make_step(problem, friction=self.friction, facets=self.facets)
        expansion = _Expansion(problem, Cones.of(problem, self.friction, self.facets))
        v, impulses, residual = problem.v, [], 0.0
        for _ in range(self.max_rounds):
            compression = step.solve(v, None)
            residual = max(residual, compression.residual)
            impulses.append(compression.impulse)
            if compression.status is not Status.SOLVED:
                return in_phases(problem, impulses, compression.status, residual)
            returned, gap = expansion.after(v, compression.v, compression.impulse)
            impulses.append(returned)
            v, residual = problem.apply(returned, compression.v), max(residual, gap)
            if not residual < tolerances.RESIDUAL_HUGE_FRICTION:
                failed = Status.JAMMED if residual == np.inf else Status.NUMERICAL
                return in_phases(problem, impulses, failed, residual)
            if has_ended(problem, v):
                return in_phases(problem, impulses, Status.SOLVED, residual)
        return in_phases(problem, impulses, Status.MAX_STEPS, residual)


class _Expansion:
    """The second phase for one problem."""

    def __init__(self, problem: ImpactProblem, cones: Cones) -> None:
        self.problem, self.cones, self.G = problem, cones, scaled_delassus(problem)

    def after(self, v: Array, stopped: Array, compression: Array) -> tuple[Array, float]:
        """Impulses (nc, 1 + nt), N s, and the residual of their friction, after a compression from v."""
        problem = self.problem
        unit = problem.scaling.impulse
        pushed = np.maximum(compression[:, 0], 0.0)
        work = np.maximum(-0.5 * pushed * (problem.Jn @ (v + stopped)), 0.0)
        lost = float(problem.kinetic_energy(v) - problem.kinetic_energy(stopped))
        total = float(work.sum())
        energy = float(problem.restitution**2 @ work) * min(1.0, lost / total if total > 0.0 else 0.0)
        shares = problem.restitution * pushed / unit
        least = tolerances.BUDGET * 0.5 * problem.scaling.speed**2
        if not (energy > least and np.any(shares > 0.0)):
            return np.zeros_like(compression), 0.0
        contact = problem.contact_velocity(stopped) / problem.scaling.velocity[:, None]
        begun, _ = friction_impulse(self.G, contact, shares, self.cones)

        def impulse(s: float) -> tuple[Array, float]:
            friction, gap = friction_impulse(self.G, contact, s * shares, self.cones, s * begun)
            grown = along_normals(problem, s * shares)
            grown[:, 1:] = friction
            return grown * unit[:, None], gap

        def excess(s: float) -> float:
            """Energy beyond what is to be returned, as a share of it: that of the normals or all of it."""
            given, _ = impulse(s)
            end = problem.apply(given, stopped)
            by_normals = 0.5 * float(given[:, 0] @ (problem.Jn @ (stopped + end)))
            gained = float(problem.kinetic_energy(end) - problem.kinetic_energy(stopped))
            return max(by_normals, gained) / energy - 1.0

        low, high = 0.0, 1.0
        while excess(high) < 0.0:
            low, high = high, 2.0 * high
            if high > _HARDEST:  # friction holds, however hard the normals push
                return np.zeros_like(compression), float("inf")
        from scipy.optimize import brentq  # where there is no restitution it is not needed

        return impulse(float(brentq(excess, low, high, xtol=1e-15 * high, rtol=1e-14)))
