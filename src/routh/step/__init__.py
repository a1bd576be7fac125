"""One implicit increment of an impact (HP23 (72)): the true friction cone, or a polyhedral one."""

from routh.friction.cones import uses_true_cone
from routh.lcp.lemke import lemke_pivots
from routh.lcp.solve import Pivoting
from routh.problem import ImpactProblem
from routh.step.base import ImpactStep, StepResult
from routh.step.cone import ConeStep
from routh.step.polyhedral import PolyhedralStep
from routh.step.unique import Uniqueness, lipschitz_constant, uniqueness

__all__ = [
    "ConeStep",
    "ImpactStep",
    "PolyhedralStep",
    "StepResult",
    "Uniqueness",
    "lipschitz_constant",
    "make_step",
    "uniqueness",
]


def make_step(
    problem: ImpactProblem,
    *,
    friction: str = "cone",
    facets: int | None = None,
    pivoting: Pivoting = lemke_pivots,
) -> ConeStep | PolyhedralStep:
    """The step solver for ``friction`` "cone" or "polyhedral"; in the plane the two are the same.

    ``pivoting``: what takes the place of `routh.lcp.lemke.lemke_pivots` where that is used.
    """
    if uses_true_cone(friction, facets, problem.nt):
        return ConeStep(problem, pivoting)
    return PolyhedralStep(problem, facets=facets, pivoting=pivoting)
