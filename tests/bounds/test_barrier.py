"""Outer bounds by functions that fall along solutions: valid, tighter level by level, and proved afresh."""

from dataclasses import replace

import numpy as np
import pytest

import routh
from routh import systems
from routh.bounds import OuterBound
from routh.bounds.barrier import Barrier, BarrierBound
from routh.sampling.fill import watch_directions

NAMES = ["rocking-block", "box-wall", "compass-gait"]


@pytest.mark.parametrize("name", NAMES)
def test_levels_hold_the_exact_set_and_only_shrink(name):
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get(name).rational)
    rows = watch_directions(exact.problem, 4)
    supports = [routh.outer_bound(exact.problem, level=level).support(rows) for level in (0, 1, 2)]
    size = exact.problem.speed
    assert np.all(supports[2] >= exact.support(rows, which="outer") - 1e-5 * size)
    assert np.all(supports[1] <= supports[0] + 1e-9 * size)
    assert np.all(supports[2] <= supports[1] + 1e-6 * size)
    assert supports[2].sum() < 0.8 * supports[0].sum()
    if name == "rocking-block":  # one direction in which level 0 is not sharp, and level 2 is
        improved = supports[2] < supports[0] - 1e-3 * size
        assert np.min((supports[2] - exact.support(rows, which="outer"))[improved]) < 1e-4 * size


def test_random_problems_samples_never_leave_the_bound():
    rng = np.random.default_rng(8)
    for _ in range(4):
        A, J = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
        problem = routh.ImpactProblem(
            A @ A.T / 4 + 0.2 * np.eye(4), J[:2], J[2:], rng.uniform(0, 1, 2), rng.normal(size=4)
        )
        rows = watch_directions(problem, 4)
        reached = routh.fill(problem, max_samples=256, seed=1).outcomes
        bound = routh.outer_bound(problem, level=2).support(rows)
        assert np.all(reached.v[reached.terminated] @ rows.T <= bound + 1e-9 * problem.speed)


def test_a_spoilt_barrier_proves_less():
    bound = BarrierBound(systems.get("rocking-block").rational.problem, pieces=True)
    d = bound.problem.Jn[0] @ bound._linear.own_units[1]
    d /= np.linalg.norm(d)
    barrier = bound._solved(d, 1)
    good = bound.proved(barrier, d, 1)
    spoilt = [
        replace(barrier, q=barrier.q + 0.1 * bound._rays[0, 1]),
        replace(barrier, a=-np.ones_like(barrier.a)),
        replace(barrier, p=barrier.p + bound._rays[1, 1]),
        replace(barrier, Q=barrier.Q - 0.5 * np.eye(3)),
    ]
    for changed in spoilt:
        assert bound.proved(changed, d, 1) > good + 1e-3


def any_barrier(bound, rng):
    """A function of the velocity and multipliers that no solver chose, some of the wrong sign."""
    nv, nc, cases = bound.problem.nv, bound.problem.nc, len(bound._cases)
    Q, W = rng.normal(size=(nv, nv)), rng.normal(size=(nc, nc))
    kink, tip = bound.pieces * rng.normal(size=(nc, nv)), bound.pieces * rng.normal(size=nc)
    ends = rng.normal(), rng.normal(), 3.0 * rng.normal(size=nc), W + W.T, np.zeros(nv)
    a, b = 2.0 * rng.normal(size=(cases, nc)), 2.0 * rng.normal(size=cases)
    return Barrier(Q + Q.T, rng.normal(size=nv), kink, tip, a, b, np.zeros((cases, nv)), ends)


def velocities(rng, nv):
    """Of the unit ball: those with the energy before the impact, and less."""
    u = rng.normal(size=(4000, nv))
    return u / np.linalg.norm(u, axis=1, keepdims=True) * rng.uniform(0.5, 1.0, size=(4000, 1))


@pytest.mark.parametrize("pieces", [False, True])
def test_whatever_the_barrier_what_it_proves_is_true(pieces):
    """By evaluation: phi grows no faster than said where a contact pushes, and d is below it in the end."""
    bound, rng = BarrierBound(systems.get("box-wall").problem, pieces=pieces), np.random.default_rng(3)
    N, T = bound._forms
    nearest = {"growth": 0.0, "end": np.inf}
    for _ in range(20):
        barrier, last, d = any_barrier(bound, rng), int(rng.integers(len(N))), rng.normal(size=N.shape[1])
        u, constant = velocities(rng, N.shape[1]), bound._end_constant(barrier, d, last)
        begun = bound._value(barrier, bound._own.v) + constant
        growth = (bound.proved(barrier, d, last) - begun) / bound.length
        for case in bound._cases:
            signs = dict(enumerate(case.signs)) or {case.contact: -1}
            there = np.all([sign * (u @ N[i]) > 1e-3 for i, sign in signs.items()], axis=0)
            there &= case.slip * (u @ T[case.contact]) >= 0.0
            step = 1e-4 * bound._rays[case.contact, case.slip]
            for each in u[there][:50]:
                rate = (bound._value(barrier, each + step) - bound._value(barrier, each - step)) / 2e-4
                assert rate <= growth + 1e-6
                nearest["growth"] = max(nearest["growth"], rate / growth)
        resting = u - np.outer(u @ N[last], N[last])
        resting = resting[np.all(resting @ N.T >= -1e-12, axis=1)][:200]
        spare = [constant + bound._value(barrier, each) - d @ each for each in resting]
        assert np.min(spare) >= -1e-9
        nearest["end"] = min(nearest["end"], np.min(spare) / np.abs(constant))
    assert nearest["growth"] > 0.5  # it says something
    assert nearest["end"] < 0.5


def test_multipliers_of_the_wrong_sign_prove_nothing_where_an_impact_ends():
    """Each would prove 0 in one line if its sign were free, as that of the resting contact is."""
    bound = BarrierBound(systems.get("rocking-block").problem, pieces=False)
    (N, _), none, eye = bound._forms, np.zeros((3, 3)), np.eye(2)
    zero = Barrier(none, np.zeros(3), np.zeros((2, 3)), np.zeros(2), *[np.zeros((4, 2))] * 2, none, ())
    still = np.zeros(2), np.zeros((2, 2)), np.zeros(3)

    def constant(d, Q, c, tau, w, W, p):
        return bound._end_constant(replace(zero, Q=Q, ends=(c, tau, w, W, p)), d, 0)

    assert constant(N[0], none, 0.0, 0.0, -eye[0], *still[1:]) == pytest.approx(0.0, abs=1e-12)  # it rests
    turning = N[1] - (N[1] @ N[0]) * N[0]  # contact 0 rests, contact 1 separates
    speed = N[1] @ turning / np.linalg.norm(turning)
    assert constant(N[1], none, 0.0, 0.0, -eye[1], *still[1:]) >= speed > 0.1
    pushing = -np.outer(N[1], N[1])  # 0 <= c - (N[1] . u)^2
    assert constant(np.zeros(3), pushing, 0.0, 0.0, still[0], np.diag(-eye[1]), still[2]) >= speed**2
    assert constant(np.zeros(3), np.eye(3), -1.0, -1.0, *still) >= 0.0  # 0 <= c + |u|^2


def test_space_and_wrong_levels_are_refused():
    space = routh.ImpactProblem(np.eye(3), [[0.0, 0, 1]], [[[1.0, 0, 0], [0, 1, 0]]], 0.5, [0.0, 0, -1])
    with pytest.raises(ValueError, match="level: got 1 in space"):
        routh.outer_bound(space, level=1)
    with pytest.raises(ValueError, match="level: got 3; wanted an integer"):
        routh.outer_bound(space, level=3)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_every_level_keeps_the_protocol(level):
    problem = systems.get("rocking-block").problem
    bound = routh.outer_bound(problem, level=level)
    assert isinstance(bound, OuterBound)
    rows = watch_directions(problem, 2)
    supports = bound.support(rows)
    assert supports.shape == (len(rows),)
    assert bound.support(rows[0]) == supports[0] == max(bound.bound(rows[0], last) for last in (0, 1))


def test_nearly_equal_contacts_have_a_bound_at_every_level():
    """Rows of J that differ in the last digits."""
    block = systems.get("rocking-block").problem
    Jn = np.vstack([block.Jn, block.Jn[0] * (1.0 + 1e-12)])
    Jt = np.concatenate([block.Jt, block.Jt[:1] * (1.0 + 1e-13)])
    problem = routh.ImpactProblem(block.M, Jn, Jt, 0.5, block.v)
    for level in (0, 1, 2):
        value = routh.outer_bound(problem, level=level).support(Jn[0])
        assert 0.0 <= value <= problem.speed * np.sqrt(Jn[0] @ problem.solve_mass(Jn[0])) * (1.0 + 1e-9)


def test_what_a_frictionless_fall_can_do_is_to_stop_and_return():
    """The longest solution, by which slopes are multiplied, is once down and back; rays are directions."""
    fall = routh.ImpactProblem(np.diag([2.0, 3.0]), [[0.0, 1.0]], [[1.0, 0.0]], 0.0, [0.0, -1.7])
    assert BarrierBound(fall, pieces=False).length == pytest.approx(2.0)
    jammed = fall.replace(mu=1.0, Jt=[[0.0, 1.0]])  # friction one way undoes the push
    for problem, shortest in ((fall, 1.0), (jammed, 0.0), (systems.get("compass-gait").problem, 1.0)):
        sizes = [np.linalg.norm(ray) for ray in BarrierBound(problem, pieces=False)._rays.values()]
        np.testing.assert_allclose(sorted(sizes), [shortest, *[1.0] * (len(sizes) - 1)], rtol=1e-12)
