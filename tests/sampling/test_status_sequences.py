"""The farthest outcome along given contact statuses."""

import numpy as np
import pytest

from routh import systems
from routh.kernels.common.arrays import make_rows
from routh.kernels.events import scaled_pieces
from routh.sampling.settings import ByEvents
from routh.sampling.status_sequences import APART, STICK, Polisher, StatusProgram, farthest, is_farthest


@pytest.fixture
def polisher():
    return Polisher(systems.get("rocking-block").rational.problem)


def test_the_rocking_blocks_far_end_is_one_sequence_and_has_the_known_velocity(polisher):
    # by hand: A sticks alone, then B alone, leaves A's normal velocity at 0.21 of the speed before
    sequence = ((STICK, APART), (APART, STICK))
    problem = polisher.problem
    reached = polisher.extreme(sequence, problem.Jn[0])
    assert reached is not None
    assert reached.sequence == sequence
    assert np.allclose(problem.Jn @ reached.v, [-0.21 * problem.v[1], 0.0], atol=1e-9)
    assert reached.residual < 1e-9
    assert np.allclose(problem.apply(reached.path.impulse.sum(axis=0)), reached.v, atol=1e-12)


def test_the_other_way_it_goes_no_farther_than_rest(polisher):
    near = polisher.extreme(((STICK, STICK),), polisher.problem.Jn[0])
    assert near is not None
    assert np.allclose(polisher.problem.Jn @ near.v, 0.0, atol=1e-9)


def test_statuses_that_no_solution_has_give_none(polisher):
    cost = np.ones(4)
    # from zero slip, A alone cannot slide forwards: friction 1 holds it
    for sequence in (((1, APART),), ((STICK, APART),)):  # A alone makes B approach faster: it does not end
        program = StatusProgram(polisher.G, polisher.start, polisher.mu, sequence)
        assert farthest(program, cost) is None


def test_multipliers_know_whether_a_sample_is_the_farthest_of_its_kind():
    problem = systems.get("box-wall").rational.problem
    polisher, rows, settings = Polisher(problem), make_rows([problem]), ByEvents(seed=2).draws(40)
    answers = []
    for sample in range(40):
        walk = polisher.walk(scaled_pieces(rows, settings, sample, friction="cone", facets=None))
        program = StatusProgram(polisher.G, polisher.start, polisher.mu, walk.sequence)
        for direction in (problem.Jn[0], -problem.Jt[0, 0], problem.Jt[1, 0]):
            cost = direction @ problem.response * np.repeat(problem.scaling.impulse, 2)
            best = farthest(program, cost)
            gain = cost @ (best.sum(axis=0) - walk.pieces.sum(axis=0))
            answers.append(is_farthest(program, walk.pieces, cost))
            assert gain >= -1e-9
            assert answers[-1] == (gain <= 1e-9)
    assert 10 < sum(answers) < len(answers) - 10
