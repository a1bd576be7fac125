"""One implicit increment of an impact (HP23 (72)): polyhedral friction, or the true cone."""

from routh.problem import ImpactProblem
from routh.step.base import ImpactStep, PushingStep, StepResult
from routh.step.cone import ConeStep
from routh.step.polyhedral import PolyhedralStep
from routh.step.unique import Uniqueness, uniqueness
from routh.validation import choice

__all__ = [
    "ConeStep",
    "ImpactStep",
    "PolyhedralStep",
    "PushingStep",
    "StepResult",
    "Uniqueness",
    "make_step",
    "uniqueness",
]


def make_step(
    problem: ImpactProblem, *, friction: str = "polyhedral", facets: int | None = None
) -> ConeStep | PolyhedralStep:
    """The step solver for ``friction`` "polyhedral" or "cone"; in the plane the two are the same."""
    choice("friction", friction, ("polyhedral", "cone"))
    if friction == "cone" and facets is not None:
        raise ValueError(f"facets: got {facets!r}; the true cone has none, leave it out")
    if friction == "cone" and problem.nt == 2:
        return ConeStep(problem)
    return PolyhedralStep(problem, facets=facets)
