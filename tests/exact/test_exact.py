"""Exact sets: published shapes, the two-sided certificate, and the independent checker on every vertex."""

from fractions import Fraction as F

import numpy as np
import pytest

import routh
from problems import planar_body, rational_block, with_simple_delassus
from routh import systems
from routh.base.status import CapacityError, Status
from routh.exact.automaton import automaton
from routh.exact.build import ETA, in_rationals, whole_set
from routh.exact.checker import check_member, verify_invariance
from routh.exact.polytopes import PolytopeUnion, distance_to_hull, largest_distance, polytope
from routh.exact.rational import RationalProblem, friction_directions
from routh.exact.reach import Budget, Reach

pytest.importorskip("ppl")

NAMES = ["rocking-block", "compass-gait", "box-wall", "ramone", "rimless-wheel", "pushing", "block-into-wall"]
# two opposite walls can push against each other for ever while the third contact still approaches
SQUEEZE = RationalProblem(
    [[1, 0], [0, 1]], [[1, 0], [-1, 0], [0, 1]], [[[0, 1]], [[0, 1]], [[1, 0]]], [0, 0, 1], [0, -1]
)


def shapes(exact):
    return sorted((piece.dimension, len(piece.vertices)) for piece in exact.inner)


@pytest.fixture(scope="module")
def sets():
    return {name: routh.exact_set(systems.get(name).rational, budget=600) for name in NAMES}


def test_rocking_block_is_two_segments_with_the_known_ends():
    # by hand: sticking about A, then about B, leaves A's normal velocity at 0.21 of the speed before
    exact = routh.exact_set(rational_block())
    assert shapes(exact) == [(1, 2), (1, 2)]
    v0 = F(4429, 10000)
    end = (F(21, 100) * v0, F(21, 200) * v0, -F(21, 100) * v0)
    mirror = (-end[0], end[1], -end[2])
    assert set(exact.vertices()) == {(F(0), F(0), F(0)), end, mirror}
    assert exact.status is Status.SOLVED


def test_the_systems_have_the_pieces_that_a_prototype_found(sets):
    assert shapes(sets["box-wall"]) == [(2, 3)]
    assert shapes(sets["compass-gait"]) == [(2, 3), (2, 3)]
    # two of the prototype's pieces, (2, 3) twice, join to one triangle, whose edge lies on a segment
    assert shapes(routh.exact_set(rational_block(F(1, 5), F(3, 10)))) == [(1, 2), (1, 2), (2, 3)]


@pytest.mark.parametrize("name", NAMES)
def test_every_vertex_is_an_outcome_and_the_outer_set_cannot_be_left(sets, name):
    exact = sets[name]
    assert exact.status is Status.SOLVED
    for vertex in exact.vertices():
        member = check_member(exact.rational, vertex, exact.statuses_to(vertex))
        assert member, member.why
    outer = [piece.vertices for piece in exact.outer]
    assert verify_invariance(exact.rational, exact.thresholds, exact.region, outer)
    assert np.all(exact.contains(np.array(exact.vertices(), dtype=float), tolerance=1e-12))
    assert 0 < exact.gap < 5 * exact.eta


@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "box-wall", "ramone"])
def test_the_simultaneous_and_sequential_laws_lie_inside(sets, name):
    exact, problem = sets[name], systems.get(name).problem
    laws = [routh.laws.Simultaneous(), *(routh.laws.Sequential(order) for order in ([0, 1], [1, 0]))]
    for law in laws:
        assert exact.contains(law(problem).v, tolerance=1e-6), law


def test_samples_of_small_step_lie_in_the_outer_set(sets):
    for name in ("rocking-block", "box-wall"):
        problem = systems.get(name).problem
        outcomes = routh.sampling.sample_by_steps(problem, 12, step=0.05 * problem.scaling.impulse, seed=3)
        inside = sets[name].contains(outcomes.v[outcomes.terminated], tolerance=1e-7)
        assert np.all(inside)


def test_sliding_samples_leave_the_set_by_no_more_than_their_step():
    exact = routh.exact_set(rational_block(F(1, 5), F(3, 10)))
    worst = []
    for share in (0.2, 0.04):
        problem = exact.problem
        outcomes = routh.sampling.sample_by_steps(problem, 15, step=share * problem.scaling.impulse, seed=1)
        worst.append(exact.outer.violation(outcomes.v[outcomes.terminated]).max())
    assert worst[1] < 0.6 * worst[0] + 1e-6
    assert worst[1] < 0.05


def test_scaling_the_velocity_scales_the_set():
    small, large = (
        routh.exact_set(rational_block()),
        routh.exact_set(rational_block(speed=3 * F(4429, 10000))),
    )
    tripled = {tuple(3 * x for x in vertex) for vertex in small.vertices()}
    assert tripled == set(large.vertices())


def test_a_duplicated_contact_changes_nothing():
    one = rational_block()
    twice = RationalProblem(one.M, [*one.Jn, one.Jn[0]], [*one.Jt, one.Jt[0]], [1, 1, 1], one.v)
    assert set(routh.exact_set(twice).vertices()) == set(routh.exact_set(one).vertices())


def test_frictionless_and_one_contact():
    free = routh.exact_set(rational_block(0))
    assert free.status is Status.SOLVED
    single = RationalProblem(
        *(getattr(rational_block(), f) for f in ("M",)), [[0, 1, F(1, 2)]], [[[1, 0, 1]]], [1], (0, -1, 0)
    )
    exact = routh.exact_set(single)
    law = routh.laws.SingleContact()(single.problem)
    assert len(exact.vertices()) == 1
    assert np.allclose(np.array(exact.vertices()[0], dtype=float), law.v, atol=1e-12)


def test_nothing_approaches():
    exact = routh.exact_set(rational_block(speed=F(-1)))
    assert exact.status is Status.NO_IMPACT
    assert exact.vertices() == (rational_block(speed=F(-1)).v,)


def test_a_budget_that_runs_out_leaves_a_bound():
    exact = routh.exact_set(rational_block(), budget=1e-6)
    assert exact.status is Status.INCOMPLETE
    assert "energy" in exact.outer_from
    assert exact.answer().lines()[0].startswith("Perhaps only part of the set was found (INCOMPLETE)")
    full = routh.exact_set(rational_block())
    assert "INCOMPLETE" not in str(full.answer())
    assert np.all(exact.contains(np.array(full.vertices(), dtype=float), tolerance=1e-9))


@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "box-wall"])
def test_the_set_alone_is_the_inner_one_of_both(name):
    problem = routh.systems.get(name).problem
    exact = routh.exact_set(problem)
    alone = whole_set(problem, budget=600.0, pieces=1000)
    assert set(alone.vertices()) == set(exact.whole.vertices())


def test_the_set_alone_is_given_only_where_it_is_all_of_it():
    problem = routh.systems.get("rocking-block").problem
    assert whole_set(problem, budget=1e-6, pieces=1000) is None
    assert whole_set(problem, budget=600.0, pieces=1) is None
    assert whole_set(problem.replace(v=-problem.v), budget=600.0, pieces=1000) is None
    assert whole_set(SQUEEZE.problem, budget=600.0, pieces=1000) is None
    assert routh.exact_set(problem, budget=1e-6).whole is None


def test_jammed_contacts_are_reported():
    assert routh.exact_set(SQUEEZE).status is Status.JAMMED


def test_too_large_a_problem_is_refused():
    with pytest.raises(CapacityError, match="outer_bound takes any problem"):
        routh.exact_set(systems.get("billiards-break").problem)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="eta: got"):
        routh.exact_set(rational_block(), eta=0.0)
    with pytest.raises(ValueError, match="problem: got int"):
        routh.exact_set(3)
    with pytest.raises(ValueError, match=r"restitution: got 0\.5"):
        routh.exact_set(rational_block().problem.replace(restitution=0.5))
    with pytest.raises(ValueError, match="which: got 'middle'"):
        routh.exact_set(rational_block()).support([1, 0, 0], which="middle")


def random_rational(seed, nc):
    """Random M and J with nv = 2 nc, in simple numbers."""
    rng, nv = np.random.default_rng(seed), 2 * nc
    A, J = rng.normal(size=(nv, nv)), rng.normal(size=(nv, nv))
    problem = routh.ImpactProblem(
        A @ A.T / nv + 0.2 * np.eye(nv), J[:nc], J[nc:], rng.uniform(0, 1, nc), rng.normal(size=nv)
    )
    return with_simple_delassus(problem)


@pytest.mark.parametrize("scale", [F(1, 1024), F(1024)])
def test_slow_and_fast_impacts_of_many_pieces_have_the_same_set(scale):
    """What is nearly covered is judged as a share of the speed: a slow impact's outer set did not end."""
    given = random_rational(28, 4)
    other = RationalProblem(given.M, given.Jn, given.Jt, given.mu, [scale * x for x in given.v])
    one, two = routh.exact_set(given, budget=600), routh.exact_set(other, budget=600)
    assert one.explored == two.explored > (48, 48)  # beyond which nearly covered pieces are looked for
    assert two.status is Status.SOLVED
    assert two.vertices() == tuple(tuple(scale * x for x in vertex) for vertex in one.vertices())
    assert two.gap == pytest.approx(one.gap, rel=1e-3)


def test_sequences_that_switch_for_ever_are_closed_from_both_sides():
    exact = routh.exact_set(random_rational(29, 3), budget=600)
    assert exact.status is Status.SOLVED
    assert exact.gap < 1e-4  # 1.6e-3 where what was put off gets no second look
    assert np.all(exact.contains(np.array(exact.vertices(), dtype=float), tolerance=1e-9))
    reached = routh.fill(exact.problem, max_samples=300, seed=0).outcomes
    assert np.all(exact.contains(reached.v[reached.terminated], tolerance=1e-9))


@pytest.mark.parametrize("end", [20, 21])
def test_gap_of_a_piece_that_lies_along_two(end):
    exact = routh.exact_set(rational_block())
    one = exact.inner[0]
    ppl = exact.reached[0].ppl

    def box(low, high):
        corners = ppl.Generator_System()
        for x in (low, high):
            for y in (0, 10):
                corners.insert(ppl.point(ppl.Linear_Expression([x, y, 0], 0), 200))
        return polytope(ppl.C_Polyhedron(corners), one.frame)

    inner, outer = PolytopeUnion((box(0, 10), box(10, 20))), PolytopeUnion((box(0, end),))
    beyond = max(min(piece.distance(point) for piece in inner) for point in outer[0].points)
    assert (beyond > 1e-3) == (end > 20)
    assert largest_distance(outer, PolytopeUnion(inner[:1])) > 0.1
    assert largest_distance(outer, inner) == pytest.approx(beyond, abs=1e-12)
    assert largest_distance(PolytopeUnion(()), inner) == 0.0
    assert largest_distance(outer, PolytopeUnion(())) == np.inf


def corner(radius=0):
    """A mass (or a solid sphere) thrown into the corner of a floor and a wall, friction 1/2."""
    mass = [[F(int(i == j)) if i < 3 else F(2, 5) * (i == j) for j in range(6)] for i in range(6)]
    # a point of contact at -normal: its velocity is v + w x (-normal radius)
    floor = [[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, -radius, 0], [0, 1, 0, radius, 0, 0]]
    wall = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, -radius], [0, 0, 1, 0, radius, 0]]
    v = [-1, F(3, 10), -1, 0, 0, 0]
    return RationalProblem(mass, [floor[0], wall[0]], [floor[1:], wall[1:]], [F(1, 2)] * 2, v)


def test_space_two_contacts_are_proved_from_both_sides():
    exact = routh.exact_set(corner(), friction="polyhedral", facets=4)
    polygon = friction_directions(2, 4)
    assert exact.status is Status.SOLVED
    for vertex in exact.vertices():
        assert check_member(exact.rational, vertex, exact.statuses_to(vertex), polygon=polygon)
    outer = [piece.vertices for piece in exact.outer]
    sides = (exact.rational, exact.thresholds, exact.region)
    assert verify_invariance(*sides, outer, polygon=polygon)
    assert not verify_invariance(*sides[:2], exact.region[:-4], outer, polygon=polygon)
    with pytest.raises(ValueError, match="polygon: got directions of length 1; wanted 2"):
        check_member(exact.rational, exact.vertices()[0], [])


def test_space_a_spheres_outcomes_are_proved_and_samples_lie_inside():
    exact = routh.exact_set(corner(radius=1), friction="polyhedral", facets=4)
    assert exact.status is Status.SOLVED
    polygon = friction_directions(2, 4)
    for vertex in exact.vertices()[::4]:
        assert check_member(exact.rational, vertex, exact.statuses_to(vertex), polygon=polygon)
    problem = exact.problem
    outcomes = routh.sampling.sample_by_steps(
        problem,
        40,
        step=0.01 * problem.scaling.impulse,
        friction="polyhedral",
        facets=4,
        seed=0,
    )
    # four facets are exactly rational; what is left is the error of the step
    assert exact.outer.violation(outcomes.v[outcomes.terminated]).max() < 0.01


def test_support_project_and_distance():
    exact = routh.exact_set(rational_block())
    assert exact.support([1.0, 0.0, 0.0]) == pytest.approx(0.21 * 0.4429)
    images = exact.project(exact.problem.Jn)
    assert sorted(len(image) for image in images) == [2, 2]
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert distance_to_hull(square, np.array([2.0, 2.0])) == pytest.approx(2**0.5)
    assert distance_to_hull(square, np.array([0.5, -3.0])) == pytest.approx(3.0)


class _Ends(Budget):
    over = False

    def spent(self, pieces):
        return self.over


def test_a_set_whose_time_ends_while_what_was_put_off_waits_is_not_called_complete(monkeypatch):
    rational, _, _ = in_rationals(planar_body(np.random.default_rng(24), 3), ETA)
    auto = automaton(rational)
    whole = Reach(auto)
    assert whole.run(_Ends(60.0, 5000))
    assert whole.complete
    second_look = Reach._second_look
    looks = []

    def late(reach, budget):
        looks.append(len(reach.left_out))
        budget.over = True
        return second_look(reach, budget)

    monkeypatch.setattr(Reach, "_second_look", late)
    short = Reach(auto)
    assert not short.run(_Ends(60.0, 5000))
    assert not short.complete
    assert looks[0] > 0  # something was put off
