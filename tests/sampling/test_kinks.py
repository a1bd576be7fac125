"""Derivatives at changes of piece: what holds there, to one side, and where contacts depend on each other."""

from pathlib import Path

import numpy as np
import pytest

import routh
from gradients import direction, drawn_again
from problems import random_elastic_problem
from routh import systems
from routh.base.rng import event_key
from routh.compiling import interpreted
from routh.kernels.common.record import (
    DRIVEN,
    MARGIN,
    TIED,
    VANISHES,
    begin_record,
    finish_piece,
    make_record,
)
from routh.kernels.plane import sample as plane_sample
from routh.kernels.plane.rates import CODES, SLIPS
from routh.kernels.plane.record import write_piece
from routh.sampling.outcomes import DATA
from routh.sampling.settings import keys_of


def level_feet(rng, nc, restitution=0.0, v=None):
    """Feet on one level line: their tangents are equal."""
    Jn = np.c_[np.zeros(nc), np.ones(nc), rng.uniform(-1.0, 1.0, nc)]
    M, mu = np.diag([1.0, 1.0, rng.uniform(0.1, 0.5)]), rng.uniform(0.1, 1.0, nc)
    v = [rng.normal(), -1.0, 0.3 * rng.normal()] if v is None else v
    return routh.ImpactProblem(M, Jn, np.tile([1.0, 0.0, 0.5], (nc, 1)), mu, v, restitution=restitution)


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
@pytest.mark.parametrize("seed", [5, 18, 39])
def test_contacts_that_depend_on_each_other(seed, hypothesis):
    """A foot on the edge of its cone beside one that sticks: of their rates the sampler keeps one at zero."""
    rng = np.random.default_rng([77, seed])
    nc = 2 + seed % 2
    problem = level_feet(rng, nc)
    problem = problem.replace(restitution=rng.uniform(0.2, 0.9, nc))
    outcomes = routh.sample(problem, 16, seed=seed, hypothesis=hypothesis)
    found, (_, chosen) = outcomes.jacobian(), drawn_again(outcomes, problem)
    judged = 0
    for field in ("v", "mu", "M", "restitution", "Jn"):
        change = direction(problem, field, rng) * (0.1 if field == "M" else 1.0)
        if field == "Jn":
            change = change * [0.0, 0.0, 1.0]  # the feet stay on their line
        exact, step = np.tensordot(found[field], change, axes=change.ndim), 1e-6
        data = getattr(problem, field)
        (ahead, one), (behind, two) = (
            drawn_again(outcomes, problem.replace(**{field: data + sign * step * change})) for sign in (1, -1)
        )
        same = (one == chosen) & (two == chosen) & (outcomes.status == routh.Status.SOLVED)
        np.testing.assert_allclose(exact[same], (ahead - behind)[same] / (2 * step), atol=1e-5)
        judged += same.sum()
    assert judged > 40


@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_samples_that_jump_as_level_feet_are_tilted_are_told(restitution):
    """Two slips that were one are a corner more to cut for: the sample goes another way at once."""
    rng, jumped = np.random.default_rng(7), 0
    for _ in range(40):
        problem = level_feet(rng, 2, restitution)
        outcomes, change = routh.sample(problem, 64, seed=3), rng.normal(size=problem.Jt.shape)
        beside = [
            routh.sample(problem.replace(Jt=problem.Jt + h * change), 64, seed=3) for h in (1e-9, -1e-9)
        ]
        far = [np.abs(other.v - outcomes.v).max(axis=1) > 1e-6 for other in beside]
        jumps = outcomes.solved & far[0] & far[1]
        assert np.all(outcomes.jacobian(wrt="Jt")["one_sided"][jumps])
        jumped += int(jumps.sum())
        # what keeps the slips equal keeps the samples
        smooth = ~outcomes.jacobian(wrt="v")["one_sided"]
        faster = routh.sample(problem.replace(v=problem.v + 1e-9 * rng.normal(size=3)), 64, seed=3)
        assert np.abs(faster.v - outcomes.v)[smooth].max(initial=0.0) < 1e-6
    assert jumped > 100


def symmetric():
    """A block on its two corners, and a body on two feet that returns half of its work."""
    feet = level_feet(np.random.default_rng(3), 2, 0.5, [0.0, -1.0, 0.0])
    mirrored = np.array([[0.0, 1.0, -0.4], [0.0, 1.0, 0.4]])
    return {"rocking block": systems.get("rocking-block").problem, "feet": feet.replace(Jn=mirrored, mu=0.6)}


@pytest.mark.parametrize("name", ["rocking block", "feet"])
def test_symmetric_problems_have_derivatives_to_either_side(name):
    """From the kink itself: the sample a little to the side has moved as the derivative says."""
    problem = symmetric()[name]
    outcomes = routh.sample(problem, 60, seed=0)
    plain = outcomes.jacobian()
    assert plain["one_sided"].all()
    side = np.random.default_rng(1).normal(size=problem.nv)
    found, other = (outcomes.jacobian(side=sign * side) for sign in (1, -1))
    for each in (found, other):
        assert each["to_side"].mean() > 0.9
        assert each["one_sided"].all()
    both = found["to_side"] & other["to_side"]
    off = np.abs((plain["v"] - found["v"]) @ side)[both].max(axis=1)
    assert (off > 1e-3 * np.abs(side).max()).mean() > 0.5  # what decisions that are held do not see
    along = {"mu": problem.mu, "v": problem.v}  # changes that keep the coincidence
    for field, change in along.items():
        one, two = (np.tensordot(each[field], change, axes=1)[both] for each in (plain, found))
        np.testing.assert_allclose(one, two, atol=1e-5 * np.abs(problem.v).max())


def test_derivatives_to_a_side_are_those_of_problems_on_that_side():
    """Against differences far beyond the distance at which they were taken, along all fields."""
    problem, rng = symmetric()["rocking block"], np.random.default_rng(2)
    outcomes = routh.sample(problem, 40, seed=4)
    side = np.array([0.3, 0.1, -0.2]) * np.linalg.norm(problem.v)
    found = outcomes.jacobian(side=side)
    row = outcomes.vjp(np.arange(3.0), side=side)
    np.testing.assert_array_equal(row["to_side"], found["to_side"])
    for field in DATA:
        np.testing.assert_allclose(
            row[field], np.einsum("i,ki...->k...", np.arange(3.0), found[field]), atol=1e-9
        )
    moved = problem.replace(v=problem.v + 1e-3 * side)  # smooth there, but for the same draws another sample
    beside = routh.sample(moved, 400, seed=4)
    slopes = beside.jacobian(wrt="v")["v"]
    change = rng.normal(size=3)
    for k in np.flatnonzero(found["to_side"]):
        expected = outcomes.v[k] + 1e-3 * found["v"][k] @ side
        nearest = np.argmin(np.abs(beside.v - expected).max(axis=1))
        if np.abs(beside.v[nearest] - expected).max() < 1e-9:  # one that went the same way
            np.testing.assert_allclose(slopes[nearest] @ change, found["v"][k] @ change, atol=1e-5)


def test_what_no_side_can_be_asked_of():
    outcomes = routh.sample(symmetric()["feet"], 4)
    with pytest.raises(ValueError, match="side: got zeros"):
        outcomes.jacobian(side=np.zeros(3))
    with pytest.raises(ValueError, match=r"side: got shape \(2,\)"):
        outcomes.jacobian(side=np.ones(2))


def test_sides_with_the_true_cone():
    """Two feet that come straight down in space, without slip."""
    points = [np.hstack([np.eye(3), -np.cross(np.eye(3), [x, 0.0, -0.4]).T]) for x in (0.4, -0.4)]
    Jn, Jt = [rows[2] for rows in points], [rows[:2] for rows in points]
    mass, v = np.diag([1, 1, 1, 0.1, 0.15, 0.2]), np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    problem = routh.ImpactProblem(mass, Jn, Jt, 0.6, v)
    side = np.array([0.1, -0.6, 0.6, 0.1, -0.5, 0.4])
    with pytest.raises(ValueError, match="side: the samples were drawn with tolerance=1e-06"):
        routh.sample(problem, 4).jacobian(side=side)
    outcomes = routh.sample(problem, 8, seed=1, tolerance=1e-12)
    plain, found = outcomes.jacobian(wrt="v"), outcomes.jacobian(wrt="v", side=side)
    there = found["to_side"]
    assert plain["one_sided"].all()
    assert there.sum() >= 2
    np.testing.assert_allclose(found["v"][there] @ v, outcomes.v[there], atol=1e-5)
    assert np.abs((found["v"] - plain["v"])[there] @ side).max() > 1e-2
    np.testing.assert_array_equal(found["v"][~there], plain["v"][~there])


def test_keys_are_those_that_the_samplers_draw():
    outcomes = routh.sample(symmetric()["feet"], 6, seed=2**40 + 7, row=3)
    given = np.arange(10, dtype=np.uint64).reshape(2, 5)
    keys = keys_of(outcomes, np.array([1, 4]), given)
    assert [int(key) for key in keys[1, :9]] == [event_key(2**40 + 7, 3, 4, e) for e in range(9)]
    np.testing.assert_array_equal(keys[0, :5], given[1])


@pytest.mark.parametrize(("whole", "known"), [(0.5, True), (0.4, False)])
def test_a_piece_in_the_plane_whose_event_is_not_known_is_told_so(whole, known):
    # its share was left out of the derivative, and nothing said so
    work, record = plane_sample.workspace(1), make_record(4, 1, 2)
    work.now[:2], work.mu[0] = (-0.5, 0.3), 0.0
    work.known[0, :4] = 1.0, 0.0, 1.0, 0.0  # rates, and what they change: zero is reached at 0.5
    work.known[0, 4 + CODES] = DRIVEN * SLIPS + 1
    interpreted(begin_record)(record, work.start, work.mu, 0)
    interpreted(write_piece)(record, work, 1, 0, whole, whole, False, 0)
    assert (record.event[0] == VANISHES) == known
    assert (record.total[MARGIN] > 0.0) == known


@pytest.mark.parametrize("slip", [0.0, 1e-12, 0.1])
def test_a_piece_cut_short_is_judged_at_its_cut_too_where_slip_is_no_event(slip):
    """A contact that does not push slips back past zero: its sign at the cut decides about the next piece."""
    work, record = plane_sample.workspace(2), make_record(4, 2, 2)
    work.mu[:2], work.now[:4] = 0.5, (-1.0, 0.3, -1.0, slip - 0.4)
    work.known[0, 4:8] = 1.0, 0.2, 0.1, 1.0
    work.known[0, :1], work.known[0, 8 + CODES :] = 1.0, (DRIVEN * SLIPS + 2, 1)
    interpreted(begin_record)(record, np.full(4, 0.5), work.mu, 2)
    interpreted(write_piece)(record, work, 2, 0, 1.0, 0.4, False, 0)
    assert record.event[0] == VANISHES
    now = record.c[0] + record.length[0] * record.change[0]
    interpreted(finish_piece)(record, 0, now, work.budget, work.mu, None)
    assert record.total[TIED] == (slip < 1e-11)
    assert record.total[MARGIN] == pytest.approx(slip if slip == 0.1 else 0.5)


def test_a_slip_that_turns_at_once_has_no_derivative():
    """A step along its curve was gone through in ever shorter parts, for ever."""
    problem = random_elastic_problem(np.random.default_rng(36), nt=2)
    outcomes = routh.sample(problem, 5, tolerance=1e-10, threads=1)
    found = outcomes.vjp(np.ones_like(outcomes.v))
    known = np.isfinite(found["v"]).all(axis=1)
    solved = outcomes.status == routh.Status.SOLVED
    assert known.any()
    assert np.all(known[solved] | found["one_sided"][solved])
    assert not known[~solved].any()


def test_where_errors_grow_on_the_way_the_sample_says_so():
    """Two held contacts that slide: the flow pulls together first, then apart; disturbances grow 1e10 times.

    So the last bits of the path decide where one lets go, and differences do not agree with the derivative.
    """
    problem = routh.ImpactProblem.load(Path(__file__).parent / "growing_errors.npz")
    found = routh.sample(problem, 40, seed=24, tolerance=1e-12).jacobian("v")
    assert found["one_sided"][35]
    assert np.count_nonzero(found["one_sided"]) == 1
