"""The sampler that fills the set: its samples are outcomes, and they reach the set's ends."""

import numpy as np
import pytest

import routh
from problems import colliding, problem_of_size, random_problem, row_of_balls
from routh import systems
from routh.base.status import Status
from routh.sampling.path_residual import path_residual

NAMES = ["rocking-block", "pushing", "compass-gait", "block-into-wall"]


@pytest.fixture(scope="module")
def fillings():
    return {name: routh.fill(systems.get(name).rational.problem, seed=1) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_samples_fill_the_exact_set_and_stay_inside(fillings, name):
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get(name).rational)
    filling = fillings[name]
    assert filling.stopped
    coverage = routh.coverage(filling.outcomes, exact)
    assert coverage.worst < (0.005 if name == "block-into-wall" else 1e-4)
    rng = np.random.default_rng(9)  # other directions than those that were watched
    rows = rng.normal(size=(32, 2 * exact.problem.nc)) @ exact.problem.J.reshape(-1, exact.problem.nv)
    reached = np.max(rows @ filling.outcomes.v.T, axis=1)
    width = exact.support(rows) + exact.support(-rows)
    assert np.all(exact.support(rows) - reached < (0.005 if name == "block-into-wall" else 1e-4) * width)
    assert coverage.outside < 1e-9
    assert len(filling.outcomes) <= 2**14
    assert "miss at most" in str(coverage)


@pytest.mark.parametrize("name", NAMES)
def test_each_sample_obeys_the_model(fillings, name):
    outcomes = fillings[name].outcomes
    problem = outcomes.problem
    assert np.all(outcomes.status == Status.SOLVED)
    assert np.all(outcomes.terminated)
    assert np.max(outcomes.residual) < 1e-9
    normal, friction = outcomes.impulse[..., 0], outcomes.impulse[..., 1]
    assert np.all(normal >= -1e-12)
    assert np.all(np.abs(friction) <= problem.mu * normal + 1e-12)
    assert np.all(outcomes.kinetic_energy <= problem.kinetic_energy() * (1 + 1e-12))
    assert np.all(np.abs(problem.apply(outcomes.impulse) - outcomes.v) < 1e-12)


def test_equal_seeds_give_equal_samples():
    problem = systems.get("rocking-block").problem
    first, again = (routh.fill(problem, max_samples=300, seed=5) for _ in range(2))
    assert np.array_equal(first.outcomes.v, again.outcomes.v)
    assert not first.stopped
    assert first.support.shape[1] == 32
    assert np.all(first.growth >= 0.0)


def test_uniform_sampling_covers_less():
    pytest.importorskip("ppl")
    system = systems.get("box-wall")
    exact = routh.exact_set(system.rational)
    uniform = routh.sampling.sample_by_steps(system.problem, 40, step=0.05, seed=0)
    assert routh.coverage(uniform, exact).worst > 0.05


def test_no_impact_and_bad_input():
    block = systems.get("rocking-block").problem
    apart = block.replace(v=[0.0, 1.0, 0.0])
    filling = routh.fill(apart, max_samples=10)
    assert np.all(filling.outcomes.status == Status.NO_IMPACT)
    with pytest.raises(ValueError, match="directions: got 5"):
        routh.fill(block, directions=5)
    with pytest.raises(ValueError, match="seed: got None"):
        routh.fill(block, seed=None)
    with pytest.raises(ValueError, match="climbs: got 3"):
        routh.fill(block.replace(restitution=0.5), climbs=3)
    with pytest.raises(ValueError, match="hypothesis: got 'newton'"):
        routh.fill(block, hypothesis="newton")


def test_every_sample_has_its_path(fillings):
    outcomes = fillings["block-into-wall"].outcomes
    for i in (*range(0, len(outcomes), 211), len(outcomes) - 1):
        path = outcomes.path(i)
        assert path_residual(outcomes.problem, path) <= 1e-12
        np.testing.assert_allclose(path.v[-1], outcomes.v[i], atol=1e-12)
        assert len(path.impulse) == outcomes.events[i]


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
def test_elastic_impacts_are_filled_too(hypothesis):
    problem = systems.get("rocking-block").problem.replace(restitution=0.5)
    filling = routh.fill(problem, hypothesis=hypothesis, max_samples=2**12)
    outcomes = filling.outcomes
    assert np.all(outcomes.status == Status.SOLVED)
    assert outcomes.stored.shape == (len(outcomes), 2)
    for i in range(0, len(outcomes), 61):
        assert path_residual(problem, outcomes.path(i), hypothesis=hypothesis) <= 1e-12
    plain = routh.sample(problem, 2**12, hypothesis=hypothesis, seed=5)
    reached = np.max(filling.directions @ plain.v.T, axis=1)
    assert np.all(filling.support[-1] - reached >= -5e-3 * filling.width)


def test_three_balls_fill_their_arc():
    filling = routh.fill(row_of_balls(3, 1.0))
    ends = np.array([[0.0, 0.0, 1.0], [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]])
    distance = np.linalg.norm(filling.outcomes.v[:, None] - ends, axis=2)
    assert np.all(distance.min(axis=0) < 1e-12)
    assert np.abs(filling.outcomes.kinetic_energy - 0.5).max() < 1e-12


@pytest.mark.parametrize("friction", ["cone", "polyhedral"])
def test_in_space(friction):
    problem = problem_of_size(np.random.default_rng(0), 2, 2, 0.5)
    filling = routh.fill(problem, friction=friction, max_samples=600, batch=200)
    plain = routh.sample(problem, 600, friction=friction)
    assert np.all(filling.outcomes.status == Status.SOLVED)
    assert (filling.outcomes.error is None) == (friction == "polyhedral")
    reached = np.max(filling.directions @ plain.v.T, axis=1)
    assert np.all(filling.support[-1] - reached >= -0.05 * filling.width)


def test_contacts_at_rest_up_to_rounding_give_no_strangers():
    """The linear programs once let a contact push that was at rest only up to rounding."""
    pytest.importorskip("ppl")
    for seed in (1, 6, 37):
        rng = np.random.default_rng(seed)
        problem = colliding(random_problem(rng, nc=3, nv=3, mu=rng.uniform(0.0, 1.0, 3)))
        at_rest = problem.v - np.linalg.lstsq(problem.Jn[:1], problem.Jn[:1] @ problem.v, rcond=None)[0]
        problem = colliding(problem.replace(v=at_rest * (1.0 + 1e-16)))
        exact = routh.exact_set(problem)
        assert exact.status is Status.SOLVED
        ended = routh.fill(problem, max_samples=512, batch=128).outcomes
        assert np.max(exact.outer.violation(ended.v[ended.terminated])) <= 1e-9 * problem.speed
