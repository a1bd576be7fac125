"""MuJoCo's states as impact problems: rows, reduction, limits, names, and what is said of the rest."""

import warnings

import numpy as np
import pytest

import routh
from robot_zoo import DM_CONTROL, GYMNASIUM, landing, load_mjcf, material_velocity
from routh import systems
from routh.base.status import ModelError
from routh.models import RobotProblem, UnrepresentedWarning
from routh.models import mujoco as adapter

mujoco = pytest.importorskip("mujoco")

HEAD = '<mujoco><option gravity="0 0 -9.81"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>'
BALL = '<body name="ball" pos="0 0 0.1"><freejoint/><geom name="ball" type="sphere" size="0.1" {}/></body>'


def made(xml):
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def test_a_ball_on_the_floor():
    model, data = made(HEAD + BALL.format('mass="2" friction="0.7 0.1 0.1"') + "</worldbody></mujoco>")
    data.qvel[:] = [1.0, 0.0, -1.0, 0.0, 5.0, 0.0]
    problem = adapter.problem(model, data)
    assert isinstance(problem, RobotProblem)
    assert problem.names == ("ball/floor",)
    assert problem.mu[0] == 1.0  # the larger of the two, MuJoCo's rule
    np.testing.assert_allclose(np.diag(problem.M), [2, 2, 2, 0.008, 0.008, 0.008], rtol=1e-12)
    along = problem.contact_velocity()[0, 1:] @ problem.contacts[0].frame[1:]
    np.testing.assert_allclose(along, [0.5, 0.0, 0.0], atol=1e-12)  # rolling with 5 rad/s at 0.1 m
    assert problem.contact_velocity()[0, 0] == pytest.approx(-1.0)
    assert not problem.reduced
    np.testing.assert_array_equal(problem.lift(problem.v), data.qvel)


def test_reading_changes_nothing():
    model, data = made(HEAD + BALL.format("") + "</worldbody></mujoco>")
    data.qvel[2] = -1.0
    mujoco.mj_forward(model, data)
    before = (data.qpos.copy(), data.ncon, model.geom_margin.copy(), data.qacc.copy())
    adapter.problem(model, data, gap=0.5)
    adapter.problem(model, data, window=1.0)
    for old, new in zip(before, (data.qpos, data.ncon, model.geom_margin, data.qacc), strict=True):
        np.testing.assert_array_equal(old, new)


def test_gap_and_window_choose_contacts():
    two = BALL.format("") + BALL.format("").replace('"ball"', '"other"').replace(
        'pos="0 0 0.1"', 'pos="1 0 0.3"'
    )
    model, data = made(HEAD + two + "</worldbody></mujoco>")
    data.qvel[2], data.qvel[8] = -1.0, -4.0
    assert adapter.problem(model, data).names == ("ball/floor",)
    assert adapter.problem(model, data, gap=0.25).names == ("ball/floor", "other/floor")
    assert adapter.problem(model, data, window=0.049).names == ("ball/floor",)
    late = adapter.problem(model, data, window=0.051)
    assert late.names == ("ball/floor", "other/floor")
    np.testing.assert_allclose(late.time_to_contact, [0.0, 0.05], atol=1e-9)
    data.qpos[2] = 1.0
    with pytest.raises(ValueError, match=r"no contact touches or closes within 5 ms"):
        adapter.problem(model, data)
    with pytest.raises(ValueError, match=r"no contact is within 0\.001 m"):
        adapter.problem(model, data, gap=1e-3)
    with pytest.raises(ValueError, match=r"gap: got 0\.1 together with window=1; wanted one of the two"):
        adapter.problem(model, data, gap=0.1, window=1.0)


def test_elliptic_friction_with_two_coefficients_is_a_scaled_round_cone():
    pair = '<contact><pair geom1="floor" geom2="ball" friction="0.8 0.2 0 0 0"/></contact>'
    model, data = made(HEAD + BALL.format("") + "</worldbody>" + pair + "</mujoco>")
    data.qvel[:3] = [1.0, 2.0, -1.0]
    problem = adapter.problem(model, data)
    assert problem.mu[0] == pytest.approx(0.8)
    frame = problem.contacts[0].frame
    expected = frame @ data.qvel[:3] * [1.0, 1.0, 0.25]
    np.testing.assert_allclose(problem.contact_velocity()[0], expected, atol=1e-12)
    # the largest friction impulses along the two tangents stand 0.8 to 0.2 in the world
    impulse = np.zeros((2, 1, 3))
    impulse[:, 0, 0] = 1.0
    impulse[0, 0, 1] = impulse[1, 0, 2] = problem.mu[0]
    momentum = (problem.apply(impulse) - problem.v) @ problem.M
    normal = frame[0]
    pushed = momentum[:, :3] - np.outer(momentum[:, :3] @ normal, normal)
    np.testing.assert_allclose(np.linalg.norm(pushed, axis=1), [0.8, 0.2], atol=1e-12)


FOUR_BAR = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="a" pos="0 0 1"><joint name="ja" type="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02"/>
    <body name="b" pos="0 0 -0.5"><joint name="jb" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size="0.02"/>
      <geom name="toe" type="sphere" pos="0.5 0 -0.4" size="0.1" mass="1"/></body></body>
  <body name="c" pos="1 0 1"><joint name="jc" type="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02"/></body>
  </worldbody>
  <equality><connect body1="b" body2="c" anchor="1 0 0"/></equality></mujoco>"""


def test_equality_constraints_are_removed_by_reduction():
    model, data = made(FOUR_BAR)
    data.qpos[:] = [0.5, -0.5, 0.5]
    data.qvel[:] = [1.0, -1.0, 1.0]  # a parallelogram: the crank turns and the coupler stays level
    problem = adapter.problem(model, data, gap=0.2)
    assert problem.reduced
    assert problem.nv == 1
    assert problem.basis.shape == (3, 1)
    np.testing.assert_allclose(problem.lift(problem.v), data.qvel, atol=1e-12)
    energy = 0.5 * data.qvel @ full_mass(model, data) @ data.qvel
    assert problem.kinetic_energy() == pytest.approx(energy, rel=1e-12)
    outcomes = routh.sample(problem, 4, friction="cone")
    lifted = problem.lift(outcomes.v)
    np.testing.assert_allclose(lifted[:, 0], -lifted[:, 1], atol=1e-12)
    assert problem.functional([1.0, 0.0, 0.0]) @ problem.v == pytest.approx(1.0)


def test_a_contact_that_nothing_can_move_is_no_contact():
    model, data = made(FOUR_BAR)  # cranks hang straight down: the toe can only move sideways
    with pytest.raises(ValueError, match="contacts that no velocity can change"):
        adapter.problem(model, data, gap=0.2)


def test_a_velocity_that_breaks_the_equality_is_named_and_projected():
    model, data = made(FOUR_BAR)
    data.qpos[:] = [0.5, -0.5, 0.5]
    data.qvel[:] = [1.0, 0.0, 0.0]
    with pytest.warns(UnrepresentedWarning, match="breaks the equality constraints"):
        problem = adapter.problem(model, data, gap=0.2)
    assert problem.kinetic_energy() < 0.5 * data.qvel @ full_mass(model, data) @ data.qvel


def test_an_inactive_equality_is_not_there():
    model, data = made(FOUR_BAR)
    data.eq_active[:] = 0
    data.qvel[:] = [1.0, 0.0, 0.0]
    assert adapter.problem(model, data, gap=0.2).nv == 3


def full_mass(model, data):
    from routh.models.mujoco.engine import mass_matrix

    mujoco.mj_forward(model, data)
    return mass_matrix(model, data)


def test_armature_is_part_of_the_mass():
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.1">
      <joint name="lift" type="slide" axis="0 0 1" armature="3"/><geom type="sphere" size="0.1" mass="2"/>
      </body></worldbody></mujoco>"""
    model, data = made(xml)
    assert adapter.problem(model, data).M[0, 0] == pytest.approx(5.0)


def test_limits_are_contacts_without_friction():
    xml = """<mujoco><compiler angle="radian"/><worldbody><body><joint name="knee" type="hinge" axis="0 1 0"
      range="-1 0.5" limited="true"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05"/></body>
      <body pos="2 0 0"><joint name="rail" type="slide" axis="1 0 0" range="-1 1" limited="true"/>
      <geom type="sphere" size="0.1"/></body>
      <body pos="4 0 0"><joint name="hip" type="ball" range="0 0.4" limited="true"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05"/></body></worldbody>
      <tendon><fixed name="cord" limited="true" range="0 1.5"><joint joint="rail" coef="1.5"/></fixed>
      </tendon>
      </mujoco>"""
    model, data = made(xml)
    turn = 0.4 * np.array([0.0, 1.0, 0.0])
    mujoco.mju_axisAngle2Quat(data.qpos[2:6], turn / 0.4, 0.4)
    data.qpos[0], data.qpos[1] = 0.5, 1.0
    data.qvel[:] = [2.0, 3.0, 0.0, 1.0, 0.0]
    problem = adapter.problem(model, data)
    assert set(problem.names) == {"knee:upper", "rail:upper", "hip:cone", "cord:upper"}
    approach = dict(zip(problem.names, problem.Jn @ problem.v, strict=True))
    assert approach["knee:upper"] == pytest.approx(-2.0)
    assert approach["rail:upper"] == pytest.approx(-3.0)
    assert approach["hip:cone"] == pytest.approx(-1.0)
    assert approach["cord:upper"] == pytest.approx(-4.5)
    assert np.all(problem.mu == 0.0)
    outcomes = routh.sample(problem, 8, friction="cone")
    np.testing.assert_allclose(outcomes.v, 0.0, atol=1e-8)
    with pytest.raises(ValueError, match="no contact"):
        adapter.problem(model, data, limits=False)


@pytest.mark.parametrize(
    ("geom", "extra", "words"),
    [
        ('condim="4"', "", "torsional friction"),
        ('condim="6"', "", "rolling friction"),
        ('solref="0.02 0.1"', "", "underdamped solref"),
        (
            "",
            '<actuator><adhesion name="glue" body="ball" ctrlrange="0 1"/></actuator>',
            r"adhesion \(glue\)",
        ),
    ],
)
def test_what_cannot_be_represented_is_named(geom, extra, words):
    model, data = made(HEAD + BALL.format(geom) + "</worldbody>" + extra + "</mujoco>")
    with pytest.warns(UnrepresentedWarning, match=words):
        problem = adapter.problem(model, data)
    assert problem.unrepresented


def test_condim_one_has_no_friction():
    xml = HEAD.replace('"floor"', '"floor" condim="1"') + BALL.format('condim="1"') + "</worldbody></mujoco>"
    model, data = made(xml)
    assert adapter.problem(model, data).mu[0] == 0.0


def test_mocap_static_and_several_robots():
    xml = (
        HEAD
        + BALL.format("")
        + """<body name="lift" mocap="true" pos="0 0 0.3"><geom name="roof" type="box"
      size="1 1 0.1"/></body>
      <body name="crate" pos="3 0 0.1"><freejoint/><geom name="crate" type="box" size="0.2 0.2 0.1"/></body>
      </worldbody></mujoco>"""
    )
    model, data = made(xml)
    problem = adapter.problem(model, data, gap=0.01)
    assert {"ball/floor", "roof/ball"} <= set(problem.names)
    assert sum("crate/floor" in name for name in problem.names) == 4  # a face: all four corners are kept
    redundant = routh.models.redundancy(problem)
    assert sum("crate" in name for name in redundant) == 4
    data.mocap_pos[0, 2] = 1.0
    assert not any("roof" in name for name in adapter.problem(model, data, gap=0.01).names)


def test_restitution_reaches_the_problem_and_laws_that_cannot_say_so():
    two = BALL.format("") + BALL.format("").replace('"ball"', '"other"').replace('pos="0 0', 'pos="1 0')
    model, data = made(HEAD + two + "</worldbody></mujoco>")
    data.qvel[2] = -1.0
    problem = adapter.problem(model, data, restitution={"ball/floor": 0.5})
    np.testing.assert_array_equal(problem.restitution, [0.5, 0.0])
    with pytest.raises(ValueError, match=r"restitution: got 0\.5; Simultaneous is inelastic"):
        routh.laws.Simultaneous()(problem)
    bounced = routh.sample(problem, 4, friction="cone")
    np.testing.assert_allclose(bounced.contact_velocity[:, 0, 0], 0.5, atol=1e-6)
    with pytest.raises(ValueError, match="restitution: got 'nose'"):
        adapter.problem(model, data, restitution={"nose": 0.5})


# ------------------------------------------------- the papers' systems as MJCF

ROCKING_BLOCK = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body name="block" pos="0 0 1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <joint type="hinge" axis="0 -1 0"/><inertial pos="0 0 0" mass="{mass}" diaginertia="1 {inertia} 1"/>
    <geom name="A" type="sphere" size="1e-10" pos="-0.5 0 -1" friction="{mu}"/>
    <geom name="B" type="sphere" size="1e-10" pos="0.5 0 -1" friction="{mu}"/></body>
  </worldbody></mujoco>"""

COMPASS = """<mujoco><compiler angle="radian" boundmass="0"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="hip"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <joint name="leading" type="hinge" axis="0 -1 0"/>
    <inertial pos="0 0 -0.5" mass="1" diaginertia="1e-14 1e-14 1e-14"/>
    <geom name="A" type="sphere" size="1e-10" pos="0 0 -1" friction="{mu}"/>
    <body name="other"><joint name="trailing" type="hinge" axis="0 -1 0"/>
      <inertial pos="0 0 -0.5" mass="1" diaginertia="1e-14 1e-14 1e-14"/>
      <geom name="B" type="sphere" size="1e-10" pos="0 0 -1" friction="{mu}"/></body>
  </body></worldbody></mujoco>"""


def test_the_rocking_block_as_mjcf_gives_the_planar_system():
    system = systems.get("rocking-block")
    planar = system.problem
    xml = ROCKING_BLOCK.format(mass=planar.M[0, 0], inertia=planar.M[2, 2], mu=planar.mu[0])
    model, data = made(xml.replace('size="5 5 1"', f'size="5 5 1" friction="{planar.mu[0]}"'))
    data.qvel[:] = planar.v
    problem = adapter.problem(model, data, gap=1e-5)
    assert problem.names == ("A/floor", "B/floor")
    assert problem.nt == 1  # nothing can slide out of the plane
    np.testing.assert_allclose(problem.M, planar.M, atol=1e-12)
    np.testing.assert_allclose(problem.Jn, planar.Jn, atol=1e-9)
    same_sets(problem, planar, np.eye(3))


def test_the_compass_gait_as_mjcf_gives_the_planar_system():
    system = systems.get("compass-gait")
    planar = system.problem
    text = COMPASS.format(mu=planar.mu[0]).replace('size="5 5 1"', f'size="5 5 1" friction="{planar.mu[0]}"')
    model, data = made(text)
    # MuJoCo's second angle is relative to the first
    to_relative = np.eye(4)
    to_relative[3, 2] = -1.0
    data.qpos[:] = to_relative @ system.state.q
    data.qvel[:] = to_relative @ planar.v
    problem = adapter.problem(model, data, gap=1e-5)
    back = np.linalg.inv(to_relative)
    np.testing.assert_allclose(to_relative.T @ problem.M @ to_relative, planar.M, atol=1e-9)
    same_sets(problem, planar, back)


def same_sets(problem, planar, back, n=200):
    """By Algorithm 1 the same samples, draw by draw; by events, where rounding decides ties, the same set."""
    far, near = (routh.sample(one, 2000, seed=5).ambiguity for one in (problem, planar))
    assert far == pytest.approx(near, rel=1e-3)
    ours = routh.sampling.sample_by_steps(problem, n, seed=5)
    theirs = routh.sampling.sample_by_steps(planar, n, seed=5)
    np.testing.assert_array_equal(ours.status, theirs.status)
    scale = np.abs(theirs.v).max()
    np.testing.assert_allclose(ours.v @ back.T, theirs.v, atol=1e-7 * scale)
    assert ours.ambiguity == pytest.approx(theirs.ambiguity, rel=1e-6)


# ----------------------------------------------------------- robots from PyPI

ZOO = [f"gymnasium/{name}" for name in GYMNASIUM] + [f"dm_control/{name}" for name in DM_CONTROL]


@pytest.mark.parametrize("name", ZOO)
def test_contact_velocities_are_differences_of_positions(name):
    model = load_mjcf(name)
    rng = np.random.default_rng(3)
    data, gap = landing(model, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        problem = adapter.problem(model, data, gap=max(gap, 0.05))
    assert any(contact.kind == "contact" for contact in problem.contacts)
    for i, contact in enumerate(problem.contacts):
        if contact.kind != "contact":
            continue
        moved = material_velocity(model, data, problem.lift(problem.v), contact)
        expected = problem.contact_velocity()[i]
        rows = contact.frame[: 1 + problem.nt]
        np.testing.assert_allclose(rows @ moved, expected, atol=2e-6 * (1 + np.abs(moved).max()))


def test_a_model_in_which_nothing_moves_is_named():
    model, data = made("<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>")
    for work in (lambda: adapter.problem(model, data), lambda: adapter.MujocoModel(model)):
        with pytest.raises(ModelError, match="has no body that moves"):
            work()
