"""The compiled kernel of elastic impacts against its reference."""

import numpy as np
import pytest

import routh
from problems import ball_on_ball_and_wall, hard_elastic_problem, random_elastic_problem
from routh.kernels import tableau
from routh.kernels.elastic_host import run
from routh.lcp.lemke import lemke_pivots
from routh.sampling.draws import Algorithm1Draw
from routh.sampling.elastic import reference_elastic_samples


def reference(problem, n, hypothesis, seed=0, **options):
    settings = {"step": None, "max_steps": 400, "points": "random", "friction": "polyhedral", "facets": None}
    draw = Algorithm1Draw(problem, n, seed=seed, **{**settings, **options})
    return draw, reference_elastic_samples(draw, hypothesis, np.arange(n))


@pytest.mark.parametrize("seed", range(10))
def test_kernel_follows_the_reference(seed):
    rng = np.random.default_rng(200 + seed)
    problem = random_elastic_problem(rng, nc=int(rng.integers(1, 4)), mu=0.8)
    draw, slow = reference(problem, 3, "energetic", facets=4 if problem.nt == 2 else None)
    fast = run(problem, 3, hypothesis="energetic", step=draw.step, max_steps=400, seed=0, facets=draw.facets)
    np.testing.assert_allclose(fast[0], slow[0], atol=1e-7 * np.abs(problem.v).max())
    np.testing.assert_array_equal(fast[3], slow[3])
    unit = problem.scaling.speed**2
    np.testing.assert_allclose(fast[5], slow[5], atol=1e-7 * unit)
    np.testing.assert_allclose(fast[6], slow[6], atol=1e-7 * unit)


@pytest.mark.parametrize("seed", [407, 546, 1600])
def test_among_several_solutions_kernel_and_reference_choose_the_same(seed):
    """Problems of `benchmarks/elastic.py` in which sweeps from one end only found another solution."""
    problem = hard_elastic_problem(np.random.default_rng([3, seed]))
    problem = problem.replace(restitution=np.clip(problem.restitution, 0.05, 0.95))
    step = problem.scaling.impulse
    _, slow = reference(problem, 1, "energetic", seed=seed, step=step)
    for change in (0.0, 1e-8):
        bouncy = problem.replace(restitution=problem.restitution + change)
        fast = run(bouncy, 1, hypothesis="energetic", step=step, max_steps=400, seed=seed)
        np.testing.assert_allclose(fast[0], slow[0], atol=1e-6 * np.abs(problem.v).max())


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
@pytest.mark.parametrize("points", ["random", "sobol"])
def test_kernel_draws_the_reference_s_numbers(hypothesis, points):
    problem = ball_on_ball_and_wall([0.9, 0.4], mu=0.2)
    _, slow = reference(problem, 6, hypothesis, seed=2**40 + 7, points=points)
    fast = routh.sample(
        problem, 6, hypothesis=hypothesis, points=points, seed=2**40 + 7, max_steps=400, method="algorithm1"
    )
    np.testing.assert_allclose(fast.v, slow[0], atol=1e-9)
    np.testing.assert_array_equal(fast.steps, slow[2])


def test_samples_depend_neither_on_threads_nor_on_their_number():
    problem = ball_on_ball_and_wall(0.7, mu=0.3)
    many = routh.sample(problem, 200, threads=2)
    few = routh.sample(problem, 70, threads=1)
    np.testing.assert_array_equal(many.v[:70], few.v)


def test_without_restitution_the_kernel_gives_the_inelastic_samples():
    problem = routh.systems.get("rocking-block").problem
    draw, slow = reference(problem, 16, "energetic")
    found = run(problem, 16, hypothesis="energetic", step=draw.step, max_steps=400, seed=0)
    np.testing.assert_allclose(found[0], slow[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_tableau_takes_the_reference_s_path(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    A = rng.normal(size=(n, n))
    W, q = A @ A.T + rng.normal(size=(n, n)) * 0.1, rng.normal(size=n)
    W += n * np.eye(n)
    outcome, _, basis, value = lemke_pivots(W, q, np.ones(n), 500, 1e-11)
    T, own = np.empty((n, 2 * n + 2)), np.empty(n, np.int64)
    assert tableau.lemke(W, q, np.ones(n), 500, 1e-11, T, own)[0] == outcome
    np.testing.assert_array_equal(own, basis)
    np.testing.assert_allclose(T[:, -1], value, atol=1e-10)
    z = np.empty(n)
    tableau.read_solution(T, own, z)
    assert tableau.natural_residual(W, q, z) < 1e-9


def test_the_true_cone_is_sampled_on_the_cpu_only():
    problem = random_elastic_problem(np.random.default_rng(0), nc=1, nt=2)
    with pytest.raises(ValueError, match="device: got 'cuda'; restitution with the true cone"):
        routh.sample(problem.replace(restitution=0.5), 8, method="algorithm1", friction="cone", device="cuda")
