"""The authors' loop with PATH: its LCP is the step's, and PATH, where it is at hand, solves it."""

import numpy as np
import pytest

from routh import systems
from routh.lcp.lemke import lemke_pivots
from routh.reproduce.path_solver import PathMissingError, PathSolver, counted, library, step_matrix
from routh.step import PolyhedralStep


@pytest.fixture
def path():
    try:
        return library()
    except PathMissingError as error:
        pytest.skip(str(error))


def constants(problem, bound):
    _, J = step_matrix(problem)
    return np.concatenate([bound, J @ problem.v, np.zeros(problem.nc)])


@pytest.mark.parametrize("name", ["rocking-block", "box-wall"])
def test_the_matrix_is_that_of_the_step(name):
    problem, rng = systems.impact(name), np.random.default_rng(0)
    W, J = step_matrix(problem)
    for _ in range(10):
        bound = problem.scaling.impulse * rng.random(problem.nc)
        w = constants(problem, bound)
        _, _, basis, value = lemke_pivots(W, w, np.ones(len(w)), 1000, 1e-12)
        z = np.zeros(len(w))
        for variable, x in zip(basis, value, strict=True):
            if len(w) <= variable < 2 * len(w):
                z[variable - len(w)] = x
        v = problem.v + problem.solve_mass(J.T @ z[problem.nc : 4 * problem.nc])
        np.testing.assert_allclose(v, PolyhedralStep(problem).solve(problem.v, bound).v, atol=1e-9)


def test_path_solves_a_step_to_its_tolerance(path):
    problem = systems.impact("rocking-block")
    W, _ = step_matrix(problem)
    w = constants(problem, np.array([0.1, 0.2]))
    z = PathSolver(W, 1e-12).solve(w)
    assert np.abs(np.minimum(z, W @ z + w)).max() < 1e-10


def test_stuck_samples_end_without_impulse(path):
    loose, strict = (counted("box-wall", 100, tolerance=tolerance) for tolerance in (None, 1e-12))
    assert loose.still == loose.stuck > 0.0
    assert strict.stuck == 0.0
    assert loose.mean > strict.mean
