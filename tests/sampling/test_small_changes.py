"""A problem that differs by rounding draws the same outcomes: no decision of a path hangs on a last bit."""

import numpy as np
import pytest

import routh
from problems import colliding, random_problem
from routh import systems

SEVEN = ["rocking-block", "compass-gait", "box-wall", "ramone", "rimless-wheel", "pushing", "block-into-wall"]
ROUNDING = 1e-15
N = 4096


def rounded_otherwise(problem, rng):
    """The same problem, each number moved by about a last bit."""

    def moved(values):
        return values * (1.0 + ROUNDING * rng.normal(size=values.shape))

    M = moved(problem.M)
    return problem.replace(M=0.5 * (M + M.T), Jn=moved(problem.Jn), Jt=moved(problem.Jt), v=moved(problem.v))


def share_that_moved(problem, seed, n=N, **settings):
    """Share of samples whose velocity moved by more than 1e-6 of the speed."""
    other = rounded_otherwise(problem, np.random.default_rng(seed))
    one, two = (routh.sample(p, n, seed=seed, **settings) for p in (problem, other))
    distance = np.linalg.norm((one.v - two.v) @ problem.cholesky, axis=1)
    return np.mean(~(distance <= 1e-6 * problem.scaling.speed))


@pytest.mark.parametrize("name", SEVEN)
def test_systems(name):
    """Symmetric ones among them, where velocities vanish together."""
    assert share_that_moved(systems.get(name).problem, 3) <= 1e-3


@pytest.mark.parametrize("nc", [2, 3, 4])
def test_random_problems(nc):
    """Corner cuts make two velocities vanish together; it is not found again at length zero."""
    for seed in range(6):
        problem = colliding(random_problem(np.random.default_rng([seed, nc]), nc=nc, nt=1))
        assert share_that_moved(problem, seed) <= 1e-3


def test_polygons_in_space():
    for seed in range(3):
        problem = colliding(random_problem(np.random.default_rng(seed), nc=3, nt=2))
        assert share_that_moved(problem, seed, n=512, friction="polyhedral") <= 4e-3
