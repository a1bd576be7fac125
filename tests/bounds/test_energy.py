"""The outer bound must hold for every outcome, and its certificates must prove it without the solver."""

from dataclasses import replace

import numpy as np
import pytest

import routh
from problems import colliding, random_problem
from routh import systems
from routh.bounds import outer_bound

NAMES = ["rocking-block", "compass-gait", "box-wall", "pushing"]


@pytest.mark.parametrize("name", NAMES)
def test_the_bound_holds_for_the_exact_set_and_its_certificates_hold(name):
    pytest.importorskip("ppl")
    system = systems.get(name)
    exact = routh.exact_set(system.rational)
    bound = outer_bound(system.problem)
    for direction in np.random.default_rng(1).normal(size=(5, system.problem.nv)):
        certificates = bound.certificates(direction)
        assert all(bound.residual(c) < 1e-12 for c in certificates)
        value = bound.support(direction)
        assert value == max(c.bound for c in certificates)
        # the rational system differs from the float one by up to 1e-8
        assert exact.support(direction, which="outer") <= value + 1e-5 * system.problem.speed * 10
        assert exact.support(direction) <= value + 1e-7
        energy = system.problem.speed * bound.dual_norm(direction)
        assert value <= energy * (1 + 1e-9)


def test_a_spoilt_certificate_is_noticed():
    bound = outer_bound(systems.get("rocking-block").problem)
    certificate = bound.certificates(np.array([1.0, 0.2, 0.3]))[0]
    assert bound.residual(replace(certificate, bound=0.9 * certificate.bound)) > 1e-3
    assert bound.residual(replace(certificate, p=certificate.p + np.array([0.0, 1.0, 0.0]))) > 1e-3


def test_what_a_certificate_lacks_is_a_share_of_the_speed():
    slow = systems.get("rocking-block").problem
    fast = slow.replace(v=1000.0 * slow.v)
    lacking = []
    for problem in (slow, fast):
        bound = outer_bound(problem)
        certificate = bound.certificates(np.array([1.0, 0.2, 0.3]))[0]
        lacking.append(bound.residual(replace(certificate, bound=0.9 * certificate.bound)))
    assert lacking[1] == pytest.approx(lacking[0], rel=1e-3)


def test_the_total_impulse_is_bounded():
    problem = systems.get("rocking-block").problem
    outcomes = routh.sampling.sample_by_steps(problem, 20, step=0.1, seed=0)
    largest = outcomes.impulse[:, :, 0].sum(axis=1).max()
    limit = outer_bound(problem).total_impulse
    assert largest <= limit < 5 * largest


@pytest.mark.parametrize("nt", [1, 2])
def test_no_sample_spends_more_impulse_than_theorem_3_allows(nt):
    """Random contacts are not alike: the bound is that of the one whose force pushes least."""
    rng, bounded, nearest = np.random.default_rng(1), 0, 0.0
    for seed in range(60 if nt == 1 else 20):
        problem = colliding(random_problem(rng, nt=nt, nc=int(rng.integers(2, 4))))
        limit = outer_bound(problem).total_impulse
        outcomes = routh.sample(problem, 64, seed=seed, rates="extreme")
        largest = outcomes.impulse[outcomes.solved, :, 0].sum(axis=1).max(initial=0.0)
        assert largest <= limit * (1.0 + 1e-9)
        bounded += np.isfinite(limit)
        nearest = max(nearest, largest / limit)
    assert bounded > 10
    assert nearest > 0.3  # it says something


def test_a_cone_that_is_not_pointed_still_gets_a_bound():
    problem = routh.ImpactProblem(
        np.eye(2), [[0.0, 1.0], [0.0, -1.0]], [[1.0, 0.0], [1.0, 0.0]], 1.0, [1.0, -1.0]
    )
    bound = outer_bound(problem)
    assert bound.total_impulse == np.inf
    assert bound.support([1.0, 0.0]) <= np.sqrt(2.0) + 1e-9


def test_bounds_in_space_with_the_true_cone():
    problem = routh.ImpactProblem(
        np.eye(3), [[0.0, 0.0, 1.0]], [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], 0.5, [0.3, 0.1, -1.0]
    )
    bound = outer_bound(problem)
    outcomes = routh.sampling.sample_by_steps(problem, 4, step=0.1, friction="cone", seed=0)
    for direction in np.random.default_rng(0).normal(size=(6, 3)):
        assert (outcomes.v @ direction).max() <= bound.support(direction) + 1e-7


def test_restitution_is_refused():
    with pytest.raises(ValueError, match=r"restitution: got 0\.5"):
        outer_bound(systems.get("rocking-block").problem.replace(restitution=0.5))
