"""The impact step: solutions are solutions, seen from outside, and the cone is the limit of its facets."""

import numpy as np
import pytest
from hypothesis import given, settings

import routh
from problems import colliding, problems, random_problem
from routh.step import PolyhedralStep, make_step
from routh.step.cone import ConeStep


def random_bound(problem, seed=0):
    rng = np.random.default_rng(seed)
    return problem.scaling.impulse * rng.random(problem.nc) * 10.0 ** rng.uniform(-1.0, 1.0)


def distance(problem, a, b):
    return np.sqrt(2.0 * problem.kinetic_energy(a - b)) / problem.scaling.speed


@given(problems(nts=(1,)))
def test_lemke_is_among_all_solutions(problem):
    if problem.nc > 3:
        problem = colliding(problem.subset(range(3)))
    step, bound = PolyhedralStep(problem), random_bound(problem)
    result = step.solve(problem.v, bound)
    assert result.status is routh.Status.SOLVED
    every = step.solutions(problem.v, bound)
    assert min(distance(problem, result.v, other.v) for other in every) < 1e-6
    for other in every:
        assert step.residual(problem.v, bound, other.impulse) < 1e-7


@given(problems())
def test_the_claimed_residual_holds_from_outside(problem):
    bound = random_bound(problem)
    step = PolyhedralStep(problem)
    for limit in (bound, None):
        result = step.solve(problem.v, limit)
        assert result.status is routh.Status.SOLVED
        assert step.residual(problem.v, limit, result.impulse) < 1e-8
        if limit is None:
            assert np.all(problem.Jn @ result.v > -1e-8 * problem.scaling.velocity)


@given(problems(nts=(2,)))
@settings(max_examples=25)
def test_the_true_cone_is_solved_and_checked(problem):
    step, bound = ConeStep(problem), random_bound(problem)
    result = step.solve(problem.v, bound)
    assert result.status is routh.Status.SOLVED
    lam = result.impulse
    assert np.all(
        np.linalg.norm(lam[:, 1:], axis=1) <= problem.mu * lam[:, 0] + 1e-8 * problem.scaling.impulse
    )
    slip = problem.contact_velocity(result.v)[:, 1:]
    speed = np.linalg.norm(slip, axis=1)
    power = np.einsum("it,it->i", lam[:, 1:], slip)
    # maximal dissipation: friction takes out mu lambda_n |slip|
    unit = problem.scaling.impulse * problem.scaling.velocity
    np.testing.assert_allclose(power / unit, -problem.mu * lam[:, 0] * speed / unit, atol=1e-7)


def test_facets_converge_to_the_cone_with_the_square_of_their_angle():
    rng = np.random.default_rng(3)
    problem = colliding(random_problem(rng, nt=2, nc=2, nv=6, mu=0.4))
    bound = random_bound(problem)
    exact = ConeStep(problem).solve(problem.v, bound)
    errors = [
        distance(problem, PolyhedralStep(problem, facets=k).solve(problem.v, bound).v, exact.v)
        for k in (8, 32, 128)
    ]
    assert errors[2] < 1e-3
    assert errors[2] < errors[0]


def test_planar_cone_and_polyhedral_friction_are_the_same():
    problem = routh.systems.get("rocking-block").problem
    assert isinstance(make_step(problem, friction="cone"), PolyhedralStep)
    with pytest.raises(ValueError, match="friction: got 'round'; wanted one of 'cone', 'polyhedral'"):
        make_step(problem, friction="round")
    with pytest.raises(ValueError, match="facets: got 8; planar friction has exactly 2"):
        make_step(problem, friction="cone", facets=8)
    with pytest.raises(ValueError, match="facets: got 8 with friction 'cone', which has none"):
        make_step(routh.systems.get("box-drop").problem, facets=8)


def test_friction_of_a_hundred_thousand():
    rng = np.random.default_rng(5)
    for _ in range(40):
        problem = colliding(random_problem(rng, nt=int(rng.integers(1, 3)), mu=1e5))
        step, bound = PolyhedralStep(problem), random_bound(problem)
        result = step.solve(problem.v, bound)
        assert result.status is routh.Status.SOLVED
        assert result.residual < 1e-7
        assert step.residual(problem.v, bound, result.impulse) < 1e-6


def test_mass_ratios_of_a_million():
    rng = np.random.default_rng(6)
    for _ in range(40):
        problem = colliding(random_problem(rng, nt=int(rng.integers(1, 3)), ratio=1e6))
        result = PolyhedralStep(problem).solve(problem.v, random_bound(problem))
        assert result.status is routh.Status.SOLVED
        assert result.residual < 1e-9


def test_the_exact_matrix_is_used_where_rounding_makes_a_problem_unsolvable():
    """A singular Delassus matrix, friction 1e5, mass ratio 1e6: rounded entry by entry it has no solution."""
    rng = np.random.default_rng(0)
    methods = set()
    for _ in range(60):
        problem = colliding(random_problem(rng, nt=1, nc=6, nv=4, mu=1e5, ratio=1e6))
        result = PolyhedralStep(problem).solve(problem.v, random_bound(problem))
        assert result.status is routh.Status.SOLVED
        methods.add(result.method)
    assert len(methods) > 1


def test_half_of_an_impulse_is_no_solution_of_the_true_cone():
    problem = routh.systems.get("box-drop").problem
    step = ConeStep(problem)
    result = step.solve(problem.v, None)
    assert 0.0 <= result.residual < 1e-9
    assert step.residual(problem.v, None, 0.5 * result.impulse) > 0.1


def test_contacts_that_jam_cannot_rebound_as_facets_know():
    squeezed = routh.ImpactProblem(np.eye(3), [[0, 0, 1], [0, 0, -1]], [np.eye(3)[:2]] * 2, 0.5, [0, 0, -1])
    assert ConeStep(squeezed).solve(squeezed.v, None).status is routh.Status.SOLVED
    rebound = np.array([0.5, 0.5])  # away from both
    wanted = PolyhedralStep(squeezed).solve(squeezed.v, None, rebound=rebound).status
    assert wanted is not routh.Status.SOLVED
    assert ConeStep(squeezed).solve(squeezed.v, None, rebound=rebound).status is wanted
