"""The farthest outcome along given contact statuses."""

import numpy as np
import pytest

from routh import systems
from routh.sampling.filling import _Walk
from routh.sampling.polishing import APART, STICK, farthest


@pytest.fixture
def walk():
    return _Walk(systems.get("rocking-block").rational.problem)


def test_the_rocking_blocks_far_end_is_one_sequence_and_has_the_known_velocity(walk):
    # by hand: A sticks alone, then B alone, leaves A's normal velocity at 0.21 of the speed before
    sequence = ((STICK, APART), (APART, STICK))
    problem = walk.problem
    reached = walk.extreme(sequence, problem.Jn[0])
    assert reached is not None
    v, impulse, *_, residual, _, _ = reached
    assert np.allclose(problem.Jn @ v, [-0.21 * problem.v[1], 0.0], atol=1e-9)
    assert residual < 1e-9
    assert np.allclose(problem.apply(impulse), v, atol=1e-12)


def test_the_other_way_it_goes_no_farther_than_rest(walk):
    near = walk.extreme(((STICK, STICK),), walk.problem.Jn[0])
    assert near is not None
    assert np.allclose(walk.problem.Jn @ near[0], 0.0, atol=1e-9)


def test_statuses_that_no_solution_has_give_none(walk):
    cost = np.ones(4)
    # from zero slip, A alone cannot slide forwards: friction 1 holds it
    assert farthest(walk.G, walk.start, walk.mu, ((1, APART),), cost) is None
    # A alone makes B approach faster: the impact does not end
    assert farthest(walk.G, walk.start, walk.mu, ((STICK, APART),), cost) is None
