"""What can be made as bad as possible: functions of the velocity after, the larger the worse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import Array, real_array
from routh.problem.impact import ImpactProblem
from routh.sampling.ambiguity import Direction, as_functional

_STEP = 6e-6  # share of the speed: step of differences, where an objective has no gradient of its own
_SLACK = 1e-12  # share of the largest eigenvalue by which a quadratic may fail to be convex, by rounding


class Objective(ABC):
    """A function of the velocity after an impact; larger is worse."""

    convex: ClassVar = False  # whether the largest value over a polytope is at a vertex

    @abstractmethod
    def values(self, v: Array) -> Array:
        """Values at velocities (n, nv), (n,)."""

    @abstractmethod
    def gradient(self, v: Array, speed: float) -> Array:
        """Gradient (nv,) at a velocity (nv,); ``speed``: size of a velocity that matters, in its units."""

    def largest_in_ball(self, centre: Array, radius: float, half: Array) -> float | None:
        """An upper bound over velocities within ``radius`` of ``centre`` in the energy norm, if known.

        ``half`` (nv, nv) has ``|x|_M = |half x|``.
        """
        return None


@dataclass(frozen=True, eq=False)
class Linear(Objective):
    """``direction . v``."""

    direction: Array  # (nv,)
    convex: ClassVar = True

    def values(self, v: Array) -> Array:
        """Values at velocities (n, nv), (n,)."""
        return v @ self.direction

    def gradient(self, v: Array, speed: float) -> Array:
        """The direction, which is the gradient everywhere."""
        return self.direction

    def largest_in_ball(self, centre: Array, radius: float, half: Array) -> float:
        """The exact maximum."""
        size = float(np.linalg.norm(np.linalg.solve(half.T, self.direction)))
        return float(self.direction @ centre + radius * size)


@dataclass(frozen=True, eq=False)
class Quadratic(Objective):
    """``v . P v + q . v`` with P symmetric and positive semidefinite, so that the function is convex."""

    P: Array  # (nv, nv)
    q: Array  # (nv,)
    convex: ClassVar = True  # it is refused otherwise

    def __init__(self, P: ArrayLike, q: ArrayLike | None = None) -> None:
        matrix = real_array("P", P, [(None, None)], "a square matrix")
        nv = len(matrix)
        if matrix.shape != (nv, nv) or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
            raise InputError("P", got=f"shape {matrix.shape}", wanted="a symmetric matrix")
        ends = np.linalg.eigvalsh(matrix)
        if ends[0] < -_SLACK * max(abs(ends[-1]), abs(ends[0])):
            raise InputError(
                "P", wrong=f"has the eigenvalue {ends[0]:.3g}", wanted="none below 0 (a convex function)"
            )
        object.__setattr__(self, "P", matrix)
        linear = np.zeros(nv) if q is None else real_array("q", q, [(nv,)], f"shape ({nv},)")
        object.__setattr__(self, "q", linear)

    def values(self, v: Array) -> Array:
        """Values at velocities (n, nv), (n,)."""
        return np.einsum("ki,ij,kj->k", v, self.P, v) + v @ self.q

    def gradient(self, v: Array, speed: float) -> Array:
        """Gradient of the formula."""
        return 2.0 * self.P @ v + self.q

    def largest_in_ball(self, centre: Array, radius: float, half: Array) -> float:
        """Bound: ``(|c|_P + r s)^2 + q . c + r |q|_*``, s the norm of P in the ball; triangle inequality."""
        back = np.linalg.inv(half)
        stretch = np.sqrt(max(float(np.linalg.eigvalsh(back.T @ self.P @ back)[-1]), 0.0))
        size = np.sqrt(max(float(centre @ self.P @ centre), 0.0))
        along = float(self.q @ centre + radius * np.linalg.norm(back.T @ self.q))
        return float((size + radius * stretch) ** 2 + along)


@dataclass(frozen=True, eq=False)
class Own(Objective):
    """A function of your own, ``function(v (n, nv)) -> (n,)``."""

    function: Callable[[Array], ArrayLike]

    def values(self, v: Array) -> Array:
        """Values at velocities (n, nv), (n,); refuses another shape and numbers that are not finite."""
        return real_array("objective", self.function(v), [(len(v),)], f"shape ({len(v)},) from the function")

    def gradient(self, v: Array, speed: float) -> Array:
        """Gradient by central differences."""
        steps = _STEP * speed * np.eye(len(v))
        return (self.values(v + steps) - self.values(v - steps)) / (2.0 * _STEP * speed)


def as_objective(
    problem: ImpactProblem, given: Objective | Direction | Callable[[Array], ArrayLike]
) -> Objective:
    """An objective from (nv,), a contact's name, (contact, direction), a function or an objective."""
    if isinstance(given, Quadratic) and len(given.P) != problem.nv:
        raise InputError("objective", wrong=f"P has {len(given.P)} rows", wanted=problem.nv)
    if isinstance(given, Objective):
        return given
    if callable(given):
        return Own(given)
    return Linear(as_functional(problem, given))
