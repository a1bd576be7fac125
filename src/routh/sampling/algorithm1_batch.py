"""HP23's Algorithm 1 for many impacts: one kernel draws all rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from routh.batch import ImpactBatch
from routh.friction import facet_directions
from routh.kernels.algorithm1.sampling import run_rows
from routh.kernels.algorithm1.work import Draw
from routh.kernels.common.arrays import Outputs, Rows
from routh.laws.set_valued import DEFAULT_MAX_STEPS, MOST_STEPS
from routh.sampling import algorithm1
from routh.sampling.batch import BatchOutcomes
from routh.sampling.many import batch_outputs, draw_rows, finished
from routh.status import Status
from routh.validation import Array, Options, choice, deadline_of, integer, real_array


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

    Samples that the kernel cannot solve keep Status.NUMERICAL; those of a single problem are drawn again,
    the first few, which takes up to seconds.
    """
    algorithm1.refuse_restitution(np.where(batch.present, batch.restitution, 0.0))
    if choice("points", points, ("random", "sobol")) == "sobol":
        raise ValueError("points: got 'sobol' with a batch; wanted 'random', or one problem at a time")
    draw = Draw(
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
        return _on_gpu(batch, draw, options, told, deadline)
    found = batch_outputs(batch, n)

    def sample_piece(rows: Rows, out: Outputs, begin: int, nt: int) -> None:
        own = draw._replace(row=row + begin, boxes=_of_rows(draw.boxes, begin))
        run_rows(rows, own, _directions(nt, options), out, threads=threads, deadline=deadline)

    impact = batch.status == Status.SOLVED
    for nt in (1, 2):
        draw_rows(batch, impact & (batch.size[:, 2] == nt), (nt, False), found, sample_piece)
    return finished(batch, found, told)


def _directions(nt: int, options: Options) -> Array | None:
    """Friction directions of rows with ``nt`` tangents; None: the true cone."""
    if nt == 2 and options["friction"] == "cone":
        return None
    return facet_directions(nt, options.get("facets") if nt == 2 else None)


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


def _of_rows(boxes: Array, begin: int) -> Array:
    """The boxes of the rows from ``begin`` on."""
    return boxes[begin:] if len(boxes) > 1 else boxes


def _on_gpu(
    batch: ImpactBatch, draw: Draw, options: Options, told: Options, deadline: float
) -> BatchOutcomes:
    from routh.kernels.algorithm1.gpu import StepSampler
    from routh.kernels.gpu.events import run_batch
    from routh.sampling.gpu_batch import begun, ended

    problems, outputs = begun(batch, draw.n)
    limit = None if deadline == math.inf else deadline
    for nt in (1, 2):
        wanted = (batch.status == Status.SOLVED) & (batch.size[:, 2] == nt)
        if wanted.any():
            sampler = StepSampler(draw, batch.nc, _directions(nt, options))
            run_batch(problems, wanted, outputs, sampler, draw.row, limit)
    return ended(batch, problems, outputs, told)
