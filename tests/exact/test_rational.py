"""Rational statements and snapping: what coincided must still coincide, exactly."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routh import systems
from routh.exact.rational import RationalProblem, dot, independent_rows, product, simplest, solve, unit_circle
from routh.exact.snap import snap
from routh.problem.impact import ImpactProblem

INELASTIC = [
    system.name
    for system in map(systems.get, systems.names())
    if system.kind == "impact" and not system.problem.restitution.any()
]


@pytest.mark.parametrize("name", INELASTIC)
def test_every_inelastic_impact_can_state_itself_in_rationals(name):
    system = systems.get(name)
    near = system.rational.problem
    for field in ("M", "Jn", "Jt", "mu", "v"):
        ours, theirs = getattr(near, field), getattr(system.problem, field)
        assert np.max(np.abs(ours - theirs)) <= 1e-8 * max(1.0, np.max(np.abs(theirs))), field


@pytest.mark.parametrize("name", ["compass-gait", "ramone"])
def test_the_resting_foot_rests_exactly(name):
    rational = systems.get(name).rational
    assert dot(rational.Jn[1], rational.v) == 0
    assert dot(rational.Jt[1][0], rational.v) == 0


def test_ramone_lands_without_slip_because_its_feet_are_level():
    rational = systems.get("ramone").rational
    assert dot(rational.Jt[0][0], rational.v) == 0
    assert dot(rational.Jn[0], rational.v) < 0


@given(st.floats(-10.0, 10.0), st.sampled_from([1e-2, 1e-5, 1e-9]))
def test_unit_circle_points_are_on_the_circle_and_near(angle, tolerance):
    c, s = unit_circle(angle, tolerance=tolerance)
    assert c * c + s * s == 1
    assert math.hypot(float(c) - math.cos(angle), float(s) - math.sin(angle)) <= 2.1 * tolerance + 1e-14


@given(st.floats(-1e3, 1e3), st.floats(1e-9, 1e-1))
def test_simplest_is_near_and_no_simpler_one_is(value, tolerance):
    found = simplest(value, tolerance)
    assert abs(found - F(value)) <= F(tolerance)
    for denominator in range(1, min(found.denominator, 60)):
        nearest = F(round(value * denominator), denominator)
        assert abs(nearest - F(value)) > F(tolerance)


def turned_block(angle):
    """The rocking block in a turned frame: no entry is a round number any more."""
    problem = systems.get("rocking-block").problem
    R = np.eye(3)
    R[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    return problem.replace(M=R @ problem.M @ R.T, Jn=problem.Jn @ R.T, Jt=problem.Jt @ R.T, v=R @ problem.v)


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.5])
def test_snapping_keeps_rest_equality_and_rank(angle):
    snapped = snap(turned_block(angle))
    rational = snapped.rational
    assert max(snapped.moved.values()) < 1e-7
    normal = [dot(row, rational.v) for row in rational.Jn]
    slip = [dot(rows[0], rational.v) for rows in rational.Jt]
    assert normal[0] == normal[1] < 0
    assert slip == [0, 0]
    assert len(independent_rows(rational.rows)) == 3
    assert "B tangent" in snapped.dependent
    assert ("A normal", "B normal") in snapped.equal


def test_snapping_one_by_one_would_have_lost_them():
    problem = turned_block(1.0)
    rounded = [[simplest(x, 1e-3) for x in row] for row in problem.Jt[:, 0]]
    assert dot(rounded[0], [simplest(x, 1e-3) for x in problem.v]) != 0


def test_solve_and_product_are_exact():
    A = ((F(1, 3), F(2)), (F(5, 7), F(-1, 9)))
    inverse = solve(A, ((F(1), F(0)), (F(0), F(1))))
    assert product(A, inverse) == ((1, 0), (0, 1))
    with pytest.raises(ValueError, match="singular"):
        solve(((F(1), F(2)), (F(2), F(4))), ((F(1),), (F(1),)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"M": [[1, 1], [0, 1]]}, "M: differs from its transpose"),
        ({"M": [[1, "1/100000000000000000000"], [0, 1]]}, "M: is not symmetric"),
        ({"M": [[1, 0], [0]]}, "M: "),
        ({"Jn": [[0, 0]]}, "Jn: row 0 is zero"),
        ({"Jn": []}, "Jn: "),
        ({"mu": [-1]}, "mu: got -1"),
        ({"mu": [1, 1]}, "mu: got shape"),
        ({"v": [1]}, "v: got shape"),
        ({"Jt": [[[1, 0], [0, 1], [1, 1]]]}, "Jt: got shape"),
        ({"Jt": [[[1, 0]], [[1, 0], [0, 1]]], "Jn": [[0, 1], [0, 1]], "mu": [1, 1]}, "Jt: "),
        ({"M": [[1, 0], [0, -1]]}, "M: .*positive definite"),
        ({"v": [0, float("nan")]}, "v: got nan"),
        ({"mu": ["1/0"]}, "mu: got '1/0'"),
    ],
)
def test_bad_rational_problems_are_named(change, message):
    fields = {"M": [[1, 0], [0, 1]], "Jn": [[0, 1]], "Jt": [[[1, 0]]], "mu": [1], "v": [0, -1]}
    with pytest.raises(ValueError, match=message):
        RationalProblem(**{**fields, **change})


def test_a_problem_at_rest_snaps():
    problem = ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.5, [0.0, 0.0])
    assert snap(problem).rational.v == (0, 0)
