"""The rate at which slip in space turns, against differences of the equations of motion themselves."""

import numpy as np
import pytest

from routh.sim.contact_forces import ContactProblem, Hold, forces_of
from routh.sim.mode_motion import NO_SLIP, turning_rates


def max_rate(*given):
    return max(turning_rates(*given))


def random_problem(seed):
    """Three contacts of a mechanism with eight freedoms: two slide, one sticks."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(9, 8))
    ones = np.ones(3)
    free = np.column_stack([-1.0 - rng.random(3), rng.normal(size=(3, 2))])
    return ContactProblem((0, 1, 2), J @ J.T, free, np.full(3, 0.3), np.zeros((3, 2)), ones, ones)


def mode_of(slip):
    return tuple(Hold(i, tuple(s / np.linalg.norm(s)) if np.any(s) else None) for i, s in enumerate(slip))


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_derivative_of_slip(seed):
    problem, rng = random_problem(seed), np.random.default_rng(100 + seed)
    slip = np.vstack([1e-3 * rng.normal(size=(2, 2)), np.zeros(2)])
    found = forces_of(problem, mode_of(slip))
    jacobian = np.zeros((4, 4))
    for k in range(4):
        ends = []
        for sign in (1.0, -1.0):
            moved = slip.copy()
            moved[k // 2, k % 2] += sign * 1e-8
            ends.append(forces_of(problem, mode_of(moved)).acceleration[:2, 1:].ravel())
        jacobian[:, k] = (ends[0] - ends[1]) / 2e-8
    speed = np.linalg.norm(slip, axis=1)
    changed = float((np.linalg.norm(found.acceleration[:2, 1:], axis=1) / speed[:2]).max())
    width = [[1, 2, 4, 5], [1, 2, 4, 5]]
    per_slip = np.zeros((4, 4))
    for i in range(2):
        d = slip[i] / speed[i]
        strength = 0.3 * abs(found.force[i, 0]) / speed[i]
        per_slip[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = strength * (np.eye(2) - np.outer(d, d))
    alone = np.linalg.norm(problem.G[np.ix_(*width)] @ per_slip, 2)
    expected = max(min(np.linalg.norm(jacobian, 2), alone), 3.0 * changed)
    assert max_rate(problem, found, np.maximum(speed, NO_SLIP)) == pytest.approx(expected, rel=1e-4)


def test_nothing_turns_where_nothing_slides():
    problem = random_problem(0)
    sticking = tuple(Hold(i) for i in range(3))
    assert max_rate(problem, forces_of(problem, sticking), np.full(3, NO_SLIP)) == 0.0
