"""Sampling by events on the GPU: from problems to outcomes that stay there."""

from __future__ import annotations

import time

import numpy as np

from routh import tolerances
from routh.friction import facet_directions
from routh.kernels.common.arrays import RATES, Draw, Rows, make_rows
from routh.kernels.events import Rates, with_default
from routh.kernels.gpu.events import MANY, Sampler, begin_samples, make_gpu_outputs
from routh.kernels.gpu.fold import make_judge
from routh.kernels.gpu.memory import GpuArray
from routh.kernels.gpu.plane import first_patterns
from routh.problem import ImpactProblem
from routh.sampling.events import Again
from routh.sampling.gpu import GpuOutcomes, OnGpu
from routh.sampling.redrawing import make_settings
from routh.status import Status
from routh.validation import Options


def settled(n: int, settings: Options, friction: str, facets: int | None) -> tuple[Draw, Options]:
    """The settings as the kernels and as the outcomes have them."""
    rates: Rates = settings.get("rates", "mixed")
    if callable(rates):
        raise ValueError(f"rates: got a function; wanted one of {', '.join(RATES)} with device 'cuda'")
    told = {name: value for name, value in settings.items() if name != "keys"}
    named = {"method": "events", "friction": friction, "facets": facets, "rates": rates}
    return make_settings(n, **settings), {**named, **told}


def _approaches(rows: Rows) -> bool:
    """Whether the only row is an impact, by the measure of the kernels."""
    return bool(np.any(~(rows.start[0, : 2 * rows.nc[0] : 2] >= -tolerances.APPROACH)))


def gpu_outcomes(
    problem: ImpactProblem,
    n: int,
    settings: Options,
    *,
    friction: str = "cone",
    facets: int | None = None,
    budget: float | None = None,
) -> GpuOutcomes:
    """Samples of one problem; ``settings`` are those of `routh.sampling.events.make_settings`."""
    draw, told = settled(n, settings, friction, facets)
    nt, nc = problem.nt, problem.nc
    elastic = bool(np.any(problem.restitution > 0.0))
    prepared = make_rows([problem])
    patterns = first_patterns(prepared, draw) if nt == 1 and n >= MANY else None
    curved = nt == 2 and friction == "cone"
    corners = None if curved else facet_directions(nt, facets)
    undone = np.array([Status.OUT_OF_TIME], np.int8)
    along = prepared, np.ones(1, bool), undone, make_judge(problem)
    sampler = Sampler(with_default(draw, nt), nc, corners, elastic=elastic, patterns=patterns, along=along)
    rows, wanted, undone, judge = sampler.along
    outputs = make_gpu_outputs((1, n), problem.nv, nc, 1 + nt, elastic=elastic, exact=nt == 1)
    if nt == 2 or budget is not None or not _approaches(prepared):  # else every entry will be written
        begin_samples(rows.before, undone, outputs)
    sampler.run(rows, wanted, outputs, draw.row, None if budget is None else time.monotonic() + budget)
    held = OnGpu(*(GpuArray(array[0]) for array in outputs))
    given = {"curved": curved, "judge": judge, "replay": Again(keys=settings.get("keys"))}
    found = GpuOutcomes(problem, held, told, **given)
    if Status.MAX_STEPS not in found.status_counts() or not found.jammed:
        return found
    named = found.status
    named[named == Status.MAX_STEPS] = Status.JAMMED
    held.status.held.copy_to_device(named)
    return GpuOutcomes(problem, held, told, **given, jam_known=True)
