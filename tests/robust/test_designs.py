"""Designs for all outcomes: honest before and after, constraints kept, slopes against differences."""

import numpy as np
import pytest

import routh
from problems import problem_of_size
from routh.robust import Constraint, Quadratic, design, same_feet
from routh.robust.design_scores import AmbiguityScore, WorstScore
from routh.sampling.events import select

WALKER = """<mujoco><default><joint armature="0.02"/><geom contype="0"/></default><worldbody>
  <geom name="floor" type="plane" size="2 2 1" contype="1"/><body name="trunk" pos="0 0 1">
  <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>
  <geom type="box" size="0.25 0.1 0.05" mass="8"/>{}</body></worldbody></mujoco>"""
LEG = """<body pos="{1} 0 0"><joint name="{0}_hip" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.5"/>
  <body pos="0 0 -0.2"><joint name="{0}_knee" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.18" size="0.015" mass="0.2"/>
  <geom name="{0}_foot" type="sphere" pos="0 0 -0.2" size="0.03" mass="0.1"/></body></body>"""


def feet_at(x):
    """A body on two feet, 0.4 m apart around x."""
    Jn, Jt = [[0, 1, x - 0.2], [0, 1, x + 0.2]], [[1, 0, 0.5], [1, 0, 0.5]]
    return routh.ImpactProblem(np.diag([1.0, 1.0, 0.2]), Jn, Jt, 0.6, [0.6, -1.0, 0.0])


@pytest.fixture(scope="module")
def landing():
    """Two legs in the plane, on two feet."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(WALKER.format(LEG.format("a", 0.08) + LEG.format("b", -0.08)))
    joints = {f"{leg}_{joint}": angle for leg in "ab" for joint, angle in (("hip", 0.15), ("knee", -0.3))}
    return routh.models.landing(model, down=1.0, joints=joints)


OVER = {"a_hip": (-1.2, 1.2), "a_knee": (-2.2, 2.2), "b_hip": (-1.2, 1.2), "b_knee": (-2.2, 2.2)}


def test_a_landing_becomes_less_ambiguous_on_the_same_feet(landing):
    tall = Constraint(lambda made: made.qpos[1] + 1.0, 0.25, np.inf, name="tall")
    found = design(landing, over=OVER, constraints=[same_feet(landing), tall], evaluations=60, n=64)
    assert found.improved
    assert found.ratio < 0.5
    assert found.after.violation <= 1.0
    assert found.after.made.qpos[1] + 1.0 >= 0.25 - 1e-6
    places = [[c.pos[0] for c in one.made.problem.contacts] for one in (found.before, found.after)]
    assert np.ptp(places[0]) == pytest.approx(np.ptp(places[1]), abs=2e-6)
    assert np.abs(found.after.problem.dist).max() < 3e-6  # both feet land together
    seen = routh.sample(landing.problem, 4096, seed=0x5EED).ambiguity
    assert found.before.checked == pytest.approx(seen, rel=1e-9)
    assert found.evaluations == len(found.points) == len(found.by) <= 60
    assert "gradient" in found.by  # in the plane slopes exist
    assert found.plot() is not None


def test_equal_calls_give_equal_designs(landing):
    over = {("a_hip", "b_hip"): (-1.2, 1.2)}
    one, two = (design(landing, over=over, evaluations=8, n=16, check=16) for _ in range(2))
    np.testing.assert_array_equal(one.points, two.points)
    np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize("method", ["gradient", "search", "auto"])
def test_the_best_worst_case_is_where_both_sides_are_equal(method):
    pytest.importorskip("ppl")
    tipping = Quadratic(np.diag([0.0, 0.0, 1.0]))
    found = design(feet_at, "worst_case", of=tipping, over={"x": (0.0, 0.6)}, method=method, start={"x": 0.2})
    sides = [routh.robust.worst_case(found.after.problem, [0, 0, sign]).value for sign in (1.0, -1.0)]
    assert sides[0] == pytest.approx(sides[1], abs=0.02)
    scan = [routh.robust.worst_case(feet_at(x), tipping).value for x in np.linspace(0.0, 0.6, 13)]
    assert found.after.value <= min(scan) + 1e-6


def test_a_function_of_ones_own():
    def leaving(outcomes):
        return float(np.max(outcomes.v @ outcomes.problem.Jn.T))

    found = design(feet_at, leaving, over={"x": (0.0, 0.6)}, n=64, evaluations=20, check=64)
    assert found.objective == "leaving"
    assert found.after.value == np.min(found.values)
    assert set(found.by) == {"start", "search"}  # a function has no slope


def test_postures_without_a_landing_are_told_as_such():
    def half(x):
        return feet_at(x) if x < 0.3 else None

    found = design(half, over={"x": (0.0, 0.6)}, start={"x": 0.2}, n=16, evaluations=20, check=16)
    assert np.isnan(found.values[found.points[:, 0] >= 0.3]).all()
    assert found.after.point["x"] < 0.3


def test_a_design_that_cannot_be_better_stays():
    def same(x):
        return feet_at(0.1)

    found = design(same, over={"x": (0.0, 1.0)}, n=32, evaluations=10, check=32)
    assert not found.improved
    assert found.after.value == found.before.value


@pytest.mark.parametrize("seed", range(6))
def test_slopes_of_ambiguity_are_those_of_the_two_samples(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of_size(rng, 2, 1, 0.5, nv=3)
    score = AmbiguityScore(32, 0)
    slopes = score.slopes(problem)
    if slopes is None:
        pytest.skip("unique outcome")
    direction = {name: rng.normal(size=part.shape) for name, part in slopes.items()}
    direction["M"] = 0.5 * (direction["M"] + direction["M"].T)
    expected = sum(float(np.sum(slopes[name] * direction[name])) for name in slopes)
    step = 1e-6

    def moved(sign):
        fields = {name: getattr(problem, name) + sign * step * direction[name] for name in slopes}
        return score.value(problem.replace(**fields))

    assert (moved(1.0) - moved(-1.0)) / (2 * step) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_slopes_of_the_energy_that_is_kept():
    problem, step = feet_at(0.15), 1e-6
    score = WorstScore(None, 512, 0)
    slopes = score.slopes(problem)
    for name in ("v", "M"):
        at = (0, 0) if name == "M" else (0,)
        change = np.zeros_like(getattr(problem, name))
        change[at] = step
        ends = [score.value(problem.replace(**{name: getattr(problem, name) + s * change})) for s in (1, -1)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(slopes[name][at], rel=1e-4, abs=1e-6)


def test_selected_samples_are_drawn_again():
    problem = routh.systems.impact("compass-gait")
    outcomes = routh.sample(problem, 40, seed=3)
    chosen = select(outcomes, [7, 31])
    whole, some = outcomes.jacobian(["v"]), chosen.jacobian(["v"])
    np.testing.assert_array_equal(some["v"], whole["v"][[7, 31]])
    np.testing.assert_allclose(chosen.path(1).v[-1], outcomes.v[31], atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"over": {}}, "over: got nothing"),
        ({"over": {"x": (1.0, 0.0)}}, "low < high"),
        ({"method": "magic"}, "method"),
        ({"objective": "beauty"}, "objective"),
        ({"objective": "middle x"}, "objective"),
        ({"of": [0.0, 0.0, 1.0]}, "of: given together with 'ambiguity'"),
        ({"start": {"y": 0.1}}, "start: got 'y'"),
        ({"start": {"x": 7.0}}, "begins at 7"),
        ({"evaluations": 1}, "evaluations"),
    ],
)
def test_bad_input_is_named(changes, message):
    given = {"over": {"x": (0.0, 0.6)}, **changes}
    with pytest.raises(ValueError, match=message):
        design(feet_at, **given)


def test_joints_that_are_not_there_are_named(landing):
    with pytest.raises(ValueError, match="over"):
        design(landing, over={"tail": (0.0, 1.0)})


def test_an_optimiser_without_slopes_has_not_come_to_its_end():
    block = routh.systems.impact("rocking-block")

    def made(mu):
        return block.replace(mu=mu)

    def fastest(outcomes):
        return float(outcomes.v[:, 2].max())

    settings = {"over": {"mu": (0.1, 1.0)}, "n": 32, "check": 32}
    found = design(made, fastest, method="gradient", **settings)
    assert found.evaluations == 1
    assert found.status is routh.Status.INCOMPLETE
    assert design(made, fastest, method="search", evaluations=3, **settings).status is routh.Status.INCOMPLETE
    assert design(made, fastest, **settings).status is routh.Status.SOLVED


def test_where_nothing_moves_no_share_of_the_energy_is_kept():
    block = routh.systems.impact("rocking-block")
    assert np.isnan(WorstScore(None, 8, 0).value(block.replace(v=np.zeros(3))))


def test_a_constraint_that_other_samples_break_is_not_kept():
    doubted = Constraint(lambda made: 0.0, name="doubted", surely=lambda made: False)
    found = design(feet_at, over={"x": (0.0, 0.6)}, constraints=[doubted], evaluations=3, n=8, check=8)
    assert found.status is routh.Status.INCOMPLETE
    assert "no design that was tried surely keeps the constraints" in found.reason
    assert found.after.point == found.before.point
