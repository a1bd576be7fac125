"""Many outcomes of one impact with restitution, on CPU threads or a GPU; see `routh.kernels.elastic`."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from routh import tolerances
from routh.kernels.elastic import run_range
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import residual_tolerance, scaled_delassus
from routh.step.elastic import POISSON
from routh.step.polyhedral import PolyhedralStep
from routh.validation import Array

# Samples that share one workspace: large enough to forget its cost, small enough to keep threads busy.
CHUNK = 64


@dataclass(frozen=True, eq=False)
class ElasticArrays:
    """One problem as the kernel wants it, in the problem's own units."""

    data: tuple[Array, ...]  # W (m, m), G (n, n), cover (m,), directions (k, nt), mu (nc,)
    c: Array  # (n,) contact velocities before
    restitution: Array  # (nc,)
    share: Array  # (nc,) what is returned of what is stored
    poisson: bool
    limits: Array  # (4,) rest speed, least budget, scale of the budgets' events, residual


def elastic_arrays(problem: ImpactProblem, hypothesis: str, facets: int | None = None) -> ElasticArrays:
    """Scale a problem for the kernel."""
    step = PolyhedralStep(problem, facets=facets)
    unit = problem.scaling
    poisson = hypothesis == POISSON
    # kinetic energy before is 1/2 in these units; a budget's event function is a share of it
    least, scale = (tolerances.BUDGET_IMPULSE, 1.0) if poisson else (0.5 * tolerances.BUDGET, 2.0)
    limits = np.array([tolerances.APPROACH, least, scale, residual_tolerance(problem)])
    W, cover = step.scaled_matrix()
    data = (W, np.array(scaled_delassus(problem)), cover, np.array(step.directions[0]), np.array(problem.mu))
    return ElasticArrays(
        data,
        (problem.contact_velocity() / unit.velocity[:, None]).ravel(),
        np.array(problem.restitution),
        problem.restitution * (1.0 if poisson else problem.restitution),
        poisson,
        limits,
    )


def run(
    problem: ImpactProblem,
    n: int,
    *,
    hypothesis: str,
    step: Array,
    max_steps: int,
    seed: int,
    facets: int | None = None,
    table: Array | None = None,
    threads: int | None = None,
    device: str = "cpu",
) -> tuple[Array, Array, np.ndarray, np.ndarray, Array, Array, Array]:
    """The first ``n`` outcomes: v, impulse, steps, status, residual, stored, returned.

    ``table`` (n, steps, nc) holds the first uniform numbers of each sample, where they are not random.
    Samples whose tableau failed come back with Status.NUMERICAL, for the reference to try again.
    """
    arrays = elastic_arrays(problem, hypothesis, facets)
    unit, nc, nt = problem.scaling, problem.nc, problem.nt
    points = np.zeros((n, 0, nc)) if table is None else table
    impulse, work = np.empty((n, nc * (1 + nt))), np.empty((n, 2, nc))
    counts, residual = np.empty((n, 2), np.int32), np.empty(n)
    key = (np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32), np.uint64(0))
    size = step / unit.impulse

    arguments = (
        arrays.data, arrays.c, arrays.restitution, arrays.share, size, arrays.poisson, arrays.limits,
        max_steps, key,
    )  # fmt: skip
    outputs = (impulse, work, counts, residual)
    scratch = partial(workspace, nc, nt, len(arrays.data[2]))
    if device == "cuda":
        from routh.kernels.elastic_cuda import run_on_gpu

        run_on_gpu(arguments, n, points, scratch(), outputs)
    else:
        begins = range(0, n, CHUNK)

        def work_on(begin: int) -> None:
            run_range(*arguments, begin, min(begin + CHUNK, n), points, scratch(), outputs)

        workers = min(threads or len(os.sched_getaffinity(0)), len(begins))
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(work_on, begins))
    given = impulse.reshape(n, nc, 1 + nt) * unit.impulse[:, None]
    joule = unit.speed**2
    return (
        problem.apply(given),
        given,
        counts[:, 1].copy(),
        counts[:, 0].astype(np.int8),
        np.where(counts[:, 0] == Status.NO_IMPACT, 0.0, residual),
        work[:, 0] * joule,
        work[:, 1] * joule,
    )


def workspace(nc: int, nt: int, m: int) -> tuple[np.ndarray, ...]:
    """Scratch arrays of one sample, in the kernel's order; ``m`` unknowns of the tableau."""
    return (
        np.empty((m, 2 * m + 2)),
        np.empty(m, np.int64),
        np.empty((2, m)),
        np.zeros((6, nc * (1 + nt))),
        np.zeros((15, nc)),
        np.zeros(1),
    )
