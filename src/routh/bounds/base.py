"""What every outer bound is: one certified number for each direction and each contact that may stop last."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from routh.problem import ImpactProblem
from routh.validation import Array, deadline_of, real_array


@dataclass(frozen=True, eq=False)
class OuterBound(ABC):
    """A convex outer bound on the set of outcomes; every outcome has a contact that stopped last."""

    problem: ImpactProblem = field(repr=False)

    @property
    @abstractmethod
    def method(self) -> str:
        """How the bound is obtained."""

    @abstractmethod
    def bound(self, direction: Array, last: int) -> float:
        """Upper bound on ``direction . v+``, (nv,), over outcomes with the contact ``last`` at rest."""

    def support(self, direction: ArrayLike, *, budget: float | None = None) -> float | Array:
        """Upper bound on ``direction . v+`` over all outcomes, for (nv,) or (k, nv).

        ``budget`` are seconds: directions that are not begun by then are bounded by infinity.
        """
        deadline = deadline_of(budget)
        nv = self.problem.nv
        d = real_array("direction", direction, [(nv,), (None, nv)], f"shape ({nv},) or (k, {nv})")
        if d.ndim == 2:
            late = lambda: time.monotonic() >= deadline  # noqa: E731
            return np.array([np.inf if late() else self.support(row) for row in d])
        return max(self.bound(d, last) for last in range(self.problem.nc))
