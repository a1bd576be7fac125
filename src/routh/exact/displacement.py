"""How far apart the outcomes of two nearly equal problems are: what an outer set must enclose in addition.

Take a solution of HP23 (39) for one problem and its rates of normal impulse. The other problem with the same
rates has a solution v' too, and friction is monotone in the energy norm, so with e = |v - v'|_M

    d(e^2 / 2) <= (|dJn_i| + |d mu_i| |Jt_i| + |dM| size_i) e ds_i  +  mu_i |dJt_i| (|v| + |v'|) ds_i

per normal impulse s_i, all norms in the metric of M^-1 and ``size_i = |Jn_i| + mu_i |Jt_i|``. The impulse is
bounded where the cone is pointed: ``margin sum size_i s_i <= |v+ - v-|_M <= 2 |v-|_M``. So a change of v
moves outcomes by no more than itself, one of M, Jn and mu in proportion, one of tangential rows by its root.
Where v has ended, normal velocities of v' are off by as much: that is ``room``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from routh.exact.rational import RationalProblem
from routh.pointedness import pointedness
from routh.problem import ImpactProblem
from routh.validation import Array

_ROUNDING = 1.01  # for floating point, and for terms of second order


@dataclass(frozen=True)
class Displacement:
    """Bounds on what snapping does, as shares of the speed before."""

    radius: float = 0.0  # |v - v'|_M over the speed, for equal rates of impulse
    room: float = 0.0  # |y_i - y'_i| over the speed and |Jn_i|, for every contact


def displacement(problem: ImpactProblem, rational: RationalProblem) -> Displacement:
    """Bound the distance between solutions of a problem and of the rational one that stands for it."""
    L, speed = problem.cholesky, problem.speed or 1.0
    dv = float(np.linalg.norm(L.T @ _change(problem.v[None], [rational.v])[0])) / speed
    normal, d_normal = (_lengths(L, rows) for rows in (problem.Jn, _change(problem.Jn, rational.Jn)))
    tangents = [_change(a, b) for a, b in zip(problem.Jt, rational.Jt, strict=True)]
    slip, d_slip = (np.array([_length(L, rows) for rows in each]) for each in (problem.Jt, tangents))
    mass = _length(L, _white(L, _change(problem.M, rational.M)).T)
    d_mu = np.abs(_change(problem.mu[None], [rational.mu])[0])
    size = normal + problem.mu * slip
    drift = float(((d_normal + d_mu * slip) / size).max()) + mass
    bend = 2.0 * float((problem.mu * d_slip / size).max())
    radius = dv
    if drift or bend:
        cone = pointedness(problem)
        if cone.jammed or not mass < 1e-3:
            return Displacement(math.inf, math.inf)
        impulse = 2.0 / cone.margin
        radius += impulse * drift + math.sqrt(2.0 * impulse * bend)
    radius *= _ROUNDING
    return Displacement(radius, _ROUNDING * (radius + float((d_normal / normal).max())))


def _change(given: Array, exact: Sequence[Sequence[Fraction]]) -> Array:
    """The difference of two matrices, taken before it is rounded."""
    pairs = zip(given, exact, strict=True)
    return np.array([[float(Fraction(float(x)) - y) for x, y in zip(a, b, strict=True)] for a, b in pairs])


def _white(L: Array, columns: Array) -> Array:
    return np.asarray(np.linalg.solve(L, columns), dtype=np.float64)


def _lengths(L: Array, rows: Array) -> Array:
    """The length of each row."""
    return np.asarray(np.linalg.norm(_white(L, rows.T), axis=0), dtype=np.float64)


def _length(L: Array, rows: Array) -> float:
    """The largest length of a unit combination of rows."""
    return float(np.linalg.norm(_white(L, rows.T), 2))
