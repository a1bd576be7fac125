"""The same mechanisms in MuJoCo (MJCF written here) and Pinocchio: masses, forces, distances, Jacobians."""

import numpy as np
import pytest

from routh import systems
from routh.models.planar import PlanarModel, Prismatic, Revolute, box, disc, link, point_mass, rod
from routh.models.spatial import SpatialModel, SphereContact, corner_contacts, sphere
from routh.models.spatial import box as spatial_box
from routh.systems.hp23 import RAMONE as robot

# ------------------------------------------------------------------ MuJoCo


def mujoco_full_mass(mujoco, model, data):
    M = np.zeros((model.nv, model.nv))
    if hasattr(data, "qM"):
        mujoco.mj_fullM(model, M, data.qM)
    else:  # since MuJoCo 4.0
        mujoco.mj_fullM(model, data, M)
    return M


def mujoco_state(mujoco, xml, q, v):
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    return model, data


def ramone_leg_xml(leg):
    return f"""
      <body name="{leg} thigh" pos="0 {-robot.trunk_to_hip} 0">
        <joint type="hinge" axis="0 0 1"/>
        <inertial pos="0 {-robot.hip_to_thigh} 0" mass="{robot.thigh_mass}"
                  diaginertia="0.002 0.002 {robot.thigh_inertia}"/>
        <body name="{leg} shank" pos="0 {-robot.thigh} 0">
          <joint type="hinge" axis="0 0 1"/>
          <inertial pos="0 {-robot.knee_to_shank} 0" mass="{robot.shank_mass}"
                    diaginertia="0.005 0.005 {robot.shank_inertia}"/>
          <geom name="{leg} foot" type="sphere" size="{robot.foot_radius}" pos="0 {-robot.shank} 0"
                margin="10"/>
        </body>
      </body>"""


RAMONE_XML = f"""<mujoco><compiler angle="radian"/><option gravity="0 -9.81 0"/>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 1" zaxis="0 1 0" margin="10"/>
    <body name="trunk">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="hinge" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="{robot.trunk_mass}" diaginertia="0.05 0.05 {robot.trunk_inertia}"/>
      {ramone_leg_xml("leading")}
      {ramone_leg_xml("trailing")}
    </body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("seed", range(3))
def test_ramone_in_mujoco(seed):
    mujoco = pytest.importorskip("mujoco")
    ours = systems.get("ramone").model
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=7), rng.normal(size=7)
    q[1] += 2.0
    model, data = mujoco_state(mujoco, RAMONE_XML, q, v)
    np.testing.assert_allclose(ours.mass(q), mujoco_full_mass(mujoco, model, data), atol=1e-12)
    np.testing.assert_allclose(ours.bias(q, v), data.qfrc_bias, atol=1e-11)
    Jn, Jt = ours.jacobians(q)
    for i, leg in enumerate(("leading", "trailing")):
        geom = model.geom(f"{leg} foot").id
        contacts = [c for c in data.contact if set(c.geom) == {geom, model.geom("ground").id}]
        assert ours.gaps(q)[i] == pytest.approx(contacts[0].dist, abs=1e-12)
        jacp = np.zeros((3, 7))
        lowest = data.geom_xpos[geom] - [0.0, robot.foot_radius, 0.0]
        mujoco.mj_jac(model, data, jacp, None, lowest, model.geom_bodyid[geom])
        np.testing.assert_allclose([Jt[i, 0], Jn[i]], jacp[:2], atol=1e-12)


def test_box_and_spheres_in_space_in_mujoco():
    mujoco = pytest.importorskip("mujoco")
    crate = spatial_box("crate", (0.6, 0.8, 0.4), mass=1.5)
    bodies = [crate, sphere("ball", 0.2, mass=0.7), sphere("globe", 0.3, mass=1.1)]
    ours = SpatialModel(bodies, [*corner_contacts(crate), SphereContact("pair", "ball", "globe")])
    inertias = [" ".join(map(str, np.diag(body.inertia))) for body in bodies]
    xml = f"""<mujoco><worldbody>
      <geom name="ground" type="plane" size="1 1 1"/>
      <body name="crate"><freejoint/>
        <inertial pos="0 0 0" mass="1.5" diaginertia="{inertias[0]}"/>
        <geom name="crate" type="box" size="0.3 0.4 0.2"/></body>
      <body name="ball"><freejoint/>
        <inertial pos="0 0 0" mass="0.7" diaginertia="{inertias[1]}"/>
        <geom name="ball" type="sphere" size="0.2"/></body>
      <body name="globe"><freejoint/>
        <inertial pos="0 0 0" mass="1.1" diaginertia="{inertias[2]}"/>
        <geom name="globe" type="sphere" size="0.3"/></body>
      </worldbody></mujoco>"""
    rng = np.random.default_rng(4)
    q = ours.integrate(np.tile([0.0, 0, 0, 1, 0, 0, 0], 3), 0.7 * rng.normal(size=18), 1.0)
    q[:3], q[7:10], q[14:17] = [0.0, 0.0, 0.3], [3.0, 0.0, 2.0], [3.1, 0.2, 2.3]
    v = rng.normal(size=18)
    model, data = mujoco_state(mujoco, xml, q, v)
    np.testing.assert_allclose(ours.mass(q), mujoco_full_mass(mujoco, model, data), atol=1e-12)
    np.testing.assert_allclose(ours.bias(q, v), data.qfrc_bias, atol=1e-12)
    gaps, points = ours.gaps(q), ours.contact_points(q)
    checked = 0
    for contact in data.contact:
        pair = {model.geom(i).name for i in contact.geom}
        if pair == {"ball", "globe"}:
            assert gaps[8] == pytest.approx(contact.dist, abs=1e-12)
            frame = contact.frame.reshape(3, 3)
            sign = 1.0 if model.geom(contact.geom[1]).name == "ball" else -1.0  # normal: geom1 to geom2
            centre = contact.pos
            expected = sign * frame[0] @ _relative_jacobian(mujoco, model, data, "ball", "globe", centre)
            np.testing.assert_allclose(ours.jacobians(q)[0][8], expected, atol=1e-12)
        else:
            below = np.argmin(np.linalg.norm(points[:8, :2] - contact.pos[:2], axis=1))
            assert gaps[below] == pytest.approx(contact.dist, abs=1e-12)
        checked += 1
    assert checked >= 2
    # MuJoCo turns quaternions by the same exponential map
    moved = q.copy()
    mujoco.mj_integratePos(model, moved, v, 0.05)
    np.testing.assert_allclose(ours.integrate(q, v, 0.05), moved, atol=1e-12)


def _relative_jacobian(mujoco, model, data, first, second, point):
    rows = []
    for name in (first, second):
        jacp = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacp, None, point, model.body(name).id)
        rows.append(jacp)
    return rows[0] - rows[1]


# --------------------------------------------------------------- Pinocchio


def pinocchio_tree(pin, ours):
    """A planar model's tree in Pinocchio's x-y plane, joint by joint."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    joints, offsets = {"world": 0}, {"world": 0.0}
    for body in ours.bodies:
        joint = body.joint
        if isinstance(joint, (Revolute, Prismatic)):
            placement = _placement(pin, joint.at, offsets[joint.parent])
            if isinstance(joint, Revolute):
                kind = pin.JointModelRZ()
            else:
                kind = pin.JointModelPrismaticUnaligned(np.array([*joint.axis, 0.0]) / np.hypot(*joint.axis))
            index = model.addJoint(joints[joint.parent], kind, placement, body.name)
            offsets[body.name] = joint.offset
        else:
            index = 0
            for axis, kind in (("x", pin.JointModelPX()), ("y", pin.JointModelPY())):
                index = model.addJoint(index, kind, pin.SE3.Identity(), f"{body.name}.{axis}")
            if type(joint).__name__ == "Free":
                index = model.addJoint(index, pin.JointModelRZ(), pin.SE3.Identity(), body.name)
            offsets[body.name] = 0.0
        joints[body.name] = index
        inertia = pin.Inertia(body.mass, np.array([*body.com, 0.0]), np.diag([0.0, 0.0, body.inertia]))
        model.appendBodyToJoint(index, inertia.se3Action(_turn(pin, offsets[body.name])), pin.SE3.Identity())
    return model


def _turn(pin, angle):
    return _placement(pin, (0.0, 0.0), angle)


def _placement(pin, at, angle):
    """The joint sits at ``at`` of the parent's frame, which is turned by its offset after its own joint."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return pin.SE3(R, R @ np.array([*at, 0.0]))


def cart_and_arm():
    return PlanarModel(
        [
            box("cart", 1.0, 0.4, mass=2.0, joint=Prismatic(axis=(2.0, 1.0), at=(0.1, 0.2), offset=0.3)),
            link("boom", 1.0, mass=0.7, inertia=0.05, joint=Revolute("cart", at=(0.3, 0.2), offset=2.0)),
            rod("arm", 0.8, mass=0.4, joint=Prismatic(axis=(0.1, -1.0), parent="boom", at=(0.0, -0.6))),
            disc("wheel", 0.3, mass=0.9, joint=Revolute("arm", at=(0.4, 0.0))),
            point_mass("weight", 0.25, joint=Revolute("wheel", at=(0.1, 0.3))),
            box("crate", 0.5, 0.7, mass=1.3),
        ]
    )


@pytest.mark.parametrize("name", ["cart-and-arm", "compass-gait", "ramone", "disk-stack"])
def test_planar_trees_in_pinocchio(name):
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    ours = cart_and_arm() if name == "cart-and-arm" else systems.get(name).model
    model = pinocchio_tree(pin, ours)
    data = model.createData()
    rng = np.random.default_rng(11)
    q, v = rng.normal(size=ours.nq), rng.normal(size=ours.nv)
    upper = np.triu(pin.crba(model, data, q))
    M = upper + np.triu(upper, 1).T
    np.testing.assert_allclose(ours.mass(q), M, atol=1e-12)
    np.testing.assert_allclose(ours.bias(q, v), pin.rnea(model, data, q, v, np.zeros(ours.nv)), atol=1e-11)
