"""The checker must also say no."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

import routh
from problems import rational_block
from routh.exact.checker import (
    CheckedPath,
    check_member,
    rebuild_path,
    velocity_after,
    verify_invariance,
    verify_path,
)

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
