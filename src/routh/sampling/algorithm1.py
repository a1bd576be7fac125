"""Sampling the set of outcomes: HP23's Algorithms 1 and 2."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from routh.friction import facet_directions
from routh.laws.base import require_inelastic
from routh.laws.set_valued import impulse_step
from routh.problem import ImpactProblem
from routh.sampling.draws import Algorithm1Draw, Arrays
from routh.sampling.outcomes import Outcomes
from routh.sampling.theory import psi
from routh.status import Status
from routh.step import make_step
from routh.validation import Array, choice, deadline_of, integer, real, seconds_left


def sample(
    problem: ImpactProblem,
    n: int,
    *,
    step: ArrayLike | None = None,
    max_steps: int | None = None,
    seed: int = 0,
    points: str = "random",
    friction: str = "cone",
    facets: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    row: int = 0,
    budget: float | None = None,
) -> Outcomes:
    """Draw ``n`` outcomes of an impact without restitution by HP23's Algorithm 1.

    Each increment draws ``lambda_max`` uniformly from the box ``[0, step]^nc`` and solves HP23 (72)
    implicitly; a sample ends when no contact approaches.

    Parameters
    ----------
    step : number or (nc,), N s. Default: each contact's momentum scale ``|v|_M sqrt(m_i)``. Larger steps
        reach more of the set but carry the error of the step; see the documentation on sampling.
    max_steps : increments before a sample gives up with a status; default 1000.
    seed, row : equal seeds give equal samples, whatever n, max_steps or the number of threads; ``row`` is
        the place of the problem in a batch.
    points : "random" (counter-based generator) or "sobol" (scrambled Sobol sequence).
    friction, facets : "cone", or "polyhedral" with this many facets in space (default 8).
    device, threads : "cpu" with this many threads (default: all), or "cuda" on an NVIDIA GPU.
    budget : seconds; samples that are not drawn by then have Status.OUT_OF_TIME, the others are the same.
    """
    refuse_restitution(problem.restitution)
    draw = Algorithm1Draw(problem, n, step, max_steps, seed, points, friction, facets, row)
    choice("device", device, ("cpu", "cuda"))
    if threads is not None:
        integer("threads", threads, at_least=1)
        if device != "cpu":
            raise ValueError(f"threads: got {threads} with device {device!r}; wanted them with 'cpu' only")
    return draw.outcomes(*_kernel_samples(draw, device, threads, budget))


def refuse_restitution(restitution: Array) -> None:
    """Raise where Algorithm 1 is given some, (..., nc): the paper has none."""
    if np.any(restitution > 0.0):
        raise ValueError(
            f"restitution: got {restitution.max():g} with method 'algorithm1', which is inelastic; wanted 0 "
            "at every contact, or method='events'"
        )


def approximate(
    problem: ImpactProblem,
    epsilon: float,
    *,
    n: int = 16384,
    step: ArrayLike | None = None,
    max_steps: int = 10,
    seed: int = 0,
    points: str = "random",
    facets: int | None = None,
    budget: float | None = None,
) -> Outcomes:
    """HP23's Algorithm 2: ``n`` runs of at most ``max_steps`` increments, each closed by one small one.

    The closing increment has ``lambda_max = epsilon / (3 psi)`` at every contact. The post-impact set is
    approximated by the terminated samples; the others are kept, with their status. Friction in space is
    polyhedral, with ``facets`` facets (default 8): psi, which the closing increment needs, is theirs.

    ``epsilon`` sets the closing increment and nothing else. That the samples lie within it of the whole set
    is promised only for as many as `approximation_sample_count` says, which are far too many to draw.
    ``budget`` are seconds: samples that are not drawn or not closed by then have Status.OUT_OF_TIME.
    """
    deadline = deadline_of(budget)
    require_inelastic(problem, "approximate")
    sizes = impulse_step(problem, step)
    bound = float(sizes.min())
    if not 0.0 < real("epsilon", epsilon) < bound:
        raise ValueError(
            f"epsilon: got {epsilon}; wanted a number between 0 and the step, {bound:g} (HP23 Algorithm 2)"
        )
    friction = "polyhedral"  # psi is a property of the facets
    first = sample(
        problem,
        n,
        step=sizes,
        max_steps=max_steps,
        seed=seed,
        points=points,
        friction=friction,
        facets=facets,
        budget=seconds_left(deadline),
    )
    closing = np.full(problem.nc, epsilon / (3.0 * psi(problem, facets)))
    solver = make_step(problem, friction=friction, facets=facets)
    v, impulse, steps = first.v.copy(), first.impulse.copy(), first.steps.copy()
    status, residual = first.status.copy(), first.residual.copy()
    for i in np.flatnonzero(~first.terminated & (status != Status.OUT_OF_TIME)):
        if time.monotonic() >= deadline:
            status[i] = Status.OUT_OF_TIME
            continue
        result = solver.solve(v[i], closing)
        v[i], steps[i] = result.v, steps[i] + 1
        impulse[i] += result.impulse
        residual[i] = max(residual[i], result.residual)
        if result.status is not Status.SOLVED:
            status[i] = result.status
    closed = Outcomes(
        problem, v, impulse, steps, status, residual, first.jammed, {**first.settings, "epsilon": epsilon}
    )
    status[closed.terminated & (status == Status.MAX_STEPS)] = Status.SOLVED
    return closed


def _kernel_samples(draw: Algorithm1Draw, device: str, threads: int | None, budget: float | None) -> Arrays:
    """Algorithm 1 in compiled code, which draws samples that it cannot solve again by the readable step."""
    from routh.kernels.algorithm1_host import run  # loads numba

    problem = draw.problem
    return run(
        problem,
        draw.n,
        step=draw.step,
        max_steps=draw.max_steps,
        seed=draw.seed,
        points=draw.table,
        friction=draw.friction,
        directions=facet_directions(problem.nt, draw.facets),
        device=device,
        threads=threads,
        row=draw.row,
        budget=budget,
    )
