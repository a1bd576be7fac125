"""Landings: a robot is moved along gravity until it touches."""

import numpy as np
import pytest

import routh
from robot_zoo import mjcf_path
from routh.base.status import ModelError
from routh.models.landings import turned
from routh.models.simultaneity import TOUCHING

mujoco = pytest.importorskip("mujoco")

CRATE = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1" euler="{tilt} 0 0"/>
  <body name="crate" pos="0 0 {height}"><freejoint/><geom name="box" type="box" size="0.2 0.3 0.1"/></body>
</worldbody></mujoco>"""
PLANAR = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body name="rod" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0"/>
    <joint name="z" type="slide" axis="0 0 {up}"/><joint name="angle" type="hinge" axis="0 1 0"/>
    <geom name="rod" type="capsule" size="0.05" fromto="-0.5 0 0 0.5 0 0"/>
    <body pos="0.5 0 0"><joint name="knee" type="hinge" axis="0 1 0" range="-60 60" limited="true"/>
      <geom name="foot" type="capsule" size="0.04" fromto="0 0 0 0 0 -0.3"/></body></body>
</worldbody></mujoco>"""
FIXED = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><joint type="hinge"/>
  <geom size="0.1"/></body></worldbody></mujoco>"""
NOWHERE = (
    """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
)


def compiled(text):
    return mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("height", [0.15, 3.0, -0.6])
def test_a_crate_lands_on_four_corners_from_above_and_from_below(height):
    found = routh.models.landing(compiled(CRATE.format(height=height, tilt=0)), down=1.5)
    assert found.qpos[2] == pytest.approx(0.1, abs=TOUCHING)
    assert found.lifted == pytest.approx(0.1 - height, abs=TOUCHING)
    assert found.problem.nc == 4
    np.testing.assert_allclose(found.problem.Jn @ found.problem.v, -1.5)
    np.testing.assert_array_equal(found.qvel, [0, 0, -1.5, 0, 0, 0])


def test_a_turned_crate_touches_with_one_corner_and_the_window_takes_more():
    model = compiled(CRATE.format(height=1.0, tilt=0))
    found = routh.models.landing(model, down=1.0, roll=0.01, pitch=0.02)
    assert found.problem.nc == 1
    half = np.array([0.2, 0.3, 0.1])
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, turned(np.array([1.0, 0, 0, 0]), 0.01, 0.02, 0.0))
    assert found.qpos[2] == pytest.approx(np.abs(rotation.reshape(3, 3)[2]) @ half, abs=TOUCHING)
    assert routh.models.landing(model, down=1.0, roll=0.01, pitch=0.02, window=0.05).problem.nc == 4


def test_turns_are_about_the_bodys_axes_in_order():
    def about(axis, angle):
        quaternion, matrix = np.zeros(4), np.zeros(9)
        mujoco.mju_axisAngle2Quat(quaternion, np.eye(3)[axis], angle)
        mujoco.mju_quat2Mat(matrix, quaternion)
        return matrix.reshape(3, 3)

    start = turned(np.array([1.0, 0, 0, 0]), 0.3, 0.0, 0.7)
    first, after = np.zeros(9), np.zeros(9)
    mujoco.mju_quat2Mat(first, start)
    mujoco.mju_quat2Mat(after, turned(start, 0.4, -0.5, 0.6))
    wanted = first.reshape(3, 3) @ about(0, 0.4) @ about(1, -0.5) @ about(2, 0.6)
    np.testing.assert_allclose(after.reshape(3, 3), wanted, atol=1e-14)


@pytest.mark.parametrize("tilt", [20, 60])
def test_on_a_slope_the_nearest_pair_touches(tilt):
    found = routh.models.landing(compiled(CRATE.format(height=2.0, tilt=tilt)), down=1.0)
    assert abs(found.problem.dist.min()) <= TOUCHING


@pytest.mark.parametrize("up", [1, -1])
def test_a_planar_root_slides_and_turns_by_its_one_angle(up):
    model = compiled(PLANAR.format(up=up))
    found = routh.models.landing(model, down=2.0, pitch=0.2, joints={"knee": -0.2})
    assert found.qpos[2] == 0.2
    assert found.qpos[3] == -0.2
    assert found.qvel[1] == pytest.approx(-2.0 * up)
    assert abs(found.problem.dist.min()) <= TOUCHING
    with pytest.raises(ValueError, match="got 2 of them; the model's planar root has one angle"):
        routh.models.landing(model, down=1.0, pitch=0.1, roll=0.1)


def test_what_cannot_land_is_refused_with_a_hint():
    with pytest.raises(ModelError, match=r"its base cannot move along gravity.*floating=True"):
        routh.models.landing(compiled(FIXED), down=1.0)
    with pytest.raises(ModelError, match="nothing is below it"):
        routh.models.landing(compiled(NOWHERE), down=1.0)
    model = compiled(PLANAR.format(up=1))
    with pytest.raises(ValueError, match="joints: got 'hip'; wanted one of angle, knee, x, z"):
        routh.models.landing(model, down=1.0, joints={"hip": 0.0})
    crate = compiled(CRATE.format(height=1.0, tilt=0))
    with pytest.raises(ValueError, match="joints: got 'hip'; wanted none: the model has no joints that move"):
        routh.models.landing(crate, down=1.0, joints={"hip": 0.0})
    with pytest.raises(ValueError, match=r"down: got 0\.0"):
        routh.models.landing(model, down=0.0)
    with pytest.raises(routh.base.status.StateError, match=r"knee:upper is 0\.953 rad past its limit"):
        routh.models.landing(model, down=1.0, joints={"knee": 2.0})
    with pytest.raises(ValueError, match=r"there is no file 'no-such-robot\.xml'"):
        routh.models.landing("no-such-robot.xml", down=1.0)


def test_walker2d_lands_on_both_feet():
    model = routh.models.mujoco.load(mjcf_path("gymnasium/walker2d"))
    found = routh.models.landing(model, down=1.0)
    assert {"foot_geom/floor", "foot_left_geom/floor"} <= set(found.problem.names)
    outcomes = routh.sample(found.problem, 256, friction="cone")
    assert outcomes.ambiguity > 0.05


def test_pinocchio_and_mujoco_agree(tmp_path):
    pytest.importorskip("pinocchio", exc_type=ImportError)
    file = tmp_path / "box.urdf"
    file.write_text(
        '<robot name="b"><link name="base"><inertial><mass value="2"/>'
        '<inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><box size="0.4 0.6 0.2"/></geometry></collision></link></robot>'
    )
    first = routh.models.mujoco.load(file, floating=True, ground=0.0)
    one = routh.models.landing(first, roll=0.002, pitch=0.001, down=1.0)
    robot = routh.models.pinocchio.load(file, floating=True)
    other = routh.models.landing(robot.model, geometry=robot.geometry, roll=0.002, pitch=0.001, down=1.0)
    assert one.qpos[2] == pytest.approx(other.qpos[2], abs=2 * TOUCHING)
    assert one.problem.nc == other.problem.nc == 4
    np.testing.assert_allclose(
        np.sort(one.problem.Jn @ one.problem.v), np.sort(other.problem.Jn @ other.problem.v), atol=1e-9
    )


def test_landing_moves_sideways_and_turns():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><freejoint/>
        <geom type="box" size="0.1 0.2 0.05" mass="1"/><body pos="0 0 0.1"><joint name="arm" type="hinge"/>
        <geom type="sphere" size="0.01" mass="0.1" pos="0 0 0.1"/></body></body></worldbody></mujoco>"""
    )
    motion = {"sideways": 0.5, "heading": 0.3, "roll_rate": 0.1, "pitch_rate": -0.2, "yaw_rate": 0.3}
    found = routh.models.landing(model, down=1.2, yaw=0.7, joint_velocities={"arm": 2.0}, **motion)
    assert found.qvel == pytest.approx([0.5 * np.cos(1.0), 0.5 * np.sin(1.0), -1.2, 0.1, -0.2, 0.3, 2.0])
    assert found.problem.v == pytest.approx(found.qvel)
    assert found.motion.sideways == 0.5
    for bad, wanted in (
        ({"sideways": -1.0}, "sideways"),
        ({"yaw_rate": np.nan}, "yaw_rate"),
        ({"joint_velocities": {"leg": 1.0}}, "joint_velocities: got 'leg'"),
        ({"pitch": np.pi / 2, "sideways": 1.0}, "x axis is vertical"),
    ):
        with pytest.raises(ValueError, match=wanted):
            routh.models.landing(model, down=1.0, **bad)


def test_planar_root_slides_along_its_axis():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1">
        <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>
        <geom type="box" size="0.1 0.2 0.05" mass="1"/></body></worldbody></mujoco>"""
    )
    found = routh.models.landing(model, down=1.0, sideways=0.4, pitch_rate=0.2)
    assert found.qvel == pytest.approx([0.4, -1.0, 0.2])
    with pytest.raises(ValueError, match="heading 0"):
        routh.models.landing(model, down=1.0, sideways=0.4, heading=1.0)
    with pytest.raises(ValueError, match="one angle"):
        routh.models.landing(model, down=1.0, roll_rate=0.4, yaw_rate=1.0)


def test_a_fast_turn_brings_contacts_into_the_window():
    """What a rotation closes within the window counts, however slowly the robot as a whole comes down."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/><body pos="0 0 1"><freejoint/>
        <geom name="bar" type="box" size="1 0.05 0.05" mass="1"/></body></worldbody></mujoco>"""
    )
    still = routh.models.landing(model, down=0.1, pitch=0.01)
    turning = routh.models.landing(model, down=0.1, pitch=0.01, pitch_rate=-5.0)
    assert still.problem.nc == 2
    assert turning.problem.nc == 4


def test_a_speed_is_told_directly_or_by_the_height_of_a_fall():
    model = compiled(CRATE.format(height=2.0, tilt=0))
    fallen = routh.models.landing(model, height=0.45)
    assert fallen.down == pytest.approx(np.sqrt(2.0 * np.linalg.norm(model.opt.gravity) * 0.45))
    assert fallen.qvel[2] == pytest.approx(-fallen.down)
    for words, came in (({}, "neither"), ({"down": 1.0, "height": 0.1}, "both")):
        with pytest.raises(ValueError, match=rf"down, height: got {came}; .*\(down=\).*\(height=\)"):
            routh.models.landing(model, **words)
    with pytest.raises(ValueError, match="height: got -0"):
        routh.models.landing(model, height=-0.1)
    model.opt.gravity[:] = 0.0
    with pytest.raises(ValueError, match="height: the model has no gravity"):
        routh.models.landing(model, height=0.1)


def test_a_crate_comes_down_below_one_that_lies_on_it():
    """It is not pulled out from under that one, to land on top of it."""
    crate = '<body name="{}" pos="0 0 {}"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>'
    text = CRATE.split("<body")[0].format(tilt=0) + crate.format("lower", 0.15) + crate.format("upper", 0.35)
    with pytest.raises(ValueError, match="upper lies on lower"):
        routh.models.landing(compiled(text + "</worldbody></mujoco>"), down=1.0, body="lower")
