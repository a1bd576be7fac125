"""What every impact law shares: the protocol, its result, and the refusal of what it cannot honour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from routh.problem import ImpactProblem
from routh.status import Status
from routh.validation import Array


@dataclass(frozen=True, eq=False)
class ImpactPath:
    """How an impact went: the velocities passed through and the impulse increments between them."""

    v: Array  # (k + 1, nv), first the velocity before, last the velocity after
    impulse: Array  # (k, nc, 1 + nt), N s, increments, normal first


@dataclass(frozen=True, eq=False)
class ImpactResult:
    """One outcome of one impact."""

    problem: ImpactProblem = field(repr=False)
    v: Array  # (nv,) velocity after
    impulse: Array  # (nc, 1 + nt) total impulse, N s, normal first
    status: Status
    path: ImpactPath = field(repr=False)
    residual: float = 0.0  # largest scaled residual of the steps, dimensionless

    @property
    def contact_velocity(self) -> Array:
        """Contact velocities after, (nc, 1 + nt), m/s, normal first."""
        return self.problem.contact_velocity(self.v)

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy after, J."""
        return float(self.problem.kinetic_energy(self.v))


class ImpactLaw(Protocol):
    """A rule that turns an impact problem into one outcome.

    ``without_collision`` names contacts (index or name) at which an impact is wanted although nothing
    approaches: the limit of an approach speed going to zero (Painlevé's paradox).
    """

    def __call__(
        self,
        problem: ImpactProblem,
        rng: np.random.Generator | None = None,
        *,
        without_collision: Sequence[int | str] = (),
    ) -> ImpactResult:
        """The velocity after the impact."""
        ...


def require_inelastic(problem: ImpactProblem, law: str) -> None:
    """Raise where a law that knows no restitution is given some: it is never ignored."""
    if np.any(problem.restitution != 0.0):
        raise ValueError(
            f"restitution: got {problem.restitution.max():g}; {law} is inelastic and wants 0 at every contact"
        )


def unchanged(problem: ImpactProblem) -> ImpactResult:
    """The result where no contact approaches: nothing happens."""
    impulse = np.zeros((problem.nc, 1 + problem.nt))
    path = ImpactPath(problem.v[None, :].copy(), impulse[None][:0])
    return ImpactResult(problem, problem.v.copy(), impulse, Status.NO_IMPACT, path)
