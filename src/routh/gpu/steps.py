"""Outcomes of a batch by Algorithm 1 on the GPU."""

from __future__ import annotations

import math

from routh.base.status import Status
from routh.gpu.algorithm1 import StepSampler
from routh.gpu.events import run_batch
from routh.gpu.outcomes import GpuBatchOutcomes, begun, ended
from routh.kernels.algorithm1.work import StepDraw
from routh.problem.batch import ImpactBatch
from routh.sampling.algorithm1 import BySteps


def step_batch_outcomes(
    batch: ImpactBatch, draw: StepDraw, drawing: BySteps, deadline: float
) -> GpuBatchOutcomes:
    """Same as `routh.sampling.sample_by_steps`."""
    problems, outputs = begun(batch, draw.n)
    limit = None if deadline == math.inf else deadline
    for nt in (1, 2):
        wanted = (batch.status == Status.SOLVED) & (batch.size[:, 2] == nt)
        if wanted.any():
            sampler = StepSampler(draw, batch.nc, drawing.polygon(nt))
            run_batch(problems, wanted, outputs, sampler, draw.row, limit)
    return ended(batch, problems, outputs, drawing.record())
