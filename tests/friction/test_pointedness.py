"""Pointed cones (HP23 Assumption 2) and the weaker class of contacts whose impacts end (HP19 (25))."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from problems import cone_generators, problems
from routh import systems
from routh.problem.pointedness import is_pointed, pointedness
from routh.problem.termination import terminates


def facing(share, turn=0.0, lean=0.4):
    """Two contacts of a point mass in space whose forces cancel where friction exceeds tan(lean).

    `share` is tan(lean) over the friction coefficient: below one the true cones cancel.
    """
    normals = np.array([[np.cos(lean), 0.0, np.sin(lean)], [-np.cos(lean), 0.0, np.sin(lean)]])
    tangents = []
    for normal in normals:
        first = np.array([0.0, 1.0, 0.0])
        second = np.cross(normal, first)
        c, s = np.cos(turn), np.sin(turn)
        tangents.append([c * first + s * second, -s * first + c * second])
    return routh.ImpactProblem(np.eye(3), normals, tangents, np.tan(lean) / share, [0.0, 0.0, -1.0])


@pytest.mark.parametrize("turn", [0.0, np.pi / 8, 0.3])
@pytest.mark.parametrize("share", [0.95, 0.97, 0.99, 0.9999])
def test_the_true_cone_is_jammed_between_facets(share, turn):
    """Turned by pi/8 no facet of eight points where the forces cancel."""
    problem = facing(share, turn)
    found = pointedness(problem)
    assert found.jammed
    assert found.ceiling < 1e-9
    # the certificate: an impulse in the cone that cancels
    impulse = found.impulse
    assert np.all(np.linalg.norm(impulse[:, 1:], axis=1) <= problem.mu * impulse[:, 0] * (1 + 1e-12))
    assert impulse[:, 0].sum() > 0.1
    assert np.linalg.norm(np.einsum("ij,ijv->v", impulse, problem.J)) < 1e-9


@pytest.mark.parametrize("share", [1.0001, 1.01, 1.3])
def test_the_true_cone_is_pointed_beyond_the_cancelling_angle(share):
    margins = []
    for turn in (0.0, np.pi / 8, 0.3, 2.0):
        found = pointedness(facing(share, turn))
        assert found.pointed
        margins.append(found.margin)
        assert found.ceiling == pytest.approx(found.margin, rel=1e-5)
    np.testing.assert_allclose(margins, margins[0], rtol=2e-6)


def test_samples_of_the_true_cone_know_that_it_is_jammed():
    problem = facing(0.97, np.pi / 8)
    assert routh.sampling.sample_by_steps(problem, 4, friction="cone", step=0.1, max_steps=3).jammed


def test_a_polygon_is_asked_for_by_name():
    """The inscribed octagon, turned away from the cancelling direction, does not reach it."""
    problem = facing(0.97, np.pi / 8)
    assert pointedness(problem, friction="polyhedral").pointed
    assert pointedness(problem, friction="polyhedral", facets=64).jammed
    with pytest.raises(ValueError, match="facets: got 8 with friction 'cone'"):
        pointedness(problem, facets=8)
    with pytest.raises(ValueError, match="friction: got 'box'"):
        pointedness(problem, friction="box")


@given(problems(nts=(1, 2)), st.floats(0.0, 6.3), st.integers(0, 10))
@settings(max_examples=30)
def test_invariant_under_frames_units_and_order(problem, turn, seed):
    found = pointedness(problem)
    rng = np.random.default_rng(seed)
    change = rng.normal(size=(problem.nv, problem.nv)) + 3.0 * np.eye(problem.nv)  # v = change w
    order = rng.permutation(problem.nc)
    Jt = problem.Jt
    if problem.nt == 2:
        c, s = np.cos(turn), np.sin(turn)
        Jt = np.einsum("ab,ibv->iav", np.array([[c, s], [-s, c]]), Jt)
    M = 1e6 * change.T @ problem.M @ change
    moved = routh.ImpactProblem(
        0.5 * (M + M.T), (problem.Jn @ change)[order], (Jt @ change)[order], problem.mu[order],
        np.linalg.solve(change, problem.v),
    )  # fmt: skip
    again = pointedness(moved)
    assert again.pointed == found.pointed
    assert again.margin == pytest.approx(found.margin, rel=1e-4, abs=1e-8)


@given(problems(nts=(2,)))
@settings(max_examples=30)
def test_both_sides_of_the_certificate(problem):
    found = pointedness(problem)
    assert found.margin <= found.ceiling * (1 + 1e-9)
    if found.pointed:
        assert found.ceiling - found.margin <= 1e-5 * found.ceiling
        moved = problem.solve_mass(found.direction)
        least = problem.Jn @ moved - problem.mu * np.linalg.norm(problem.Jt @ moved, axis=1)
        assert np.all(least >= 1.0 - 1e-9)  # HP23 (77) for every force of the true cone
    else:
        size = np.abs(problem.J).max()
        assert np.abs(np.einsum("ij,ijv->v", found.impulse, problem.J)).max() <= 1e-7 * size


def test_cones_known_by_hand():
    """Two planar contacts on a point mass, normals at right angles: jammed exactly where mu exceeds 1."""
    for mu, jammed in ((0.5, False), (0.99, False), (1.01, True), (10.0, True)):
        problem = routh.ImpactProblem(np.eye(2), np.eye(2), [[0.0, 1.0], [1.0, 0.0]], mu, [-1.0, -1.0])
        assert pointedness(problem).jammed is jammed
    block = routh.systems.get("rocking-block").problem
    heavy = block.replace(M=1e6 * block.M)
    assert math.isclose(pointedness(block).margin, pointedness(heavy).margin, rel_tol=1e-6)


def test_a_search_that_gives_up_promises_nothing(monkeypatch):
    def gives_up(*_, **__):
        raise RuntimeError

    block = routh.systems.get("rocking-block").problem
    monkeypatch.setattr("scipy.optimize.nnls", gives_up)
    found = pointedness(block)
    assert found.jammed
    assert np.all(np.isnan(found.direction))


def channel(mu=0.0, floor=False):
    """A point mass between two facing walls, with a floor below if wanted."""
    Jn = [[1.0, 0.0], [-1.0, 0.0]] + ([[0.0, 1.0]] if floor else [])
    Jt = [[0.0, 1.0], [0.0, 1.0]] + ([[1.0, 0.0]] if floor else [])
    return routh.ImpactProblem(np.eye(2), Jn, Jt, mu, [1.0, -0.5])


def test_parallel_walls_without_friction_end_with_a_bound():
    found = terminates(channel())
    assert pointedness(channel()).jammed
    assert found.answer == "proved"
    assert found.impulse_bound == pytest.approx(1.0)
    assert (
        routh.sampling.sample_by_steps(channel(), 16, step=0.3).impulse[:, :, 0].sum(axis=1).max()
        <= 1.0 + 1e-9
    )


def test_friction_between_walls_ends_without_a_bound():
    found = terminates(channel(mu=2.0))
    assert (found.answer, found.impulse_bound) == ("proved", math.inf)


def test_walls_that_press_while_the_floor_is_approached():
    """Frictionless walls hold each other for ever while the mass falls: zero is a rate at v = (0, -1)."""
    found = terminates(channel(floor=True))
    assert found.answer == "refuted"
    assert found.impulse_bound == math.inf
    assert set(found.pressing) == set(channel().names)
    y = channel(floor=True).Jn @ found.velocity
    np.testing.assert_allclose(y[:2], 0.0, atol=1e-12)
    assert y[2] < -0.1
    # with friction the walls hold the mass itself: nothing approaches any more where they press
    assert terminates(channel(mu=0.5, floor=True)).answer == "proved"


def test_a_pointed_cone_ends_within_its_bound():
    for name in ("rocking-block", "compass-gait", "box-wall"):
        problem = routh.systems.get(name).problem
        found = terminates(problem)
        assert found.answer == "proved"
        spent = routh.sampling.sample_by_steps(problem, 64, step=0.1).impulse[:, :, 0].sum(axis=1)
        assert spent.max() <= found.impulse_bound < 100.0 * spent.max()


def test_too_many_contacts_are_unknown():
    """Fourteen contacts, of which only the whole set cancels: more sets than are looked at."""
    n = 14
    normals = np.vstack([np.eye(n - 1), -np.ones((1, n - 1))])
    problem = routh.ImpactProblem(np.eye(n - 1), normals, np.zeros((n, 1, n - 1)), 0.0, -np.ones(n - 1))
    assert pointedness(problem).jammed
    assert terminates(problem).answer == "unknown"


def test_generators_of_a_polygon():
    problem = facing(1.3)
    assert cone_generators(problem, 6).shape == (12, 3)


@given(problems())
def test_the_quick_answer_is_that_of_the_programs(problem):
    for friction in ("cone", "polyhedral"):
        wanted = pointedness(problem, friction=friction).pointed
        assert is_pointed(problem, friction=friction) == wanted


def test_a_landing_needs_no_program(monkeypatch):
    def refuse(*_arguments, **_options):
        raise AssertionError("a program was solved")

    monkeypatch.setattr("routh.problem.pointedness._nearest_to_zero", refuse)
    assert is_pointed(systems.get("rocking-block").problem)
    with pytest.raises(AssertionError, match="a program was solved"):
        pointedness(systems.get("rocking-block").problem)
