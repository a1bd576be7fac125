"""HP23's Algorithm 1 for many impacts: with the true cone in space by one kernel, else row by row."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from routh.batch import ImpactBatch
from routh.kernels.arrays import Outputs, Rows
from routh.kernels.cone import ConeDraw, run_cone_rows
from routh.kernels.step_arrays import PENDING, Samples
from routh.kernels.step_making import out_of_time
from routh.laws.set_valued import DEFAULT_MAX_STEPS, MOST_STEPS
from routh.sampling import algorithm1
from routh.sampling.batch import BatchOutcomes
from routh.sampling.many import batch_outputs, draw_rows, finished
from routh.status import Status
from routh.validation import Array, Options, choice, deadline_of, integer, real_array, seconds_left


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

    Parameters
    ----------
    step : number, (nc,) or (rows, nc), N s; default: each contact's momentum scale.
    points : "random" only.
    options : ``friction`` and ``facets`` of `routh.sample`.

    Rows with the true cone in space are drawn together, and only they on the GPU.
    Their samples that the kernel cannot solve keep Status.NUMERICAL; those of a single problem are drawn
    again, the first few, which takes up to seconds.
    """
    algorithm1.refuse_restitution(np.where(batch.present, batch.restitution, 0.0))
    if choice("points", points, ("random", "sobol")) == "sobol":
        raise ValueError("points: got 'sobol' with a batch; wanted 'random', or one problem at a time")
    draw = ConeDraw(
        integer("n", n, at_least=1),
        integer("row", row, at_least=0, at_most=2**32 - 1),
        np.uint64(integer("seed", seed, at_least=0, at_most=2**64 - 1)),
        _boxes(batch, step),
        np.empty((n, 0)),
        integer("max_steps", max_steps, at_least=1, at_most=MOST_STEPS),
    )
    told = {"max_steps": max_steps, "points": points, "seed": seed, "row": row, **options}
    told |= {"method": "algorithm1", "step": None if step is None else np.asarray(step).tolist()}
    impact = batch.status == Status.SOLVED
    together = impact & (options["friction"] == "cone") & (batch.size[:, 2] == 2)
    deadline = deadline_of(budget)
    if device == "cuda":
        return _on_gpu(batch, draw, impact, together, told, deadline)
    found = batch_outputs(batch, n)

    def sample_piece(rows: Rows, out: Outputs, begin: int, _: int) -> None:
        out.status[:] = PENDING
        own = draw._replace(row=row + begin, steps=_of_rows(draw.steps, begin))
        run_cone_rows(rows, own, out, threads=threads, deadline=deadline)
        out_of_time(Samples(out.v, out.impulse, out.events, out.status, out.residual))

    draw_rows(batch, together, (2, False), found, sample_piece)
    given: Options = {"max_steps": max_steps, "seed": seed, "threads": threads, **options}
    for number in map(int, np.flatnonzero(impact & ~together)):
        left = seconds_left(deadline)
        own_step = None if step is None else _of_rows(draw.steps, number)[0, : batch.size[number, 1]]
        _draw_row(batch, number, found, {**given, "row": row + number, "step": own_step, "budget": left})
    return finished(batch, found, told)


def _draw_row(batch: ImpactBatch, k: int, found: Outputs, given: Options) -> None:
    """The samples of one row on its own."""
    problem = batch[k]
    nv, nc, nt = problem.nv, problem.nc, problem.nt
    one = algorithm1.sample(problem, found.status.shape[1], **given | ({} if nt == 2 else {"facets": None}))
    found.v[k, :, :nv], found.impulse[k, :, :nc, : 1 + nt] = one.v, one.impulse
    found.events[k], found.status[k], found.residual[k] = one.steps, one.status, one.residual


def _boxes(batch: ImpactBatch, step: ArrayLike | None) -> Array:
    """The steps as checked rows, contacts in the order of those present; none where they are the default."""
    rows, nc = len(batch), batch.nc
    if step is None:
        return np.empty((0, nc))
    given = real_array("step", step, [(), (nc,), (rows, nc)], f"a number, shape ({nc},) or ({rows}, {nc})")
    if not np.all(given > 0.0):
        raise ValueError(f"step: got {given.min()}; wanted positive impulses (N s)")
    if batch.present.all():
        return np.array(np.broadcast_to(given, (1, nc) if given.ndim < 2 else (rows, nc)))
    first = np.argsort(~batch.present, axis=1, kind="stable")
    return np.take_along_axis(np.broadcast_to(given, (rows, nc)), first, axis=1)


def _of_rows(steps: Array, begin: int) -> Array:
    """The boxes of the rows from ``begin`` on."""
    return steps[begin:] if len(steps) > 1 else steps


def _on_gpu(
    batch: ImpactBatch,
    draw: ConeDraw,
    impact: np.ndarray,
    together: np.ndarray,
    told: Options,
    deadline: float,
) -> BatchOutcomes:
    from routh.kernels.cuda import ConeSampler
    from routh.kernels.events_cuda import run_batch
    from routh.sampling.gpu_batch import begun, ended

    others = np.flatnonzero(impact & ~together)
    if others.size:
        raise ValueError(
            f"device: got 'cuda' with method 'algorithm1' and row {others[0]}; wanted rows in space and "
            "friction='cone', or 'cpu'"
        )
    problems, outputs = begun(batch, draw.n)
    limit = None if deadline == math.inf else deadline
    run_batch(problems, together, outputs, ConeSampler(draw, batch.nc), draw.row, limit)
    return ended(batch, problems, outputs, told)
