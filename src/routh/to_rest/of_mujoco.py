"""The free body of a MuJoCo model whose joints are locked: its inertia, and points over the one plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import ModelError
from routh.base.validation import Array
from routh.models.mujoco.contacts import joint_names
from routh.models.mujoco.energies import load_of
from routh.models.mujoco.engine import engine
from routh.models.mujoco.features import TIPPING, notes_on, refuse
from routh.models.mujoco.files import state
from routh.models.mujoco.landings import free_root
from routh.models.mujoco.touches import Touch, touches
from routh.models.regime import spring_of
from routh.models.robot import tell_unrepresented
from routh.to_rest.bodies import FreeBody, principal

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


def of_mujoco(model: MjModel, qpos: ArrayLike | None = None) -> FreeBody:
    """The tree that comes down as one rigid body, its joints where ``qpos`` has them."""
    mujoco = engine()
    refuse(model, TIPPING)
    data = state(model)
    if qpos is not None:
        data.qpos[:] = np.asarray(qpos, dtype=np.float64)
    mujoco.mj_forward(model, data)
    root = free_root(model, data)
    listed, notes, named = touches(model, self_contacts=False)
    ours = [one for one in listed if root.geoms[one.geom1] != root.geoms[one.geom2]]
    _check(model, ours)
    tell_unrepresented("landing", [*notes, *(f"{what}" for what in named), *notes_on(model, TIPPING)])
    load = load_of(model, data, root.body)
    if not np.allclose(load.weight, load.mass * load.gravity):
        raise ModelError(
            "gravcomp", wrong="a part of the weight is compensated", wanted="a body that falls freely"
        )
    R = np.array(data.xmat[root.body]).reshape(3, 3)
    origin = np.array(data.xpos[root.body])
    inertia, mass = _inertia(model, data, root.body, load.com)
    moments, axes = principal(R.T @ inertia @ R)
    centre = R.T @ (load.com - origin)
    points, springs = [], []
    for one in ours:
        turn = np.array(data.geom_xmat[one.geom2]).reshape(3, 3)
        world = np.array(data.geom_xpos[one.geom2]) + turn @ np.asarray(one.offset)
        points.append((world - load.com) @ R @ axes)
        springs.append(_spring(model, one))
    time, ratio = np.array(springs).T if springs else np.zeros((2, 0))
    plane = ours[0].geom1 if ours else 0
    return FreeBody(
        mass,
        moments,
        axes,
        centre,
        np.array(points).reshape(-1, 3),
        np.array([one.radius for one in ours]),
        tuple(_short(one.name) for one in ours),
        np.array([one.mu for one in ours]),
        time,
        ratio,
        np.array(load.gravity),
        np.array(data.geom_xpos[plane]),
        np.array(data.geom_xmat[plane]).reshape(3, 3)[:, 2].copy(),
        tuple(joint_names(model)[1:]) if model.nv > 6 else (),
    )


def _short(name: str) -> str:
    """The body's part of a contact's name: all are with the same ground."""
    shape, _, rest = name.partition("/")
    corner = rest.partition("#")[2]
    return f"{shape}#{corner}" if corner else shape


def _check(model: MjModel, ours: list[Touch]) -> None:
    """Refuse what is not points over one plane that stands still."""
    mujoco = engine()
    plane = int(mujoco.mjtGeom.mjGEOM_PLANE)
    for one in ours:
        if model.geom_type[one.geom1] != plane:
            raise ModelError(
                one.name,
                wrong="landings to rest know one plane only",
                wanted="no other ground that it can meet",
            )
        if model.body_weldid[model.geom_bodyid[one.geom1]] != 0:
            raise ModelError(one.name, wrong="the plane moves", wanted="ground that stands still")
        if one.offset is None:
            raise ModelError(
                one.name,
                wrong="an ellipsoid has no fixed points",
                wanted="spheres, capsules, boxes, cylinders or meshes",
            )
        if np.any(one.scale != 1.0):
            raise ModelError(one.name, wrong="its friction differs by direction", wanted="one coefficient")
    if len({one.geom1 for one in ours}) > 1:
        raise ModelError("model", wrong="it can meet more than one plane", wanted="one")


def _inertia(model: MjModel, data: MjData, root: int, com: Array) -> tuple[Array, float]:
    """The inertia about a point and the mass of all bodies of a tree, world axes."""
    total, mass = np.zeros((3, 3)), 0.0
    for body in np.flatnonzero(np.asarray(model.body_rootid) == root):
        m, turn = float(model.body_mass[body]), np.array(data.ximat[body]).reshape(3, 3)
        arm = np.array(data.xipos[body]) - com
        total += turn @ np.diag(model.body_inertia[body]) @ turn.T
        total += m * ((arm @ arm) * np.eye(3) - np.outer(arm, arm))
        mass += m
    return total, mass


def _spring(model: MjModel, one: Touch) -> tuple[float, float]:
    """Time constant and damping ratio of a pair's contacts, as MuJoCo mixes them."""
    first, second = one.geom1, one.geom2
    a, b = (np.array(model.geom_solref[geom]) for geom in (first, second))
    priority = int(model.geom_priority[first]) - int(model.geom_priority[second])
    if priority:
        told = a if priority > 0 else b
    elif a[0] > 0.0 and b[0] > 0.0:
        one_mix, other_mix = float(model.geom_solmix[first]), float(model.geom_solmix[second])
        share = one_mix / (one_mix + other_mix) if one_mix + other_mix > 0.0 else 0.5
        told = share * a + (1.0 - share) * b
    else:
        told = np.minimum(a, b)
    safe = (
        0.0
        if int(model.opt.disableflags) & int(engine().mjtDisableBit.mjDSBL_REFSAFE)
        else model.opt.timestep
    )
    time, ratio = spring_of(told, timestep=float(safe))
    return float(time), float(ratio)
