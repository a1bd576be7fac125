"""Outer bounds by functions that fall along solutions: valid, tighter level by level, and proved afresh."""

from dataclasses import replace

import numpy as np
import pytest

import routh
from routh import systems
from routh.bounds import BarrierBound, OuterBound
from routh.sampling.fill import watch_directions

NAMES = ["rocking-block", "box-wall", "compass-gait"]


@pytest.mark.parametrize("name", NAMES)
def test_levels_hold_the_exact_set_and_only_shrink(name):
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get(name).rational)
    rows = watch_directions(exact.problem, 4)
    supports = [routh.outer_bound(exact.problem, level=level).support(rows) for level in (0, 1, 2)]
    size = exact.problem.speed
    assert np.all(supports[2] >= exact.support(rows, which="outer") - 1e-5 * size)
    assert np.all(supports[1] <= supports[0] + 1e-9 * size)
    assert np.all(supports[2] <= supports[1] + 1e-6 * size)
    assert supports[2].sum() < 0.8 * supports[0].sum()


def test_random_problems_samples_never_leave_the_bound():
    rng = np.random.default_rng(8)
    for _ in range(4):
        A, J = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
        problem = routh.ImpactProblem(
            A @ A.T / 4 + 0.2 * np.eye(4), J[:2], J[2:], rng.uniform(0, 1, 2), rng.normal(size=4)
        )
        rows = watch_directions(problem, 4)
        reached = routh.fill(problem, max_samples=256, seed=1).outcomes
        bound = routh.outer_bound(problem, level=2).support(rows)
        assert np.all(reached.v[reached.terminated] @ rows.T <= bound + 1e-9 * problem.speed)


def test_a_spoilt_barrier_proves_less():
    bound = BarrierBound(systems.get("rocking-block").rational.problem, pieces=True)
    d = bound.problem.Jn[0] @ bound._linear.own_units[1]
    d /= np.linalg.norm(d)
    barrier = bound._solved(d, 1)
    good = bound.proved(barrier, d, 1)
    spoilt = [
        replace(barrier, q=barrier.q + 0.1 * bound._rays[0, 1]),
        replace(barrier, a=-np.ones_like(barrier.a)),
        replace(barrier, p=barrier.p + bound._rays[1, 1]),
        replace(barrier, Q=barrier.Q - 0.5 * np.eye(3)),
    ]
    for changed in spoilt:
        assert bound.proved(changed, d, 1) > good + 1e-3


def test_space_and_wrong_levels_are_refused():
    space = routh.ImpactProblem(np.eye(3), [[0.0, 0, 1]], [[[1.0, 0, 0], [0, 1, 0]]], 0.5, [0.0, 0, -1])
    with pytest.raises(ValueError, match="level: got 1 in space"):
        routh.outer_bound(space, level=1)
    with pytest.raises(ValueError, match="level: got 3; wanted an integer"):
        routh.outer_bound(space, level=3)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_every_level_keeps_the_protocol(level):
    problem = systems.get("rocking-block").problem
    bound = routh.outer_bound(problem, level=level)
    assert isinstance(bound, OuterBound)
    rows = watch_directions(problem, 2)
    supports = bound.support(rows)
    assert supports.shape == (len(rows),)
    assert bound.support(rows[0]) == supports[0] == max(bound.bound(rows[0], last) for last in (0, 1))


def test_nearly_equal_contacts_have_a_bound_at_every_level():
    """Rows of J that differ in the last digits."""
    block = systems.get("rocking-block").problem
    Jn = np.vstack([block.Jn, block.Jn[0] * (1.0 + 1e-12)])
    Jt = np.concatenate([block.Jt, block.Jt[:1] * (1.0 + 1e-13)])
    problem = routh.ImpactProblem(block.M, Jn, Jt, 0.5, block.v)
    for level in (0, 1, 2):
        value = routh.outer_bound(problem, level=level).support(Jn[0])
        assert 0.0 <= value <= problem.speed * np.sqrt(Jn[0] @ problem.solve_mass(Jn[0])) * (1.0 + 1e-9)
