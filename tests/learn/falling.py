"""Small MuJoCo models whose impacts have several contacts."""

import pytest

mujoco = pytest.importorskip("mujoco")

PLANAR = """<mujoco><option timestep="{timestep}" integrator="{integrator}"/><worldbody>
<geom name="floor" type="plane" size="5 5 1" friction="{friction}" margin="{margin}"/>
<body pos="0 0 1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
<joint name="turn" type="hinge" axis="0 1 0"/>
<geom name="left" size="0.1" pos="-0.5 0 -0.9" mass="0.5"/>
<geom name="right" size="0.1" pos="0.5 0 -0.9" mass="0.5"/>
<geom name="body" type="box" size="0.4 0.2 0.2" contype="0" conaffinity="0" mass="4"/>
</body></worldbody></mujoco>"""


def block(*, timestep=0.002, integrator="RK4", friction=0.5, margin=0.0, height=0.05, tilt=0.0, speed=0.0):
    """A planar body on two spherical feet above the floor; height of the feet (m), tilt (rad), fall (m/s)."""
    xml = PLANAR.format(timestep=timestep, integrator=integrator, friction=friction, margin=margin)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[1], data.qpos[2], data.qvel[1] = height, tilt, -speed
    mujoco.mj_forward(model, data)
    return model, data


def energy(model, data):
    """Kinetic and potential energy of the state, J."""
    other = mujoco.MjData(model)
    other.qpos[:], other.qvel[:] = data.qpos, data.qvel
    flags = model.opt.enableflags
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    mujoco.mj_forward(model, other)
    model.opt.enableflags = flags
    return float(other.energy.sum())
