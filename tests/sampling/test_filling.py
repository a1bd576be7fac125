"""The sampler that fills the set: its samples are outcomes, and they reach the set's ends."""

import numpy as np
import pytest

import routh
from routh import systems
from routh.status import Status

NAMES = ["rocking-block", "pushing"]


@pytest.fixture(scope="module")
def fillings():
    return {
        name: routh.fill(systems.get(name).rational.problem, seed=1, batch=128, patience=10) for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
def test_samples_fill_the_exact_set_and_stay_inside(fillings, name):
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get(name).rational)
    filling = fillings[name]
    assert filling.stopped
    coverage = routh.coverage(filling.outcomes, exact)
    assert coverage.worst < 0.01
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
    uniform = routh.sample(system.problem, 40, step=0.05, seed=0, method="algorithm1")
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
    space = routh.ImpactProblem(np.eye(3), [[0.0, 0, 1]], [[[1.0, 0, 0], [0, 1, 0]]], 0.5, [0.0, 0, -1])
    with pytest.raises(ValueError, match="use sample in space"):
        routh.fill(space)
