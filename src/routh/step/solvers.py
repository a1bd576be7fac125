"""The solver of a step for the friction that is wanted."""

from routh.lcp.lemke import lemke_pivots
from routh.lcp.solving import Pivoting
from routh.problem.friction import uses_true_cone
from routh.problem.impact import ImpactProblem
from routh.step.cone import ConeStep
from routh.step.polyhedral import PolyhedralStep


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
