"""Many outcomes of one impact with restitution, on CPU threads or a GPU; see `routh.kernels.elastic`."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from routh import tolerances
from routh.kernels.elastic import run_range
from routh.kernels.elastic_arrays import Drawing, Elastic, ElasticSamples, Scratch
from routh.kernels.slices import run_slices
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import residual_tolerance, scaled_delassus
from routh.step.elastic import POISSON
from routh.step.polyhedral import PolyhedralStep
from routh.validation import Array


class ElasticOutcomes(NamedTuple):
    """Samples in SI units."""

    v: Array  # (n, nv)
    impulse: Array  # (n, nc, 1 + nt) N s
    steps: np.ndarray  # (n,)
    status: np.ndarray  # (n,) int8
    residual: Array  # (n,)
    stored: Array  # (n, nc) J
    returned: Array  # (n, nc) J


def make_elastic(problem: ImpactProblem, hypothesis: str, facets: int | None = None) -> Elastic:
    """Scale a problem for the kernel."""
    step = PolyhedralStep(problem, facets=facets)
    poisson = hypothesis == POISSON
    # kinetic energy before is 1/2 in these units; a budget's event function is a share of it
    least, scale = (tolerances.BUDGET_IMPULSE, 1.0) if poisson else (0.5 * tolerances.BUDGET, 2.0)
    W, cover = step.scaled_matrix()
    return Elastic(
        W,
        np.array(scaled_delassus(problem)),
        cover,
        np.array(step.directions[0]),
        np.array(problem.mu),
        (problem.contact_velocity() / problem.scaling.velocity[:, None]).ravel(),
        np.array(problem.restitution),
        problem.restitution * (1.0 if poisson else problem.restitution),
        poisson,
        tolerances.APPROACH,
        least,
        scale,
        residual_tolerance(problem),
    )


def run(
    problem: ImpactProblem,
    n: int,
    *,
    hypothesis: str,
    step: Array,
    max_steps: int,
    seed: int,
    row: int = 0,
    facets: int | None = None,
    points: Array | None = None,
    threads: int | None = None,
    device: str = "cpu",
    budget: float | None = None,
) -> ElasticOutcomes:
    """The first ``n`` outcomes.

    ``points`` (n, steps, nc) holds the first uniform numbers of each sample, where they are not random.
    Samples whose tableau failed come back with Status.NUMERICAL, for the reference to try again; those that
    were not begun within ``budget`` seconds with Status.OUT_OF_TIME.
    """
    elastic = make_elastic(problem, hypothesis, facets)
    unit, nc, nt = problem.scaling, problem.nc, problem.nt
    key = (np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32), np.uint32(row))
    given = np.zeros((n, 0)) if points is None else np.ascontiguousarray(points).reshape(n, -1)
    drawing = Drawing(step / unit.impulse, given, 0, key, max_steps)
    samples = ElasticSamples(
        np.zeros((n, nc * (1 + nt))),
        np.zeros((n, 2, nc)),
        np.full(n, Status.OUT_OF_TIME, np.int8),
        np.zeros(n, np.int32),
        np.zeros(n),
    )
    scratch = partial(make_scratch, nc, nt, len(elastic.cover))
    if device == "cuda":
        from routh.kernels.elastic_cuda import run_on_gpu

        run_on_gpu(elastic, drawing, samples, scratch())
    else:

        def work(begin: int, end: int, own: Scratch) -> None:
            run_range(elastic, drawing, samples, own, begin, end)

        run_slices(n, scratch, work, threads=threads, budget=budget)
    impulse = samples.impulse.reshape(n, nc, 1 + nt) * unit.impulse[:, None]
    joule = unit.speed**2
    return ElasticOutcomes(
        problem.apply(impulse),
        impulse,
        samples.steps,
        samples.status,
        np.where(samples.status == Status.NO_IMPACT, 0.0, samples.residual),
        samples.work[:, 0] * joule,
        samples.work[:, 1] * joule,
    )


def make_scratch(nc: int, nt: int, m: int) -> Scratch:
    """Scratch of one thread; ``m`` unknowns of the tableau."""
    return Scratch(
        np.empty((m, 2 * m + 2)),
        np.empty(m, np.int64),
        np.empty(m),
        np.empty(m),
        np.zeros((6, nc * (1 + nt))),
        np.zeros((15, nc)),
        np.zeros(1),
    )
