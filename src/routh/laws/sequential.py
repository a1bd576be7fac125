"""The sequential law: one contact after the other, until no contact approaches (HP23 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base import tolerances
from routh.base.results import ImpactPath, PathKind
from routh.base.status import InputError, Status
from routh.base.validation import Array, choice, integer
from routh.laws.base import ImpactLaw, ImpactResult, energy_checked, require_inelastic
from routh.laws.single_contact import routh_path
from routh.problem.impact import ImpactProblem
from routh.step import PolyhedralStep, make_step
from routh.step.cone import ConeStep


@dataclass(frozen=True)
class Sequential(ImpactLaw):
    """Single impacts in a given order, repeated cyclically.

    With restitution each single impact is Newton's, ``y+ = -e y-`` (`Moreau` at one contact), and friction
    can gain energy: then the status is ENERGY_GAINED. The outcome depends on the order.

    Parameters
    ----------
    order : contacts by index or name; default all of them, as they are numbered.
    rule : how a single impact is resolved: "complementarity" (HP23 (31)) or "routh" (Routh's method; planar).
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    max_impacts : single impacts before the law gives up, with status MAX_STEPS.
    """

    order: tuple[int | str, ...] | None = None
    rule: str = "complementarity"
    friction: str = "cone"
    facets: int | None = None
    max_impacts: int = 10_000

    honours_restitution = True

    def __post_init__(self) -> None:
        choice("rule", self.rule, ("complementarity", "routh"))
        integer("max_impacts", self.max_impacts, at_least=1)
        if self.order is not None:
            if isinstance(self.order, str) or len(self.order) == 0:
                raise InputError(
                    "order", got=repr(self.order), wanted="a sequence of contact indices or names"
                )
            object.__setattr__(self, "order", tuple(self.order))

    def check(self, problem: ImpactProblem) -> None:
        """Raise where the rule or the order does not fit the problem."""
        super().check(problem)
        self._order(problem)
        if self.rule == "routh":
            require_inelastic(problem, "Sequential(rule='routh')")
        if self.rule == "routh" and problem.nt != 1:
            raise InputError(
                "rule", got="'routh' for a spatial problem; it is exact for planar contacts only"
            )

    def _order(self, problem: ImpactProblem) -> list[int]:
        return [problem.index(c) for c in (range(problem.nc) if self.order is None else self.order)]

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after the last single impact."""
        order = self._order(problem)
        singles = {i: problem.subset([i]) for i in order}
        steps = {
            i: make_step(single, friction=self.friction, facets=self.facets) for i, single in singles.items()
        }
        unit = problem.scaling.velocity
        velocities, impulses = [problem.v], [np.zeros((problem.nc, 1 + problem.nt))][:0]
        residual, idle, position = 0.0, 0, 0
        status = Status.MAX_STEPS
        while len(impulses) < self.max_impacts:
            v = velocities[-1]
            approach = problem.Jn @ v < -tolerances.APPROACH * unit
            if not np.any(approach):
                status = Status.SOLVED
                break
            if idle == len(order):  # a whole round without an impact: a contact that is not in the order
                break
            i = order[position % len(order)]
            position += 1
            if not approach[i]:
                idle += 1
                continue
            idle = 0
            impulse = np.zeros((problem.nc, 1 + problem.nt))
            impulse[i], gap, solved = self._single(singles[i], steps[i], v)
            residual = max(residual, gap)
            impulses.append(impulse)
            velocities.append(problem.apply(impulse, v))
            if not solved:
                status = Status.NUMERICAL
                break
        implicit = self.rule == "complementarity" and not np.any(problem.restitution)
        kind = PathKind.IMPLICIT if implicit else PathKind.TOTAL
        increments = np.array(impulses).reshape(-1, problem.nc, 1 + problem.nt)
        path = ImpactPath(np.array(velocities), increments, kind)
        status = energy_checked(problem, path.v[-1], status)
        return ImpactResult(problem, path.v[-1].copy(), path.impulse.sum(axis=0), status, path, residual)

    def _single(
        self, single: ImpactProblem, step: PolyhedralStep | ConeStep, v: Array
    ) -> tuple[Array, float, bool]:
        if self.rule == "routh":
            increments = routh_path(single.delassus, single.contact_velocity(v)[0], float(single.mu[0]))
            return increments.sum(axis=0), 0.0, bool(np.all(np.isfinite(increments)))
        rebound = single.restitution * np.maximum(-(single.Jn @ v), 0.0)
        result = step.solve(v, None, rebound=rebound)
        return result.impulse[0], result.residual, result.status is Status.SOLVED
