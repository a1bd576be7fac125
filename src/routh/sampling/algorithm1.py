"""Sampling the set of outcomes by steps: HP23's Algorithm 1, of one impact or of many, and Algorithm 2."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from routh.base import features
from routh.base.rng import uniforms
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, choice, deadline_of, integer, real, real_array, seconds_left
from routh.kernels.algorithm1.sampling import run, run_rows
from routh.kernels.algorithm1.work import Samples, StepDraw
from routh.kernels.common.arrays import Outputs
from routh.laws.base import require_inelastic
from routh.laws.set_valued import DEFAULT_MAX_STEPS, MOST_STEPS, accumulate, impulse_step
from routh.problem.batch import ImpactBatch
from routh.problem.friction import facet_directions, friction_polygon, uses_true_cone
from routh.problem.impact import ImpactProblem
from routh.problem.rows import Rows
from routh.sampling.batch import BatchOutcomes
from routh.sampling.batch_events import batch_outputs, draw_rows, finished
from routh.sampling.outcomes import Outcomes, with_jams
from routh.sampling.sampler import check_count
from routh.sampling.settings import Drawing
from routh.step import make_step

SOBOL_STEPS = 8  # of a sample that have dimensions of their own; later ones draw from the generator
REDRAWN = 16  # failed samples that are drawn again by the readable solver; others keep their status
REDRAWN_STEPS = 32  # steps of all of them together: the readable solver can need a second for one


class StepOptions(TypedDict, total=False):
    """The keywords of `sample_by_steps`."""

    step: ArrayLike | None
    max_steps: int
    points: str
    seed: int
    row: int
    friction: str
    facets: int | None
    device: str
    threads: int | None
    budget: float | None


@dataclass(frozen=True, kw_only=True)
class BySteps(Drawing):
    """How samples are drawn by Algorithm 1, see `sample_by_steps`."""

    step: ArrayLike | None = None
    max_steps: int = DEFAULT_MAX_STEPS
    points: str = "random"

    method = "algorithm1"

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("max_steps", self.max_steps, at_least=1, at_most=MOST_STEPS)
        choice("points", self.points, ("random", "sobol"))

    def record(self) -> Options:
        """The step as lists, which files take."""
        return {**super().record(), "step": None if self.step is None else np.asarray(self.step).tolist()}

    def polygon(self, nt: int) -> Array | None:
        """Friction directions where contacts have ``nt`` tangents; None: the true cone."""
        return friction_polygon(self.friction, self.facets if nt == 2 else None, nt)


@overload
def sample_by_steps(problem: ImpactProblem, n: int, **options: Unpack[StepOptions]) -> Outcomes: ...
@overload
def sample_by_steps(problem: ImpactBatch, n: int, **options: Unpack[StepOptions]) -> BatchOutcomes: ...
def sample_by_steps(
    problem: ImpactProblem | ImpactBatch,
    n: int,
    *,
    step: ArrayLike | None = None,
    max_steps: int = DEFAULT_MAX_STEPS,
    points: str = "random",
    seed: int = 0,
    row: int = 0,
    friction: str = "cone",
    facets: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    budget: float | None = None,
) -> Outcomes | BatchOutcomes:
    """Draw ``n`` outcomes of impacts without restitution by HP23's Algorithm 1.

    Each increment draws ``lambda_max`` uniformly from the box ``[0, step]^nc`` and solves HP23 (72)
    implicitly; a sample ends when no contact approaches. Samples carry the error of the step:
    `routh.sample` has none. Samples on which the kernel fails are drawn again by the readable step solver,
    the first few of them; what is then unsolved keeps a status. Row k of a batch gets the samples of
    ``batch[k]`` with row ``row + k``, but none is drawn again, which takes up to seconds.

    Parameters
    ----------
    problem : an impact, or a batch of impacts.
    n : how many outcomes, of each impact of a batch.
    step : number or (nc,), N s, of a batch also (rows, nc). Default: each contact's momentum scale
        ``|v|_M sqrt(m_i)``. Larger steps reach more of the set but carry the error of the step; see the
        documentation on sampling.
    max_steps : increments before a sample gives up with a status.
    points : "random" (counter-based generator) or, of one impact, "sobol" (scrambled Sobol sequence).
    seed : equal seeds give equal samples, whatever n, max_steps or the number of threads.
    row, friction, facets, device, threads, budget : as in `routh.sample`.
    """
    drawing = BySteps(
        step=step,
        max_steps=max_steps,
        points=points,
        seed=seed,
        row=row,
        friction=friction,
        facets=facets,
        device=device,
        threads=threads,
        budget=budget,
    )
    return draw_by_steps(problem, n, drawing)


@overload
def draw_by_steps(problem: ImpactProblem, n: int, drawing: BySteps) -> Outcomes: ...
@overload
def draw_by_steps(problem: ImpactBatch, n: int, drawing: BySteps) -> BatchOutcomes: ...
def draw_by_steps(problem: ImpactProblem | ImpactBatch, n: int, drawing: BySteps) -> Outcomes | BatchOutcomes:
    """`sample_by_steps` with its options as one object."""
    check_count(problem, n)
    integer("n", n, at_least=1)
    uses_true_cone(drawing.friction, drawing.facets, problem.nt)
    if isinstance(problem, ImpactBatch):
        return _draw_batch(problem, n, drawing)
    friction_polygon(drawing.friction, drawing.facets, problem.nt)  # refuses facets that do not fit
    refuse_restitution(problem.restitution)
    size = impulse_step(problem, drawing.step)
    deadline, points = deadline_of(drawing.budget), None
    if drawing.points == "sobol":
        points = sobol_table(problem.nc, n, drawing.max_steps, drawing.seed)
    same = ("max_steps", "seed", "device", "threads", "row", "budget")
    told: Options = {name: getattr(drawing, name) for name in same}
    samples = run(problem, n, step=size, points=points, directions=drawing.polygon(problem.nt), **told)

    def bounds(sample: int, k: int) -> Array:
        return size * uniform_numbers(problem.nc, points, drawing.seed, drawing.row, sample, k)

    draw_again(problem, samples, bounds, drawing, deadline)
    return with_jams(Outcomes(problem, *samples, settings=replace(drawing, step=size).record()))


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
    drawing: BySteps,
    deadline: float,
) -> None:
    """The first samples whose kernel failed, by the readable step solver, from their beginning."""
    failed = np.isin(samples.status, (Status.RAY, Status.MAX_PIVOTS, Status.NUMERICAL))
    if not failed.any():
        return
    solver = make_step(problem, friction=drawing.friction, facets=drawing.facets)
    max_steps, left = drawing.max_steps, REDRAWN_STEPS
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
        raise InputError(
            "restitution",
            got=f"{restitution.max():g} with Algorithm 1, which is inelastic",
            wanted="0 at every contact, or routh.sample",
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
    n, step, seed, points : as in `sample_by_steps`.
    max_steps : increments of a run, before the closing one.
    facets : of friction in space, default 8.
    budget : seconds: samples that are not drawn or not closed by then have Status.OUT_OF_TIME.
    """
    deadline = deadline_of(budget)
    require_inelastic(problem, "approximate")
    sizes = impulse_step(problem, step)
    bound = float(sizes.min())
    if not 0.0 < real("epsilon", epsilon) < bound:
        raise InputError(
            "epsilon", got=epsilon, wanted=f"a number between 0 and the step, {bound:g} (HP23 Algorithm 2)"
        )
    friction = "polyhedral"  # psi is a property of the facets
    first = sample_by_steps(
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


def _draw_batch(batch: ImpactBatch, n: int, drawing: BySteps) -> BatchOutcomes:
    """The samples of every row."""
    refuse_restitution(np.where(batch.present, batch.restitution, 0.0))
    if drawing.points == "sobol":
        raise InputError("points", got="'sobol' with a batch", wanted="'random', or one problem at a time")
    seed, boxes = np.uint64(drawing.seed), _boxes(batch, drawing.step)
    draw = StepDraw(n, drawing.row, seed, boxes, np.empty((n, 0)), drawing.max_steps)
    deadline = deadline_of(drawing.budget)
    if drawing.device == "cuda":
        outcomes: BatchOutcomes = features.device("cuda").step_batch_outcomes(batch, draw, drawing, deadline)
        return outcomes
    found = batch_outputs(batch, n)

    def sample_piece(rows: Rows, out: Outputs, begin: int, nt: int) -> None:
        boxes = draw.boxes[begin:] if len(draw.boxes) > 1 else draw.boxes
        own = draw._replace(row=draw.row + begin, boxes=boxes)
        run_rows(rows, own, drawing.polygon(nt), out, threads=drawing.threads, deadline=deadline)

    impact = batch.status == Status.SOLVED
    for nt in (1, 2):
        draw_rows(batch, impact & (batch.size[:, 2] == nt), (nt, False), found, sample_piece)
    return finished(batch, found, drawing)


def _boxes(batch: ImpactBatch, step: ArrayLike | None) -> Array:
    """The steps as checked rows; none where they are the default."""
    rows, nc = len(batch), batch.nc
    if step is None:
        return np.empty((0, nc))
    given = real_array("step", step, [(), (nc,), (rows, nc)], f"a number, shape ({nc},) or ({rows}, {nc})")
    if not np.all(given > 0.0):
        raise InputError("step", got=given.min(), wanted="positive impulses (N s)")
    return np.array(np.broadcast_to(given, (1, nc) if given.ndim < 2 else (rows, nc)))


def psi(problem: ImpactProblem, facets: int | None = None) -> float:
    """Algorithm 2's constant: ``sigma_max(M^-1 Jbar^T) m (1 + max mu) + 1``."""
    directions = facet_directions(problem.nt, facets)
    along = np.einsum("kt,itv->ikv", directions, problem.Jt).reshape(-1, problem.nv)
    stacked = np.vstack([problem.Jn, along])
    largest = float(np.linalg.norm(problem.solve_mass(stacked.T), 2))
    return largest * problem.nc * (1.0 + float(problem.mu.max())) + 1.0
