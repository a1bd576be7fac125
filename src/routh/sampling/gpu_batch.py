"""Many impacts on the GPU: outcomes of every row that stay there until asked for."""

from __future__ import annotations

import time
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from routh.batch import ImpactBatch
from routh.friction import facet_directions
from routh.kernels.common.arrays import Outputs
from routh.kernels.events import with_default
from routh.kernels.gpu.events import Sampler, begin_samples, make_gpu_outputs, run_batch, to_slots
from routh.kernels.gpu.judge import diameters_of_rows, energies_of_rows, extremes_of_rows, judge_rows
from routh.kernels.gpu.memory import DeviceArray, GpuArray, fetch, send
from routh.preparing import Problems
from routh.sampling.batch import BatchExtreme, BatchOutcomes
from routh.sampling.gpu import CopiedWhenAsked, OnGpu
from routh.sampling.gpu_events import settled
from routh.sampling.many import _energy_units, bouncing_rows, name_jams
from routh.status import Status
from routh.validation import Array, Options

_FEW = 256  # samples of a row up to which all pairs are compared


class GpuBatchOutcomes(CopiedWhenAsked, BatchOutcomes):
    """`BatchOutcomes` whose arrays are on the GPU, in ``on_gpu``, and are copied when first asked for.

    ``terminated``, ``modes``, ``kinetic_energy``, ``ambiguity`` and ``extreme`` are found there.
    """

    def __init__(self, batch: ImpactBatch, on_gpu: OnGpu, problems: Problems, settings: Options) -> None:
        given = {"batch": batch, "on_gpu": on_gpu, "settings": settings, "_problems": problems}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @cached_property
    def error(self) -> Array:
        """Sums of local errors, (rows, n), shares of the speed; 0 on straight paths."""
        return self.on_gpu.error.numpy()

    @property
    def _joule(self) -> Array:
        return _energy_units(self.batch)[:, None]

    @cached_property
    def _on_gpu_judged(self) -> tuple[DeviceArray, DeviceArray]:
        return judge_rows(self.__dict__["_problems"], self._unknown, self.on_gpu.v.held)

    @cached_property
    def _judged(self) -> tuple[np.ndarray, np.ndarray]:
        ended, modes = self._on_gpu_judged
        return fetch(ended), fetch(modes)

    @property
    def _all_solved(self) -> bool:
        """Whether what has ended, by which the device judges, is what is solved."""
        known = self.batch.status != Status.REFUSED
        return bool(np.all(self.solved[known]))

    @property
    def kinetic_energy(self) -> Array:
        """Kinetic energies after, (rows, n) J."""
        return fetch(energies_of_rows(self.__dict__["_problems"], self.on_gpu.v.held))

    @cached_property
    def ambiguity(self) -> Array:
        """Diameter of each row's outcomes over its speed before, in the kinetic-energy norm, (rows,)."""
        if self.on_gpu.status.shape[1] > _FEW or not self._all_solved:
            return super().ambiguity
        skip = np.asarray(self.batch.status != Status.SOLVED)
        ended = self._on_gpu_judged[0]
        found = fetch(diameters_of_rows(self.__dict__["_problems"], skip, self.on_gpu.v.held, ended))
        found[np.isin(self.batch.status, (Status.NO_CONTACT, Status.NO_IMPACT))] = 0.0
        return found

    def extreme(self, direction: ArrayLike | str | tuple[int | str, ArrayLike]) -> BatchExtreme:
        """The solved outcome of each row that is farthest along a direction, see `BatchOutcomes`."""
        if not self._all_solved:
            return super().extreme(direction)
        along = self._functionals(direction)
        found = extremes_of_rows(self.on_gpu.v.held, self._on_gpu_judged[0], along)
        index, value, v = (fetch(array) for array in found)
        return BatchExtreme(index, v, value, along)


def gpu_batch_outcomes(
    batch: ImpactBatch,
    n: int,
    settings: Options,
    *,
    friction: str = "cone",
    facets: int | None = None,
    budget: float | None = None,
) -> GpuBatchOutcomes:
    """The samples of every row; row k draws the numbers of row ``row + k``."""
    draw, told = settled(n, settings, friction, facets)
    problems, outputs = begun(batch, n)
    bounces, impact = bouncing_rows(batch), batch.status == Status.SOLVED
    tangents = batch.size[:, 2] if batch.on_gpu is None else batch.nt  # those that came from a GPU are alike
    deadline = None if budget is None else time.monotonic() + budget
    for nt, elastic in product((1, 2), (False, True)):
        wanted = impact & (tangents == nt) & (bounces == elastic)
        if not wanted.any():
            continue
        corners = None
        if nt == 1 or friction == "polyhedral":
            corners = facet_directions(nt, facets if nt == 2 else None)
        sampler = Sampler(with_default(draw, nt), batch.nc, corners, elastic=elastic)
        run_batch(problems, wanted, outputs, sampler, draw.row, deadline)
    return ended(batch, problems, outputs, told)


def begun(batch: ImpactBatch, n: int) -> tuple[Problems, Outputs]:
    """The batch on the GPU, and room for n samples of each row: those to be drawn are OUT_OF_TIME."""
    problems = send(batch.arrays) if batch.on_gpu is None else batch.on_gpu
    elastic = bool(bouncing_rows(batch).any())
    outputs = make_gpu_outputs((len(batch), n), batch.nv, batch.nc, 1 + batch.nt, elastic=elastic)
    before = np.where(batch.status == Status.SOLVED, Status.OUT_OF_TIME, batch.status).astype(np.int8)
    begin_samples(problems.v, send(before), outputs)
    return problems, outputs


def ended(batch: ImpactBatch, problems: Problems, outputs: Outputs, told: Options) -> GpuBatchOutcomes:
    """Outcomes from what was drawn, contacts in the order of those present; ``told``: the settings."""
    if batch.has_gaps:
        to_slots(problems.present, outputs)
    held = OnGpu(*(GpuArray(array) for array in outputs))
    found = GpuBatchOutcomes(batch, held, problems, told)
    if name_jams(batch, found.status, told["friction"], told["facets"]):
        held.status.held.copy_to_device(found.status)
    return found
