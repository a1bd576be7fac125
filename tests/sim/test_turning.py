"""The rate at which slip in space turns, against differences of the equations of motion themselves."""

import numpy as np
import pytest

from routh.kernels.motion.forces import At, Held, make_found
from routh.kernels.motion.turning import aim, turning_rates
from routh.sim.contact_forces import ContactProblem, Hold, forces_of
from routh.sim.mode_motion import NO_SLIP

SLIDING = [[1, 2, 4, 5], [1, 2, 4, 5]]


def random_problem(seed):
    """Three contacts of a mechanism with twelve freedoms: their Jacobians and the problem of their forces."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(9, 12))
    ones = np.ones(3)
    free = np.column_stack([-1.0 - rng.random(3), rng.normal(size=(3, 2))])
    return J, ContactProblem((0, 1, 2), J @ J.T, free, np.full(3, 0.3), np.zeros((3, 2)), ones, ones)


def mode_of(slip):
    return tuple(Hold(i, tuple(s / np.linalg.norm(s)) if np.any(s) else None) for i, s in enumerate(slip))


def rates(J, problem, slip, earlier=None):
    """Of slip (3, 2) m/s; where there is none the contact sticks. And the ways of slip."""
    v = np.linalg.lstsq(J, np.column_stack([np.zeros(3), slip]).ravel(), rcond=None)[0]
    at = At(J.reshape(3, 3, 12), np.eye(12), np.zeros(12), problem.free, v)
    way = np.tile([1.0, 0.0], (3, 1)) if earlier is None else earlier
    held = Held(np.arange(3), ~slip.any(axis=1), problem.mu, way, np.zeros(3, dtype=bool))
    found = make_found(3, 3, 12)
    assert aim(held, at, NO_SLIP, found)
    return turning_rates(held, v, NO_SLIP, found), held.way


@pytest.mark.parametrize("seed", range(6))
def test_they_are_the_derivative_of_slip(seed):
    (J, problem), rng = random_problem(seed), np.random.default_rng(100 + seed)
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
    acceleration = found.acceleration[:2, 1:]
    per_slip = np.zeros((4, 4))
    for i in range(2):
        d = slip[i] / speed[i]
        strength = 0.3 * abs(found.force[i, 0]) / speed[i]
        per_slip[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = strength * (np.eye(2) - np.outer(d, d))
    alone = problem.G[np.ix_(*SLIDING)] @ per_slip
    own = np.array([min(np.linalg.norm(by[:, k : k + 2]) for by in (jacobian, alone)) for k in (0, 2)])
    got, way = rates(J, problem, slip)
    assert got.answer == pytest.approx(np.linalg.norm(own), rel=1e-4)
    size = np.linalg.norm(acceleration, axis=1)
    along = (acceleration * slip[:2]).sum(axis=1) / speed[:2]
    turns = np.sqrt(size**2 - along**2) > 0.1 * own * speed[:2]
    assert got.change == pytest.approx((turns * size / speed[:2]).max(), rel=1e-9)
    assert got.stop == pytest.approx(max((-along / speed[:2]).max(), 0.0), rel=1e-9)
    np.testing.assert_allclose(way[:2], slip[:2] / speed[:2, None], atol=1e-9)


def test_nothing_turns_where_nothing_slides():
    assert rates(*random_problem(0), np.zeros((3, 2)))[0] == (0.0, 0.0, 0.0)


def test_slip_that_is_hardly_any_keeps_to_the_way_before():
    """Its direction is rounding: it would make friction jump."""
    given = *random_problem(0), np.array([[-3e-11, 4e-11], [-3e-9, 4e-9], [0.0, 0.0]])
    _, way = rates(*given, np.tile([1.0, 0.0], (3, 1)))
    assert way[0] @ [1.0, 0.0] > 0.99
    np.testing.assert_allclose(way[1], [-0.6, 0.8], atol=1e-6)
