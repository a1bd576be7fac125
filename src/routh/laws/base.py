"""What every impact law shares: its checks, impacts without collision, and the form of its result.

An impact without collision is the limit of an approach speed that goes to zero (Painlevé; HP23 2.2.3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from routh.base import tolerances
from routh.base.results import Drawable, ImpactPath
from routh.base.status import InputError, Status
from routh.base.validation import Array
from routh.problem.impact import ImpactProblem, no_impact

# Approach speed given to the named contacts, as a share of the speed before: above the share at which laws
# take an impact for ended, or they would end it before it began. Impulses of an impact without collision do
# not go to zero with it, those of an ordinary contact at rest do.
NUDGE = 3.0 * tolerances.APPROACH


def with_approach(problem: ImpactProblem, contacts: Sequence[int | str]) -> ImpactProblem | None:
    """The problem to solve: with a vanishing approach at ``contacts``; None where nothing approaches.

    The velocity is moved as little as possible in the kinetic-energy norm, and only what contacts have of it:
    an approach that vanishes beside a body's motion may be fast beside the slip of its light foot.
    """
    rows = sorted({problem.index(contact) for contact in contacts})
    if not rows:
        return problem if np.any(problem.approaching) else None
    own = _of_contacts(problem)
    if np.linalg.norm(problem.cholesky.T @ own) > tolerances.STILL * problem.speed:
        problem = problem.replace(v=own)
    normals = problem.Jn[rows]
    wanted = -NUDGE * problem.scaling.velocity[rows]
    lacking = np.minimum(wanted - normals @ problem.v, 0.0)
    response = problem.solve_mass(normals.T)  # (nv, k)
    change = response @ np.linalg.lstsq(normals @ response, lacking, rcond=None)[0]
    return problem.replace(v=problem.v + change)


def _of_contacts(problem: ImpactProblem) -> Array:
    """The least velocity with the contact velocities of a problem, (nv,): impulses depend on no more."""
    whole = problem.cholesky.T @ problem.v
    share = np.linalg.lstsq(problem.impulse_columns, whole, rcond=None)[0]
    return np.asarray(np.linalg.solve(problem.cholesky.T, problem.impulse_columns @ share))


@dataclass(frozen=True, eq=False)
class ImpactResult(Drawable):
    """One outcome of one impact."""

    problem: ImpactProblem = field(repr=False)
    v: Array  # (nv,) velocity after
    impulse: Array  # (nc, 1 + nt) total impulse, N s, normal first
    status: Status
    path: ImpactPath = field(repr=False)
    residual: float = 0.0  # largest scaled residual of the steps, dimensionless
    stored: Array | None = None  # (nc,) J, taken up while approaching; by `SetValued` with restitution
    returned: Array | None = None  # (nc,) J, given back while separating; likewise

    @property
    def contact_velocity(self) -> Array:
        """Contact velocities after, (nc, 1 + nt), m/s, normal first."""
        return self.problem.contact_velocity(self.v)

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy after, J."""
        return float(self.problem.kinetic_energy(self.v))


class ImpactLaw(ABC):
    """A rule that turns an impact problem into one outcome.

    A law says what it can do by the attributes below and writes `resolve`; the kind of its path
    (`routh.base.results.PathKind`) stands in the path that it returns.
    """

    honours_restitution: ClassVar[bool] = False
    planar: ClassVar[bool] = False  # contacts in the plane only
    one_contact: ClassVar[bool] = False  # one contact only; repetitions of it share its impulse

    def __call__(
        self,
        problem: ImpactProblem,
        rng: np.random.Generator | None = None,
        *,
        without_collision: Sequence[int | str] = (),
    ) -> ImpactResult:
        """The outcome of an impact by this law.

        ``rng`` is for laws that draw. ``without_collision`` names contacts (index or name) at which an impact
        is wanted although nothing approaches: the limit of an approach speed going to zero (Painlevé).
        """
        if not isinstance(problem, ImpactProblem):
            raise no_impact(problem)
        self.check(problem)
        start = with_approach(problem, without_collision)
        if start is None:
            return unchanged(problem)
        if self.one_contact and problem.nc > 1:
            return _moved(_spread(self.resolve(start.subset([0]), rng), problem.nc), problem, start)
        return _moved(self.resolve(start, rng), problem, start)

    @abstractmethod
    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The outcome of a problem that passed `check`, in which some contact approaches."""

    def check(self, problem: ImpactProblem) -> None:
        """Raise ValueError where the law cannot honour the problem."""
        name = type(self).__name__
        if not self.honours_restitution:
            require_inelastic(problem, name)
        many = self.one_contact and not _all_the_same(problem)
        if many or (self.planar and problem.nt != 1):
            number = "one " if self.one_contact else ""
            plane = "planar " if self.planar else ""
            noun = "contact" if self.one_contact else "contacts"
            raise InputError(
                "problem", got=f"nc={problem.nc}, nt={problem.nt}; {name} wants {number}{plane}{noun}"
            )


def require_inelastic(problem: ImpactProblem, law: str) -> None:
    """Raise where a law that knows no restitution is given some: it is never ignored."""
    if np.any(problem.restitution != 0.0):
        raise InputError(
            "restitution",
            got=f"{problem.restitution.max():g}; {law} is inelastic and wants 0 at every contact",
        )


def unchanged(problem: ImpactProblem) -> ImpactResult:
    """The result where no contact approaches: nothing happens."""
    impulse = np.zeros((problem.nc, 1 + problem.nt))
    path = ImpactPath(problem.v[None, :].copy(), impulse[None][:0])
    return ImpactResult(problem, problem.v.copy(), impulse, Status.NO_IMPACT, path)


def at_once(problem: ImpactProblem, impulse: Array, status: Status, residual: float) -> ImpactResult:
    """The result of one impulse (nc, 1 + nt) for the whole impact, see `in_phases`."""
    return in_phases(problem, [impulse], status, residual)


def in_phases(
    problem: ImpactProblem, impulses: Sequence[Array], status: Status, residual: float
) -> ImpactResult:
    """The result of impulses (nc, 1 + nt) one after the other; it says so where they add energy."""
    path = problem.path(np.stack(impulses))
    status = energy_checked(problem, path.v[-1], status)
    return ImpactResult(problem, path.v[-1].copy(), path.impulse.sum(axis=0), status, path, residual)


def has_ended(problem: ImpactProblem, v: Array) -> bool:
    """Whether no contact approaches any more, relative to the speed before (HP23's stopping rule)."""
    return bool(np.all(problem.Jn @ v >= -tolerances.APPROACH * problem.scaling.velocity))


def energy_checked(problem: ImpactProblem, v: Array, status: Status) -> Status:
    """The status of a velocity after: whether what was solved has gained energy or is no number."""
    if not np.all(np.isfinite(v)):
        return Status.NUMERICAL
    gained = problem.kinetic_energy(v) > problem.kinetic_energy() * (1.0 + 1e-9)
    return Status.ENERGY_GAINED if status is Status.SOLVED and gained else status


def _all_the_same(problem: ImpactProblem) -> bool:
    """Whether all contacts repeat the first one: that changes nothing, they only share its impulse."""
    if problem.nc == 1:
        return True
    same_rows = np.array_equal(problem.J, np.broadcast_to(problem.J[:1], problem.J.shape))
    values = np.stack([problem.mu, problem.restitution])
    return same_rows and bool(np.all(values == values[:, :1]))


def _spread(result: ImpactResult, nc: int) -> ImpactResult:
    """A result of the first contact as one of all contacts that repeat it."""
    steps = np.zeros((len(result.path.impulse), nc, result.impulse.shape[1]))
    steps[:, :1] = result.path.impulse
    return replace(result, impulse=steps.sum(axis=0), path=replace(result.path, impulse=steps))


def _moved(result: ImpactResult, problem: ImpactProblem, start: ImpactProblem) -> ImpactResult:
    """The result for the velocity that was given: an impact without collision starts from a moved one."""
    if start is problem:
        return result
    offset = problem.v - start.v
    path = replace(result.path, v=result.path.v + offset)
    return replace(result, problem=problem, v=result.v + offset, path=path)
