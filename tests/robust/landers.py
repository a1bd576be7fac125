"""Bodies that come down on stiff feet, as MuJoCo models and URDF."""

from __future__ import annotations

import mujoco
import numpy as np

SPAN, HEIGHT, GYRATION, MASS = 0.2, 0.55, 0.25, 5.0  # half span, centre of mass above the feet: m; kg
FEET = tuple((sx * SPAN, sy * SPAN) for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1)))
RADIUS = 0.02


def lander(feet=FEET, *, floor="", solref="0.02 1", gravity="0 0 -9.81", joint="<freejoint/>", more=""):
    """A body on spherical feet; the floor is a plane unless another is given."""
    geoms = "".join(
        f'<geom name="f{i}" type="sphere" size="{RADIUS}" pos="{x} {y} {RADIUS - HEIGHT}" solref="{solref}"/>'
        for i, (x, y) in enumerate(feet)
    )
    inertia = MASS * GYRATION**2
    ground = floor or f'<geom name="floor" type="plane" size="5 5 1" solref="{solref}"/>'
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option cone="elliptic" timestep="5e-4" gravity="{gravity}"><flag midphase="disable"/></option>
      <default><geom friction="0.8 0.005 0.0001" condim="3"/></default>
      <worldbody>{ground}<body name="body" pos="0 0 {HEIGHT}">{joint}
      <inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} {inertia}"/>{geoms}{more}</body>
      </worldbody></mujoco>""")


def flat(vx=0.0, vz=1.0, *, lifted=0.0):
    """The state in which all feet touch at once."""
    return np.array([0, 0, HEIGHT + lifted, 1, 0, 0, 0.0]), np.array([vx, 0, -vz, 0, 0, 0.0])


_I = MASS * GYRATION**2
URDF = f"""<robot name="lander"><link name="body"><inertial><mass value="{MASS}"/>
  <inertia ixx="{_I}" iyy="{_I}" izz="{_I}" ixy="0" ixz="0" iyz="0"/>
  </inertial></link></robot>"""
