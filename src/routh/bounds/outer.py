"""The front door of bounds: `routh.outer_bound`."""

from __future__ import annotations

from routh.base.status import InputError
from routh.base.validation import integer
from routh.bounds.barrier import BarrierBound
from routh.bounds.energy import EnergyBound, OuterBound
from routh.problem.impact import ImpactProblem, no_impact


def outer_bound(problem: ImpactProblem, *, level: int = 0) -> OuterBound:
    """A certified outer bound for any inelastic impact, in the plane or in space with the true cone.

    Cheap (one small cone program per contact and direction) and valid for every problem, but looser than
    the exact set: compare ``bound.support(d)`` with the support of samples or of `exact_set` before
    relying on it.

    Parameters
    ----------
    problem : the impact.
    level : 0, linear functions of the velocity (any problem); and for planar contacts 1, quadratic; 2,
        continuous and quadratic on each orthant of the normal velocities (`routh.bounds.barrier`). The bound
        can only shrink from level to level; the cost grows with ``2^nc`` at level 2.
    """
    if not isinstance(problem, ImpactProblem):
        raise no_impact(problem)
    integer("level", level, at_least=0, at_most=2)
    if problem.restitution.any():
        raise InputError(
            "restitution",
            got=f"{problem.restitution.max():g}; the bound is for inelastic impacts and wants 0",
        )
    if level == 0:
        return EnergyBound(problem)
    if problem.nt != 1:
        raise InputError("level", got=f"{level} in space", wanted="0, or planar contacts")
    return BarrierBound(problem, level == 2)
