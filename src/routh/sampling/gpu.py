"""Outcomes that stay on the GPU until asked for: summaries are made there, arrays are copied one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from routh.kernels.gpu.fold import Fold, Judge, best_sample, far_samples, fold
from routh.kernels.gpu.memory import GpuArray
from routh.paths import ImpactPath
from routh.problem import ImpactProblem
from routh.sampling.ambiguity import Direction, Extreme, as_functional, farthest_pair
from routh.sampling.outcomes import ModeRow, Outcomes, mode_rows
from routh.status import Status
from routh.validation import Array, Options


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
        return fold(self.on_gpu.v.held, self.on_gpu.status.held, self._judge)

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
        far = far_samples(self.on_gpu.v.held, self._judge, self.problem, self.mean)
        if far is None:
            return super().ambiguity
        return farthest_pair(far @ self.problem.cholesky)[0] / self.problem.scaling.speed

    def extreme(self, direction: Direction) -> Extreme:
        """The outcome farthest along a direction, see `routh.sampling.ambiguity.extreme`."""
        if not self._all_solved:
            return super().extreme(direction)
        along = as_functional(self.problem, direction)
        origin = np.zeros(self.problem.nv)
        value, index = best_sample(self.on_gpu.v.held, self._judge, along[None], origin, linear=True)
        if index < 0:
            raise ValueError("outcomes: no sample is solved; wanted at least one outcome")
        here = slice(index, index + 1)
        v, impulse = (GpuArray(array.held[here]).numpy()[0] for array in (self.on_gpu.v, self.on_gpu.impulse))
        return Extreme(index, v, impulse, value, along)

    def __repr__(self) -> str:
        solved = sum(count for status, count in self.status_counts().items() if status.ok)
        return f"Outcomes(n={len(self)}, solved={solved}, on the GPU, {self.problem!r})"
