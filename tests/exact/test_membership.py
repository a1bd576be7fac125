"""Which velocities an exact set contains: rows that nearly depend, borders, and numbers of any size."""

from fractions import Fraction as F

import numpy as np
import pytest

import routh
from routh import Status, systems
from routh.exact.rational import factors, product, transpose

pytest.importorskip("ppl")

NOISES = [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-8]


def foot(noise, seed=3):
    """Heel and toe on one link of a robot with six coordinates: three of their four rows are independent."""
    rng = np.random.default_rng(seed)
    link = rng.normal(size=(3, 6))  # its velocity
    Jn = np.array([[0.0, 1.0, -0.1], [0.0, 1.0, 0.2]]) @ link + noise * rng.normal(size=(2, 6))
    Jt = np.array([[1.0, 0.0, 0.05], [1.0, 0.0, 0.05]]) @ link + noise * rng.normal(size=(2, 6))
    v = rng.normal(size=6)
    return routh.ImpactProblem(np.eye(6), Jn, Jt, 0.5, -v if (Jn @ v).min() > 0.0 else v)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("seed", [3, 4])
def test_outcomes_are_inside_where_rows_nearly_depend(noise, seed):
    problem = foot(noise, seed)
    exact, outcomes = routh.exact_set(problem), routh.sample(problem, 200)
    assert exact.status is Status.SOLVED
    solved = outcomes.v[outcomes.status == Status.SOLVED]
    assert len(solved) == 200
    assert np.all(exact.contains(solved))
    assert np.all(exact.contains(solved, which="inner", tolerance=1e-5))
    assert exact.outer.violation(solved).max() < 1e-11
    assert routh.coverage(outcomes, exact).outside == 0.0
    assert not np.any(
        exact.contains(solved + 1e-6 * problem.speed * np.eye(6)[:, None], tolerance=1e-8).all(axis=0)
    )


@pytest.mark.parametrize("seed", [38, 44])
def test_outcomes_are_inside_where_rows_add_up_and_friction_is_huge(seed):
    """Moving the rows would move outcomes too far: all numbers count as given, with their rounding."""
    rng = np.random.default_rng(seed)
    Jn, Jt = rng.normal(size=(2, 3, 6))
    Jn[2], Jt[2] = Jn[0] + Jn[1], Jt[0] + Jt[1]
    v = rng.normal(size=6)
    problem = routh.ImpactProblem(np.eye(6), Jn, Jt, 1000.0, -v if Jn[2] @ v > 0.0 else v)
    exact, outcomes = routh.exact_set(problem, budget=1.0), routh.sample(problem, 100)
    solved = outcomes.v[outcomes.status == Status.SOLVED]
    assert len(solved)
    assert np.all(exact.contains(solved, tolerance=1e-7))
    assert np.all(np.isfinite(exact.outer.violation(solved)))


def test_nothing_is_decided_by_rounding():
    """The border of a set is inside, the nearest number beyond it is not, whatever floating point says."""
    exact = routh.exact_set(systems.get("rocking-block").rational)
    problem = exact.problem
    corner = next(v for v in exact.vertices(which="outer") if any(v))
    near = np.array([float(x) for x in corner])
    literal = tuple(F(float(x)) for x in near)
    off = [a - b for a, b in zip(literal, corner, strict=True)]
    M = exact.rational.M
    square = sum(off[i] * M[i][j] * off[j] for i in range(3) for j in range(3))
    share = float(square) ** 0.5 / problem.speed
    assert 0.0 < share < 1e-15
    assert exact.contains(near, tolerance=1.01 * share)
    inside = [bool(exact.contains(near, tolerance=tol)) for tol in np.linspace(0.0, 2.0, 41) * share]
    assert inside == sorted(inside)  # once inside, inside for every larger tolerance
    zero = np.zeros(3)  # rest is an outcome, exactly
    assert exact.contains(zero, tolerance=0.0)
    assert exact.contains(zero, tolerance=0.0, which="inner")


def test_the_filter_agrees_with_fractions():
    """Distances that are made in fractions: a facet moved out by exactly the tolerance is the border."""
    exact = routh.exact_set(routh.systems.impact("compass-gait"))
    rng = np.random.default_rng(0)
    facets = exact.outer._facets
    v = routh.sample(exact.problem, 50).v
    v = v + 10.0 ** rng.uniform(-17, -1, (50, 1)) * rng.normal(size=v.shape)
    everything = np.arange(len(facets.pieces))
    for tol in (0.0, 1e-16, 1e-12, 1e-3):
        limit = F(tol) + F(exact.outer.radius)
        expected = [facets._inside(row, everything, limit) for row in v]
        assert exact.contains(v, tolerance=tol).tolist() == expected
    assert len(set(exact.contains(v, tolerance=1e-3).tolist())) == 2


def test_violation_is_never_more_than_the_distance():
    exact = routh.exact_set(foot(1e-13))
    inside = np.array(exact.vertices(which="outer"), dtype=float).mean(axis=0)
    rng = np.random.default_rng(1)
    for size in (1e-14, 1e-10, 1e-3, 10.0):
        step = rng.normal(size=(20, 6))
        away = inside + size * exact.problem.speed * step / np.linalg.norm(step, axis=1, keepdims=True)
        nearest = [min(piece.distance(v) for piece in exact.outer) for v in away]
        assert np.all(exact.outer.violation(away) <= np.array(nearest) * (1.0 + 1e-9) + 1e-15)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_no_velocity_and_velocities_beyond_bounds_are_outside(value):
    exact = routh.exact_set(systems.get("rocking-block").rational)
    v = np.zeros((4, 3))
    v[[1, 2], [0, 2]] = value
    assert exact.contains(v).tolist() == [True, False, False, True]
    assert np.all(exact.outer.violation(v)[1:3] > 1e300)


def test_units_change_no_membership():
    """Powers of two as units of length and time: the same bits, so the same answers."""
    problem = foot(1e-12)
    outcomes = routh.sample(problem, 50).v
    exact = routh.exact_set(problem)
    scaled = routh.exact_set(problem.replace(v=problem.v * 2.0**-300))
    v = outcomes + 1e-7 * np.random.default_rng(0).normal(size=outcomes.shape)
    for tol in (1e-9, 1e-7):
        assert (
            exact.contains(v, tolerance=tol).tolist()
            == scaled.contains(v * 2.0**-300, tolerance=tol).tolist()
        )


def test_factors_multiply_to_their_matrix():
    A = ((F(4), F(2), F(1)), (F(2), F(3), F(0)), (F(1), F(0), F(5)))
    L, D = factors(A)
    scaled = tuple(tuple(x * d for x, d in zip(row, D, strict=True)) for row in L)
    assert product(scaled, transpose(L)) == A
    assert all(L[i][i] == 1 and not any(L[i][i + 1 :]) for i in range(3))
