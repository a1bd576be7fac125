from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routh import Status, lcp
from routh.lcp import rational
from routh.lcp.lemke import FOUND, PIVOT_LIMIT, RAY, is_tied
from routh.lcp.rational import _leaving, lemke_exact
from routh.lcp.solving import natural_residual, solve_scaled


def random_matrix(rng, n, kind):
    if kind == "positive definite":
        A = rng.normal(size=(n, n))
        return A @ A.T + 0.1 * np.eye(n)
    if kind == "P, not symmetric":
        A = rng.normal(size=(n, n))
        return A @ A.T + 0.1 * np.eye(n) + 3.0 * (A - A.T)
    A = rng.normal(size=(n, max(1, n - 2)))  # singular, positive semidefinite
    return A @ A.T


@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from(["positive definite", "P, not symmetric"]))
def test_unique_solutions_agree_with_the_enumerator(seed, n, kind):
    rng = np.random.default_rng(seed)
    W, q = random_matrix(rng, n, kind), rng.normal(size=n)
    result = lcp.solve(W, q)
    every = lcp.enumerate_solutions(W, q)
    assert result.status is Status.SOLVED
    assert natural_residual(W, q, result.z) < 1e-9 * max(1.0, np.abs(q).max())
    assert len(every) == 1
    np.testing.assert_allclose(result.z, every[0].z, atol=1e-7)


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_semidefinite_problems_are_solved_where_solvable(seed, n):
    rng = np.random.default_rng(seed)
    W = random_matrix(rng, n, "singular")
    q = W @ np.abs(rng.normal(size=n)) * -1.0 + np.abs(rng.normal(size=n))  # feasible by construction
    result = lcp.solve(W, q)
    assert result.status is Status.SOLVED
    assert natural_residual(W, q, result.z) < 1e-8 * max(1.0, np.abs(q).max())


def test_a_solution_that_only_a_singular_basis_has_is_found():
    (found,) = lcp.enumerate_solutions([[0.0, 1.0], [0.0, 0.0]], [-1.0, 0.0])
    np.testing.assert_array_equal(found.z, [0.0, 1.0])


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_singular_bases_have_numbers_of_the_size_of_the_problem(seed, n):
    """Least squares of rank-deficient rows may also come near with weights of 1e14 that rounding invents."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, rng.integers(1, n)))
    W, wanted = columns @ columns.T, rng.uniform(0.1, 1.0, size=n)
    found = lcp.enumerate_solutions(W, -W @ wanted)
    nearest = min(np.abs(W @ (one.z - wanted)).max() for one in found)
    assert nearest < 1e-9 * np.abs(W).max()
    assert max(np.abs(one.z).max() for one in found) < 1e6


def test_a_problem_with_two_solutions_depends_on_the_cover():
    W, q = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([-1.0, -1.0])
    every = lcp.enumerate_solutions(W, q)
    points = np.array(sorted(tuple(r.z) for r in every))
    np.testing.assert_allclose(points, [(0.0, 1.0), (1 / 3, 1 / 3), (1.0, 0.0)], atol=1e-12)
    found = {tuple(np.round(lcp.solve(W, q, cover=cover).z, 9)) for cover in ([1.0, 5.0], [5.0, 1.0])}
    assert len(found) == 2


def test_murtys_triangular_problem():
    """Murty (1978): with some covering vectors the path of this problem visits 2^n bases."""
    n = 6
    W = np.eye(n) + 2.0 * np.triu(np.ones((n, n)), 1)
    result = lcp.solve(W, -np.ones(n), max_pivots=2000)
    expected = np.zeros(n)
    expected[-1] = 1.0
    assert result.status is Status.SOLVED
    np.testing.assert_allclose(result.z, expected, atol=1e-12)


def test_kostrevas_cycling_problem_ends():
    """Kostreva (1979): without lexicographic ties Lemke's method cycles on this problem."""
    W = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
    result = lcp.solve(W, [-1.0, -1.0, -1.0])
    assert result.status is Status.SOLVED
    np.testing.assert_allclose(result.z, [1 / 3, 1 / 3, 1 / 3], atol=1e-12)


def test_a_problem_without_solution_says_so():
    result = lcp.solve([[0.0, -1.0], [1.0, 0.0]], [-1.0, -1.0])
    assert result.status is Status.RAY
    assert not result.residual < 1e-9
    assert lcp.enumerate_solutions([[0.0, -1.0], [1.0, 0.0]], [-1.0, -1.0]) == []
    limited = lcp.solve([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], max_pivots=1)
    assert limited.status is Status.MAX_PIVOTS
    assert not limited.residual < 1e-9


def test_the_trivial_problem_needs_no_pivot():
    result = lcp.solve(-np.eye(3), [0.0, 1.0, 2.0])
    assert (result.status, result.pivots) == (Status.SOLVED, 0)
    np.testing.assert_array_equal(result.z, 0.0)


def test_solutions_that_differ_only_in_what_does_not_matter_are_one():
    W, q = np.ones((2, 2)), np.array([-1.0, -1.0])  # z1 + z2 = 1
    assert len(lcp.enumerate_solutions(W, q)) >= 2
    assert len(lcp.enumerate_solutions(W, q, same=[[1.0, 1.0]])) == 1


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_exact_integers_agree_with_floats(seed, n):
    rng = np.random.default_rng(seed)
    W, q = random_matrix(rng, n, "positive definite"), rng.normal(size=n)
    outcome, _, basis, value = lemke_exact(W, q, np.ones(n), 1000)
    assert outcome == FOUND
    z = [Fraction(0)] * n
    for index, number in zip(basis, value, strict=True):
        if n <= index < 2 * n:
            z[index - n] = number
    w = [sum(Fraction(W[i, j]) * z[j] for j in range(n)) + Fraction(q[i]) for i in range(n)]
    assert all(a >= 0 and b >= 0 and a * b == 0 for a, b in zip(z, w, strict=True))  # exactly
    np.testing.assert_allclose([float(a) for a in z], lcp.solve(W, q).z, atol=1e-8)


def test_exact_integers_find_the_ray_too():
    outcome, *_ = lemke_exact(np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([-1.0, -1.0]), np.ones(2), 100)
    assert outcome == RAY


def test_the_last_resort_is_taken_and_marked():
    """A pivoting that always lies is caught by the residual; exact arithmetic then answers."""
    W, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])

    def lying(W, q, cover, limit, tolerance):
        return FOUND, 1, np.array([0, 1]), np.zeros(2)

    result = solve_scaled(W, q, np.ones(2), np.ones(2), np.ones(2), 1e-9, 100, lying)
    assert (result.status, result.method) == (Status.SOLVED, "exact")
    np.testing.assert_allclose(result.z, [4 / 3, 7 / 3])


def test_scaling_the_problem_scales_the_solution():
    rng = np.random.default_rng(2)
    W, q = random_matrix(rng, 5, "positive definite"), rng.normal(size=5)
    z = lcp.solve(W, q).z
    for factor in (1e-12, 1e12):
        result = lcp.solve(W, factor * q)
        assert result.status is Status.SOLVED
        np.testing.assert_allclose(result.z, factor * z, rtol=1e-9)


def test_nan_never_counts_as_solved():
    W, q = np.eye(2), np.array([-1.0, -1.0])
    assert natural_residual(W, q, np.array([np.nan, 1.0])) == np.inf
    assert natural_residual(W, q, np.array([np.inf, 1.0])) == np.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": np.ones((2, 3))}, r"W: got shape \(2, 3\); wanted a square matrix"),
        ({"W": [[np.nan, 0.0], [0.0, 1.0]]}, "W: got nan at index"),
        ({"q": [1.0]}, r"q: got shape \(1,\); wanted shape \(2,\)"),
        ({"q": [np.inf, 0.0]}, "q: got inf at index"),
        ({"cover": [1.0, 0.0]}, "cover: got 0.0; wanted positive numbers"),
        ({"cover": [1.0]}, r"cover: got shape \(1,\)"),
        ({"z_unit": -1.0}, "z_unit: got -1.0; wanted positive numbers"),
        ({"w_unit": [1.0, 2.0, 3.0]}, r"w_unit: got shape \(3,\)"),
        ({"tolerance": 0.0}, "tolerance: got 0.0; wanted a finite number > 0"),
        ({"tolerance": np.nan}, "tolerance: got nan; wanted a finite number > 0"),
        ({"max_pivots": 0}, "max_pivots: got 0; wanted an integer >= 1"),
        ({"max_pivots": 2.0}, "max_pivots: got 2.0 .*wanted an integer"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"W": np.eye(2), "q": [-1.0, 1.0], **change}
    with pytest.raises(ValueError, match=message):
        lcp.solve(arguments.pop("W"), arguments.pop("q"), **arguments)


def test_the_enumerator_refuses_what_would_never_end():
    with pytest.raises(ValueError, match=r"21 variables have 2\^21 bases; wanted at most 2\^20"):
        lcp.enumerate_solutions(np.eye(21), np.ones(21))


def test_exact_pivoting_ends_where_numbers_grow_too_long(monkeypatch):
    """It once pivoted for as long as it took: seconds at 44 unknowns, minutes beyond."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 8))
    W, q = root @ root.T, rng.normal(size=8)
    assert lemke_exact(W, q, np.ones(8), 1000)[0] == FOUND
    monkeypatch.setattr(rational, "MOST_BITS", 10**4)
    outcome, pivots, *_ = lemke_exact(W, q, np.ones(8), 1000)
    assert outcome == PIVOT_LIMIT
    assert pivots < 4


@pytest.mark.parametrize("stiff", [1.0, 1e12, 1e-12])
def test_two_solutions_are_two_in_any_unit(stiff):
    every = lcp.enumerate_solutions([[-stiff]], [1.0])  # z = 0 and z = 1 / stiff
    assert sorted(stiff * found.z[0] for found in every) == pytest.approx([0.0, 1.0])


def test_ties_do_not_depend_on_the_sign():
    for a in (1.0, -1.0, 3e-9, -3e7):
        assert is_tied(a, a * (1.0 + 1e-15))
        assert not is_tied(a, a * (1.0 + 1e-3))
        assert not is_tied(a, -a)


def test_the_artificial_variable_leaves_in_a_tie():
    """Whatever the slack columns say of the order of two equal ratios: then the problem is solved."""
    for artificial in (0, 1):
        basis, slack, ones = np.array([0, 1]), np.zeros(2), np.ones(2)
        basis[artificial], slack[artificial] = 4, 1  # by its slack columns it comes second
        T = np.column_stack([slack, slack, ones, slack, slack, ones]).astype(int).astype(object)
        assert _leaving(T, basis, [0, 1], 2) == artificial
