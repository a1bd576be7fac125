"""Sampling the set of outcomes of an impact with restitution."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np

from routh.laws.elastic import accumulate_elastic
from routh.sampling.draws import Algorithm1Draw
from routh.sampling.outcomes import Outcomes
from routh.status import Status
from routh.step import make_step
from routh.validation import Array, deadline_of, seconds_left

# Below this many samples compiling or loading the kernel costs more than it saves.
FEW = 4
# Samples that rounding spoiled and that are drawn again in plain Python, with so many increments at most;
# others keep their status.
REDRAWN = 16
REDRAWN_STEPS = 64

Samples = tuple[Array, Array, np.ndarray, np.ndarray, Array, Array, Array]


def elastic_outcomes(
    draw: Algorithm1Draw, hypothesis: str, threads: int | None, device: str, budget: float | None = None
) -> Outcomes:
    """The outcomes of one call of `routh.sample`: by the kernel where it can, else by the reference."""
    true_cone = draw.friction == "cone" and draw.problem.nt == 2
    if true_cone and device != "cpu":
        raise ValueError(
            f"device: got {device!r}; restitution with the true cone is sampled on 'cpu' only, "
            "with friction='polyhedral' on 'cuda' too"
        )
    if true_cone or (draw.n <= FEW and device == "cpu"):
        samples = reference_elastic_samples(draw, hypothesis, np.arange(draw.n), budget)
    else:
        samples = _kernel_samples(draw, hypothesis, threads, device, budget)
    outcomes = draw.outcomes(*samples[:5])
    settings = {**outcomes.settings, "hypothesis": hypothesis}
    return replace(outcomes, settings=settings, stored=samples[5], returned=samples[6])


def reference_elastic_samples(
    draw: Algorithm1Draw,
    hypothesis: str,
    which: np.ndarray,
    budget: float | None = None,
    max_steps: int | None = None,
) -> Samples:
    """The samples numbered ``which``, one by one in plain Python: what the kernel is compared with.

    Returns velocities, impulses, steps, statuses, residuals and the work stored and returned. Samples that
    are not begun within ``budget`` seconds have Status.OUT_OF_TIME; ``max_steps`` stands for the draw's.
    """
    most = draw.max_steps if max_steps is None else max_steps
    deadline = deadline_of(budget)
    problem = draw.problem
    solver = make_step(problem, friction=draw.friction, facets=draw.facets)
    n, nc = len(which), problem.nc
    v, impulse = np.tile(problem.v, (n, 1)), np.zeros((n, nc, 1 + problem.nt))
    steps, residual = np.zeros(n, np.int32), np.zeros(n)
    status = np.full(n, Status.OUT_OF_TIME, np.int8)
    stored, returned = np.zeros((n, nc)), np.zeros((n, nc))
    for row, index in enumerate(which):
        if time.monotonic() >= deadline:
            break
        bounds = partial(draw.lambda_max, int(index))
        result = accumulate_elastic(problem, solver, bounds, most, hypothesis)
        v[row], impulse[row], steps[row] = result.v, result.impulse, len(result.path.impulse)
        status[row], residual[row] = result.status, result.residual
        stored[row], returned[row] = result.stored, result.returned
    return v, impulse, steps, status, residual, stored, returned


def _kernel_samples(
    draw: Algorithm1Draw, hypothesis: str, threads: int | None, device: str, budget: float | None
) -> Samples:
    """All samples by the compiled kernel; those that rounding spoiled are done again by the reference."""
    from routh.kernels.elastic_host import run

    deadline = deadline_of(budget)
    found = run(
        draw.problem,
        draw.n,
        hypothesis=hypothesis,
        step=draw.step,
        max_steps=draw.max_steps,
        seed=draw.seed,
        facets=draw.facets,
        points=draw.table,
        row=draw.row,
        budget=budget,
        threads=threads,
        device=device,
    )
    spoiled = np.flatnonzero(found.status == Status.NUMERICAL)[:REDRAWN]
    if spoiled.size:
        most = min(draw.max_steps, REDRAWN_STEPS)
        again = reference_elastic_samples(draw, hypothesis, spoiled, seconds_left(deadline), most)
        ended = again[3] == Status.SOLVED
        for array, values in zip(found, again, strict=True):
            array[spoiled[ended]] = values[ended]
    return found
