"""The farthest outcome of all solutions that pass through the same contact statuses as a given one.

Solutions of HP23 (39) whose segments have given statuses (who pushes, who sticks, who slides which way)
form a convex set: impulses enter linearly and the statuses are linear conditions at the ends of each segment.
So the farthest outcome in a direction is a linear program; whether a solution is that one already, its
multipliers tell, which is much cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from scipy.optimize import linprog, nnls

from routh import tolerances
from routh.kernels.events import piecewise_path
from routh.paths import ImpactPath
from routh.problem import ImpactProblem
from routh.sampling.statuses import APART, SMOOTH, Program, Statuses
from routh.sampling.straight import path_residual
from routh.step.base import scaled_delassus
from routh.validation import Array

_FEASIBLE = 1e-10  # scaled violation beyond which a solution of the linear program is not used
_ROUNDING = 1e-11  # the same of velocities that are recomputed from impulses
_ACTIVE = 1e-10  # conditions that are met with less room than this may have a multiplier
_OPTIMAL = 1e-9  # share of the cost that multipliers may leave unexplained


@dataclass(frozen=True, eq=False)
class Walk:
    """A solution of straight segments, and its statuses segment by segment."""

    problem: ImpactProblem
    pieces: Array  # (k, 2 nc) scaled impulses (n_1, f_1, n_2, ...) of the segments
    sequence: tuple[Statuses, ...]  # of the segments

    @cached_property
    def path(self) -> ImpactPath:
        """Velocities passed through and impulses between, SI."""
        return piecewise_path(self.problem, self.pieces)

    @property
    def v(self) -> Array:
        """Velocity after, (nv,)."""
        return self.path.v[-1]

    @cached_property
    def residual(self) -> float:
        """Of the model, recomputed from the pieces."""
        return path_residual(self.problem, self.path)


class Polisher:
    """Solutions of one planar inelastic problem with given statuses."""

    def __init__(self, problem: ImpactProblem) -> None:
        self.problem = problem
        self.G, self.mu = scaled_delassus(problem), problem.mu
        start = (problem.contact_velocity() / problem.scaling.velocity[:, None]).ravel()
        self.start = np.where(np.abs(start) > tolerances.ZERO_SPEED, start, 0.0)
        self._worth = problem.response * np.repeat(problem.scaling.impulse, 2)  # (nv, 2 nc)

    def walk(self, pieces: Array) -> Walk:
        """The solution with these scaled impulses (k, 2 nc), segments of equal statuses joined."""
        c = (
            np.concatenate([np.zeros((1, len(self.start))), np.cumsum(pieces @ self.G.T, axis=0)])
            + self.start
        )
        t = np.where(np.abs(c) > _ROUNDING, c, 0.0)[:, 1::2]
        slip = np.sign(t[:-1] + t[1:]).astype(int)
        statuses = np.where(self.mu > 0.0, slip, SMOOTH)
        statuses = np.where(pieces[:, ::2] > 0.0, statuses, APART)
        numbered = zip(map(tuple, statuses.tolist()), pieces, strict=True)
        joined = [(key, sum(p for _, p in group)) for key, group in groupby(numbered, lambda pair: pair[0])]
        sequence = tuple(key for key, _ in joined)
        return Walk(self.problem, np.array([p for _, p in joined]).reshape(-1, len(self.start)), sequence)

    def improved(self, walk: Walk, directions: Array) -> list[Walk]:
        """Farther solutions with a walk's statuses, for those directions (k, nv) in which there are any."""
        program = Program(self.G, self.start, self.mu, walk.sequence)
        wanting = [d for d in directions if not is_farthest(program, walk.pieces, d @ self._worth)]
        return [found for d in wanting if (found := self._solved(program, d)) is not None]

    def extreme(self, sequence: tuple[Statuses, ...], direction: Array) -> Walk | None:
        """The farthest solution in a direction (nv,) with these statuses; None where there is none."""
        return self._solved(Program(self.G, self.start, self.mu, sequence), direction)

    def _solved(self, program: Program, direction: Array) -> Walk | None:
        pieces = farthest(program, direction @ self._worth)
        if pieces is None:
            return None
        moving = np.abs(pieces).sum(axis=1) > 0.0
        moves = tuple(s for s, moved in zip(program.sequence, moving, strict=True) if moved)
        walk = Walk(self.problem, pieces[moving], moves)
        return walk if walk.residual <= tolerances.RESIDUAL else None


def farthest(program: Program, cost: Array) -> Array | None:
    """The impulses (k, 2 nc) of the segments that maximise ``cost . impulse``; None where there are none.

    ``cost`` (2 nc,) is what one unit of each scaled impulse is worth.
    """
    A_eq, b_eq = program.equal
    A_ub, b_ub = program.below
    result = linprog(
        -(cost @ program.effects),
        A_ub,
        b_ub,
        A_eq if len(A_eq) else None,
        b_eq if len(A_eq) else None,
        bounds=program.bounds,
        method="highs-ds",
        options={"primal_feasibility_tolerance": _FEASIBLE},
    )
    if result.status != 0:
        return None
    x = result.x
    violation = max(
        float(np.max(np.abs(A_eq @ x - b_eq), initial=0.0)), float(np.max(A_ub @ x - b_ub, initial=0.0))
    )
    return program.pieces(x) if violation <= _FEASIBLE else None


def is_farthest(program: Program, pieces: Array, cost: Array) -> bool:
    """Whether these impulses are optimal: the cost is a sum of the conditions that hold with equality."""
    x = program.unknowns(pieces)
    A_eq, _ = program.equal
    A_ub, b_ub = program.below
    active = A_ub[b_ub - A_ub @ x <= _ACTIVE]
    walls = -np.eye(len(x))[program.positive & (x <= _ACTIVE)]
    wanted = cost @ program.effects
    columns = np.concatenate([A_eq, -A_eq, active, walls]).T
    if not columns.shape[1]:
        return not wanted.any()
    try:
        _, left = nnls(columns, wanted)
    except RuntimeError:  # too many iterations: not known
        return False
    return bool(left <= _OPTIMAL * np.linalg.norm(wanted))


def joined(sequence: Sequence[Statuses]) -> tuple[Statuses, ...]:
    """Neighbours of equal statuses as one, segments in which nobody pushes left out."""
    pushing = [statuses for statuses in sequence if any(status != APART for status in statuses)]
    return tuple(statuses for statuses, _ in groupby(pushing))
