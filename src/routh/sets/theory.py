"""HP23's theory as functions: pointedness, termination, sample counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import linprog, nnls

from routh import tolerances
from routh.friction import facet_directions
from routh.problem import ImpactProblem
from routh.validation import Array, integer, real

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


def single_contact_kappa(problem: ImpactProblem, contact: int | str = 0) -> float:
    """Lemma 2's constant: Routh's method at one contact ends within ``kappa |v|_M`` of normal impulse, N s.

    In coordinates with M = I, ``kappa = 1 / (epsilon min(mu, 1))``, ``|Jn v| + |Jt v| >= epsilon |R^T v|``;
    epsilon is taken as the smallest nonzero singular value of J. Without friction the normal alone counts.
    """
    i = problem.index(contact)
    rows = problem.J[i] if problem.mu[i] > 0.0 else problem.Jn[i : i + 1]
    values = np.linalg.svd(solve_triangular(problem.cholesky, rows.T, lower=True), compute_uv=False)
    epsilon = values[values > 1e-12 * values[0]].min()
    return float(1.0 / (epsilon * min(problem.mu[i], 1.0))) if problem.mu[i] > 0.0 else float(1.0 / epsilon)


def termination_bound(
    problem: ImpactProblem, *, step: float, probability: float = 0.99, facets: int | None = None
) -> float:
    """Theorem 8: steps within which Algorithm 1 ends with at least this probability; infinite where jammed.

    ``P(Z > c ceil(|v|_M) + k) <= exp(-k / (m + 1)^2)`` with ``c = 4 ceil((m + 1) |r| / (h sqrt(sigma)))``.
    """
    real("step", step, above=0.0)
    real("probability", probability, at_least=0.0, at_most=1.0)
    cone = pointedness(problem, facets)
    if cone.jammed or probability == 1.0:
        return math.inf
    m = problem.nc
    sigma = float(np.linalg.eigvalsh(problem.M)[0])
    c = 4 * math.ceil((m + 1) * float(np.linalg.norm(cone.direction)) / (step * math.sqrt(sigma)))
    tail = math.ceil(-((m + 1) ** 2) * math.log(1.0 - probability))
    return float(c * math.ceil(problem.speed) + tail)


def dense_sample_count(*, step: float, lipschitz: float, dimension: int, epsilon: float, delta: float) -> int:
    """Lemma 1: uniform samples of a box whose image is an epsilon-net with probability 1 - delta.

    The box is ``[0, step]^n``. ``N >= ln(delta Omega) / ln(1 - Omega)`` with
    ``Omega = ceil(step L sqrt(n) / epsilon)^-n``; where Omega is too small for floating point, the upper
    bound ``ln(1 / (delta Omega)) / Omega`` is returned.
    """
    real("step", step, above=0.0)
    real("lipschitz", lipschitz, above=0.0)
    real("epsilon", epsilon, above=0.0)
    real("delta", delta, above=0.0, at_most=1.0)
    integer("dimension", dimension, at_least=1)
    cells = math.ceil(step * lipschitz * math.sqrt(dimension) / epsilon)
    return _cover_all(cells, dimension, delta)


def approximation_sample_count(
    *, step: float, lipschitz: float, max_steps: int, contacts: int, epsilon: float, delta: float
) -> int:
    """HP23 (171): runs for an epsilon-net after ``max_steps``; ``lipschitz`` is that of one step."""
    integer("max_steps", max_steps, at_least=1)
    integer("contacts", contacts, at_least=1)
    real("lipschitz", lipschitz, above=0.0)
    dimension = max_steps * contacts
    log_cells = (
        math.log(real("step", step, above=0.0))
        + max_steps * math.log(lipschitz)
        + 0.5 * math.log(dimension)
        - math.log(real("epsilon", epsilon, above=0.0))
    )
    real("delta", delta, above=0.0, at_most=1.0)
    if log_cells > 600.0:
        raise ValueError(f"lipschitz: {lipschitz}^{max_steps} is too large; the count has no useful meaning")
    return _cover_all(math.ceil(math.exp(log_cells)), dimension, delta)


def _cover_all(cells: int, dimension: int, delta: float) -> int:
    cells = max(cells, 1)
    total = cells**dimension  # 1 / Omega
    if total == 1:
        return 1
    log_total = dimension * math.log(cells)
    need = log_total - math.log(delta)  # ln(1 / (delta Omega))
    if total < 10**12:
        return max(1, math.ceil(need / -math.log1p(-1.0 / total)))
    return total * math.ceil(need)


def psi(problem: ImpactProblem, facets: int | None = None) -> float:
    """Algorithm 2's constant: ``sigma_max(M^-1 Jbar^T) m (1 + max mu) + 1``."""
    directions = facet_directions(problem.nt, facets)
    along = np.einsum("kt,itv->ikv", directions, problem.Jt).reshape(-1, problem.nv)
    stacked = np.vstack([problem.Jn, along])
    largest = float(np.linalg.norm(problem.solve_mass(stacked.T), 2))
    return largest * problem.nc * (1.0 + float(problem.mu.max())) + 1.0
