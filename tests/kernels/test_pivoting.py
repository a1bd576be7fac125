"""The reduced pivoting kernel against the readable Lemke on the full LCP of HP23 (75)."""

import numpy as np
import pytest
from families import FAMILIES, draw

from routh.friction import facet_directions
from routh.kernels.pivoting import SOLVED, solve_step
from routh.kernels.prepare import kernel_data, workspace
from routh.status import Status
from routh.step import PolyhedralStep

TRIALS = 6


def pivot(problem, bound):
    directions = facet_directions(problem.nt)
    data = kernel_data(problem, directions)
    p = np.zeros(len(data.c))
    work = workspace(problem.nc, problem.nt, len(directions))
    outcome, pivots = solve_step(data.shape, data.solver, data.c, bound / data.impulse, p, work)
    return outcome, pivots, p.reshape(problem.nc, -1) * data.impulse[:, None]


@pytest.mark.parametrize("family", FAMILIES)
def test_same_solution_as_lemke_on_the_full_problem(family):
    for seed in range(TRIALS):
        problem, bound = draw(family, seed)
        outcome, pivots, impulse = pivot(problem, bound)
        step = PolyhedralStep(problem)
        reference = step.solve(problem.v, bound)
        assert reference.status is Status.SOLVED
        assert outcome == SOLVED
        assert pivots > 0
        huge = problem.mu.max() > 1e3
        assert step.residual(problem.v, bound, impulse) < (1e-7 if huge else 1e-12)
        difference = problem.apply(impulse) - reference.v
        assert np.sqrt(2.0 * problem.kinetic_energy(difference)) < (1e-6 if huge else 1e-9) * problem.speed


def test_canonical_where_the_step_is_not_unique():
    differing = 0
    for seed in range(120):
        problem, bound = draw("planar-3-rough", seed)
        step = PolyhedralStep(problem)
        reference = step.solve(problem.v, bound)
        other = PolyhedralStep(problem, cover=np.random.default_rng(seed).uniform(0.1, 10.0, step.size))
        differing += np.abs(other.solve(problem.v, bound).v - reference.v).max() > 1e-6
        _, _, impulse = pivot(problem, bound)
        np.testing.assert_allclose(problem.apply(impulse), reference.v, atol=1e-9 * np.abs(problem.v).max())
    assert differing > 0  # else this test would show nothing
