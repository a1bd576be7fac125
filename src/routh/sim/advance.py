"""Time goes on: HP23 Theorem 5 and Corollary 3 as checks on trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.models.base import Model, impact_problem
from routh.pointedness import pointedness
from routh.sim.trajectory import Trajectory
from routh.validation import real


@dataclass(frozen=True)
class ImpactDuration:
    """The augmented time that one impact took, and the most that it may take."""

    t: float  # s
    duration: float  # N s, the sum of normal impulse
    bound: float  # N s; infinite where the friction cone is not pointed (HP23 Assumption 2)

    @property
    def share(self) -> float:
        """Duration over bound; at most 1."""
        return self.duration / self.bound


def impact_durations(model: Model, trajectory: Trajectory) -> list[ImpactDuration]:
    """Every impact of a trajectory against an explicit form of Theorem 5's ``s*``.

    With r from Lemma 6, ``r . M^-1 F >= |lambda_n|_1`` for every force F in the friction cone. So the normal
    impulse of an impact is at most ``r . (v+ - v-)``, and since impacts only dissipate, at most
    ``2 |r|_(M^-1) |v-|_M``.
    """
    if trajectory.s is None:
        raise ValueError("trajectory: has no augmented time; wanted one of `routh.simulate`")
    result = []
    moments = {(e.t, e.index) for e in trajectory.events if e.kind.startswith("impact")}
    for t in sorted({t for t, _ in moments}):
        first = min(index for time, index in moments if time == t)
        inside = np.flatnonzero((trajectory.t == trajectory.t[first]) & (np.arange(len(trajectory)) >= first))
        duration = float(trajectory.s[inside[-1]] - trajectory.s[first])
        problem = impact_problem(model, trajectory[first], gap=1e-8)
        cone = pointedness(problem)
        length = float(np.linalg.norm(np.linalg.solve(problem.cholesky, cone.direction)))
        bound = np.inf if cone.jammed else 2.0 * length * problem.speed
        result.append(ImpactDuration(t, duration, bound))
    return result


def slowest_rate(trajectory: Trajectory, *, window: float | None = None) -> float:
    """The least mean ``dt/ds`` over any stretch of augmented time of the given length (Corollary 3).

    Default: a tenth of the whole trajectory, or twice its longest impact where that is more.
    """
    if trajectory.s is None:
        raise ValueError("trajectory: has no augmented time; wanted one of `routh.simulate`")
    s, t = trajectory.s, trajectory.t
    if window is None:
        frozen = [float(s[t == time][-1] - s[t == time][0]) for time in np.unique(t)]
        length = max(0.1 * float(s[-1] - s[0]), 2.0 * max(frozen))
    else:
        length = real("window", window, above=0.0)
    length = min(length, float(s[-1] - s[0]))
    starts = np.union1d(s, s - length)
    starts = starts[(starts >= s[0]) & (starts + length <= s[-1] * (1 + 1e-15))]
    return float(((np.interp(starts + length, s, t) - np.interp(starts, s, t)) / length).min())
