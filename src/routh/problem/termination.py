"""Does every impact of a set of contacts end? HP19's class N (25), which is weaker than a pointed cone."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from routh.base import tolerances
from routh.base.results import Result
from routh.base.status import Status
from routh.base.validation import Array
from routh.problem.impact import ImpactProblem
from routh.problem.pointedness import pointedness

__all__ = ["Termination", "terminates"]

#: Sets of contacts that are looked at before the answer is "unknown".
_MOST_SETS = 4096
#: A normal of unit length farther than this from a span lies outside it, and nearer than `tolerances.POINTED`
#: inside; between them rounding hides the answer.
_OUTSIDE = 1e-6


@dataclass(frozen=True, eq=False)
class Termination(Result):
    """Whether impacts at these contacts end whatever the velocity before, and what shows it."""

    answer: Literal["proved", "refuted", "unknown"]
    impulse_bound: float  # N s, of all normal impulse from the problem's own velocity; inf: none is proved
    pressing: tuple[str, ...] = ()  # where refuted: contacts whose forces cancel
    velocity: Array | None = None  # (nv,): there they neither approach nor slip, while another one approaches

    @property
    def status(self) -> Status:
        """UNDECIDED where it is neither proved nor refuted."""
        return Status.UNDECIDED if self.answer == "unknown" else Status.SOLVED


def terminates(problem: ImpactProblem) -> Termination:
    """Decide whether the contacts lie in HP19's class N (25), for Coulomb's true cone.

    Zero is a rate of (39) at a velocity v exactly where forces cancel at contacts that neither approach nor,
    with friction, slip there: energy would fall otherwise. An impact that stands still so has not ended where
    another contact approaches. Such velocities are the null space of the pressing contacts' rows, so it is
    enough to look at every smallest set of contacts whose forces can cancel.
    """
    cone = pointedness(problem)
    if cone.pointed:
        length = float(np.linalg.norm(np.linalg.solve(problem.cholesky, cone.direction)))
        # Lemma 6: the normal impulse is at most r . (v+ - v-), and |v+| <= |v-|
        return Termination("proved", 2.0 * length * problem.speed)
    sure, looked, smallest = True, 0, list[set[int]]()
    for size in range(1, problem.nc + 1):
        for chosen in itertools.combinations(range(problem.nc), size):
            if any(known <= set(chosen) for known in smallest):
                continue
            looked += 1
            if looked > _MOST_SETS:
                return Termination("unknown", math.inf)
            part = pointedness(problem.subset(chosen))
            if part.pointed:
                continue
            smallest.append(set(chosen))
            velocity, inside = _approach_left(problem, chosen)
            if velocity is not None and part.ceiling <= tolerances.POINTED:
                names = tuple(problem.names[i] for i in chosen)
                return Termination("refuted", math.inf, names, velocity)
            sure = sure and inside
    if not sure:
        return Termination("unknown", math.inf)
    return Termination("proved", _between_parallel_walls(problem))


def _approach_left(problem: ImpactProblem, chosen: tuple[int, ...]) -> tuple[Array | None, bool]:
    """A velocity (nv,) at which another contact approaches while these stay, or None; whether none exists."""
    rows = [problem.J[i] if problem.mu[i] > 0.0 else problem.Jn[i : i + 1] for i in chosen]
    held = np.linalg.solve(problem.cholesky, np.concatenate(rows).T).T
    held = held / np.maximum(np.linalg.norm(held, axis=1, keepdims=True), np.finfo(float).tiny)
    _, values, across = np.linalg.svd(held, full_matrices=False)
    normals = problem.impulse_columns.T[:: 1 + problem.nt]
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    # what may be in the span counts where an approach is claimed, what must be where there is none
    most, least = across[values > 1e-13], across[values > _OUTSIDE]
    beyond = normals - (normals @ most.T) @ most
    farthest = int(np.argmax(np.linalg.norm(beyond, axis=1)))
    if np.linalg.norm(beyond[farthest]) > _OUTSIDE:
        return np.linalg.solve(problem.cholesky.T, -beyond[farthest]), False
    left = np.linalg.norm(normals - (normals @ least.T) @ least, axis=1)
    return None, bool(left.max() <= tolerances.POINTED)


def _between_parallel_walls(problem: ImpactProblem) -> float:
    """The bound where no contact has friction and all normals are parallel: y = n.v goes to zero and stays.

    Contacts that face the other way cannot push while these do, so the sum of c_i lambda_i is |y|.
    """
    normals = problem.impulse_columns.T[:: 1 + problem.nt]
    _, values, across = np.linalg.svd(normals, full_matrices=False)
    if problem.mu.any() or (len(values) > 1 and not values[1] <= tolerances.RANK * values[0]):
        return math.inf
    along = normals @ across[0]
    y = float(across[0] @ (problem.cholesky.T @ problem.v))
    pushing = along * y < 0.0
    return abs(y) / float(np.abs(along[pushing]).min()) if pushing.any() else 0.0
