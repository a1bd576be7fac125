"""Sampling the set of outcomes: HP23's Algorithms 1 and 2."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import qmc

from routh.friction import facet_directions, uses_true_cone
from routh.laws.base import require_inelastic
from routh.laws.set_valued import DEFAULT_MAX_STEPS, accumulate, impulse_step
from routh.pointedness import pointedness
from routh.problem import ImpactProblem
from routh.rng import uniforms
from routh.sampling.elastic import elastic_outcomes
from routh.sampling.outcomes import Outcomes
from routh.sampling.theory import psi
from routh.status import Status
from routh.step import make_step
from routh.step.elastic import STEP_HYPOTHESES
from routh.validation import Array, choice, integer, real

# velocities, impulses, steps, statuses, residuals
Arrays = tuple[Array, Array, np.ndarray, np.ndarray, Array]

# Steps of a Sobol sample that have dimensions of their own; later ones draw from the counter-based generator.
SOBOL_STEPS = 8


def sample(
    problem: ImpactProblem,
    n: int,
    *,
    step: ArrayLike | None = None,
    max_steps: int | None = None,
    seed: int = 0,
    points: str = "random",
    friction: str = "cone",
    facets: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    hypothesis: str = "energetic",
) -> Outcomes:
    """Draw ``n`` outcomes of an impact by HP23's Algorithm 1, with restitution where the problem has some.

    Each increment draws ``lambda_max`` uniformly from the box ``[0, step]^nc`` and solves HP23 (72)
    implicitly; a sample ends when no contact approaches.

    Parameters
    ----------
    step : number or (nc,), N s. Default: each contact's momentum scale ``|v|_M sqrt(m_i)``. Larger steps
        reach more of the set but carry the error of the step; see the documentation on sampling.
    max_steps : increments before a sample gives up with a status; default 1000.
    seed : equal seeds give equal samples, whatever the batch size or number of threads.
    points : "random" (counter-based generator) or "sobol" (scrambled Sobol sequence).
    friction, facets : "cone", or "polyhedral" with this many facets in space (default 8).
    device, threads : "cpu" with this many threads (default: all), or "cuda" on an NVIDIA GPU.
    hypothesis : what restitution means: "energetic" (Stronge: the share e^2 of a contact's work returns) or
        "poisson" (the share e of its normal impulse). Without restitution both are the inelastic set.
    """
    choice("hypothesis", hypothesis, STEP_HYPOTHESES)
    draw = _Draw(problem, n, step, max_steps, seed, points, friction, facets)
    choice("device", device, ("cpu", "cuda"))
    if threads is not None:
        integer("threads", threads, at_least=1)
        if device != "cpu":
            raise ValueError(f"threads: got {threads} with device {device!r}; wanted them with 'cpu' only")
    if np.any(problem.restitution > 0.0):
        return elastic_outcomes(draw, hypothesis, threads, device)
    return draw.outcomes(*_kernel_samples(draw, device, threads))


def approximate(
    problem: ImpactProblem,
    epsilon: float,
    *,
    n: int = 16384,
    step: ArrayLike | None = None,
    max_steps: int = 10,
    seed: int = 0,
    points: str = "random",
    facets: int | None = None,
) -> Outcomes:
    """HP23's Algorithm 2: ``n`` runs of at most ``max_steps`` increments, each closed by one small one.

    The closing increment has ``lambda_max = epsilon / (3 psi)`` at every contact. The post-impact set is
    approximated by the terminated samples; the others are kept, with their status. Friction in space is
    polyhedral, with ``facets`` facets (default 8): psi, which the closing increment needs, is theirs.
    """
    require_inelastic(problem, "approximate")
    sizes = impulse_step(problem, step)
    bound = float(sizes.min())
    if not 0.0 < real("epsilon", epsilon) < bound:
        raise ValueError(
            f"epsilon: got {epsilon}; wanted a number between 0 and the step, {bound:g} (HP23 Algorithm 2)"
        )
    friction = "polyhedral"  # psi is a property of the facets
    first = sample(
        problem,
        n,
        step=sizes,
        max_steps=max_steps,
        seed=seed,
        points=points,
        friction=friction,
        facets=facets,
    )
    closing = np.full(problem.nc, epsilon / (3.0 * psi(problem, facets)))
    solver = make_step(problem, friction=friction, facets=facets)
    v, impulse, steps = first.v.copy(), first.impulse.copy(), first.steps.copy()
    status, residual = first.status.copy(), first.residual.copy()
    for i in np.flatnonzero(~first.terminated):
        result = solver.solve(v[i], closing)
        v[i], steps[i] = result.v, steps[i] + 1
        impulse[i] += result.impulse
        residual[i] = max(residual[i], result.residual)
        if result.status is not Status.SOLVED:
            status[i] = result.status
    closed = Outcomes(
        problem, v, impulse, steps, status, residual, first.jammed, {**first.settings, "epsilon": epsilon}
    )
    status[closed.terminated & (status == Status.MAX_STEPS)] = Status.SOLVED
    return closed


class _Draw:
    """The checked settings of one call of `sample`."""

    def __init__(
        self,
        problem: ImpactProblem,
        n: int,
        step: ArrayLike | None,
        max_steps: int | None,
        seed: int,
        points: str,
        friction: str,
        facets: int | None,
    ) -> None:
        self.problem = problem
        self.n = integer("n", n, at_least=1)
        self.step = impulse_step(problem, step)
        self.max_steps = (
            DEFAULT_MAX_STEPS if max_steps is None else integer("max_steps", max_steps, at_least=1)
        )
        self.seed = integer("seed", seed, at_least=0, at_most=2**64 - 1)
        self.points = choice("points", points, ("random", "sobol"))
        uses_true_cone(friction, facets, problem.nt)
        self.friction = friction
        self.facets = facets
        self.cone = pointedness(
            problem, friction=self.friction, facets=facets if self.friction == "polyhedral" else None
        )
        self.table = sobol_table(problem.nc, self.n, self.max_steps, self.seed) if points == "sobol" else None

    def lambda_max(self, sample: int, k: int) -> Array:
        """The bounds (nc,), N s, of increment ``k`` of a sample."""
        if self.table is not None and k < self.table.shape[1]:
            return self.step * self.table[sample, k]
        return self.step * uniforms(self.seed, np.array([sample]), k, self.problem.nc)[0]

    def outcomes(
        self, v: Array, impulse: Array, steps: np.ndarray, status: np.ndarray, residual: Array
    ) -> Outcomes:
        settings: dict[str, Any] = {
            "step": self.step.tolist(),
            "max_steps": self.max_steps,
            "seed": self.seed,
            "points": self.points,
            "friction": self.friction,
            "facets": self.facets,
        }
        arrays = (v, impulse, steps, status, residual)
        return labelled_outcomes(self.problem, arrays, self.cone.jammed, settings)


def labelled_outcomes(
    problem: ImpactProblem, arrays: Arrays, jammed: bool, settings: dict[str, Any]
) -> Outcomes:
    """Samples as outcomes; where the cone is jammed, those that ran out of steps are called so."""
    v, impulse, steps, status, residual = arrays
    if jammed:
        status = np.where(status == Status.MAX_STEPS, np.int8(Status.JAMMED), status)
    return Outcomes(problem, v, impulse, steps, status, residual, jammed, settings)


def sobol_table(nc: int, n: int, max_steps: int, seed: int) -> Array:
    """Scrambled Sobol points for the first steps of each sample, (n, steps, nc), in (0, 1)."""
    steps = min(max_steps, SOBOL_STEPS)
    engine = qmc.Sobol(steps * nc, scramble=True, rng=np.random.default_rng(seed))
    exponent = max(int(n - 1).bit_length(), 0)
    table = engine.random_base2(exponent)[:n]
    return np.clip(table, 2.0**-54, 1.0 - 2.0**-53).reshape(n, steps, nc)


def _kernel_samples(draw: _Draw, device: str, threads: int | None) -> Arrays:
    """Algorithm 1 in compiled code, which draws samples that it cannot solve again by the readable step."""
    from routh.kernels.sampling import run  # loads numba

    problem = draw.problem
    return run(
        problem,
        draw.n,
        step=draw.step,
        max_steps=draw.max_steps,
        seed=draw.seed,
        table=draw.table,
        friction=draw.friction,
        directions=facet_directions(problem.nt, draw.facets),
        device=device,
        threads=threads,
    )


def reference_samples(draw: _Draw, samples: np.ndarray) -> Arrays:
    """Algorithm 1, sample by sample, in plain Python: what every kernel is compared with."""
    problem = draw.problem
    solver = make_step(problem, friction=draw.friction, facets=draw.facets)
    n, nc = len(samples), problem.nc
    v = np.empty((n, problem.nv))
    impulse = np.empty((n, nc, 1 + problem.nt))
    steps, status, residual = np.empty(n, np.int32), np.empty(n, np.int8), np.empty(n)
    for i, index in enumerate(samples):
        result = accumulate(problem, solver, partial(draw.lambda_max, int(index)), draw.max_steps)
        v[i], impulse[i], steps[i] = result.v, result.impulse, len(result.path.impulse)
        status[i], residual[i] = result.status, result.residual
    return v, impulse, steps, status, residual
