"""One implicit increment of an impact, HP23 (72): what the polyhedral and the true cone have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from routh.base import tolerances
from routh.base.results import Result
from routh.base.status import Status
from routh.base.validation import Array
from routh.problem.impact import ImpactProblem


@dataclass(frozen=True, eq=False)
class StepResult(Result):
    """One increment: the velocity after it, its impulse, and the proof that it solves the step."""

    v: Array  # (nv,)
    impulse: Array  # (nc, 1 + nt) N s, normal first
    status: Status
    residual: float  # dimensionless, recomputed outside the solver
    method: str


class ImpactStep(Protocol):
    """Solves HP23 (72) for one problem again and again."""

    problem: ImpactProblem

    def solve(self, v: Array, lambda_max: Array | None) -> StepResult:
        """The increment from velocity ``v`` (nv,) with normal impulses up to ``lambda_max`` (nc,) N s.

        None lifts the bound: then no contact approaches afterwards, which is HP23 (31).
        """
        ...


def residual_tolerance(mu: Array) -> float:
    """The scaled residual below which a step with these friction coefficients counts as solved."""
    huge = bool(mu.max(initial=0.0) > tolerances.HUGE_FRICTION)
    return tolerances.RESIDUAL_HUGE_FRICTION if huge else tolerances.RESIDUAL


def scaled_delassus(problem: ImpactProblem) -> Array:
    """The Delassus matrix in the problem's own units, (nc (1 + nt), nc (1 + nt)), unit normal diagonal."""
    root = np.repeat(np.sqrt(problem.scaling.mass), 1 + problem.nt)
    return problem.delassus * root[:, None] * root


def along_normals(problem: ImpactProblem, normal: Array) -> Array:
    """Contact impulses (nc, 1 + nt) of normal ones (nc,), N s, without friction."""
    impulse = np.zeros((problem.nc, 1 + problem.nt))
    impulse[:, 0] = normal
    return impulse
