"""Heel and toe of a link have one tangent: friction that can stand for another's, in the plane."""

import numpy as np
import pytest

import routh
from event_families import ALLOWED, faults, feet
from routh.base.status import Status
from routh.problem.pointedness import pointedness
from routh.sampling.path_residual import path_residual


def two_feet():
    """Two feet, each on heel and toe, of a body that comes down without slip."""
    Jn = [[0, 1, 0.0, 0, 0.2, 0], [0, 1, 0.3, 0, 0, 0.1], [0, 1, -0.2, 0, 0, 0.3], [0, 1, 0.1, 0.2, 0, 0]]
    left, right = [1, 0, 0.5, 0.7, 0, 0], [1, 0, 0.5, 0, 0.6, 0.1]
    M = np.diag([5.0, 5.0, 1.0, 0.5, 0.5, 0.2])
    M[2, 3:] = M[3:, 2] = 0.2
    v = [0, -1, 0, 0, 0, 0]
    return routh.ImpactProblem(M, np.array(Jn, float), [left, left, right, right], [0.9, 0.9, 1.9, 1.9], v)


def assert_solved_and_true(problem, rates, seed):
    outcomes = routh.sample(problem, 128, seed=seed, rates=rates, threads=1)
    left = set(map(Status, outcomes.status)) - {Status.SOLVED}
    if pointedness(problem).pointed:  # else some may jam, and say so
        assert left == set()
    assert left <= {Status.JAMMED}
    assert faults(problem, outcomes, "energetic").max() <= ALLOWED
    for i in np.flatnonzero(outcomes.status == Status.SOLVED)[:3]:
        assert path_residual(problem, outcomes.path(int(i))) <= ALLOWED


@pytest.mark.parametrize("rates", ["mixed", "uniform", "extreme"])
def test_every_sample_is_solved(rates):
    """An equation that was thrown away with an unknown that is zero was the only one for a later unknown."""
    assert_solved_and_true(two_feet(), rates, 0)
    for seed in range(40):
        assert_solved_and_true(feet(np.random.default_rng(seed)), rates, seed)


def test_friction_opposes_slip_where_equations_contradict_each_other():
    """With what is held some equations have no solution; a contact that was to stick slid unopposed."""
    Jn, Jt = [[1, -2, 0], [2, 0, 0], [-1, 0, -2], [1, 0, 1]], [[2, 1, 0], [0, -2, 0], [0, 2, 2], [-1, -2, -1]]
    problem = routh.ImpactProblem(
        np.diag([2.0, 4.0, 4.0]), Jn, Jt, [1.0, 1.0, 0.5, 1.0], [-1.0, 1.0, 1.0], restitution=0.5
    )
    outcomes = routh.sample(problem, 200, seed=56, hypothesis="poisson", rates="uniform", threads=1)
    assert Status.NUMERICAL not in outcomes.status
    assert faults(problem, outcomes, "poisson").max() <= ALLOWED
