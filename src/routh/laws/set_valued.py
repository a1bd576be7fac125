"""The set-valued law: one draw of HP23's Algorithm 1, with its path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh import tolerances
from routh.laws.base import ImpactLaw, ImpactResult
from routh.laws.elastic import accumulate_elastic
from routh.paths import ImpactPath, PathKind
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step import ImpactStep, make_step
from routh.step.elastic import STEP_HYPOTHESES
from routh.validation import Array, choice, integer, per_contact

DEFAULT_MAX_STEPS = 1000
MOST_STEPS = 2**31 - 1  # they are counted in 32 bits
LARGEST_STEP = 1e9  # times the momentum scale: beyond it the step's matrices lose all digits


@dataclass(frozen=True, eq=False)
class SetValued(ImpactLaw):
    """Impulses build up at random relative rates: each call is one outcome of the set.

    Parameters
    ----------
    step : number or (nc,), N s: the largest normal impulse of one increment ("h" in HP23). Default: each
        contact's own momentum scale, see `default_step`.
    max_steps : increments before the law gives up, with status MAX_STEPS.
    friction, facets : "cone", or "polyhedral" with this many facets in space (default 8).
    hypothesis : what restitution means, where the problem has some: "energetic" or "poisson"; see
        `routh.step.elastic`.
    """

    step: ArrayLike | None = None
    max_steps: int = DEFAULT_MAX_STEPS
    friction: str = "cone"
    facets: int | None = None
    hypothesis: str = "energetic"

    honours_restitution = True

    def __post_init__(self) -> None:
        integer("max_steps", self.max_steps, at_least=1, at_most=MOST_STEPS)
        choice("hypothesis", self.hypothesis, STEP_HYPOTHESES)

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """One draw. Without ``rng`` the draw is that of seed 0."""
        from routh.kernels.lemke import pivots  # loads numba, which other laws do without

        generator = np.random.default_rng(0) if rng is None else rng
        size = impulse_step(problem, self.step)
        solver = make_step(problem, friction=self.friction, facets=self.facets, pivoting=pivots)

        def draw(_: int) -> Array:
            return size * generator.random(problem.nc)

        if np.any(problem.restitution > 0.0):
            return accumulate_elastic(problem, solver, draw, self.max_steps, self.hypothesis)
        return accumulate(problem, solver, draw, self.max_steps)


def default_step(problem: ImpactProblem) -> Array:
    """Each contact's momentum scale ``|v|_M sqrt(m_i)`` with its effective normal mass m_i, (nc,) N s.

    It is the normal impulse that would stop the contact if all kinetic energy were in its approach. The
    steps of HP23's tables are 0.3 to 3 times this.
    """
    return problem.scaling.impulse.copy()


def impulse_step(problem: ImpactProblem, step: ArrayLike | None) -> Array:
    """The step as a checked (nc,) array."""
    if step is None:
        return default_step(problem)
    size = per_contact("step", step, problem.nc)
    if not np.all(size > 0.0):
        raise ValueError(f"step: got {size.min()}; wanted positive impulses (N s)")
    largest = LARGEST_STEP * default_step(problem)
    if not np.all((size <= largest) | (largest == 0.0)):
        raise ValueError(
            f"step: got {size.max():g} N s; wanted at most {largest.min():g}, {LARGEST_STEP:g} times the "
            "momentum that there is"
        )
    return size


def has_ended(problem: ImpactProblem, v: Array) -> bool:
    """Whether no contact approaches any more, relative to the speed before (HP23's stopping rule)."""
    return bool(np.all(problem.Jn @ v >= -tolerances.APPROACH * problem.scaling.velocity))


def accumulate(
    problem: ImpactProblem, solver: ImpactStep, draw: Callable[[int], Array], max_steps: int
) -> ImpactResult:
    """Algorithm 1 of HP23: increments with ``lambda_max = draw(k)`` until no contact approaches."""
    velocities, impulses = [problem.v], []
    residual, status = 0.0, Status.MAX_STEPS
    for k in range(max_steps + 1):
        if has_ended(problem, velocities[-1]):
            status = Status.SOLVED if k else Status.NO_IMPACT
            break
        if k == max_steps:
            break
        result = solver.solve(velocities[-1], draw(k))
        residual = float(np.maximum(residual, result.residual))  # NaN stays
        impulses.append(result.impulse)
        velocities.append(result.v)
        if result.status is not Status.SOLVED:
            status = result.status
            break
    steps = np.array(impulses).reshape(-1, problem.nc, 1 + problem.nt)
    path = ImpactPath(np.array(velocities), steps, PathKind.IMPLICIT)
    return ImpactResult(problem, path.v[-1].copy(), path.impulse.sum(axis=0), status, path, residual)
