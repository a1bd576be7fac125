"""Sampling the set of outcomes by steps: HP23's Algorithm 1, of one impact or of many, and Algorithm 2."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from routh.base import features
from routh.base.rng import uniforms
from routh.base.status import Status
from routh.base.validation import Array, Options, choice, deadline_of, integer, real, real_array, seconds_left
from routh.kernels.algorithm1.sampling import run, run_rows
from routh.kernels.algorithm1.work import Samples, StepDraw
from routh.kernels.common.arrays import Outputs
from routh.laws.base import require_inelastic
from routh.laws.set_valued import DEFAULT_MAX_STEPS, MOST_STEPS, accumulate, impulse_step
from routh.problem.batch import ImpactBatch
from routh.problem.friction import facet_directions, friction_polygon
from routh.problem.impact import ImpactProblem
from routh.problem.rows import Rows
from routh.sampling.batch import BatchOutcomes
from routh.sampling.batch_events import batch_outputs, draw_rows, finished
from routh.sampling.outcomes import Outcomes, with_jams
from routh.step import make_step

SOBOL_STEPS = 8  # of a sample that have dimensions of their own; later ones draw from the generator
REDRAWN = 16  # failed samples that are drawn again by the readable solver; others keep their status
REDRAWN_STEPS = 32  # steps of all of them together: the readable solver can need a second for one


def sample(
    problem: ImpactProblem,
    n: int,
    *,
    step: ArrayLike | None = None,
    max_steps: int = DEFAULT_MAX_STEPS,
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
    implicitly; a sample ends when no contact approaches. Samples on which the kernel fails are drawn again by
    the readable step solver, the first few of them; what is then unsolved keeps a status.

    Parameters
    ----------
    step : number or (nc,), N s. Default: each contact's momentum scale ``|v|_M sqrt(m_i)``. Larger steps
        reach more of the set but carry the error of the step; see the documentation on sampling.
    max_steps : increments before a sample gives up with a status; default 1000.
    seed : equal seeds give equal samples, whatever n, max_steps or the number of threads.
    row : the place of the problem in a batch.
    points : "random" (counter-based generator) or "sobol" (scrambled Sobol sequence).
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    device : "cpu", or "cuda" on an NVIDIA GPU.
    threads : of "cpu"; default: all.
    budget : seconds; samples that are not drawn by then have Status.OUT_OF_TIME, the others are the same.
    """
    refuse_restitution(problem.restitution)
    size = impulse_step(problem, step)
    integer("n", n, at_least=1)
    integer("max_steps", max_steps, at_least=1, at_most=MOST_STEPS)
    integer("seed", seed, at_least=0, at_most=2**64 - 1)
    integer("row", row, at_least=0, at_most=2**32 - 1)
    choice("points", points, ("random", "sobol"))
    directions = friction_polygon(friction, facets, problem.nt)
    deadline = deadline_of(budget)
    table = sobol_table(problem.nc, n, max_steps, seed) if points == "sobol" else None
    samples = run(
        problem,
        n,
        step=size,
        max_steps=max_steps,
        seed=seed,
        points=table,
        directions=directions,
        device=device,
        threads=threads,
        row=row,
        budget=budget,
    )

    def bounds(sample: int, k: int) -> Array:
        return size * uniform_numbers(problem.nc, table, seed, row, sample, k)

    draw_again(problem, samples, bounds, max_steps, friction, facets, deadline)
    settings: Options = {
        "step": size.tolist(),
        "max_steps": max_steps,
        "seed": seed,
        "points": points,
        "friction": friction,
        "facets": facets,
    }
    return with_jams(Outcomes(problem, *samples, settings=settings))


def uniform_numbers(nc: int, table: Array | None, seed: int, row: int, sample: int, k: int) -> Array:
    """The numbers (nc,) in (0, 1) of increment ``k`` of a sample: of the table as far as it reaches."""
    if table is not None and k < table.shape[1]:
        return np.asarray(table[sample, k])
    return uniforms(seed, np.array([sample]), k, nc, row=row)[0]


def sobol_table(nc: int, n: int, max_steps: int, seed: int) -> Array:
    """Scrambled Sobol points for the first steps of each sample, (n, steps, nc), in (0, 1)."""
    from scipy.stats import qmc  # a third of a second, and only these points need it

    steps = min(max_steps, SOBOL_STEPS)
    engine = qmc.Sobol(steps * nc, scramble=True, rng=np.random.default_rng(seed))
    exponent = max(int(n - 1).bit_length(), 0)
    table = engine.random_base2(exponent)[:n]
    return np.clip(table, 2.0**-54, 1.0 - 2.0**-53).reshape(n, steps, nc)


def draw_again(
    problem: ImpactProblem,
    samples: Samples,
    bounds: Callable[[int, int], Array],
    max_steps: int,
    friction: str,
    facets: int | None,
    deadline: float,
) -> None:
    """The first samples whose kernel failed, by the readable step solver, from their beginning."""
    failed = np.isin(samples.status, (Status.RAY, Status.MAX_PIVOTS, Status.NUMERICAL))
    if not failed.any():
        return
    solver, left = make_step(problem, friction=friction, facets=facets), REDRAWN_STEPS
    for i in map(int, np.flatnonzero(failed)[:REDRAWN]):
        if time.monotonic() >= deadline or left == 0:
            break
        most = min(max_steps, left)
        found = accumulate(problem, solver, partial(bounds, i), most)
        samples.v[i], samples.impulse[i], samples.residual[i] = found.v, found.impulse, found.residual
        samples.steps[i] = len(found.path.impulse)
        cut_short = found.status is Status.MAX_STEPS and most < max_steps
        samples.status[i] = Status.NUMERICAL if cut_short else found.status
        left -= int(samples.steps[i])


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

    Parameters
    ----------
    problem : the impact.
    epsilon : of the closing increment, less than the step, N s.
    n, step, seed, points : as in `sample`.
    max_steps : increments of a run, before the closing one.
    facets : of friction in space, default 8.
    budget : seconds: samples that are not drawn or not closed by then have Status.OUT_OF_TIME.
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
    for i in np.flatnonzero(~first.terminated & (first.status != Status.OUT_OF_TIME)):
        if time.monotonic() >= deadline:
            first.status[i] = Status.OUT_OF_TIME
            continue
        result = solver.solve(first.v[i], closing)
        first.v[i], first.steps[i] = result.v, first.steps[i] + 1
        first.impulse[i] += result.impulse
        first.residual[i] = max(first.residual[i], result.residual)
        if result.status is not Status.SOLVED:
            first.status[i] = result.status
    closed = replace(first, jam_known=first.jammed, settings={**first.settings, "epsilon": epsilon})
    closed.status[closed.terminated & (closed.status == Status.MAX_STEPS)] = Status.SOLVED
    return closed


def sample_batch(
    batch: ImpactBatch,
    n: int,
    *,
    step: ArrayLike | None = None,
    max_steps: int = DEFAULT_MAX_STEPS,
    points: str = "random",
    seed: int = 0,
    row: int = 0,
    budget: float | None = None,
    device: str = "cpu",
    threads: int | None = None,
    **options: str | int | None,
) -> BatchOutcomes:
    """Row k gets the samples of `routh.sampling.algorithm1.sample` of ``batch[k]`` with row ``row + k``.

    Samples that the kernel cannot solve keep Status.NUMERICAL; those of a single problem are drawn again,
    the first few, which takes up to seconds.

    Parameters
    ----------
    step : number, (nc,) or (rows, nc), N s; default: each contact's momentum scale.
    points : "random" only.
    options : ``friction`` and ``facets`` of `routh.sample`.
    """
    refuse_restitution(np.where(batch.present, batch.restitution, 0.0))
    if choice("points", points, ("random", "sobol")) == "sobol":
        raise ValueError("points: got 'sobol' with a batch; wanted 'random', or one problem at a time")
    draw = StepDraw(
        integer("n", n, at_least=1),
        integer("row", row, at_least=0, at_most=2**32 - 1),
        np.uint64(integer("seed", seed, at_least=0, at_most=2**64 - 1)),
        _boxes(batch, step),
        np.empty((n, 0)),
        integer("max_steps", max_steps, at_least=1, at_most=MOST_STEPS),
    )
    told = {"max_steps": max_steps, "points": points, "seed": seed, "row": row, **options}
    told |= {"method": "algorithm1", "step": None if step is None else np.asarray(step).tolist()}
    deadline = deadline_of(budget)
    if device == "cuda":
        polygons = {nt: _polygon(nt, options) for nt in (1, 2)}
        return features.device("cuda").step_batch_outcomes(batch, draw, polygons, told, deadline)
    found = batch_outputs(batch, n)

    def sample_piece(rows: Rows, out: Outputs, begin: int, nt: int) -> None:
        boxes = draw.boxes[begin:] if len(draw.boxes) > 1 else draw.boxes
        own = draw._replace(row=row + begin, boxes=boxes)
        run_rows(rows, own, _polygon(nt, options), out, threads=threads, deadline=deadline)

    impact = batch.status == Status.SOLVED
    for nt in (1, 2):
        draw_rows(batch, impact & (batch.size[:, 2] == nt), (nt, False), found, sample_piece)
    return finished(batch, found, told)


def _polygon(nt: int, options: Options) -> Array | None:
    """Friction directions of rows with ``nt`` tangents; None: the true cone."""
    return friction_polygon(options["friction"], options.get("facets") if nt == 2 else None, nt)


def _boxes(batch: ImpactBatch, step: ArrayLike | None) -> Array:
    """The steps as checked rows; none where they are the default."""
    rows, nc = len(batch), batch.nc
    if step is None:
        return np.empty((0, nc))
    given = real_array("step", step, [(), (nc,), (rows, nc)], f"a number, shape ({nc},) or ({rows}, {nc})")
    if not np.all(given > 0.0):
        raise ValueError(f"step: got {given.min()}; wanted positive impulses (N s)")
    return np.array(np.broadcast_to(given, (1, nc) if given.ndim < 2 else (rows, nc)))


def psi(problem: ImpactProblem, facets: int | None = None) -> float:
    """Algorithm 2's constant: ``sigma_max(M^-1 Jbar^T) m (1 + max mu) + 1``."""
    directions = facet_directions(problem.nt, facets)
    along = np.einsum("kt,itv->ikv", directions, problem.Jt).reshape(-1, problem.nv)
    stacked = np.vstack([problem.Jn, along])
    largest = float(np.linalg.norm(problem.solve_mass(stacked.T), 2))
    return largest * problem.nc * (1.0 + float(problem.mu.max())) + 1.0
