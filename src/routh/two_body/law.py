"""One contact with friction and restitution, in space or in the plane (JW17; Wang and Mason 1992)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base.results import ImpactPath, PathKind
from routh.base.status import Status
from routh.base.validation import Array, choice
from routh.laws.base import ImpactLaw, ImpactResult
from routh.problem.impact import HYPOTHESES, ImpactProblem
from routh.two_body import TwoBodyImpact, hodograph, impact


@dataclass(frozen=True)
class TwoBody(ImpactLaw):
    """Coulomb's friction followed through compression and restitution, with restitution by a hypothesis.

    ``hypothesis`` is "energetic" (energy; never creates any), "poisson" (impulse) or "newton" (velocity). In
    the plane every segment is a straight line, so the answer is exact.
    """

    hypothesis: str = "energetic"

    honours_restitution = one_contact = True

    def __post_init__(self) -> None:
        choice("hypothesis", self.hypothesis, HYPOTHESES)

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after the impact of a problem with one contact."""
        solved = self.solve(problem)
        order = [2, *range(problem.nt)]  # normal first
        grown = self._breakpoints(problem, solved)[:, None, order]
        velocities = problem.apply(grown)
        steps = np.diff(grown, axis=0, prepend=0.0)
        kind = PathKind.STRAIGHT if problem.nt == 1 else PathKind.TOTAL
        path = ImpactPath(np.concatenate([problem.v[None], velocities]), steps, kind)
        return ImpactResult(problem, velocities[-1], grown[-1], solved.status, path, solved.residual)

    def _breakpoints(self, problem: ImpactProblem, solved: TwoBodyImpact) -> Array:
        """Impulses (k, 3) between which the path is straight; in space, where it is curved, the last one."""
        if problem.nt == 2 or solved.status is not Status.SOLVED:
            return solved.impulse[None]
        w, v = contact_space(problem)
        mu, e = float(problem.mu[0]), float(problem.restitution[0])
        course = hodograph(w, v, mu, e, hypothesis=self.hypothesis, points=2).impulse[:-1]
        return np.concatenate([course[np.diff(course[:, 2], prepend=0.0) > 0.0], solved.impulse[None]])

    def solve(self, problem: ImpactProblem) -> TwoBodyImpact:
        """The contact's own impact: events, energies and the margin of JW17's condition (18)."""
        w, v = contact_space(problem)
        return impact(w, v, float(problem.mu[0]), float(problem.restitution[0]), hypothesis=self.hypothesis)


def contact_space(problem: ImpactProblem) -> tuple[Array, Array]:
    """W (3, 3) and v (3,) of the first contact in JW17's order x, y, normal.

    A planar contact gets a second tangent along which nothing moves: it then slides along x only.
    """
    size = 1 + problem.nt
    g, v = problem.delassus[:size, :size], problem.contact_velocity()[0]
    if problem.nt == 1:
        w = np.diag([g[1, 1], g[1, 1], g[0, 0]])
        w[0, 2] = w[2, 0] = g[0, 1]
        return w, np.array([v[1], 0.0, v[0]])
    order = [1, 2, 0]
    return g[np.ix_(order, order)], v[order]
