"""A touch-down told by a MuJoCo file, in another engine: free bodies of balls and boxes above a flat ground.

Joints other than free ones and other shapes are refused by name: the adapters know free bodies only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import ModelError
from routh.base.validation import Array
from routh.models.mujoco.contacts import geom_name
from routh.models.mujoco.engine import engine
from routh.testkit.names import named
from routh.testkit.scene import ImpactScene, SceneBody, Shape, quaternion

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

LEVEL = 1e-9  # how far the ground's normal may lean, and its height (m) may be from zero


def scene_of(model: MjModel, data: MjData) -> ImpactScene:
    """The scene of a model in a state; raises `ModelError` where it holds more than free bodies."""
    mujoco = engine()
    mujoco.mj_forward(model, data)
    friction, ground = _ground(model, data)
    bodies = []
    for i in range(1, model.nbody):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i) or f"body {i}"
        free = model.body_parentid[i] == 0 and model.body_jntnum[i] == 1
        if not free or model.jnt_type[model.body_jntadr[i]] != mujoco.mjtJoint.mjJNT_FREE:
            raise ModelError(
                name, got="a body with joints of its own kind", wanted="free bodies, without joints"
            )
        R, at = data.ximat[i].reshape(3, 3), data.xipos[i]
        shapes = tuple(_shape(model, data, g, R, at, friction) for g in _geoms(model, i))
        turning = np.zeros(6)
        mujoco.mj_objectVelocity(
            model, data, mujoco.mjtObj.mjOBJ_BODY, i, turning, 0
        )  # of its inertial frame
        place, w, v = _three(at), _three(turning[:3]), _three(turning[3:])
        q = quaternion(R)
        quat = (float(q[0]), float(q[1]), float(q[2]), float(q[3]))
        inertia = _three(model.body_inertia[i])
        bodies.append(SceneBody(float(model.body_mass[i]), inertia, shapes, place, quat, v, w))
    if not bodies:
        raise ModelError(got="a model without bodies", wanted="free bodies")
    return ImpactScene("touch-down", tuple(bodies), max(friction, 0.0), ground=ground)


def touched_down(name: str, model: MjModel, data: MjData) -> Array:
    """The velocity (nv,), as MuJoCo has it, to which an engine's contacts lead from the state in ``data``."""
    scene = scene_of(model, data)
    after, qvel = named(name)(scene), np.zeros(model.nv)
    for i, row in enumerate(after, start=1):
        v, w = row[:3], row[3:]
        lever = data.xipos[i] - data.xpos[i]
        k = model.jnt_dofadr[model.body_jntadr[i]]
        qvel[k : k + 3] = v - np.cross(w, lever)
        qvel[k + 3 : k + 6] = data.xmat[i].reshape(3, 3).T @ w
    return qvel


def _ground(model: MjModel, data: MjData) -> tuple[float, bool]:
    """Friction of the ground, and whether there is one."""
    fixed = _geoms(model, 0)
    for g in fixed:
        plane = model.geom_type[g] == engine().mjtGeom.mjGEOM_PLANE
        normal = data.geom_xmat[g].reshape(3, 3)[:, 2]
        if len(fixed) > 1 or not plane or abs(data.geom_xpos[g, 2]) > LEVEL or 1.0 - normal[2] > LEVEL:
            raise ModelError(geom_name(model, g), wanted="one plane at height 0 as the ground, nothing else")
    return (float(model.geom_friction[fixed[0], 0]), True) if fixed else (-1.0, False)


def _geoms(model: MjModel, body: int) -> list[int]:
    """The geoms of a body that can collide."""
    found = np.flatnonzero(model.geom_bodyid == body)
    return [int(g) for g in found if model.geom_contype[g] or model.geom_conaffinity[g]]


def _shape(model: MjModel, data: MjData, g: int, R: Array, at: Array, ground: float) -> Shape:
    """A geom in the principal frame of its body; of two frictions MuJoCo takes the larger."""
    kinds, kind = engine().mjtGeom, model.geom_type[g]
    place = _three(R.T @ (data.geom_xpos[g] - at))
    mu = max(float(model.geom_friction[g, 0]), ground) if model.geom_condim[g] > 1 else 0.0
    if kind == kinds.mjGEOM_SPHERE:
        return Shape("sphere", (float(model.geom_size[g, 0]),), place, mu)
    turned = R.T @ data.geom_xmat[g].reshape(3, 3)
    axes = np.abs(turned).round(9)
    if kind == kinds.mjGEOM_BOX and np.array_equal(np.sort(axes, axis=0)[-1], np.ones(3)):
        return Shape("box", _three(np.abs(turned) @ model.geom_size[g]), place, mu)
    raise ModelError(geom_name(model, g), wanted="balls, and boxes along the principal axes of their body")


def _three(numbers: Array) -> tuple[float, float, float]:
    x, y, z = (float(one) for one in numbers)
    return (x, y, z)
