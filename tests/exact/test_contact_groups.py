"""Outer sets by groups of contacts, against samples and against the bound from energy."""

import numpy as np
import pytest

import routh
from problems import planar_biped
from routh.base.status import Status
from routh.bounds import outer_bound
from routh.exact.automaton import automaton
from routh.exact.build import displacement, exact_set
from routh.exact.groups import _Impulses, groups_of, shortened
from routh.exact.snap import as_given
from routh.robust import worst_case

pytest.importorskip("ppl")


@pytest.fixture(autouse=True)
def _as_long_as_it_takes(monkeypatch):
    """On a slow machine what is allowed for a bound would end it, and the bound would be looser."""
    monkeypatch.setattr("routh.exact.build._GROUP_PIECES", 20_000)


def two_feet(coupling=0.06, mu=0.5, v=(0.2, -1.0, 0.3), feet=2):
    """Flat feet that fall side by side, each a body of its own, tied by what couples their masses."""
    tie = coupling * np.diag([1.0, 1.0, 0.0])
    foot = np.diag([1.0, 1.0, 0.1])
    M = np.block(
        [[(1.0 + 0.1 * k) * foot if k == other else tie for k in range(feet)] for other in range(feet)]
    )
    Jn, Jt, names = [], [], []
    for side, own in zip(("left", "right", "third"), np.eye(feet), strict=False):
        for end, x in (("heel", -0.5), ("toe", 0.4)):
            Jn.append(np.kron(own, [0.0, 1.0, x]))
            Jt.append(np.kron(own, [1.0, 0.0, 0.2]))
            names.append(f"{side} {end}")
    return routh.ImpactProblem(M, Jn, Jt, mu, np.tile(v, feet), names=names)


@pytest.mark.parametrize(
    ("coupling", "mu", "v"), [(0.06, 0.5, (0.2, -1.0, 0.3)), (0.02, 1.0, (-0.4, -0.5, 0.0))]
)
def test_an_incomplete_set_of_two_feet_has_a_bound_that_holds_and_is_tight(coupling, mu, v):
    problem = two_feet(coupling, mu, v)
    assert groups_of(problem) == [[0, 1], [2, 3]]
    exact = exact_set(problem, pieces=1)
    assert exact.status is Status.INCOMPLETE
    assert "groups" in exact.outer_from
    outcomes = routh.sample(problem, 4096, rates="extreme")
    ends = outcomes.v[outcomes.solved]
    assert np.all(exact.outer.violation(ends) <= 1e-9)
    energy = outer_bound(problem)
    for row in problem.J.reshape(-1, 6):
        bound, loose, value = exact.support(row, which="outer"), energy.support(row), (ends @ row).max()
        assert bound < 0.5 * loose
        assert bound - value < 0.02 * problem.speed


def test_the_bound_of_a_bipeds_landing_is_within_half_of_what_samples_reach():
    """Of the contacts' velocities along their normals, and of their slip."""
    problem = planar_biped()
    exact = exact_set(problem, pieces=1)
    outcomes = routh.sample(problem, 2**14, rates="extreme")
    ends = outcomes.v[outcomes.solved]
    assert not np.any(exact.outer.violation(ends[::8]) > 0.0)
    for row in (*problem.Jn, *problem.Jt[:, 0], *-problem.Jt[:, 0]):
        value, bound = (ends @ row).max(), exact.support(row, which="outer")
        assert bound < max(1.5 * value, 0.004)  # m/s, of 0.4 before
    # the velocities lie in one of several cases: both feet are not lifted together
    lifted = problem.Jn[0] / 0.065 + problem.Jn[2] / 0.115
    assert exact.support(lifted, which="outer") < 1.4
    # what lifts the right foot does not come and go
    assert exact.support(-problem.Jt[2, 0], which="outer") < 0.003


@pytest.mark.parametrize("seed", [1, 2])
def test_bounds_of_feet_that_land_in_any_way_hold(seed):
    rng = np.random.default_rng(seed)
    problem = two_feet(rng.uniform(0.01, 0.2), rng.uniform(0.1, 1.5), rng.normal(size=3) - [0.0, 1.0, 0.0])
    problem = problem.replace(v=problem.v + np.r_[np.zeros(3), 0.3 * rng.normal(size=3)])
    exact = exact_set(problem, pieces=1)
    assert "groups" in exact.outer_from
    ends = routh.sample(problem, 4096, rates="extreme")
    assert not np.any(exact.outer.violation(ends.v[ends.solved]) > 0.0)


def test_three_feet_have_a_bound_from_few_corners(monkeypatch):
    """It takes minutes where facets are found from thousands of them."""
    problem, asked, corners = two_feet(coupling=0.03, feet=3), [], _Impulses.corners
    monkeypatch.setattr(_Impulses, "corners", lambda *given: asked.append(corners(*given)) or asked[-1])
    exact = exact_set(problem, pieces=1, budget=600.0)
    assert 0 < max(map(len, asked)) < 100
    assert "groups" in exact.outer_from
    ends = routh.sample(problem, 2048, rates="extreme")
    assert not np.any(exact.outer.violation(ends.v[ends.solved]) > 0.0)


def test_groups_that_feel_each_other_are_one():
    assert groups_of(two_feet(coupling=0.5)) == [[0, 1, 2, 3]]
    assert "energy" in exact_set(two_feet(coupling=0.5), pieces=1).outer_from


def test_shortened_problems_are_near_and_have_short_forces():
    problem = two_feet()
    rational = as_given(problem).rational
    short = shortened(rational)
    assert displacement(problem, short).radius < 1e-6
    np.testing.assert_allclose(short.problem.delassus, problem.delassus, atol=1e-8)
    forces = [force for modes in automaton(short).modes for mode in modes for force in mode.forces]
    assert max(abs(x).bit_length() for force in forces for x in force) < 80


def test_worst_case_finds_slip_that_few_samples_have():
    """The left foot of a biped slips fastest along a path that is missed where filling stops early."""
    worst = worst_case(planar_biped(), ("left heel", [0.0, 1.0]), method="fill", climbs=0, level=0)
    assert worst.value > 0.0278  # m/s; samples of `docs/measured/exact_sets.md`: 0.0280


def test_worst_case_takes_the_bound_of_an_incomplete_set(monkeypatch):
    problem, slip, quick = (
        two_feet(),
        ("left heel", [0.0, 1.0]),
        {"max_samples": 512, "climbs": 0, "level": 0},
    )
    loose = worst_case(problem, slip, method="fill", **quick)
    monkeypatch.setattr("routh.exact.build.exact_set", lambda given, **limits: exact_set(given, pieces=1))
    tight = worst_case(problem, slip, **quick)
    assert (tight.status, tight.value) == (Status.INCOMPLETE, loose.value)
    assert tight.value <= tight.bound < 0.5 * loose.bound
