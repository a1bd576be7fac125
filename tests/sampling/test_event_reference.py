"""The compiled sampler in the plane draws what its readable reference draws, decision by decision."""

import event_reference as reference
import numpy as np
import pytest

import routh
from problems import FAMILIES, colliding, family_problem, planar_body, random_problem
from routh import systems
from routh.base.status import Status

PLANAR = [name for name in FAMILIES if name.startswith("planar")]
SYSTEMS = ("rocking-block", "compass-gait", "ramone", "rimless-wheel", "block-into-wall", "disk-stack")


def differing(problem, n, *, seed=5, hypothesis="energetic", **settings):
    """Samples whose status, pieces or velocity are not the reference's."""
    outcomes = routh.sample(problem, n, seed=seed, threads=1, hypothesis=hypothesis, **settings)
    poisson, found = hypothesis == "poisson", []
    for sample in range(n):
        status, pieces = reference.follow(problem, seed, sample, poisson=poisson, **settings)
        unit, said = problem.scaling.impulse[:, None], outcomes.status[sample]
        v = problem.apply(pieces.sum(axis=0) * unit)
        same = status == (Status.MAX_STEPS if said == Status.JAMMED else said)
        same &= np.linalg.norm((v - outcomes.v[sample]) @ problem.cholesky) <= 1e-8 * problem.speed
        if not (same and alike(pieces, outcomes.path(sample).impulse / unit)):
            found.append(sample)
    return found


def alike(*paths):
    """Whether impulses (k, nc, 2) of pieces are the same, but for pieces that rounding makes of a tie."""
    one, other = (path[np.abs(path).max(axis=(1, 2), initial=0.0) > 1e-8] for path in paths)
    return one.shape == other.shape and np.abs(one - other).max(initial=0.0) <= 1e-7


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name):
    assert not differing(systems.get(name).problem, 60)


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "block-into-wall", "disk-stack"])
def test_systems_that_bounce(name, hypothesis):
    assert not differing(systems.get(name).problem.replace(restitution=0.5), 16, hypothesis=hypothesis)


@pytest.mark.parametrize("family", PLANAR)
def test_degenerate_families(family):
    """Doubled contacts, jammed cones, friction of 1e5, mass ratios of 1e6 among them."""
    for seed in range(4):
        assert not differing(family_problem(family, seed)[0], 8)


@pytest.mark.parametrize("nc", [1, 2, 3, 4])
@pytest.mark.parametrize("rates", ["mixed", "uniform", "extreme"])
def test_random_problems(nc, rates):
    for seed in range(4):
        rng = np.random.default_rng([seed, nc])
        assert not differing(planar_body(rng, nc), 12, rates=rates)
        problem = colliding(random_problem(rng, nc=nc))
        assert not differing(problem, 12, rates=rates, persistence=0.4)
        assert not differing(problem.replace(restitution=0.7), 6, rates=rates)


def test_a_wrong_reference_is_found(monkeypatch):
    """Nothing of this passes by itself: other numbers for its cuts, and samples differ."""
    monkeypatch.setattr(reference, "event_number", lambda key, index: 0.5)
    assert differing(systems.get("block-into-wall").problem, 60)
