"""Outcomes that stay on the GPU until asked for: summaries are made there, arrays are copied one by one.

In order: what holds the arrays, outcomes of one impact and how they are drawn, outcomes of a batch.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import ImpactPath
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options
from routh.gpu.events import MANY, begin_samples, make_gpu_outputs, run_batch
from routh.gpu.fold import Fold, Judge, best_sample, far_samples, fold, make_judge
from routh.gpu.judge import diameters_of_rows, energies_of_rows, extremes_of_rows, judge_rows
from routh.gpu.memory import DeviceArray, GpuArray, fetch, send
from routh.gpu.plane import event_sampler, first_patterns
from routh.kernels.common.arrays import RATES, Draw, Outputs, make_rows
from routh.problem.batch import ImpactBatch
from routh.problem.friction import friction_polygon
from routh.problem.impact import ImpactProblem
from routh.problem.rows import Problems
from routh.sampling.ambiguity import Direction, Extreme, as_functional, farthest_pair
from routh.sampling.batch import FEW, BatchExtreme, BatchOutcomes
from routh.sampling.batch_events import energy_units, name_jams
from routh.sampling.events import Again
from routh.sampling.outcomes import ModeRow, Outcomes, mode_rows
from routh.sampling.settings import ByEvents


class OnGpu(NamedTuple):
    """The arrays of outcomes in the GPU's memory; shapes as in `Outcomes`, or `BatchOutcomes`."""

    v: GpuArray
    impulse: GpuArray
    status: GpuArray
    steps: GpuArray
    residual: GpuArray
    error: GpuArray  # (0,) of a single problem in the plane, whose samples have none
    work: GpuArray  # (..., 2, nc): stored and returned, shares of |v|_M^2; (..., 2, 0) without restitution


class CopiedWhenAsked(ABC):
    """The arrays of outcomes that are on the GPU, each copied when it is first asked for."""

    on_gpu: OnGpu

    @cached_property
    def v(self) -> Array:
        """Velocities after, (..., nv)."""
        return self.on_gpu.v.numpy()

    @cached_property
    def impulse(self) -> Array:
        """Total impulses, (..., nc, 1 + nt) N s, normal first."""
        return self.on_gpu.impulse.numpy()

    @cached_property
    def steps(self) -> np.ndarray:
        """Pieces of the path, (...,)."""
        return self.on_gpu.steps.numpy()

    @cached_property
    def status(self) -> np.ndarray:
        """Status of each sample, (...,) int8, see routh.Status."""
        return self.on_gpu.status.numpy()

    @cached_property
    def residual(self) -> Array:
        """Largest scaled residual of each sample, (...,)."""
        return self.on_gpu.residual.numpy()

    @property
    @abstractmethod
    def _joule(self) -> float | Array:
        """``|v|_M^2``, to be multiplied with work (..., 2, nc)."""

    @cached_property
    def _work(self) -> Array | None:
        return self.on_gpu.work.numpy() * self._joule if self.on_gpu.work.shape[-1] else None

    @property
    def stored(self) -> Array | None:
        """Work taken up while approaching, (..., nc) J; None without restitution."""
        return None if self._work is None else self._work[..., 0, :]

    @property
    def returned(self) -> Array | None:
        """Work given back, (..., nc) J; None without restitution."""
        return None if self._work is None else self._work[..., 1, :]

    def __len__(self) -> int:
        return len(self.on_gpu.v)


class GpuOutcomes(CopiedWhenAsked, Outcomes):
    """`Outcomes` whose arrays are on the GPU, in ``on_gpu``, and are copied when they are first asked for.

    ``status_counts``, ``summary``, ``mean``, ``extreme`` and ``ambiguity`` copy small tables only.
    """

    _judge: Judge  # on the GPU

    def __init__(
        self,
        problem: ImpactProblem,
        on_gpu: OnGpu,
        settings: Options,
        *,
        curved: bool,
        judge: Judge,
        replay: Callable[[Outcomes, int], ImpactPath] | None = None,
        jam_known: bool | None = None,
    ) -> None:
        given = {"problem": problem, "on_gpu": on_gpu, "settings": settings, "replay": replay}
        for name, value in {**given, "jam_known": jam_known, "_curved": curved, "_judge": judge}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def error(self) -> Array | None:
        """Sum of the local errors along a curved path, (n,), a share of the speed; None where straight."""
        return self.on_gpu.error.numpy() if self.__dict__["_curved"] else None

    @property
    def _joule(self) -> float:
        return self.problem.scaling.speed**2

    def host(self) -> Outcomes:
        """The same outcomes with all arrays on the host."""
        return Outcomes(**{field.name: getattr(self, field.name) for field in fields(Outcomes)})

    @cached_property
    def _fold(self) -> Fold:
        return fold(self.on_gpu.v, self.on_gpu.status, self._judge)

    @property
    def _all_solved(self) -> bool:
        """Whether the device, which folds all samples that have ended, folds outcomes only."""
        return all(status.ok for status in self.status_counts())

    def status_counts(self) -> dict[Status, int]:
        """How many samples ended with which status."""
        return {Status(code): int(count) for code, count in enumerate(self._fold.status) if count}

    def summary(self, threshold: float = 0.0) -> list[ModeRow]:
        """Combinations of contact modes among the solved samples, see `Outcomes.summary`.

        With a ``threshold``, or where some are not solved, the velocities are fetched.
        """
        table = self._fold.combinations
        if len(table) == 0 or threshold > 0.0 or not self._all_solved:
            return super().summary(threshold)
        seen = np.flatnonzero(table[:, 0])
        digits = seen[:, None] // 3 ** np.arange(self.problem.nc) % 3
        return mode_rows(digits, table[seen], len(self))

    @property
    def mean(self) -> Array:
        """The mean velocity of the solved samples, (nv,); NaN where there is none."""
        if not self._all_solved:
            rows = self.solved
            return self.v[rows].mean(axis=0) if rows.any() else np.full(self.problem.nv, np.nan)
        return self._fold.total / self._fold.ended if self._fold.ended else np.full(self.problem.nv, np.nan)

    @cached_property
    def ambiguity(self) -> float:
        """Diameter of the set over the speed before, in the kinetic-energy norm."""
        if not self._all_solved:
            return super().ambiguity
        far = far_samples(self.on_gpu.v, self._judge, self.problem, self.mean)
        if far is None:
            return super().ambiguity
        return farthest_pair(far @ self.problem.cholesky)[0] / self.problem.scaling.speed

    def extreme(self, direction: Direction) -> Extreme:
        """The outcome farthest along a direction, see `routh.sampling.ambiguity.extreme`."""
        if not self._all_solved:
            return super().extreme(direction)
        along = as_functional(self.problem, direction)
        origin = np.zeros(self.problem.nv)
        value, index = best_sample(self.on_gpu.v, self._judge, along[None], origin, linear=True)
        if index < 0:
            raise InputError("outcomes", wrong="no sample is solved", wanted="at least one outcome")
        here = slice(index, index + 1)
        v, impulse = (array[here].numpy()[0] for array in (self.on_gpu.v, self.on_gpu.impulse))
        return Extreme(index, v, impulse, value, along)

    def __repr__(self) -> str:
        solved = sum(count for status, count in self.status_counts().items() if status.ok)
        return f"Outcomes(n={len(self)}, solved={solved}, on the GPU, {self.problem!r})"


def _draws(drawing: ByEvents, n: int) -> Draw:
    """What the kernels are told; a function cannot be called from them."""
    if callable(drawing.rates):
        raise InputError("rates", got="a function", wanted=f"one of {', '.join(RATES)} with device 'cuda'")
    return drawing.draws(n)


def gpu_outcomes(problem: ImpactProblem, n: int, drawing: ByEvents) -> GpuOutcomes:
    """Samples of one problem."""
    draw, told, budget = _draws(drawing, n), drawing.record(), drawing.budget
    nt, nc = problem.nt, problem.nc
    elastic = bool(np.any(problem.restitution > 0.0))
    prepared = make_rows([problem])
    patterns = first_patterns(prepared, draw) if nt == 1 and n >= MANY else None
    curved = nt == 2 and drawing.friction == "cone"
    corners = friction_polygon(drawing.friction, drawing.facets, nt)
    undone = np.array([Status.OUT_OF_TIME], np.int8)
    along = prepared, np.ones(1, bool), undone, make_judge(problem)
    sampler = event_sampler(draw, nc, corners, elastic=elastic, patterns=patterns, along=along)
    rows, wanted, undone, judge = sampler.along
    outputs = make_gpu_outputs((1, n), problem.nv, nc, 1 + nt, elastic=elastic, exact=nt == 1)
    approaches = bool(np.any(~(prepared.start[0, : 2 * prepared.nc[0] : 2] >= -tolerances.APPROACH)))
    if nt == 2 or budget is not None or not approaches:  # else every entry will be written
        begin_samples(rows.before, undone, outputs)
    sampler.run(rows, wanted, outputs, draw.row, None if budget is None else time.monotonic() + budget)
    held = OnGpu(*(array[0] for array in outputs))
    given = {"curved": curved, "judge": judge, "replay": Again()}
    found = GpuOutcomes(problem, held, told, **given)
    if Status.MAX_STEPS not in found.status_counts() or not found.jammed:
        return found
    named = found.status
    named[named == Status.MAX_STEPS] = Status.JAMMED
    held.status.copy_to_device(named)
    return GpuOutcomes(problem, held, told, **given, jam_known=True)


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
        return energy_units(self.batch)[:, None]

    @cached_property
    def _on_gpu_judged(self) -> tuple[DeviceArray, DeviceArray]:
        return judge_rows(self.__dict__["_problems"], self._unknown, self.on_gpu.v)

    @cached_property
    def _judged(self) -> tuple[np.ndarray, np.ndarray]:
        ended, modes = self._on_gpu_judged
        return fetch(ended), fetch(modes)

    @property
    def _all_solved(self) -> bool:
        """Whether what has ended, by which the device judges, is what is solved."""
        return bool(np.all(self.solved[~self._unknown]))

    @property
    def kinetic_energy(self) -> Array:
        """Kinetic energies after, (rows, n) J."""
        return fetch(energies_of_rows(self.__dict__["_problems"], self.on_gpu.v))

    @cached_property
    def ambiguity(self) -> Array:
        """Diameter of each row's outcomes over its speed before, in the kinetic-energy norm, (rows,)."""
        if self.on_gpu.status.shape[1] > FEW or not self._all_solved:
            return super().ambiguity
        skip = np.asarray(self.batch.status != Status.SOLVED)
        ended = self._on_gpu_judged[0]
        found = fetch(diameters_of_rows(self.__dict__["_problems"], skip, self.on_gpu.v, ended))
        found[np.isin(self.batch.status, (Status.NO_CONTACT, Status.NO_IMPACT))] = 0.0
        return found

    def extreme(self, direction: ArrayLike | str | tuple[int | str, ArrayLike]) -> BatchExtreme:
        """The solved outcome of each row that is farthest along a direction, see `BatchOutcomes`."""
        if not self._all_solved:
            return super().extreme(direction)
        along = self._functionals(direction)
        found = extremes_of_rows(self.on_gpu.v, self._on_gpu_judged[0], along)
        index, value, v = (fetch(array) for array in found)
        return BatchExtreme(index, v, value, along)


def gpu_batch_outcomes(batch: ImpactBatch, n: int, drawing: ByEvents) -> GpuBatchOutcomes:
    """The samples of every row; row k draws the numbers of row ``drawing.row + k``."""
    draw = _draws(drawing, n)
    problems, outputs = begun(batch, n)
    impact = batch.status == Status.SOLVED
    tangents = batch.size[:, 2] if batch.on_gpu is None else batch.nt  # those that came from a GPU are alike
    deadline = None if drawing.budget is None else time.monotonic() + drawing.budget
    for nt, elastic in product((1, 2), (False, True)):
        wanted = impact & (tangents == nt) & (batch.bounces == elastic)
        if not wanted.any():
            continue
        corners = friction_polygon(drawing.friction, drawing.facets if nt == 2 else None, nt)
        sampler = event_sampler(draw, batch.nc, corners, elastic=elastic)
        run_batch(problems, wanted, outputs, sampler, draw.row, deadline)
    return ended(batch, problems, outputs, drawing.record())


def begun(batch: ImpactBatch, n: int) -> tuple[Problems, Outputs]:
    """The batch on the GPU, and room for n samples of each row: those to be drawn are OUT_OF_TIME."""
    problems = send(batch.arrays) if batch.on_gpu is None else batch.on_gpu
    elastic = bool(batch.bounces.any())
    outputs = make_gpu_outputs((len(batch), n), batch.nv, batch.nc, 1 + batch.nt, elastic=elastic)
    before = np.where(batch.status == Status.SOLVED, Status.OUT_OF_TIME, batch.status).astype(np.int8)
    begin_samples(problems.v, send(before), outputs)
    return problems, outputs


def ended(batch: ImpactBatch, problems: Problems, outputs: Outputs, told: Options) -> GpuBatchOutcomes:
    """Outcomes from what was drawn; ``told``: the settings."""
    held = OnGpu._make(outputs)
    found = GpuBatchOutcomes(batch, held, problems, told)
    if name_jams(batch, found.status, told["friction"], told["facets"]):
        held.status.copy_to_device(found.status)
    return found
