"""Pinocchio's robots as impact problems, held against MuJoCo on the same URDF."""

import numpy as np
import pytest

import routh
from robot_zoo import frame_velocity, urdf_path, urdf_roots
from routh.base.status import ModelError
from routh.models import UnrepresentedWarning
from routh.models import mujoco as mujoco_adapter
from routh.models import pinocchio as adapter

pin = pytest.importorskip("pinocchio", exc_type=ImportError)

LINK = """<link name="{name}"><inertial><origin xyz="0.02 0 -0.1"/><mass value="{mass}"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.015" ixy="0.001" ixz="0" iyz="0.002"/></inertial>
  <collision><origin xyz="{at}"/><geometry>{shape}</geometry></collision></link>"""
HINGE = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{at}"/><axis xyz="{axis}"/><limit lower="-1" upper="0.8" effort="1" velocity="1"/></joint>"""


def two_legs():
    text = LINK.format(name="trunk", mass=4.0, at="0 0 0", shape='<box size="0.4 0.2 0.1"/>')
    for side, y in (("left", 0.2), ("right", -0.2)):
        hip = f"0 {y} 0"
        shape = '<sphere radius="0.03"/>'
        text += LINK.format(name=f"{side}_leg", mass=0.7, at="0 0 -0.3", shape=shape)
        text += HINGE.format(name=f"{side}_hip", parent="trunk", child=f"{side}_leg", at=hip, axis="0 1 0")
    return f'<robot name="two legs">{text}</robot>'


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "two_legs.urdf"
    path.write_text(two_legs())
    return path


def same_state(mj_model, pin_model, rng):
    """One random state in both conventions, and T with v_pin = T qvel."""
    data = mujoco_adapter.state(mj_model)
    quat = np.array([1.0, 0.0, 0.0, 0.0]) + 0.2 * rng.normal(size=4)
    quat /= np.linalg.norm(quat)
    data.qpos[:3], data.qpos[3:7] = rng.normal(size=3), quat
    data.qpos[7:] = rng.uniform(-0.6, 0.6, mj_model.nq - 7)
    data.qvel[:] = rng.normal(size=mj_model.nv)
    q = np.zeros(pin_model.nq)
    q[:3], q[3:7] = data.qpos[:3], quat[[1, 2, 3, 0]]
    T = np.zeros((mj_model.nv, mj_model.nv))
    T[:3, :3] = pin.Quaternion(q[3:7]).toRotationMatrix().T
    T[3:6, 3:6] = np.eye(3)
    for joint in range(1, mj_model.njnt):
        other = pin_model.getJointId(mj_model.jnt(joint).name)
        q[pin_model.idx_qs[other]] = data.qpos[mj_model.jnt_qposadr[joint]]
        T[pin_model.idx_vs[other], mj_model.jnt_dofadr[joint]] = 1.0
    return data, q, T


def feet_down(data, q, distance):
    data.qpos[2] -= distance
    q[2] -= distance


@pytest.mark.parametrize("seed", range(5))
def test_both_adapters_agree_on_masses_contacts_and_sets(urdf, seed):
    pytest.importorskip("mujoco")
    model = mujoco_adapter.load(urdf, floating=True, ground=0.0)
    robot = adapter.load(urdf, floating=True)
    data, q, T = same_state(model, robot.model, np.random.default_rng(seed))
    first = adapter.problem(robot.model, q, T @ data.qvel, geometry=robot.geometry, gap=10.0, deepest=None)
    feet_down(data, q, min(d for d, c in zip(first.dist, first.contacts, strict=True) if c.geom1 == "ground"))
    ours = mujoco_adapter.problem(model, data, gap=0.02)
    theirs = adapter.problem(robot.model, q, T @ data.qvel, geometry=robot.geometry, gap=0.02)
    agree(ours, theirs, T)


def agree(ours, theirs, T, n=8):
    """M, contact velocities in the world, and the sampled sets, each to 1e-8."""
    order = match(ours, theirs)
    theirs = theirs.subset(order)
    np.testing.assert_allclose(ours.M, T.T @ theirs.M @ T, atol=1e-9)
    for i in range(ours.nc):
        assert ours.dist[i] == pytest.approx(theirs.dist[i], abs=1e-8)
        np.testing.assert_allclose(world(ours, i), world(theirs, i), atol=1e-8)
    if np.any(ours.approaching):
        a, b = routh.sample(ours, n, friction="cone"), routh.sample(theirs, n, friction="cone")
        np.testing.assert_array_equal(a.status, b.status)
        np.testing.assert_allclose(a.v @ T.T, b.v, atol=1e-8 * (1.0 + np.abs(b.v).max()))


def world(problem, i):
    frame = problem.contacts[i].frame
    velocity = problem.contact_velocity()[i]
    return velocity @ frame[: len(velocity)] if np.all(np.isfinite(frame)) else velocity[:1]


def match(ours, theirs):
    """For each contact of the first, the name of the second's at the same place."""
    assert ours.nc == theirs.nc, (ours.names, theirs.names)
    names, free = [], list(theirs.contacts)
    for contact in ours.contacts:
        if contact.kind == "contact":
            other = min(
                free, key=lambda c: np.inf if c.kind != "contact" else np.linalg.norm(c.pos - contact.pos)
            )
        else:
            other = next(c for c in free if c.name == contact.name)
        free.remove(other)
        names.append(other.name)
    return names


@pytest.mark.parametrize("name", ["a1", "laikago", "quadruped", "solo12"])
def test_robots_of_example_robot_data(name):
    pytest.importorskip("mujoco")
    path = urdf_path(name)
    robot = adapter.load(path, roots=urdf_roots(path), floating=True, geometry=False)
    rng = np.random.default_rng(1)
    q = pin.integrate(robot.model, pin.neutral(robot.model), 0.2 * rng.normal(size=robot.model.nv))
    v = rng.normal(size=robot.model.nv)
    feet = adapter.feet(robot.model)
    assert len(feet) == 4
    problem = adapter.problem(robot.model, q, v, gap=10.0, limits=False, deepest=None)
    assert problem.names == tuple(f"{foot.frame}/ground" for foot in feet)
    for i, foot in enumerate(feet):
        moved = frame_velocity(robot.model, q, v, foot.frame, problem.contacts[i].pos)
        np.testing.assert_allclose(world(problem, i), moved, atol=1e-6)


@pytest.mark.parametrize("name", ["anymal", "go1"])
def test_a_root_link_with_a_made_up_inertia_is_added_to_the_link_fixed_to_it(name):
    pytest.importorskip("mujoco")
    from routh.models.pinocchio.impacts import mass_matrix

    path = urdf_path(name)
    model = mujoco_adapter.load(path, roots=urdf_roots(path), floating=True, ground=0.0)
    robot = adapter.load(path, roots=urdf_roots(path), floating=True, geometry=False).model
    data, q, T = same_state(model, robot, np.random.default_rng(0))
    data = mujoco_adapter.state(model, qpos=data.qpos)
    problem = mujoco_adapter.problem(model, data, gap=10.0, limits=False, deepest=None)
    theirs = T.T @ mass_matrix(robot, robot.createData(), q) @ T
    np.testing.assert_allclose(problem.M, theirs, atol=1e-12)


def test_points_radii_offsets_friction_and_a_fixed_base(urdf):
    robot = adapter.load(urdf, floating=False, geometry=False)
    q, v = np.array([0.3, 0.0]), np.array([1.0, 0.0])
    points = [adapter.ContactPoint("left_leg", (0.0, 0.0, -0.3), 0.03, "toe")]
    problem = adapter.problem(
        robot.model, q, v, points=points, ground=-0.3 * np.cos(0.3) - 0.03, mu={"toe": 0.4},
        restitution={"toe/ground": 0.3}, limits=False,
    )  # fmt: skip
    assert problem.names == ("toe/ground",)
    assert problem.mu[0] == 0.4
    assert problem.restitution[0] == 0.3
    assert abs(problem.dist[0]) < 1e-12
    assert problem.nt == 1  # one hinge moves it along one line
    expected = [-0.3 * np.cos(0.3) - 0.03, 0.0, 0.3 * np.sin(0.3)]
    np.testing.assert_allclose(world(problem, 0), expected, atol=1e-9)
    with pytest.raises(ValueError, match="points: there is no frame 'nose'; the limbs end in 'left_leg'"):
        adapter.problem(robot.model, q, v, points=["nose"])
    with pytest.raises(ValueError, match=r"q: got shape \(3,\); wanted shape \(2,\)"):
        adapter.problem(robot.model, np.zeros(3), v)


def test_joint_limits_and_pairs_of_bodies(urdf):
    robot = adapter.load(urdf, floating=True)
    q = pin.neutral(robot.model)
    q[7:] = [0.8, -1.0]
    v = np.zeros(8)
    v[6] = 1.0
    problem = adapter.problem(robot.model, q, v, ground=None)
    assert problem.names == ("left_hip:upper", "right_hip:lower")
    np.testing.assert_allclose(problem.Jn @ v, [-1.0, 0.0])
    near = adapter.problem(robot.model, q, v, ground=None, geometry=robot.geometry, gap=1.0)
    assert "right_leg_0/left_leg_0" in near.names


def test_bodies_that_cannot_be_are_refused(tmp_path):
    def loaded(text):
        path = tmp_path / "bad.urdf"
        path.write_text(text)
        return adapter.load(path, floating=True)

    with pytest.raises(ModelError, match="principal inertias"):
        loaded(two_legs().replace('izz="0.015"', 'izz="5"'))
    with pytest.raises(ModelError, match="principal inertias"):  # two of them large, by less than the third
        loaded(two_legs().replace('iyy="0.03"', 'iyy="3"').replace('izz="0.015"', 'izz="5"'))
    with pytest.raises(ModelError, match=r"'left_hip' has mass -0\.7 kg"):
        loaded(two_legs().replace('mass value="0.7"', 'mass value="-0.7"', 1))
    with pytest.raises(ModelError, match="nothing that joint 'left_hip' moves has mass"):
        loaded(two_legs().replace('mass value="0.7"', 'mass value="0"', 1))
    with pytest.warns(UnrepresentedWarning, match=r"lost\.stl \(there is no such file"):
        loaded(two_legs().replace('<box size="0.4 0.2 0.1"/>', '<mesh filename="lost.stl"/>'))
    with pytest.raises(ModelError, match="wanted a URDF"):
        loaded("<mujoco/>")


def test_shapes_touch_the_ground_where_they_are_lowest(tmp_path):
    pytest.importorskip("coal", exc_type=ImportError)
    shapes = {
        '<box size="0.4 0.2 0.1"/>': (4, 0.05),
        '<sphere radius="0.1"/>': (1, 0.1),
        '<cylinder radius="0.1" length="0.3"/>': (4, 0.15),
    }
    for shape, (count, half) in shapes.items():
        path = tmp_path / "one.urdf"
        path.write_text(
            f'<robot name="one">{LINK.format(name="trunk", mass=1.0, at="0 0 0", shape=shape)}</robot>'
        )
        robot = adapter.load(path, floating=True)
        q = pin.neutral(robot.model)
        q[2] = half
        problem = adapter.problem(robot.model, q, np.zeros(6), geometry=robot.geometry)
        assert problem.nc == count, shape
        np.testing.assert_allclose(problem.dist, 0.0, atol=1e-12)
