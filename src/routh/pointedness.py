"""Pointedness of the friction cone: HP23 Assumption 2, decided by linear programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import linprog, nnls

from routh import tolerances
from routh.friction import facet_directions
from routh.problem import ImpactProblem
from routh.validation import Array

LP_RESOLVES = 1e-5  # smaller margins drown in the tolerance of the linear program
_LP_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class Pointedness:
    """Whether the friction cone is pointed (HP23 Assumption 2), and the direction that shows it."""

    pointed: bool
    margin: float  # in [0, 1]: how much every generator of the cone leans along the direction
    direction: Array  # (nv,): r(q) of Lemma 6, so that r . M^-1 F >= |lambda_n|_1; NaN where jammed

    @property
    def jammed(self) -> bool:
        """Contacts can press against each other without moving anything: no termination is promised."""
        return not self.pointed


def cone_generators(problem: ImpactProblem, facets: int | None = None) -> Array:
    """Generalized forces of unit normal impulse at the edges of each friction cone, (nc k, nv)."""
    directions = facet_directions(problem.nt, facets)
    edges = np.einsum("i,kt,itv->ikv", problem.mu, directions, problem.Jt)
    return (problem.Jn[:, None, :] + edges).reshape(-1, problem.nv)


def pointedness(problem: ImpactProblem, facets: int | None = None) -> Pointedness:
    """Assumption 2 and Lemma 6 by linear programming.

    The margin is ``max_u min_j g_j . u`` over the box ``|u_k| <= 1``, where the g_j are the generators of
    the cone, of unit length in the metric of ``M^-1``: it is zero exactly where some of them cancel.
    """
    generators = cone_generators(problem, facets)
    unit = solve_triangular(problem.cholesky, generators.T, lower=True).T  # rows, metric M^-1 made Euclidean
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    lean = _most_leaning(unit)
    margin = max(float((unit @ lean).min()), 0.0)  # recomputed: the solver's own value is only near
    if not margin > tolerances.POINTED:
        return Pointedness(False, margin, np.full(problem.nv, np.nan))
    return Pointedness(True, margin, _net_force_direction(problem, generators, problem.cholesky @ lean))


def _most_leaning(unit: Array) -> Array:
    """A direction in the box ``|u_k| <= 1`` along which the least leaning row of ``unit`` leans most."""
    count, nv = unit.shape
    # maximize t subject to t <= g_j . u, -1 <= u <= 1
    result = linprog(
        np.append(np.zeros(nv), -1.0),
        A_ub=np.hstack([-unit, np.ones((count, 1))]),
        b_ub=np.zeros(count),
        bounds=[(-1.0, 1.0)] * nv + [(None, None)],
        options=_LP_OPTIONS,
    )
    found = result.x[:nv] if result.status == 0 else np.zeros(nv)
    if (unit @ found).min() > LP_RESOLVES:
        return found
    # Nearly jammed, or the solver gave up: the point of the generators' hull nearest to zero leans along all
    # of them, and is known to more digits.
    try:
        weights, _ = nnls(np.vstack([unit.T, np.ones(count)]), np.append(np.zeros(nv), 1.0))
    except RuntimeError:  # its iteration limit
        return found
    nearest = unit.T @ weights
    nearest /= max(float(np.abs(nearest).max()), np.finfo(float).tiny)
    return max((found, nearest), key=lambda lean: float((unit @ lean).min()))


def _net_force_direction(problem: ImpactProblem, generators: Array, known: Array) -> Array:
    """r of Lemma 6, ``r . M^-1 g_j >= 1`` for every generator (HP23 (77)), as short as can be found.

    ``known`` is a direction with positive products; a second linear program looks for a shorter one.
    """
    nv = problem.nv
    moved = problem.solve_mass(generators.T).T  # (count, nv)
    weight = np.abs(moved).max(axis=1, keepdims=True)
    rows = np.vstack(
        [
            np.hstack([-moved / weight, np.zeros((len(moved), 1))]),
            np.hstack([np.eye(nv), -np.ones((nv, 1))]),
            np.hstack([-np.eye(nv), -np.ones((nv, 1))]),
        ]
    )
    right = np.concatenate([-1.0 / weight[:, 0], np.zeros(2 * nv)])
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * nv + [(0.0, None)]
    result = linprog(np.append(np.zeros(nv), 1.0), A_ub=rows, b_ub=right, bounds=bounds, options=_LP_OPTIONS)
    candidates = [known] if result.x is None else [known, result.x[:nv]]
    valid = [r / float((moved @ r).min()) for r in candidates if float((moved @ r).min()) > 0.0]
    return min(valid, key=lambda r: float(np.linalg.norm(r)))
