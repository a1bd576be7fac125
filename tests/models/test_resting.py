"""On which points a body comes to rest, and what it takes to leave them."""

from __future__ import annotations

import numpy as np
import pytest

from routh.models.resting import rest_of
from routh.models.rotations import exponential, rotation_matrices

UP = np.array([0.0, 0.0, 1.0])
SQUARE = np.array([(x, y, 0.0) for x in (0.2, -0.2) for y in (0.2, -0.2)])
CENTRE = np.array([0.0, 0.0, 0.55])
RISE = np.hypot(0.2, 0.55) - 0.55


@pytest.mark.parametrize("angle", [0.0, 0.05, 0.1, 0.2, 0.26])
@pytest.mark.parametrize("yaw", [0.0, 0.4, 0.785])
def test_a_tilted_body_comes_to_rest_on_all_of_its_feet(angle, yaw):
    axis = angle * np.array([[np.cos(yaw), np.sin(yaw), 0.0]])
    turn = rotation_matrices(exponential(axis))[0]
    found = rest_of(SQUARE @ turn.T, UP, turn @ CENTRE, -UP)
    assert found.stands
    assert found.held
    assert sorted(found.corners) == [0, 1, 2, 3]
    assert found.rises == pytest.approx([RISE] * 4)
    assert found.normal == pytest.approx(turn @ UP)


def test_knees_and_shins_carry_nothing():
    shins = SQUARE * 0.95 + 0.01 * UP
    above = SQUARE + 0.01 * UP
    knees = SQUARE * [1.2, 1.0, 1.0] + [0.0, 0.0, 0.037]
    found = rest_of(np.vstack([SQUARE, shins, above, knees]), UP, CENTRE, -UP)
    assert sorted(found.corners) == [0, 1, 2, 3]
    assert found.carrying.tolist() == [0, 1, 2, 3]
    assert found.rises == pytest.approx([RISE] * 4)


def test_unequal_feet_rock_but_carry():
    """Of two facets the body leaves one easily for the other; neither lets it turn over."""
    feet = SQUARE + np.outer([0.004, 0.0, 0.0, 0.0], UP)
    centre = np.array([0.02, 0.01, 0.55])
    found = rest_of(feet, UP, centre, -UP)
    assert sorted(found.corners) == [0, 1, 2, 3]
    for rise, start, end in zip(found.rises, found.corners, np.roll(found.corners, -1), strict=True):
        e = feet[end] - feet[start]
        arm = centre - feet[start]
        distance = np.linalg.norm(np.cross(arm, e)) / np.linalg.norm(e)
        assert rise == pytest.approx(distance - found.height)  # each edge by its own points


def test_outriggers_that_are_too_high_catch_nothing():
    base = SQUARE * 0.15
    outriggers = np.array([(0.3, 0, 0.02), (-0.3, 0, 0.02), (0, 0.3, 0.02), (0, -0.3, 0.02)])
    points = np.vstack([base, outriggers])
    assert sorted(rest_of(points, UP, np.array([0, 0, 1.5]), -UP).corners) == [0, 1, 2, 3]
    low = rest_of(points, UP, np.array([0, 0, 0.5]), -UP)  # lower down they do
    assert sorted(low.corners) == [4, 5, 6, 7]


@pytest.mark.parametrize("slope", [0.1, 0.26])
def test_a_slope_takes_from_the_lower_edge(slope):
    down = np.array([np.sin(slope), 0.0, -np.cos(slope)])
    found = rest_of(SQUARE, UP, CENTRE, down)
    lower = np.hypot(0.2, 0.55) - (0.55 * np.cos(slope) + 0.2 * np.sin(slope))
    assert min(found.rises) == pytest.approx(lower)


def test_outside_of_its_feet_it_does_not_stay():
    for centre, down in (
        (np.array([0.21, 0.0, 0.55]), -UP),
        (CENTRE, np.array([np.sin(0.5), 0.0, -np.cos(0.5)])),
    ):
        found = rest_of(SQUARE, UP, centre, down)
        assert not found.stands
        assert not found.held
        assert sorted(found.corners) == [0, 1, 2, 3]  # of all of the facet that it leaves
        assert min(found.rises) == 0.0


def test_above_an_edge_it_stays_whatever_the_rounding():
    for beyond in (-1e-9, 0.0, 1e-9):
        found = rest_of(SQUARE, UP, np.array([0.2 + beyond, 0.0, 0.55]), -UP)
        assert found.stands
        assert min(found.rises) == pytest.approx(0.0, abs=1e-8)


def test_points_opposite_to_each_other_are_two_and_equal_ones_are_one():
    """A cube about its centre, the upper side first; and its lower corners once more, after all others."""
    lower = SQUARE - 0.2 * UP
    for more in (lower[:0], lower):
        found = rest_of(np.vstack([SQUARE + 0.2 * UP, lower, more]), UP, np.zeros(3), -UP)
        assert found.stands
        assert sorted(found.corners) == [4, 5, 6, 7]
        assert found.carrying.tolist() == list(range(4, 8 + len(more)))
        assert found.rises == pytest.approx([np.sqrt(0.08) - 0.2] * 4)


def test_rounding_leaves_the_border_whole():
    rng = np.random.default_rng(0)
    grid = np.array([(x, y, 0.0) for x in np.linspace(-1, 1, 5) for y in np.linspace(-1, 1, 5)])
    for size in (0.0, 1e-13, 1e-10):
        found = rest_of(grid + rng.normal(0.0, size, grid.shape), UP, np.array([0.0, 0.0, 1.0]), -UP)
        assert found.held
        assert found.rises == pytest.approx([np.sqrt(2.0) - 1.0] * len(found.rises), abs=1e-6)


def test_points_on_a_line_are_refused():
    plate = SQUARE[:, [1, 2, 0]] + [[0.0, 1e-4, 0.0], *[[0.0] * 3] * 3]  # on a line as seen from above
    for points in (SQUARE[:2], np.array([(0.1 * k, 0.0, 0.0) for k in range(4)]), SQUARE[[0, 0, 0]], plate):
        with pytest.raises(ValueError, match="on one line or at one point"):
            rest_of(points, UP, CENTRE, -UP)
