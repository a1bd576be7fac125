"""The checked settings of one call of HP23's Algorithm 1, the bounds it draws, and samples as outcomes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from routh.friction import uses_true_cone
from routh.laws.set_valued import DEFAULT_MAX_STEPS, MOST_STEPS, impulse_step
from routh.problem import ImpactProblem
from routh.rng import uniforms
from routh.sampling.outcomes import Outcomes
from routh.status import Status
from routh.validation import Array, Options, choice, integer

# velocities, impulses, steps, statuses, residuals
Arrays = tuple[Array, Array, np.ndarray, np.ndarray, Array]

# Steps of a Sobol sample that have dimensions of their own; later ones draw from the counter-based generator.
SOBOL_STEPS = 8


class Algorithm1Draw:
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
        row: int = 0,
    ) -> None:
        self.problem = problem
        self.n = integer("n", n, at_least=1)
        self.step = impulse_step(problem, step)
        self.max_steps = (
            DEFAULT_MAX_STEPS
            if max_steps is None
            else integer("max_steps", max_steps, at_least=1, at_most=MOST_STEPS)
        )
        self.seed = integer("seed", seed, at_least=0, at_most=2**64 - 1)
        self.row = integer("row", row, at_least=0, at_most=2**32 - 1)
        self.points = choice("points", points, ("random", "sobol"))
        uses_true_cone(friction, facets, problem.nt)
        self.friction = friction
        self.facets = facets
        self.table = sobol_table(problem.nc, self.n, self.max_steps, self.seed) if points == "sobol" else None

    def lambda_max(self, sample: int, k: int) -> Array:
        """The bounds (nc,), N s, of increment ``k`` of a sample."""
        if self.table is not None and k < self.table.shape[1]:
            return self.step * self.table[sample, k]
        return self.step * uniforms(self.seed, np.array([sample]), k, self.problem.nc, row=self.row)[0]

    def outcomes(
        self, v: Array, impulse: Array, steps: np.ndarray, status: np.ndarray, residual: Array
    ) -> Outcomes:
        """Samples with the settings that they were drawn with."""
        settings: Options = {
            "step": self.step.tolist(),
            "max_steps": self.max_steps,
            "seed": self.seed,
            "points": self.points,
            "friction": self.friction,
            "facets": self.facets,
        }
        found = Outcomes(self.problem, v, impulse, steps, status, residual, settings=settings)
        stopped = found.status == Status.MAX_STEPS
        if not stopped.any() or not found.jammed:
            return found
        # where the cone is not pointed, samples that ran out of steps are called jammed
        return replace(found, status=np.where(stopped, np.int8(Status.JAMMED), status), jam_known=True)


def sobol_table(nc: int, n: int, max_steps: int, seed: int) -> Array:
    """Scrambled Sobol points for the first steps of each sample, (n, steps, nc), in (0, 1)."""
    from scipy.stats import qmc  # a third of a second, and only these points need it

    steps = min(max_steps, SOBOL_STEPS)

    engine = qmc.Sobol(steps * nc, scramble=True, rng=np.random.default_rng(seed))
    exponent = max(int(n - 1).bit_length(), 0)
    table = engine.random_base2(exponent)[:n]
    return np.clip(table, 2.0**-54, 1.0 - 2.0**-53).reshape(n, steps, nc)
