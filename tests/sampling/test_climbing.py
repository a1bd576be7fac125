"""Climbing over sequences of statuses: outcomes that solutions reach, and farther than samples alone."""

from itertools import pairwise

import numpy as np
import pytest

import routh
from routh import systems
from routh.exact.checker import check_member
from routh.sampling.fill import watch_directions
from routh.sampling.status_sequences import APART, SMOOTH, _changed


@pytest.mark.parametrize("name", ["compass-gait", "block-into-wall"])
def test_what_is_climbed_to_lies_in_the_exact_set(name):
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get(name).rational)
    filling = routh.fill(exact.problem, max_samples=64, directions=4, climbs=30, patience=10**6)
    ended = filling.outcomes.v[filling.outcomes.terminated]
    assert len(ended) > 0
    assert np.max(exact.outer.violation(ended)) <= 1e-9
    reached = np.max(ended @ filling.directions.T, axis=0)
    np.testing.assert_allclose(filling.support[-1], reached, atol=1e-12)
    assert np.all(exact.support(filling.directions) - reached <= 1e-5 * exact.problem.speed)


def test_climbing_reaches_farther_on_the_disc_stack():
    problem = systems.get("disk-stack").rational.problem
    plain = routh.fill(problem, max_samples=64, directions=2, patience=10**6)
    climbed = routh.fill(problem, max_samples=64, directions=2, patience=10**6, climbs=120)
    assert climbed.width.min() > 1.1 * plain.width.min()
    outcomes = climbed.outcomes
    ended = outcomes.v[outcomes.terminated]
    assert np.all(problem.Jn @ ended.T >= -1e-9)
    assert np.all(np.einsum("ni,ij,nj->n", ended, problem.M, ended) <= problem.speed**2 * (1 + 1e-9))
    bound = routh.outer_bound(problem, level=1).support(watch_directions(problem, 2))
    assert np.all(np.max(ended @ watch_directions(problem, 2).T, axis=0) <= bound)


def test_a_climbed_outcome_is_confirmed_by_the_checker():
    pytest.importorskip("ppl")
    system = systems.get("box-wall")
    exact = routh.exact_set(system.rational)
    filling = routh.fill(exact.problem, max_samples=32, directions=2, climbs=30, patience=10**6)
    far = filling.outcomes.v[np.argmax(filling.outcomes.v @ filling.directions[0])]
    near = min(exact.vertices(), key=lambda v: np.linalg.norm(np.array(v, dtype=float) - far))
    assert np.linalg.norm(np.array(near, dtype=float) - far) <= 1e-9
    assert check_member(system.rational, near, exact.statuses_to(near)).kind == "reached"


def test_changes_keep_who_has_friction_and_never_leave_a_segment_without_push():
    rng = np.random.default_rng(0)
    sequence = ((SMOOTH, 1, APART), (APART, 0, -1), (SMOOTH, APART, 1))
    for _ in range(300):
        changed = _changed(sequence, frozenset({0}), rng)
        for statuses in changed:
            assert any(status != APART for status in statuses)
            assert statuses[0] in (SMOOTH, APART)
            assert SMOOTH not in statuses[1:]
        assert all(a != b for a, b in pairwise(changed))
