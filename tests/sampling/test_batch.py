"""Samples of many problems at once, and one compiled step."""

import numpy as np
import pytest

import routh
from problems import FAMILIES, family_problem
from routh.friction import facet_directions
from routh.kernels.batch import solve_step
from routh.step import PolyhedralStep
from routh.systems import get


def test_a_batch_draws_the_samples_of_each_problem():
    systems = [get(name) for name in ("rocking-block", "box-wall", "disk-stack")]
    problems = [system.problem for system in systems] + [family_problem("spatial-3", 0)[0]]
    together = routh.sample_batch(problems, 6, step=0.5, seed=4, max_steps=50)
    for problem, outcomes in zip(problems, together, strict=True):
        alone = routh.sample(problem, 6, step=0.5, seed=4, max_steps=50, friction="polyhedral")
        np.testing.assert_allclose(outcomes.v, alone.v, atol=1e-9 * np.abs(problem.v).max())
        assert (outcomes.steps == alone.steps).all()
        assert (outcomes.status == alone.status).all()


def test_threads_do_not_change_a_batch():
    problems = [family_problem("planar-3-rough", seed)[0] for seed in range(5)]
    one = routh.sample_batch(problems, 3, threads=1)
    two = routh.sample_batch(problems, 3, threads=2)
    assert all(a.v.tobytes() == b.v.tobytes() for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_one_compiled_step_is_the_reference_step(family):
    problem, bound = family_problem(family, 11)
    v, impulse, status, residual = solve_step(problem, bound, facet_directions(problem.nt))
    reference = PolyhedralStep(problem).solve(problem.v, bound)
    assert status == reference.status
    assert residual < (1e-7 if problem.mu.max() > 1e3 else 1e-9)
    np.testing.assert_allclose(problem.apply(impulse), v, atol=1e-12 * np.abs(v).max())
    assert np.sqrt(2.0 * problem.kinetic_energy(v - reference.v)) < 1e-7 * problem.speed


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="problems: got int at index 1; wanted ImpactProblem"):
        routh.sample_batch([get("rocking-block").problem, 3], 2)
    with pytest.raises(ValueError, match="n: got 0"):
        routh.sample_batch([get("rocking-block").problem], 0)
