"""Cone programs with answers in closed form, and those that have none."""

import numpy as np
import pytest

from routh.lcp.convex import minimise


def test_the_point_of_a_ball_that_is_farthest():
    direction = np.array([3.0, 4.0])
    table = np.vstack([np.zeros(2), -np.eye(2)])  # (1, x) in the cone: |x| <= 1
    answer = minimise(-direction, table, np.array([1.0, 0.0, 0.0]), [("second order", 3)])
    assert answer.solved
    assert answer.x == pytest.approx([0.6, 0.8], abs=1e-6)
    assert -direction @ answer.x == pytest.approx(-5.0, abs=1e-6)


def test_the_nearest_point_of_a_half_space():
    answer = minimise(
        np.array([-2.0, 0.0]), [[1.0, 1.0]], np.array([1.0]), [("nonnegative", 1)], quadratic=np.eye(2)
    )
    assert answer.solved
    assert answer.x == pytest.approx([1.5, -0.5], abs=1e-6)  # (2, 0) moved along (1, 1)


@pytest.mark.parametrize(
    ("cost", "table", "constants"),
    [
        ([1.0], [[-1.0], [1.0]], [-1.0, 0.0]),  # x >= 1 and x <= 0
        ([1.0], [[1.0], [1.0]], [1.0, 2.0]),  # no least x
    ],
)
def test_programs_without_an_answer_are_not_solved(cost, table, constants):
    answer = minimise(np.array(cost), np.array(table), np.array(constants), [("nonnegative", 2)])
    assert not answer.solved
