"""The answer in words: its numbers are those of the set, and it does not depend on units or names."""

import json

import numpy as np
import pytest

import routh
from routh.cli.output import plain
from routh.problem.friction import ContactMode
from routh.sampling.answers import SAME_MODE, combinations, contact_modes, make_answer, merged_modes

STICKS, SLIDES, SEPARATES = ContactMode.STICKS, ContactMode.SLIDES, ContactMode.SEPARATES


def feet(**changes):
    """A body of 1 kg on two feet that do not feel each other; v is (x, left foot, right foot)."""
    given = {
        "M": np.eye(3),
        "Jn": [[0, 1, 0], [0, 0, 1]],
        "Jt": [[1, 0, 0], [1, 0, 0]],
        "mu": 0.5,
        "v": [0.0, -0.6, -0.8],
        "names": ["left", "right"],
    }
    return routh.ImpactProblem(**{**given, **changes})


def answer_of(velocities, threshold=SAME_MODE, problem=None, **options):
    problem = problem or feet()
    v = np.array(velocities, dtype=float)
    return make_answer(problem, v, merged_modes(problem, v, threshold), **options)


@pytest.fixture(scope="module")
def block():
    return routh.sample(routh.systems.impact("rocking-block"), 2000, seed=0)


def test_the_score_and_the_pair_are_those_of_the_samples(block):
    answer = block.answer()
    assert answer.score == pytest.approx(block.ambiguity, rel=1e-12)
    first, second = answer.between
    assert {first.modes, second.modes} == {("separates", "sticks"), ("sticks", "separates")}
    apart = np.sqrt(2.0 * block.problem.kinetic_energy(first.v - second.v)) / block.problem.speed
    assert apart == pytest.approx(answer.score, rel=1e-12)
    assert np.array_equal(block.v[first.index], first.v)
    assert np.array_equal(block.contact_velocity[second.index], second.contact_velocity)
    assert first.kinetic_energy == pytest.approx(block.kinetic_energy[first.index])


def test_the_block_in_words(block):
    first, second = block.answer().lines()
    assert first.startswith("Ambiguity 0.50 of the speed before: from ")
    assert '"A separates, B sticks"' in first
    assert '"A sticks, B separates"' in first
    assert second == "Least certain: A and B (sticks, or separates at up to 0.093 m/s)."
    assert str(block.answer()) == f"{first} {second}"


def test_the_least_certain_contact_is_the_one_whose_velocity_spreads_most():
    answer = answer_of([[0, 0, 0], [0, 0.3, 0], [0, 0, 0.1]])
    assert answer.least_certain == ("left",)
    assert answer.lines()[-1] == "Least certain: left (sticks, or separates at up to 0.3 m/s)."
    left, right = answer.contacts
    assert left.modes == {"sticks": (0.0, 0.0), "separates": (0.3, 0.3)}
    assert (left.spread, right.spread) == pytest.approx((0.3, 0.1))  # the speed before is 1
    assert left.scale == pytest.approx(1.0)


def test_slip_while_a_contact_separates_is_not_sliding():
    left = answer_of([[0.9, 0.3, 0.3], [0.2, 0, 0.3]]).contacts[0]
    assert left.modes == {"slides": (0.2, 0.2), "separates": (0.3, 0.3)}


def test_outcomes_with_the_same_modes_are_told_by_the_velocity_that_differs():
    first, second, third = answer_of([[0, 0.1, 0], [0, 0.5, 0]]).lines()
    assert first == "Ambiguity 0.40: two outcomes can differ by 0.40 of the speed before the impact."
    assert second == 'From "left separates, normal 0.1 m/s" to "left separates, normal 0.5 m/s".'
    assert "at 0.1 to 0.5 m/s" in third
    assert "left slides, tangential -0.2 m/s" in str(answer_of([[-0.2, 0, 0], [0.3, 0, 0]]))


def test_many_contacts_are_told_by_their_bodies():
    names = [
        f"{side}_ankle_link.{geom}/floor#{i}" for side in ("left", "right") for geom in (2, 3) for i in (1, 2)
    ]
    eight = np.tile(np.eye(2), (4, 1))[np.argsort([0, 1] * 4, kind="stable")]  # four contacts on each foot
    problem = routh.ImpactProblem(
        np.eye(2), eight, np.zeros((8, 1, 2)), np.zeros(8), [-0.6, -0.8], names=names
    )
    answer = answer_of([[0.0, 0.5], [0.5, 0.0]], problem=problem)
    first, second, third = answer.lines()
    assert len(first) <= 100
    assert second == (
        'From "left_ankle_link separates, right_ankle_link sticks" to '
        '"left_ankle_link sticks, right_ankle_link separates".'
    )
    assert third.startswith("Least certain: left_ankle_link (4 contacts) and right_ankle_link (4 contacts) (")
    assert answer.least_certain == tuple(names)  # the whole names on request


def test_contacts_of_one_body_that_differ_are_counted():
    names, rows = [f"foot.{i}/floor" for i in range(6)], np.repeat(np.eye(2), [5, 1], axis=0)
    one = routh.ImpactProblem(np.eye(2), rows, np.zeros((6, 1, 2)), np.zeros(6), [-0.6, -0.8], names=names)
    told = answer_of([[0.0, 0.5], [0.5, 0.0]], problem=one).lines()[1]
    assert told == 'From "foot: 5 separate, 1 sticks" to "foot: 5 stick, 1 separates".'


def test_motion_that_no_contact_sees_is_told_by_energy():
    hidden = feet(M=np.eye(4), Jn=np.eye(4)[1:3], Jt=[[1, 0, 0, 0]] * 2, v=[0, -0.6, -0.8, 0])
    answer = answer_of([[0, 0, 0, 0], [0, 0, 0, 0.4]], problem=hidden)
    assert answer.least_certain == ()
    assert answer.lines() == [
        'Ambiguity 0.40 of the speed before: from "energy 0 J, the same at every contact" to "energy 0.08 J".'
    ]


def test_nothing_is_claimed_of_one_sample_or_of_none():
    assert answer_of([[0, 0, 0]]).lines() == ["Ambiguity unknown: only one outcome is known; draw more."]
    assert answer_of([[0, 0, 0]], whole=True).lines()[0].startswith("Not ambiguous")
    empty = answer_of(np.empty((0, 3)))
    assert empty.lines() == ["Ambiguity unknown: no sample is solved."]
    assert np.isnan(empty.score)
    assert not empty.ambiguous
    assert plain(empty.as_data())["score"] is None


def test_rounding_is_no_ambiguity():
    answer = answer_of([[0, 0, 0], [1e-9, 0, 0]])
    assert not answer.ambiguous
    assert answer.least_certain == ()
    assert answer.lines() == ["Not ambiguous: all outcomes agree to 1e-09 of the speed before."]
    assert answer_of([[0, 0, 0], [1e-5, 0, 0]]).ambiguous
    assert not answer_of([[0, 0, 0], [1e-5, 0, 0]], rounding=2e-5).ambiguous


def test_units_of_contacts_and_of_speed_change_nothing(block):
    """A contact velocity in mm/s, a hundred times the speed: the same contact, the same score."""
    problem = block.problem
    scale = np.array([1000.0, 1.0])
    other = routh.ImpactProblem(
        problem.M,
        problem.Jn * scale[:, None],
        problem.Jt * scale[:, None, None],
        problem.mu,
        100.0 * problem.v,
        names=problem.names,
    )
    answer = make_answer(other, 100.0 * block.v, merged_modes(other, 100.0 * block.v, SAME_MODE))
    assert answer.score == pytest.approx(block.answer().score, rel=1e-12)
    assert answer.least_certain == block.answer().least_certain
    for one, two in zip(answer.contacts, block.answer().contacts, strict=True):
        assert one.spread == pytest.approx(two.spread, rel=1e-9)


def test_limits_of_hinges_have_radians():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><compiler angle="radian"/><worldbody><body><joint name="lid" axis="0 1 0" range="0 1"
        limited="true"/><geom type="box" size="0.1 0.1 0.02" pos="0.1 0 0"/></body></worldbody></mujoco>"""
    )
    data = routh.models.mujoco.state(model, qvel=[-1.0])
    problem = routh.models.mujoco.problem(model, data)
    assert problem.velocity_units == ("rad/s",)
    assert routh.sample(problem, 4).answer().contacts[0].unit == "rad/s"
    assert feet().velocity_units == ("m/s", "m/s")


def test_as_data_is_json(block):
    data = json.loads(json.dumps(plain(block.answer().as_data()), allow_nan=False))
    assert data["least_certain"] == ["A", "B"]
    assert data["score"] == pytest.approx(block.ambiguity)
    assert [set(one["modes"]) for one in data["between"]] == [{"A", "B"}] * 2
    assert data["contacts"][0]["modes"]["separates"][1] == pytest.approx(0.093, abs=1e-3)


def test_combinations_that_differ_by_less_than_the_threshold_are_one():
    """A slip of 1e-5 in one sample is no mode of its own; rest beside a segment that begins at rest is."""
    problem = feet()
    segment = [[0, x, 0] for x in (1e-5, 0.01, 0.2)]
    v = np.array([[0, 0, 0], *segment, [0, 0.1, 1e-5], [2e-5, 0, 0]], dtype=float)
    merged = merged_modes(problem, v, 1e-3)
    assert merged.tolist() == [
        [STICKS, STICKS],
        *[[SEPARATES, STICKS]] * 3,
        [SEPARATES, STICKS],  # the right foot's 1e-5 is below the threshold
        [STICKS, STICKS],  # so is this slip
    ]
    assert merged_modes(problem, v, 1e-6).tolist() == contact_modes(problem, v).tolist()


def test_a_row_says_how_many_combinations_it_stands_for():
    v = np.array([[0, 0, 0], [1e-5, 0, 0], [0, 0, 1e-5], [0, 0.5, 0]])
    n = len(v)
    zeros = np.zeros(n)
    impulse = np.zeros((n, 2, 2))
    status = np.full(n, routh.Status.SOLVED, np.int8)
    outcomes = routh.Outcomes(feet(), v, impulse, np.ones(n, np.int32), status, zeros)
    assert [(row.modes, row.count, row.combinations) for row in outcomes.summary(1e-3)] == [
        (("sticks", "sticks"), 3, 3),
        (("separates", "sticks"), 1, 1),
    ]
    assert len(outcomes.summary()) == 4
    assert sum(row.count for row in outcomes.summary(1e-3)) == n
    with pytest.raises(ValueError, match="threshold: got -1"):
        outcomes.summary(-1.0)


def test_combinations_are_the_different_rows_also_of_many_contacts():
    rng = np.random.default_rng(0)
    for contacts in (1, 29, 31, 75):
        modes = rng.integers(0, 3, (50, contacts)).astype(np.int8)[rng.integers(0, 50, 200)]
        rows, which = combinations(modes)
        assert np.array_equal(rows[which], modes)
        assert len(rows) == len(np.unique(modes, axis=0))


def test_samples_that_end_at_the_same_place_change_no_answer(block):
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(block)), 3))
    once, thrice = (
        make_answer(block.problem, v, modes)
        for v, modes in ((block.v, block.modes), (block.v[rows], block.modes[rows]))
    )
    assert thrice.score == pytest.approx(once.score, rel=1e-12)
    assert [one.modes for one in thrice.between] == [one.modes for one in once.between]
    for a, b in zip(thrice.contacts, once.contacts, strict=True):
        assert a.spread == pytest.approx(b.spread, rel=1e-12)
        assert a.modes.keys() == b.modes.keys()
        for mode, speeds in a.modes.items():
            assert speeds == pytest.approx(b.modes[mode], rel=1e-9, abs=1e-12)


def test_the_order_of_the_two_outcomes_is_not_that_of_the_samples():
    """Which of many alike samples are farthest apart hangs on last bits; what is told must not."""
    left, right = [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]
    assert answer_of([left, right]).lines() == answer_of([right, left]).lines()
    slow, fast = [0.0, 0.1, 0.1], [0.0, 0.1, 0.4]
    assert answer_of([slow, fast]).lines() == answer_of([fast, slow]).lines()
