"""HP23's theory as functions: termination, sample counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from routh.base.results import Whole
from routh.base.status import InputError
from routh.base.validation import integer, real
from routh.problem.impact import ImpactProblem
from routh.problem.pointedness import pointedness
from routh.reproduce.unique import lipschitz_constant
from routh.sampling.algorithm1 import psi


def single_contact_kappa(problem: ImpactProblem, contact: int | str = 0) -> float:
    """Lemma 2's constant: Routh's method at one contact ends within ``kappa |v|_M`` of normal impulse, N s.

    In coordinates with M = I, ``kappa = 1 / (epsilon min(mu, 1))``, ``|Jn v| + |Jt v| >= epsilon |R^T v|``;
    epsilon is taken as the smallest nonzero singular value of J. Without friction the normal alone counts.
    """
    i = problem.index(contact)
    rows = problem.J[i] if problem.mu[i] > 0.0 else problem.Jn[i : i + 1]
    values = np.linalg.svd(np.linalg.solve(problem.cholesky, rows.T), compute_uv=False)
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
    cone = pointedness(problem, friction="polyhedral", facets=facets)
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
    *, step: float, lipschitz: float, max_steps: int, contacts: int, net: float, delta: float
) -> int:
    """HP23 (171): runs whose velocities after ``max_steps`` are within ``net`` of every other one.

    With probability 1 - delta; ``lipschitz`` is that of one step. ``net`` is the epsilon' of (166), at most
    a third of the epsilon of Algorithm 2 (`routh.approximate`).
    """
    integer("max_steps", max_steps, at_least=1)
    integer("contacts", contacts, at_least=1)
    real("lipschitz", lipschitz, above=0.0)
    dimension = max_steps * contacts
    log_cells = (
        math.log(real("step", step, above=0.0))
        + max_steps * math.log(lipschitz)
        + 0.5 * math.log(dimension)
        - math.log(real("net", net, above=0.0))
    )
    real("delta", delta, above=0.0, at_most=1.0)
    if log_cells > 600.0:
        raise InputError(
            "lipschitz", wrong=f"{lipschitz}^{max_steps} is too large; the count has no useful meaning"
        )
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


@dataclass(frozen=True)
class NetBound(Whole):
    """The constants of Theorem 9: what makes Algorithm 2's answer an epsilon-net, and after how many runs."""

    lipschitz: float  # L of one step, Lemma 7
    separation: float  # m/s, delta(epsilon / (3 psi), v) of Lemma 9: nearly ended runs end in one small step
    net: float  # epsilon' of (166)
    max_steps: int  # N, as given: Lemma 10 only shows that there is one
    log10_runs: float  # of M, (171)


def net_bound(
    problem: ImpactProblem,
    *,
    step: float,
    epsilon: float,
    max_steps: int,
    delta: float = 0.05,
    lipschitz: float | None = None,
) -> NetBound:
    """Theorem 9 in numbers, for a planar problem with a pointed cone that obeys Assumption 6.

    Lemma 9's delta is shown to exist by compactness; with L it has a size. A velocity with ``Jn v >= -delta``
    is within ``delta sqrt(m) / sigma_min(Jn)`` of one that does not approach, which a step leaves alone
    (Lemma 8), so a step moves it by at most L + 1 times that; while the impact goes on a step with bound s
    moves it by at least ``s / |r|`` (Lemmas 6 and 13). Where normals depend on each other, infinity is the
    honest number of runs. N is an input: Lemma 10 is existence only.
    """
    real("step", step, above=0.0)
    real("epsilon", epsilon, above=0.0)
    real("delta", delta, above=0.0, at_most=1.0)
    N = integer("max_steps", max_steps, at_least=1)
    L = lipschitz_constant(problem) if lipschitz is None else real("lipschitz", lipschitz, above=0.0)
    cone = pointedness(problem, friction="polyhedral")
    if not cone.pointed:
        raise InputError(
            "problem", wrong="its friction cone is not pointed", wanted="a pointed one (Assumption 2)"
        )
    m, small = problem.nc, epsilon / (3.0 * psi(problem))
    values = np.linalg.svd(problem.Jn, compute_uv=False)
    least = float(values[-1]) if len(problem.Jn) <= problem.nv else 0.0
    separation = small * least / ((L + 1.0) * math.sqrt(m) * float(np.linalg.norm(cone.direction)))
    net = min(epsilon / 3.0, separation / (2.0 * float(values[0])))
    if not net > 0.0:
        return NetBound(L, separation, net, N, math.inf)
    cells = math.log(step) + N * math.log(L) + 0.5 * math.log(N * m) - math.log(net)
    total = N * m * max(cells, 0.0)  # ln(1 / Omega)
    runs = total + math.log(total - math.log(delta))  # ln(1 / (delta Omega)) / Omega bounds (171)
    return NetBound(L, separation, net, N, runs / math.log(10.0))
