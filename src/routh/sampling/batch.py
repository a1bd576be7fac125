"""Samples of many different impacts at once: one compiled call instead of one table per problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from routh.friction import facet_directions
from routh.laws.base import require_inelastic
from routh.laws.set_valued import DEFAULT_MAX_STEPS, MOST_STEPS, impulse_step
from routh.pointedness import pointedness
from routh.problem import ImpactProblem
from routh.sampling.draws import labelled_outcomes
from routh.sampling.outcomes import Outcomes
from routh.validation import integer


def sample_batch(
    problems: Sequence[ImpactProblem],
    n: int,
    *,
    step: ArrayLike | None = None,
    max_steps: int = DEFAULT_MAX_STEPS,
    seed: int = 0,
    facets: int | None = None,
    threads: int | None = None,
) -> list[Outcomes]:
    """Draw ``n`` outcomes of each of many impacts by HP23's Algorithm 1, polyhedral friction.

    The problems may differ in everything, shapes too. Every step is pivoted: no table of a problem's
    vertices is grown, which pays where a problem has fewer than some thousand samples. Sample i of a problem
    draws the numbers of sample i of `routh.sample` with the same seed, and follows the same path.

    Parameters
    ----------
    step : number or (nc,), N s, for every problem; default: each problem's own momentum scale.
    max_steps : increments before a sample gives up with a status.
    facets : friction directions in space, default 8.
    threads : default all.
    """
    count = integer("n", n, at_least=1)
    steps = integer("max_steps", max_steps, at_least=1, at_most=MOST_STEPS)
    key = integer("seed", seed, at_least=0, at_most=2**64 - 1)
    if threads is not None:
        integer("threads", threads, at_least=1)
    for place, problem in enumerate(problems):
        if not isinstance(problem, ImpactProblem):
            raise ValueError(f"problems: got {type(problem).__name__} at index {place}; wanted ImpactProblem")
        require_inelastic(problem, "sample_batch")
    from routh.kernels.batch import run_many  # loads numba

    sizes = [impulse_step(problem, step) for problem in problems]
    directions = {nt: facet_directions(nt, facets if nt == 2 else None) for nt in (1, 2)}
    found = run_many(
        problems, count, sizes=sizes, max_steps=steps, seed=key, directions=directions, threads=threads
    )
    settings: dict[str, Any] = {
        "max_steps": steps,
        "seed": key,
        "points": "random",
        "friction": "polyhedral",
        "facets": facets,
    }
    outcomes = []
    for problem, arrays, size in zip(problems, found, sizes, strict=True):
        jammed = pointedness(
            problem, friction="polyhedral", facets=facets if problem.nt == 2 else None
        ).jammed
        outcomes.append(labelled_outcomes(problem, arrays, jammed, {**settings, "step": size.tolist()}))
    return outcomes
