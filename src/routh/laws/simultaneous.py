"""The simultaneous law: one complementarity problem for all contacts (HP23 (31), Anitescu and Potra)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base.results import ImpactPath, PathKind
from routh.base.status import InputError
from routh.kernels.algorithm1.lemke import pivots
from routh.laws.base import ImpactLaw, ImpactResult
from routh.problem.friction import uses_true_cone
from routh.problem.impact import ImpactProblem
from routh.step import PolyhedralStep, StepResult, make_step


@dataclass(frozen=True)
class Simultaneous(ImpactLaw):
    """Complementarity between impulse and velocity after, at every contact at once.

    There can be several solutions. The call returns the canonical one (Lemke's, all-ones covering vector);
    `all` returns every one.

    Parameters
    ----------
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    """

    friction: str = "cone"
    facets: int | None = None

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """One solution of the problem."""
        step = make_step(problem, friction=self.friction, facets=self.facets, pivoting=pivots)
        return _result(problem, step.solve(problem.v, None))

    def all(self, problem: ImpactProblem) -> list[ImpactResult]:
        """Every solution, the one with the least kinetic energy first; in space polyhedral friction only."""
        self.check(problem)
        if uses_true_cone(self.friction, self.facets, problem.nt):
            raise InputError(
                "friction", got=f"{self.friction!r}; in space only those of 'polyhedral' are enumerated"
            )
        found = PolyhedralStep(problem, facets=self.facets).solutions(problem.v, None)
        return sorted((_result(problem, step) for step in found), key=lambda result: result.kinetic_energy)


def _result(problem: ImpactProblem, step: StepResult) -> ImpactResult:
    v = problem.apply(step.impulse)
    path = ImpactPath(np.stack([problem.v, v]), step.impulse[None], PathKind.IMPLICIT)
    return ImpactResult(problem, v, step.impulse, step.status, path, step.residual)
