"""The checker must also say no."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

import routh
from problems import rational_block
from routh.exact.checker import (
    LINE,
    CheckedPath,
    PathProgram,
    _in_polygon,
    _inside,
    check_member,
    rebuild_path,
    velocity_after,
    verify_invariance,
    verify_path,
)
from routh.exact.rational import RationalProblem

pytest.importorskip("ppl")


@pytest.fixture(scope="module")
def exact():
    return routh.exact_set(rational_block())


def test_a_velocity_outside_is_not_proved(exact):
    inside = exact.vertices()[1]
    outside = tuple(F(11, 10) * x for x in inside)
    for vertex in exact.vertices():
        assert not check_member(exact.rational, outside, exact.statuses_to(vertex))
    assert check_member(exact.rational, tuple(F(9, 10) * x for x in inside), exact.statuses_to(inside))


def good_path(exact):
    target = next(v for v in exact.vertices() if any(v))
    path = next(
        p
        for p in (rebuild_path(exact.rational, target, hint) for hint in exact.statuses_to(target))
        if p is not None and verify_path(exact.rational, p, target)
    )
    return path, target


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda n, t: (-n, t), "impulses do not give"),
        (lambda n, t: (n, t + n), "impulses do not give"),
    ],
)
def test_a_path_with_wrong_impulses_is_refused(exact, spoil, why):
    path, target = good_path(exact)
    first = tuple(spoil(*impulse) for impulse in path.impulses[0])
    verdict = verify_path(exact.rational, replace(path, impulses=(first, *path.impulses[1:])), target)
    assert not verdict
    assert why in verdict.why


def test_faults_of_a_contact_are_named(exact):
    problem = exact.rational
    v0 = problem.v
    # pushing with more friction than the cone has while sticking
    push = ((F(1, 10), F(1, 5)), (F(0), F(0)))
    after = velocity_after(problem, v0, push)
    verdict = verify_path(problem, CheckedPath((v0, after), (push,)), after)
    assert not verdict
    assert "friction" in verdict.why
    pull = ((F(-1, 10), F(0)), (F(0), F(0)))
    after = velocity_after(problem, v0, pull)
    assert "pulls" in verify_path(problem, CheckedPath((v0, after), (pull,)), after).why
    short = ((F(1, 100), F(0)), (F(1, 100), F(0)))
    after = velocity_after(problem, v0, short)
    assert "does not end" in verify_path(problem, CheckedPath((v0, after), (short,)), after).why


def test_a_region_that_can_be_left_is_refused(exact):
    outer = [piece.vertices for piece in exact.outer]
    region = exact.region
    assert verify_invariance(exact.rational, exact.thresholds, region, outer)
    largest = max(range(len(region)), key=lambda k: len(region[k]))
    rest = [polygon for k, polygon in enumerate(region) if k != largest]
    assert not verify_invariance(exact.rational, exact.thresholds, rest, outer)
    assert not verify_invariance(exact.rational, exact.thresholds, region, outer[:1])
    assert not verify_invariance(exact.rational, [F(0), F(0)], region, outer)


def test_a_contact_does_not_push_on_while_it_separates():
    """A mass that comes down without friction: an impulse of 1 stops it, all more is too much."""
    ball = RationalProblem([[1, 0], [0, 1]], [[0, 1]], [[[1, 0]]], [0], [0, -1])
    for impulse, why in ((F(1), ""), (F(3, 2), "pushes while it separates")):
        push = ((impulse, F(0)),)
        after = velocity_after(ball, ball.v, push)
        verdict = verify_path(ball, CheckedPath((ball.v, after), (push,)), after)
        assert bool(verdict) == (not why)
        assert why in verdict.why


def test_one_contact_does_not_pull_while_its_twin_pushes():
    twins = RationalProblem([[1, 0], [0, 1]], [[0, 1]] * 2, [[[1, 0]]] * 2, [0, 0], [0, -1])
    program = PathProgram(twins, None, [["sticks", "sticks"]], LINE)
    assert program.satisfied([F(1, 2), F(1, 2)], False)
    assert not program.satisfied([F(2), F(-1)], False)


SQUARE = [(F(1), F(0)), (F(0), F(1)), (F(-1), F(0)), (F(0), F(-1))]
SKEW = [(F(1), F(0)), (F(3, 5), F(4, 5)), (F(-1), F(0)), (F(3, 5), F(-4, 5))]


@pytest.mark.parametrize("across", [F(0), F(1, 10), F(2), F(-2), F(-1, 10)])
@pytest.mark.parametrize("way", range(4))
def test_friction_that_cancels_must_be_inside_of_its_cone_too(way, across):
    """Two contacts at one place that pull against each other across the slip: only their cones forbid it."""
    along, aside = SQUARE[way], SQUARE[(way + 1) % 4]
    floor = [[1, 0, 0], [0, 1, 0]]
    block = RationalProblem(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 0, 1]] * 2, [floor] * 2, [1, 1], [*(4 * x for x in along), -1]
    )
    pulls = [[-x / 2 + sign * across * y for x, y in zip(along, aside, strict=True)] for sign in (1, -1)]
    push = tuple((F(1, 2), *pull) for pull in pulls)
    after = velocity_after(block, block.v, push)
    assert after == (*(3 * x for x in along), 0)
    verdict = verify_path(block, CheckedPath((block.v, after), (push,)), after, SQUARE)
    assert bool(verdict) == (across == 0)
    assert verdict.why.endswith("" if across == 0 else "friction outside its cone")


@pytest.mark.parametrize("polygon", [SQUARE, SKEW])
def test_points_of_a_friction_polygon(polygon):
    """Against its definition: a mixture of -size times its directions, by a linear program."""
    from scipy.optimize import linprog

    grid = [F(k, 7) for k in range(-13, 14, 2)]
    corners = [[-1.5 * float(x) for x in d] for d in polygon]
    table = [[corner[0] for corner in corners], [corner[1] for corner in corners], [1.0] * len(corners)]
    for x in grid:
        for y in grid:
            mixed = linprog([0.0] * 4, A_eq=table, b_eq=[float(x), float(y), 1.0]).status == 0
            assert _in_polygon((x, y), F(3, 2), polygon) == mixed


def test_a_square_and_what_covers_it():
    import ppl

    def box(left, right, low, high):
        x, y = ppl.Variable(0), ppl.Variable(1)
        system = ppl.Constraint_System()
        for wall in (x >= left, x <= right, y >= low, y <= high):
            system.insert(wall)
        return ppl.C_Polyhedron(system)

    whole = box(0, 4, 0, 4)
    quarters = [box(x, x + 2, y, y + 2) for x in (0, 2) for y in (0, 2)]
    assert _inside(ppl, whole, quarters)
    for missing in range(4):
        assert not _inside(ppl, whole, [each for k, each in enumerate(quarters) if k != missing])
    assert _inside(ppl, whole, [box(0, 3, 0, 4), box(1, 4, -1, 5)])  # they overlap and go beyond
    assert not _inside(ppl, whole, [box(0, 3, 0, 4), box(1, 4, 0, 3)])
    assert _inside(ppl, box(2, 2, 0, 4), quarters[:2])  # a line along an edge of both
