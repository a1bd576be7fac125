"""Samples that reach more of a set than equal steps and one solution per step do.

HP23's inclusion (39) lets contacts push at any relative rates, and its Algorithm 1 takes any solution of a
step. Uniform draws with one step size rarely let one contact finish before another begins, and Lemke's method
returns the same one of several solutions. So beside plain samples there are samples with unequal steps, and a
few whose steps take a random one of all solutions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from routh.base.validation import Array, Options
from routh.laws.set_valued import DEFAULT_MAX_STEPS, accumulate
from routh.problem.impact import ImpactProblem
from routh.reproduce.base import Settings
from routh.sampling import Outcomes, sample_by_steps
from routh.step import PolyhedralStep, StepResult

SCALES = (1.0, 0.1, 0.01)  # of the step of the contacts that lag behind
ANY_SOLUTION_CONTACTS = 2  # all solutions of a step are enumerated up to here


def draw(problem: ImpactProblem, n: int, settings: Settings, step: ArrayLike | None = None) -> Outcomes:
    """Samples of HP23's Algorithm 1, with the seed and on the device that the settings name."""
    return sample_by_steps(problem, n, step=step, seed=settings.seed, device=settings.device)


class AnySolution:
    """A step that takes a random one of all its solutions."""

    def __init__(self, problem: ImpactProblem, rng: np.random.Generator) -> None:
        self.problem, self.step, self.rng = problem, PolyhedralStep(problem), rng

    def solve(self, v: Array, lambda_max: Array | None) -> StepResult:
        """One of the solutions, each as likely as the others."""
        found = self.step.solutions(v, lambda_max)
        return found[self.rng.integers(len(found))] if found else self.step.solve(v, lambda_max)


def any_solution(problem: ImpactProblem, n: int, *, step: Array, seed: int = 0) -> Outcomes:
    """HP23's Algorithm 1 with a random one of all solutions in each step; slow, for small problems."""
    rng = np.random.default_rng(seed)
    solver = AnySolution(problem, rng)
    results = [
        accumulate(problem, solver, lambda _: step * rng.random(problem.nc), DEFAULT_MAX_STEPS)
        for _ in range(n)
    ]
    return Outcomes(
        problem,
        np.array([result.v for result in results]),
        np.array([result.impulse for result in results]),
        np.array([len(result.path.impulse) for result in results], np.int32),
        np.array([result.status for result in results], np.int8),
        np.array([result.residual for result in results]),
        settings={"step": step.tolist(), "seed": seed},
    )


def unequal_steps(problem: ImpactProblem, n: int, step: float, settings: Settings) -> Outcomes:
    """``n`` outcomes for each choice of one contact that leads, with the steps of the others scaled down."""
    found = []
    for scale in SCALES if problem.nc <= ANY_SOLUTION_CONTACTS else SCALES[:2]:  # small steps cost many LCPs
        for leader in range(problem.nc if scale < 1.0 else 1):
            steps = np.full(problem.nc, step * scale)
            steps[leader] = step
            found.append(draw(problem, n, settings, steps))
    return joined(found)


def joined(parts: list[Outcomes]) -> Outcomes:
    """Several samples of one impact as one."""
    first = parts[0]
    arrays: Options = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("v", "impulse", "steps", "status", "residual")
    }
    return Outcomes(first.problem, **arrays, jam_known=first.jammed, settings=first.settings)


def ended(outcomes: Outcomes) -> Array:
    """The velocities of the samples that are solved, (k, nv)."""
    return outcomes.v[outcomes.solved]


def distances(problem: ImpactProblem, known: Array, velocities: Array) -> Array:
    """Distances of velocities (k, nv) to the nearest known outcome, in the energy norm over the speed."""
    root = problem.cholesky
    found, _ = KDTree(known @ root).query(velocities @ root)
    return np.asarray(found / problem.speed)
