"""Impacts without collision: the limit of an approach speed that goes to zero (Painlevé; HP23 2.2.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routh import tolerances
from routh.problem import ImpactProblem

# Approach speed given to the named contacts, as a share of the speed before: above the share at which laws
# take an impact for ended, or they would end it before it began. Impulses of an impact without collision do
# not go to zero with it, those of an ordinary contact at rest do.
NUDGE = 3.0 * tolerances.APPROACH


def with_approach(problem: ImpactProblem, contacts: Sequence[int | str]) -> ImpactProblem | None:
    """The problem to solve: with a vanishing approach at ``contacts``; None where nothing approaches.

    The velocity is moved as little as possible in the kinetic-energy norm.
    """
    rows = sorted({problem.index(contact) for contact in contacts})
    if not rows:
        return problem if np.any(problem.approaching) else None
    normals = problem.Jn[rows]
    wanted = -NUDGE * problem.scaling.velocity[rows]
    lacking = np.minimum(wanted - normals @ problem.v, 0.0)
    response = problem.solve_mass(normals.T)  # (nv, k)
    change = response @ np.linalg.lstsq(normals @ response, lacking, rcond=None)[0]
    return problem.replace(v=problem.v + change)
