"""The compiled Lemke's method is the readable one, number for number, rays and ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from routh.kernels.algorithm1.lemke import follow, pivots
from routh.lcp.lemke import FOUND, PIVOT_LIMIT, RAY, lemke_pivots
from routh.step import PolyhedralStep


def compiled(W, q, cover, max_pivots, tolerance):
    n = len(q)
    T, basis, ended = np.zeros((n, n + 2)), np.empty(n, np.int64), np.empty(2, np.int64)
    follow(W, q, cover, max_pivots, tolerance, T, basis, np.empty(2 * n + 1, np.int64), ended)
    return int(ended[0]), int(ended[1]), basis, T[:, -1]


def assert_same(W, q, cover, max_pivots=200, tolerance=1e-11):
    wanted = lemke_pivots(W, q, cover, max_pivots, tolerance)
    for found in (compiled(W, q, cover, max_pivots, tolerance), pivots(W, q, cover, max_pivots, tolerance)):
        assert found[:2] == wanted[:2]
        np.testing.assert_array_equal(found[2], wanted[2])
        np.testing.assert_array_equal(found[3], wanted[3])
    return wanted[0]


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 8), st.booleans(), st.integers(0, 10**6))
def test_random_problems(n, rounded, seed):
    """Small whole numbers make ties, other matrices end in rays."""
    rng = np.random.default_rng(seed)
    W, q = rng.normal(size=(n, n)), rng.normal(size=n)
    if rounded:
        W, q = np.round(2.0 * W), np.round(2.0 * q)
    assert_same(W, q, np.ones(n))
    assert_same(W @ W.T, q, rng.uniform(0.5, 2.0, n))


def test_every_way_to_end():
    one = np.ones((1, 1))
    assert assert_same(one, -one[0], one[0]) == FOUND
    assert assert_same(-one, -one[0], one[0]) == RAY
    assert assert_same(one, one[0], one[0]) == FOUND
    coupled = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert assert_same(coupled, np.array([-1.0, -2.0]), np.ones(2), max_pivots=1) == PIVOT_LIMIT


@pytest.mark.parametrize("name", ["rocking-block", "ramone", "disk-stack"])
def test_steps_of_impacts(name):
    problem = routh.systems.get(name).problem
    rng = np.random.default_rng(1)
    steps = [PolyhedralStep(problem), PolyhedralStep(problem, pivoting=compiled)]
    for _ in range(20):
        bound = problem.scaling.impulse * rng.random(problem.nc)
        mine, theirs = (step.solve(problem.v, bound) for step in steps)
        np.testing.assert_array_equal(mine.v, theirs.v)
        np.testing.assert_array_equal(mine.impulse, theirs.impulse)
        assert mine.status is theirs.status
