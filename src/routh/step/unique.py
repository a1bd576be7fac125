"""Does a step have one outcome only? HP23 Assumption 6, certified or refuted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from routh import tolerances
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import StepResult, residual_tolerance, scaled_delassus
from routh.step.mode_pairs import TwoSolutions, two_solutions
from routh.step.polyhedral import PolyhedralStep
from routh.validation import Array, integer, real


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """The verdict on HP23 Assumption 6 for all velocities and all ``lambda_max`` of one problem."""

    verdict: Literal["certified", "refuted", "undecided"]
    reason: str
    v: Array | None = None  # (nv,) where refuted: the velocity ...
    lambda_max: Array | None = None  # (nc,) ... and bound at which the step has ...
    solutions: tuple[StepResult, ...] = ()  # ... these two different solutions


def uniqueness(
    problem: ImpactProblem,
    *,
    facets: int | None = None,
    trials: int = 200,
    seed: int = 0,
    seconds: float = 600.0,
) -> Uniqueness:
    """Certify or refute that every step of this problem has a single velocity after it.

    Weak friction is certified at once: two solutions of one step differ by ``d`` (impulses) with
    ``d^T G d <= sum_i mu_i |d_n,i| |(G d)_t,i|``, because clipping and friction are monotone. Where
    ``G - sum_i sigma_i mu_i sym(e_n,i (G)_t,i)`` is positive definite for all signs, d must vanish; in
    space the product is split by its arithmetic-geometric bound.

    In the plane linear programs over pairs of contact modes decide the rest (`routh.step.mode_pairs`), for
    at most ``seconds``. In space two solutions are only looked for, from different covering vectors at
    ``trials`` velocities, the problem's own and random ones.
    """
    integer("trials", trials, at_least=0)
    real("seconds", seconds, at_least=0.0)
    if not np.any(problem.mu > 0.0):
        return Uniqueness("certified", "without friction the step is a monotone problem")
    if _strictly_monotone(problem):
        return Uniqueness("certified", "friction is weak enough for the step to be strictly monotone")
    if problem.nt == 1:
        return _by_modes(problem, seconds)
    witness = _two_solutions(problem, facets, trials, seed)
    if witness is not None:
        v, lambda_max, pair = witness
        return Uniqueness("refuted", "two solutions of one step were found", v, lambda_max, pair)
    return Uniqueness("undecided", f"no certificate, and no second solution in {trials} trials")


def _by_modes(problem: ImpactProblem, seconds: float) -> Uniqueness:
    """The verdict of the programs over pairs of modes; a witness counts where its residuals do."""
    found = two_solutions(problem, seconds=seconds)
    if found.witness is not None:
        pair = _solutions_of(problem, found.witness)
        why = "two solutions of one step were found by a linear program over pairs of contact modes"
        if pair is None:
            return Uniqueness("undecided", "two solutions were found, but rounding hides if they are")
        return Uniqueness("refuted", why, found.witness.v, found.witness.lambda_max, pair)
    if not found.complete:
        return Uniqueness("undecided", f"no second solution in {found.programs} programs, {seconds:g} s")
    why = f"no pair of contact modes allows two ({found.programs} programs, zero to {found.rounding:.0e})"
    return Uniqueness("certified", why)


def _solutions_of(problem: ImpactProblem, found: TwoSolutions) -> tuple[StepResult, StepResult] | None:
    """Both solutions with their residuals, or None where these are too large or the velocities equal."""
    step, results = PolyhedralStep(problem), []
    for impulse in found.impulses:
        residual = step.residual(found.v, found.lambda_max, impulse)
        after = problem.apply(impulse, found.v)
        results.append(StepResult(after, impulse, Status.SOLVED, residual, "mode pairs"))
    first, second = results
    distance = np.sqrt(2.0 * problem.kinetic_energy(first.v - second.v))
    solved = max(first.residual, second.residual) < residual_tolerance(problem)
    different = distance > 1e3 * tolerances.SAME_VELOCITY * problem.scaling.speed
    return (first, second) if solved and different else None


def _strictly_monotone(problem: ImpactProblem) -> bool:
    G = scaled_delassus(problem)
    nc, width = problem.nc, 1 + problem.nt
    if nc > 12:
        return False
    if problem.nt == 1:
        for signs in product((-1.0, 1.0), repeat=nc):
            shifted = G.copy()
            for i, sign in enumerate(signs):
                row = 0.5 * sign * problem.mu[i] * G[i * width + 1]
                shifted[i * width] -= row
                shifted[:, i * width] -= row
            if not np.linalg.eigvalsh(shifted)[0] > tolerances.RESIDUAL:
                return False
        return True
    # mu |a| |b| <= mu (tau a^2 + |b|^2 / tau) / 2 with one tau for all contacts
    for tau in np.geomspace(0.1, 10.0, 21):
        shifted = G.copy()
        for i in range(nc):
            tangents = G[i * width + 1 : (i + 1) * width]
            shifted[i * width, i * width] -= 0.5 * problem.mu[i] * tau
            shifted -= 0.5 * problem.mu[i] / tau * tangents.T @ tangents
        if np.linalg.eigvalsh(shifted)[0] > tolerances.RESIDUAL:
            return True
    return False


def _two_solutions(
    problem: ImpactProblem, facets: int | None, trials: int, seed: int
) -> tuple[Array, Array, tuple[StepResult, StepResult]] | None:
    rng = np.random.default_rng(seed)
    unit = problem.scaling
    size = PolyhedralStep(problem, facets=facets).size
    for trial in range(trials):
        v = problem.v if trial % 2 == 0 else _random_velocity(problem, rng)
        lambda_max = unit.impulse * rng.random(problem.nc) * 10.0 ** rng.uniform(-2.0, 1.0)
        first: StepResult | None = None
        for attempt in range(4):
            cover = np.ones(size) if attempt == 0 else 10.0 ** rng.uniform(-2.0, 2.0, size)
            result = PolyhedralStep(problem, facets=facets, cover=cover).solve(v, lambda_max)
            if result.status is not Status.SOLVED:
                continue
            if first is None:
                first = result
                continue
            distance = np.sqrt(2.0 * problem.kinetic_energy(result.v - first.v))
            if distance > 1e3 * tolerances.SAME_VELOCITY * unit.speed:
                return v, lambda_max, (first, result)
    return None


def _random_velocity(problem: ImpactProblem, rng: np.random.Generator) -> Array:
    """A velocity of the same kinetic energy in a random direction."""
    direction = rng.normal(size=problem.nv)
    direction *= problem.scaling.speed / np.linalg.norm(direction)
    return np.asarray(np.linalg.solve(problem.cholesky.T, direction), dtype=np.float64)
