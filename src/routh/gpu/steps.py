"""Outcomes of a batch by Algorithm 1 on the GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping

from routh.base.status import Status
from routh.base.validation import Array, Options
from routh.gpu.algorithm1 import StepSampler
from routh.gpu.events import run_batch
from routh.gpu.outcomes import GpuBatchOutcomes, begun, ended
from routh.kernels.algorithm1.work import StepDraw
from routh.problem.batch import ImpactBatch


def step_batch_outcomes(
    batch: ImpactBatch, draw: StepDraw, polygons: Mapping[int, Array | None], told: Options, deadline: float
) -> GpuBatchOutcomes:
    """Same as `routh.sampling.algorithm1.sample_batch`; ``polygons``: directions by number of tangents."""
    problems, outputs = begun(batch, draw.n)
    limit = None if deadline == math.inf else deadline
    for nt, directions in polygons.items():
        wanted = (batch.status == Status.SOLVED) & (batch.size[:, 2] == nt)
        if wanted.any():
            sampler = StepSampler(draw, batch.nc, directions)
            run_batch(problems, wanted, outputs, sampler, draw.row, limit)
    return ended(batch, problems, outputs, told)
