"""States of an MjModel as touch-downs: see `routh.models.touchdown`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.models.landed import Landing
from routh.models.mujoco.contacts import (
    contact_rows,
    equality_rows,
    joint_names,
    near_contacts,
)
from routh.models.mujoco.engine import engine, look_around, mass_matrix, take_environment
from routh.models.mujoco.lowering import find_root
from routh.models.regime import UNEVENNESS, Regime, regime_of
from routh.models.simultaneity import DEEPEST, PAST_LIMIT, TOUCHING
from routh.models.softness import duration_of_spring, spring_of
from routh.models.touchdown import SLOPE, RootMotion, Touchdown, held_touchdown
from routh.status import ModelError
from routh.validation import Array

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


class FreeRoot(NamedTuple):
    """The free joint of the heaviest tree."""

    body: int
    dofs: slice
    geoms: np.ndarray  # of the whole tree
    held: tuple[str, ...]  # the other joints


def touchdowns(
    model: MjModel,
    qpos: Array,
    qvel: Array,
    *,
    window: float,
    data: MjData | None = None,
    deepest: float | None = DEEPEST,
    past_limit: float | None = PAST_LIMIT,
) -> Iterator[Touchdown | ValueError]:
    """One by one; an error where a state has none."""
    mujoco = engine()
    state = mujoco.MjData(model)
    if data is not None:
        take_environment(state, data)
    mujoco.mj_kinematics(model, state)
    root = free_root(model, state)
    for q, v in zip(qpos, qvel, strict=True):
        try:
            if not (np.isfinite(q).all() and np.isfinite(v).all()):
                raise ValueError("qpos, qvel: got a number that is not finite; wanted finite ones")
            state.qpos[:], state.qvel[:] = q, v
            found: Touchdown | ValueError = _touchdown(model, state, root, window, deepest, past_limit)
        except ValueError as error:
            found = error
        yield found


def free_root(model: MjModel, data: MjData) -> FreeRoot:
    """The free joint of the heaviest tree; a model whose root is not free is refused."""
    free = int(engine().mjtJoint.mjJNT_FREE)
    found = find_root(model, data)
    if found.kind != "free":
        raise ModelError("model: its root slides or turns about fixed axes; wanted a free joint at the root")
    joint = int(np.flatnonzero((model.jnt_bodyid == found.body) & (model.jnt_type == free))[0])
    first = int(model.jnt_dofadr[joint])
    geoms = np.asarray(model.body_rootid)[np.asarray(model.geom_bodyid)] == found.body
    names = joint_names(model)
    return FreeRoot(found.body, slice(first, first + 6), geoms, names[:joint] + names[joint + 1 :])


def _touchdown(
    model: MjModel,
    data: MjData,
    root: FreeRoot,
    window: float,
    deepest: float | None,
    past_limit: float | None,
) -> Touchdown:
    mujoco = engine()
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    arms = np.linalg.norm(data.geom_xpos - data.subtree_com[root.body], axis=1) + model.geom_rbound
    radius = float(arms.max(where=root.geoms, initial=0.0))
    twist = data.qvel[root.dofs]
    fastest = float(np.linalg.norm(twist[:3]) + 2.0 * radius * np.linalg.norm(twist[3:]))
    reach = max(2.0 * SLOPE * radius, 2.0 * window * fastest)
    near = look_around(model, data, reach)
    found = [contact for contact in near_contacts(near.data) if min(contact.geom) >= 0]
    geoms = np.array([contact.geom for contact in found], dtype=int).reshape(-1, 2)
    ours = root.geoms[geoms]
    still = np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)[geoms]] == 0
    outer = (ours[:, 0] & still[:, 1]) | (ours[:, 1] & still[:, 0])
    kept = np.flatnonzero(outer)
    all_rows = contact_rows(near) if len(kept) else []
    rows = [all_rows[k] for k in kept]
    ups = np.array([row.contact.frame[0] for row in rows]).reshape(-1, 3)
    ups = ups * np.where(ours[kept, 1], 1.0, -1.0)[:, None]
    solref = np.array([found[k].solref for k in kept], dtype=np.float64).reshape(-1, 2)
    safe = not int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
    to_world = np.eye(6)
    to_world[3:, 3:] = near.data.xmat[root.body].reshape(3, 3)
    return held_touchdown(
        mass_matrix(near.model, near.data),
        np.array(data.qvel),
        RootMotion(root.dofs, np.array(near.data.xpos[root.body]), to_world),
        rows,
        ups,
        reach=reach,
        equality=equality_rows(near),
        gravity=np.array(model.opt.gravity),
        springs=spring_of(solref, timestep=float(model.opt.timestep) if safe else 0.0),
        held=root.held,
        deepest=deepest,
        past_limit=past_limit,
    )


def landing_regime(landing: Landing, *, unevenness: float = UNEVENNESS) -> Regime:
    """Whether the set of outcomes is the right model of a landing: by when its contacts close and how they
    last.

    A planar root has no touch-down; there contacts that close within three windows but not within one make it
    tilted.
    """
    model, problem = landing.model, landing.problem
    data = engine().MjData(model)
    data.qpos[:] = landing.qpos
    engine().mj_kinematics(model, data)
    if find_root(model, data).kind == "free":
        down = next(touchdowns(model, landing.qpos[None], landing.qvel[None], window=landing.window))
        if isinstance(down, Touchdown):
            return down.regime(landing.window, unevenness)
    near = look_around(model, data, float(problem.dist.max()) + TOUCHING)
    found = [contact for contact in near_contacts(near.data) if min(contact.geom) >= 0]
    solref = np.array([contact.solref for contact in found]).reshape(-1, 2)
    lasting = duration_of_spring(*spring_of(solref, timestep=float(near.model.opt.timestep)))
    closing = np.array(
        [*np.where(problem.dist <= 2.0 * TOUCHING, 0.0, problem.time_to_contact), *problem.soon.values()]
    )
    speed = float(-(problem.Jn @ problem.v).min())
    duration = float(np.median(lasting)) if len(lasting) else np.nan
    return regime_of(closing[np.isfinite(closing)], speed, duration, landing.window, unevenness)
