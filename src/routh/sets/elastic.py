"""Sampling the set of outcomes of an impact with restitution."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from routh.laws.elastic import accumulate_elastic
from routh.problem import ImpactProblem
from routh.rng import uniforms
from routh.sets.outcomes import Outcomes
from routh.status import Status
from routh.step import make_step
from routh.validation import Array

if TYPE_CHECKING:
    from routh.sets.sampling import _Draw

# Below this many samples compiling or loading the kernel costs more than it saves.
FEW = 4

Samples = tuple[Array, Array, np.ndarray, np.ndarray, Array, Array, Array]


def elastic_outcomes(
    problem: ImpactProblem, draw: _Draw, hypothesis: str, threads: int | None = None, device: str = "cpu"
) -> Outcomes:
    """The outcomes of one call of `routh.sample`: by the kernel where it can, else by the reference."""
    true_cone = draw.friction == "cone" and problem.nt == 2
    if true_cone and device != "cpu":
        raise ValueError(f"device: got {device!r}; restitution with the true cone is sampled on 'cpu'")
    if true_cone or (draw.n <= FEW and device == "cpu"):
        samples = reference_elastic_samples(problem, draw, hypothesis, np.arange(draw.n))
    else:
        samples = _kernel_samples(problem, draw, hypothesis, threads, device)
    outcomes = draw.outcomes(*samples[:5])
    settings = {**outcomes.settings, "hypothesis": hypothesis}
    return replace(outcomes, settings=settings, stored=samples[5], returned=samples[6])


def reference_elastic_samples(
    problem: ImpactProblem, draw: _Draw, hypothesis: str, which: np.ndarray
) -> Samples:
    """The samples numbered ``which``, one by one in plain Python: what the kernel is compared with.

    Returns velocities, impulses, steps, statuses, residuals and the work stored and returned.
    """
    solver = make_step(problem, friction=draw.friction, facets=draw.facets)
    n, nc = len(which), problem.nc
    v, impulse = np.empty((n, problem.nv)), np.empty((n, nc, 1 + problem.nt))
    steps, status, residual = np.empty(n, np.int32), np.empty(n, np.int8), np.empty(n)
    stored, returned = np.empty((n, nc)), np.empty((n, nc))
    for row, index in enumerate(which):

        def rates(k: int, index: int = int(index)) -> Array:
            if draw.table is not None and k < draw.table.shape[1]:
                return draw.step * draw.table[index, k]
            return draw.step * uniforms(draw.seed, np.array([index]), k, nc)[0]

        result = accumulate_elastic(problem, solver, rates, draw.max_steps, hypothesis)
        v[row], impulse[row], steps[row] = result.v, result.impulse, len(result.path.impulse)
        status[row], residual[row] = result.status, result.residual
        stored[row], returned[row] = result.stored, result.returned
    return v, impulse, steps, status, residual, stored, returned


def _kernel_samples(
    problem: ImpactProblem, draw: _Draw, hypothesis: str, threads: int | None, device: str
) -> Samples:
    """All samples by the compiled kernel; those that rounding spoiled are done again by the reference."""
    from routh.kernels.elastic_cpu import run

    found = run(
        problem,
        draw.n,
        hypothesis=hypothesis,
        step=draw.step,
        max_steps=draw.max_steps,
        seed=draw.seed,
        facets=draw.facets,
        table=draw.table,
        threads=threads,
        device=device,
    )
    spoiled = np.flatnonzero(found[3] == Status.NUMERICAL)
    if spoiled.size:
        again = reference_elastic_samples(problem, draw, hypothesis, spoiled)
        for array, values in zip(found, again, strict=True):
            array[spoiled] = values
    return found
