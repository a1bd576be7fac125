"""Exact sets of problems in floating point: small bodies, scaled units, coincidences, and what they move."""

from fractions import Fraction as F

import numpy as np
import pytest
from test_rational import turned_block

import routh
from problems import planar_biped
from routh import Status, systems
from routh.exact.build import displacement
from routh.exact.rational import RationalProblem
from routh.exact.snap import as_given, snap

pytest.importorskip("ppl")

SCALES = [(1e-6, 1.0, 1.0), (1.0, 1e6, 1.0), (1.0, 1.0, 1e-6), (1e6, 1e-6, 1e3), (3.7, 0.013, 211.0)]


def block(length):
    """A sliding and turning block of any size; the angular velocity keeps the feet's velocities."""
    return routh.ImpactProblem(
        np.diag([1.0, 1.0, 5.0 * length**2 / 12.0]),
        [[0.0, 1.0, -length / 2], [0.0, 1.0, length / 2]],
        [[1.0, 0.0, length], [1.0, 0.0, length]],
        0.5,
        [0.3, -1.0, 0.2 / length],
    )


def body(seed, contacts):
    """A planar body with contacts anywhere that is thrown at one of them."""
    rng = np.random.default_rng(seed)
    points, angles = rng.uniform(-1, 1, (contacts, 2)), rng.uniform(0, np.pi, contacts)
    normals = np.c_[np.cos(angles), np.sin(angles)]
    tangents = np.c_[normals[:, 1], -normals[:, 0]]
    arms = [points[:, 0] * d[:, 1] - points[:, 1] * d[:, 0] for d in (normals, tangents)]
    M = np.diag([1.0, 1.0, rng.uniform(0.05, 1.0)])
    v = np.append(-normals[0], rng.normal())
    mu = rng.uniform(0, 0.5, contacts)
    return routh.ImpactProblem(M, np.c_[normals, arms[0]], np.c_[tangents, arms[1]], mu, v)


def rescaled(problem, length, mass, time):
    """The same planar body in other units, and what its velocities are multiplied by."""
    units = np.array([length / time, length / time, 1.0 / time])
    M = problem.M * mass * (length / time) ** 2 / np.outer(units, units)
    Jn, Jt = (rows * (length / time) / units for rows in (problem.Jn, problem.Jt))
    return routh.ImpactProblem(M, Jn, Jt, problem.mu, problem.v * units), units


def shares(exact, rows, which):
    """Supports as shares of the largest that energy allows."""
    problem = exact.problem
    lengths = np.sqrt(np.einsum("ki,ik->k", rows, problem.solve_mass(rows.T)))
    return exact.support(rows, which=which) / (lengths * problem.speed)


@pytest.mark.parametrize("length", [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 2e-5, 1e-5])
def test_small_bodies_keep_their_outcomes(length):
    problem = block(length)
    exact = routh.exact_set(problem)
    assert exact.status is Status.SOLVED
    for order in ([0, 1], [1, 0]):
        v = routh.laws.Sequential(order)(problem).v
        assert exact.contains(v)
        assert exact.contains(v, which="inner")
    filled = routh.fill(problem, max_samples=200, seed=0).outcomes
    assert np.all(exact.contains(filled.v[filled.terminated]))
    # those of small step come as near as their step
    drawn = routh.sampling.sample_by_steps(problem, 200, step=0.004 * problem.scaling.impulse, seed=1)
    assert drawn.terminated.all()
    assert exact.outer.violation(drawn.v).max() < 0.01
    # the same block in metres
    factor = np.array([1.0, 1.0, length])
    large = routh.exact_set(block(1.0))
    np.testing.assert_allclose(
        sorted(tuple(np.array(v, float) * factor) for v in exact.vertices()),
        sorted(tuple(np.array(v, float)) for v in large.vertices()),
        rtol=0.0,
        atol=1e-9,
    )


@pytest.mark.parametrize("make", [lambda: body(1, 2), lambda: body(2, 3), lambda: block(1.0)])
def test_units_change_nothing(make):
    problem = make()
    rows = np.random.default_rng(0).normal(size=(12, 3))
    first = routh.exact_set(problem)
    assert first.status is Status.SOLVED
    for scale in SCALES:
        other, units = rescaled(problem, *scale)
        exact = routh.exact_set(other)
        assert exact.status is Status.SOLVED
        for which in ("inner", "outer"):
            np.testing.assert_allclose(
                shares(exact, rows / units, which), shares(first, rows, which), rtol=0.0, atol=1e-9
            )


def test_a_bound_in_place_of_an_incomplete_set_has_units_too():
    rows = np.random.default_rng(0).normal(size=(6, 3))
    first = routh.exact_set(block(1.0), budget=1e-9)
    assert first.status is Status.INCOMPLETE
    for scale in SCALES:
        other, units = rescaled(block(1.0), *scale)
        exact = routh.exact_set(other, budget=1e-9)
        np.testing.assert_allclose(
            shares(exact, rows / units, "outer"), shares(first, rows, "outer"), rtol=0.0, atol=1e-6
        )


def test_snapping_is_relative():
    """A length unit of 1e-6 moves no entry farther than one of 1 (the inertia would become 0)."""
    for length in (1.0, 1e-3, 1e-6):
        snapped = snap(block(length), tolerance=1e-6)
        assert max(snapped.moved.values()) <= 1e-6
        assert float(snapped.rational.M[2][2]) == pytest.approx(5 * length**2 / 12, rel=4e-6)


def test_the_problem_stays_as_it_was_given():
    """Only coincidences that rounding destroyed are restored: here a foot at rest to 1e-17."""
    problem = systems.get("compass-gait").problem
    found = as_given(problem)
    exact = RationalProblem(problem.M, problem.Jn, problem.Jt, problem.mu, problem.v)
    assert (found.rational.M, found.rational.Jn, found.rational.Jt) == (exact.M, exact.Jn, exact.Jt)
    assert {"B normal", "B tangent"} <= set(found.at_rest)
    assert max(found.moved.values()) < 1e-15
    assert displacement(problem, found.rational).radius < 1e-15


@pytest.mark.parametrize("angle", [0.3, 1.0])
def test_a_turned_frame_changes_nothing(angle):
    first, turned = systems.get("rocking-block").problem, turned_block(angle)
    exact, other = routh.exact_set(first), routh.exact_set(turned)
    assert [piece.dimension for piece in other.inner] == [piece.dimension for piece in exact.inner]
    rows = first.Jn
    np.testing.assert_allclose(other.support(turned.Jn), exact.support(rows), atol=1e-12)
    np.testing.assert_allclose(
        other.support(turned.Jn, which="outer"), exact.support(rows, which="outer"), rtol=0.0, atol=1e-7
    )


@pytest.mark.parametrize("field", ["M", "Jn", "Jt", "mu", "v"])
def test_the_bound_on_what_a_change_moves(field):
    """Outcomes of a changed problem lie in the outer set of the other, enlarged by the bound."""
    given = body(2, 3)
    rng = np.random.default_rng(3)
    for size in (1e-4, 1e-7):
        change = size * rng.normal(size=getattr(given, field).shape)
        if field == "M":
            change = 0.5 * (change + change.T)
        moved = given.replace(**{field: getattr(given, field) + change})
        rational = RationalProblem(moved.M, moved.Jn, moved.Jt, moved.mu, moved.v)
        shift = displacement(given, rational)
        assert 0.0 < shift.radius <= shift.room
        assert shift.radius < (30.0 * np.sqrt(size) if field == "Jt" else 100.0 * size)
        exact = routh.exact_set(rational, eta=min(1.1 * shift.room, 0.1))
        reached = routh.fill(given, max_samples=200, seed=0).outcomes
        assert np.all(exact.outer.violation(reached.v[reached.terminated]) <= shift.radius + 1.1 * shift.room)


def test_no_bound_without_a_pointed_cone():
    jammed = routh.ImpactProblem(np.eye(2), [[1, 0], [-1, 0]], [[0, 1], [0, 1]], 2.0, [1.0, -0.5])
    near = RationalProblem(np.eye(2), [[1, 0], [-1, F(1, 10**9)]], jammed.Jt, jammed.mu, jammed.v)
    assert displacement(jammed, near).radius == np.inf
    # v alone moves outcomes by no more than itself, whatever the cone is
    moved = RationalProblem(jammed.M, jammed.Jn, jammed.Jt, jammed.mu, [1, F(-49, 100)])
    assert displacement(jammed, moved).radius == pytest.approx(0.01 / jammed.speed, rel=0.02)


def test_what_coincidences_moved_is_enclosed():
    """A foot that is almost at rest is taken to rest, and the outer set encloses the difference."""
    rest = systems.get("rocking-block").problem
    v = rest.v + np.array([2e-12, 0.0, 0.0])
    exact = routh.exact_set(rest.replace(v=v))
    assert len(exact.snapped.at_rest) == 2
    assert 1e-12 < exact.outer.radius < 1e-11
    assert exact.gap >= exact.outer.radius
    for order in ([0, 1], [1, 0]):
        assert exact.contains(routh.laws.Sequential(order)(rest.replace(v=v)).v, tolerance=1e-14)


def test_a_slow_approach_is_an_impact():
    """Within the tolerance of rest, but nothing else happens: it must not vanish."""
    problem = routh.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.5, [1.0, -1e-13])
    exact = routh.exact_set(problem)
    assert exact.status is Status.SOLVED
    assert exact.contains([1.0 - 5e-14, 0.0], tolerance=1e-15)
    assert not exact.contains(problem.v, tolerance=1e-15)


def test_space_names_its_polygon():
    problem = routh.ImpactProblem(
        np.eye(3), [[0.0, 0.0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], 0.5, [0.3, 0.1, -1.0]
    )
    with pytest.raises(
        ValueError, match="got 'cone' for contacts in space, where exact sets are only of polygons"
    ):
        routh.exact_set(problem)
    with pytest.raises(ValueError, match="facets: got 6 with friction 'cone'"):
        routh.exact_set(problem, facets=6)
    octagon = routh.exact_set(problem, friction="polyhedral")
    assert (octagon.friction, octagon.facets) == ("polyhedral", 8)
    assert "friction='polyhedral', facets=8" in repr(octagon)
    assert routh.exact_set(problem, friction="polyhedral", facets=6).facets == 6


def test_in_the_plane_a_cone_is_a_polygon():
    cone, polygon = (routh.exact_set(block(1.0), friction=word) for word in ("cone", "polyhedral"))
    assert set(cone.vertices()) == set(polygon.vertices())
    assert (cone.friction, cone.facets) == (polygon.friction, polygon.facets) == ("cone", None)
    with pytest.raises(ValueError, match="facets: got 8; planar friction has exactly 2"):
        routh.exact_set(block(1.0), friction="polyhedral", facets=8)


def test_equal_rows_stay_equal_beside_rows_that_nearly_depend():
    """A heel slips as its toe; by least squares it did so up to rounding, which moved v by a half."""
    problem = planar_biped()
    given = as_given(problem)
    assert given.rational.Jt[0] == given.rational.Jt[1]
    assert displacement(problem, given.rational).radius < 1e-12
