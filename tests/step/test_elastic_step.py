import numpy as np
import pytest

from problems import ball_on_ball_and_wall, random_elastic_problem, row_of_balls
from routh.status import Status
from routh.step import ConeStep, PolyhedralStep, make_step
from routh.step.elastic import ElasticStep, balance, path_parts, path_shares


@pytest.mark.parametrize("seed", range(12))
def test_step_with_a_floor_solves_its_own_conditions(seed):
    rng = np.random.default_rng(seed)
    problem = random_elastic_problem(rng, nc=int(rng.integers(1, 4)))
    bound = problem.scaling.impulse * rng.uniform(0.2, 1.0, problem.nc)
    floor = np.where(rng.random(problem.nc) < 0.6, bound, 0.0)
    steps = [PolyhedralStep(problem)] + ([ConeStep(problem)] if problem.nt == 2 else [])
    for step in steps:
        result = step.solve(problem.v, bound, floor)
        assert result.status is Status.SOLVED
        assert step.residual(problem.v, bound, result.impulse, floor) < 1e-9
        assert np.all(result.impulse[:, 0] >= floor - 1e-12)
        assert np.all(result.impulse[:, 0] <= bound + 1e-12)


def test_a_zero_floor_changes_nothing():
    problem = random_elastic_problem(np.random.default_rng(3), nc=3, nt=1)
    step = PolyhedralStep(problem)
    bound = problem.scaling.impulse
    np.testing.assert_array_equal(step.solve(problem.v, bound, np.zeros(3)).v, step.solve(problem.v, bound).v)


def test_parts_of_a_path():
    y0, y1 = np.array([-2.0, 1.0, 3.0, -1.0, 0.0]), np.array([2.0, 3.0, -1.0, -3.0, 0.0])
    positive, negative = path_parts(y0, y1)
    grid = np.linspace(0.0, 1.0, 20001)[:, None]
    path = y0 + grid * (y1 - y0)
    np.testing.assert_allclose(positive, np.maximum(path, 0.0).mean(axis=0), atol=2e-4)
    np.testing.assert_allclose(negative, np.maximum(-path, 0.0).mean(axis=0), atol=2e-4)
    np.testing.assert_allclose(positive - negative, 0.5 * (y0 + y1), atol=1e-15)
    apart, near = path_shares(y0, y1)
    np.testing.assert_allclose(apart, [0.5, 1.0, 0.75, 0.0, 1.0])
    np.testing.assert_allclose(near, [0.5, 0.0, 0.25, 1.0, 1.0])


def test_energy_from_nowhere_is_taken_from_the_stores_then_from_the_budgets():
    stored, returned, most = np.array([2.0, 0.0]), np.array([0.0, 1.0]), np.array([0.0, 4.0])
    for seeming in (-1.0, 0.5, 2.0, 3.5):
        s, r = balance(stored, returned, most, seeming)
        gain = -2.0 + 1.0 + seeming  # of kinetic energy
        assert gain <= r.sum() - s.sum() + 1e-15
        assert np.all(s >= 0.0)
        assert np.all(r <= most + 1e-15)


@pytest.mark.parametrize("size", [0.05, 0.7, 5.0])
@pytest.mark.parametrize("seed", range(8))
def test_kinetic_energy_and_budgets_never_rise(seed, size):
    rng = np.random.default_rng(100 + seed)
    problem = random_elastic_problem(rng, nc=int(rng.integers(1, 4)), nt=1, mu=2.0)
    step = ElasticStep(problem, make_step(problem))
    v, budget = problem.v, np.zeros(problem.nc)
    unit = 0.5 * problem.scaling.speed**2
    for _ in range(30):
        if step.has_ended(v, budget):
            break
        found = step.solve(v, budget, size * problem.scaling.impulse * rng.random(problem.nc))
        assert found.step.status is Status.SOLVED
        before = problem.kinetic_energy(v) + budget.sum()
        after = problem.kinetic_energy(found.step.v) + found.budget.sum()
        assert after <= before + 1e-12 * unit
        assert np.all(found.budget >= 0.0)
        assert 0.0 < found.share <= 1.0
        assert np.all(found.ledger.stored >= 0.0)
        assert np.all(found.ledger.returned >= 0.0)
        v, budget = found.step.v, found.budget


def test_an_increment_ends_where_the_first_compression_ends():
    problem = row_of_balls(2, 0.5)
    step = ElasticStep(problem, make_step(problem))
    found = step.solve(problem.v, np.zeros(1), np.array([10.0]))
    np.testing.assert_allclose(found.step.v, [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.share, 0.05, rtol=1e-9)
    np.testing.assert_allclose(found.ledger.stored, 0.25, rtol=1e-9)
    back = step.solve(found.step.v, found.budget, np.array([10.0]))
    np.testing.assert_allclose(back.step.v, [0.25, 0.75], atol=1e-12)  # Newton's answer: e times the approach
    assert step.has_ended(back.step.v, back.budget)


def test_frictionless_increments_lose_only_what_the_hypothesis_says():
    problem = ball_on_ball_and_wall([0.8, 0.3])
    step = ElasticStep(problem, make_step(problem))
    v, budget, lost = problem.v, np.zeros(2), 0.0
    rng = np.random.default_rng(0)
    while not step.has_ended(v, budget):
        found = step.solve(v, budget, rng.random(2))
        lost += float((1.0 - problem.restitution**2) @ found.ledger.stored)
        v, budget = found.step.v, found.budget
    assert problem.kinetic_energy() - problem.kinetic_energy(v) == pytest.approx(lost, rel=1e-9)
