"""Impacts with restitution at arbitrary relative rates: one history of rates, followed to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from routh.laws.base import ImpactResult
from routh.paths import ImpactPath, PathKind
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step import PushingStep
from routh.step.elastic import ElasticStep
from routh.validation import Array

# What is left of an interval of constant rates below this share is rounding.
USED_UP = 1e-12


@dataclass(frozen=True, eq=False)
class ElasticResult(ImpactResult):
    """One outcome of an impact with restitution, with the work at each contact."""

    stored: Array | None = None  # (nc,) J, taken up while approaching
    returned: Array | None = None  # (nc,) J, given back while separating


def accumulate_elastic(
    problem: ImpactProblem,
    solver: PushingStep,
    draw: Callable[[int], Array],
    max_steps: int,
    hypothesis: str,
) -> ElasticResult:
    """HP23's Algorithm 1 with restitution: the rates ``draw(k)`` (nc,) N s, each until it is used up.

    An increment that ends early, at an event, is followed by one with what is left of the same rates: the
    history of rates does not depend on the restitution. ``max_steps`` bounds the increments.
    """
    step = ElasticStep(problem, solver, hypothesis)
    velocities, impulses = [problem.v], []
    budget = stored = returned = np.zeros(problem.nc)
    residual, status, left, drawn = 0.0, Status.MAX_STEPS, 0.0, 0
    rates = budget
    for k in range(max_steps + 1):
        if step.has_ended(velocities[-1], budget):
            status = Status.SOLVED if k else Status.NO_IMPACT
            break
        if k == max_steps:
            break
        if left == 0.0:
            rates, left, drawn = draw(drawn), 1.0, drawn + 1
        found = step.solve(velocities[-1], budget, rates if left == 1.0 else left * rates)
        residual = float(np.maximum(residual, found.step.residual))  # NaN stays
        impulses.append(found.step.impulse)
        velocities.append(found.step.v)
        if found.step.status is not Status.SOLVED:
            status = found.step.status
            break
        stored, returned = stored + found.ledger.stored, returned + found.ledger.returned
        budget = found.budget
        left *= 1.0 - found.share
        left = left if left > USED_UP else 0.0
    steps = np.array(impulses).reshape(-1, problem.nc, 1 + problem.nt)
    path = ImpactPath(np.array(velocities), steps, PathKind.IMPLICIT)
    total = path.impulse.sum(axis=0)
    return ElasticResult(problem, path.v[-1].copy(), total, status, path, residual, stored, returned)
