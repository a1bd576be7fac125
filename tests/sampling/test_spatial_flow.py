"""The motion in space for given rates: what it must obey, and that polygons tend to the true cone."""

import numpy as np
import pytest

from problems import problem_of_size
from routh.problem.friction import facet_directions
from spatial_flow import SpatialFlow

RATES = np.array([0.6, 0.4])


def energy_distance(flow, change):
    """Distance of velocities that differ by contact impulses (nc, 3), a share of the speed before."""
    return float(np.sqrt(max(change.ravel() @ flow.G @ change.ravel(), 0.0)))


@pytest.mark.parametrize("seed", range(3))
def test_polygons_tend_to_the_cone(seed):
    problem = problem_of_size(np.random.default_rng(seed), 2, 2, 0.5)
    cone = SpatialFlow.of(problem)
    wanted = cone.follow(cone.start, RATES, 0.5, steps=16)[1]
    far = []
    for facets in (8, 32, 128):
        flow = SpatialFlow.of(problem, facets=facets)
        far.append(energy_distance(flow, flow.follow(flow.start, RATES, 0.5)[1] - wanted))
    # a polygon gives up a share 1 - cos(pi / k) of friction, and turns slip by at most pi / k
    assert far[2] < 2.0 * np.pi / 128 * 0.5
    assert far[2] < far[0]


@pytest.mark.parametrize("facets", [None, 6])
def test_two_motions_with_the_same_rates_never_move_apart(facets):
    rng = np.random.default_rng(1)
    for _ in range(3):
        problem = problem_of_size(rng, 2, 2, 0.7)
        flow = SpatialFlow.of(problem, facets=facets)
        aside = rng.normal(size=(2, 3)) * 0.2
        first = flow.follow(flow.start, RATES, 0.6, steps=8)[1]
        second = flow.follow(flow.start + flow.G @ aside.ravel(), RATES, 0.6, steps=8)[1]
        assert energy_distance(flow, aside + second - first) <= energy_distance(flow, aside) + 1e-6


def test_friction_of_a_polygon_opposes_slip_fully():
    rng = np.random.default_rng(2)
    problem = problem_of_size(rng, 2, 2, 0.5)
    flow = SpatialFlow.of(problem, facets=8)
    corners = facet_directions(2, 8)
    length = 1e-3  # short: nothing changes on the way
    impulse = flow.follow(flow.start, RATES, length)[1]
    for i in range(2):
        slip = flow.start[3 * i + 1 : 3 * i + 3]
        assert impulse[i, 1:] @ slip == pytest.approx(-0.5 * impulse[i, 0] * (corners @ slip).max())


@pytest.mark.parametrize("length", [0.1, 2.0])
def test_an_implicit_step_opposes_the_slip_that_it_ends_with(length):
    # contacts without friction, such as joints at their limits, move the slips of the others as well
    problem = problem_of_size(np.random.default_rng(5), 2, 2, np.array([0.7, 0.0]))
    flow = SpatialFlow.of(problem)
    friction = flow.friction(flow.start / length, RATES, np.zeros((2, 2)))
    slip = (flow.start + length * flow.G @ np.column_stack([RATES, friction]).ravel())[1:3]
    assert np.linalg.norm(slip) > 0.01
    np.testing.assert_allclose(friction[0], -0.7 * RATES[0] * slip / np.linalg.norm(slip), atol=1e-9)


def test_planar_problems_are_refused():
    with pytest.raises(ValueError, match="nt = 1"):
        SpatialFlow.of(problem_of_size(np.random.default_rng(0), 2, 1, 0.5))
