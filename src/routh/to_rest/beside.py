"""The same landings in MuJoCo, for comparison: heights, friction, slope and states as they were drawn."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import ModelError
from routh.models.mujoco.engine import engine
from routh.models.mujoco.landings import free_root
from routh.models.mujoco.touches import touches
from routh.models.rotations import rotation_matrices
from routh.to_rest.bodies import quaternion_of
from routh.to_rest.many import LandingRuns

if TYPE_CHECKING:
    from mujoco import MjModel

LASTS = 3.0  # s: a landing that has not tipped by then is not counted as tipping
_STRIDE = 20  # steps between looks


def tips_in_mujoco(model: MjModel, found: LandingRuns, count: int, *, lasts: float = LASTS) -> np.ndarray:
    """Whether the first runs tip in MuJoCo, (count,) bool, by the same rule.

    Shapes are moved by their own heights, so the midphase is off: it would look for them where they were.
    """
    mujoco, body, runs = engine(), found.body, found.again.runs
    if model.nv != 6:
        raise ModelError(
            "check", wrong="MuJoCo would move the joints, which are locked here", wanted="a body without"
        )
    listed = touches(model, self_contacts=False)[0]
    moved = copy.copy(model)
    moved.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    plane = listed[0].geom1
    moved.geom_pos[plane], moved.geom_quat[plane] = body.place, _facing(body.normal)
    start = int(model.jnt_qposadr[free_root(model, mujoco.MjData(model)).joint])
    q, v = body.given(runs.q[:count], runs.v[:count])
    up = body.turn @ found.again.rules.up
    leaning = max(found.again.rules.leaning, -1.0)
    tipped = np.zeros(len(q), dtype=bool)
    shapes = sorted({one.geom2 for one in listed})
    member = np.array([shapes.index(one.geom2) for one in listed])
    for e in range(len(q)):
        for k, geom in enumerate(shapes):
            height, mu = runs.height[e][member == k].mean(), runs.mu[e][member == k].mean()
            moved.geom_pos[geom] = model.geom_pos[geom] - height * up
            moved.geom_priority[geom] = 1 + int(model.geom_priority.max())
            moved.geom_friction[geom, 0] = mu
            moved.geom_solref[geom] = _spring(body.time_constant, body.damping_ratio, member == k)
        data = mujoco.MjData(moved)
        data.qpos[start : start + 7], data.qvel[:] = q[e], v[e]
        for k in range(int(lasts / model.opt.timestep)):
            mujoco.mj_step(moved, data)
            if k % _STRIDE == 0 and body.normal @ _turn(data.qpos, start) @ up < leaning:
                tipped[e] = True
                break
        if found.body.faces.closed:
            down = -(_turn(data.qpos, start) @ body.turn).T @ body.normal
            tipped[e] = (
                int((body.faces.normals @ down).argmax()) != found.start_face[e // found.status.shape[1]]
            )
    return tipped


def _turn(qpos: np.ndarray, start: int) -> np.ndarray:
    return np.asarray(rotation_matrices(np.array(qpos[start + 3 : start + 7])[None])[0])


def _spring(time: np.ndarray, ratio: np.ndarray, which: np.ndarray) -> tuple[float, float]:
    return float(time[which].mean()), float(ratio[which].mean())


def _facing(normal: np.ndarray) -> np.ndarray:
    """The quaternion that turns the z axis to a normal."""
    axis = np.eye(3)[int(np.abs(normal).argmin())]
    first = np.cross(axis, normal)
    first /= np.linalg.norm(first)
    return quaternion_of(np.array([first, np.cross(normal, first), normal]).T)
