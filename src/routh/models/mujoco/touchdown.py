"""States of an MjModel as touch-downs: see `routh.models.landings`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.models.landings import SLOPE, Landing, RootMotion, Seen, Touchdown, held_touchdown, rigid_jacobians
from routh.models.mujoco.contacts import equality_rows, geom_name, joint_names, near_contacts
from routh.models.mujoco.engine import (
    Near,
    Workspace,
    engine,
    look_around,
    mass_matrix,
    take_environment,
    widen,
    workspace,
)
from routh.models.mujoco.landings import find_root
from routh.models.regime import UNEVENNESS, Regime, duration_of_spring, regime_of, spring_of
from routh.models.simultaneity import DEEPEST, TOUCHING
from routh.status import ModelError
from routh.validation import Array

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


class FreeRoot(NamedTuple):
    """The free joint of the heaviest tree."""

    body: int
    dofs: slice
    geoms: np.ndarray  # (ngeom,) bool: of the whole tree
    still: np.ndarray  # (ngeom,) bool: of what does not move
    held: tuple[str, ...]  # the other joints


def touchdowns(
    model: MjModel,
    qpos: Array,
    qvel: Array,
    *,
    window: float,
    data: MjData | None = None,
    deepest: float | None = DEEPEST,
) -> Iterator[Touchdown | ValueError]:
    """One by one; an error where a state has none."""
    mujoco = engine()
    state = mujoco.MjData(model)
    if data is not None:
        take_environment(state, data)
    mujoco.mj_kinematics(model, state)
    root = free_root(model, state)
    look = _Look(model)
    for q, v in zip(qpos, qvel, strict=True):
        try:
            if not (np.isfinite(q).all() and np.isfinite(v).all()):
                raise ValueError("qpos, qvel: got a number that is not finite; wanted finite ones")
            state.qpos[:], state.qvel[:] = q, v
            found: Touchdown | ValueError = _touchdown(model, state, root, look, window, deepest)
        except ValueError as error:
            found = error
        yield found


class _Names(dict[int, str]):
    """Names of geoms, looked up once."""

    def __init__(self, model: MjModel) -> None:
        super().__init__()
        self._model = model

    def __missing__(self, geom: int) -> str:
        self[geom] = name = geom_name(self._model, geom)
        return name


class _Springs(dict[bytes, tuple[Array, Array]]):
    """Time constants and damping ratios of contacts by their ``solref``: most states have the same."""

    def __init__(self, model: MjModel) -> None:
        super().__init__()
        safe = not int(model.opt.disableflags) & int(engine().mjtDisableBit.mjDSBL_REFSAFE)
        self._timestep = float(model.opt.timestep) if safe else 0.0

    def __missing__(self, solref: bytes) -> tuple[Array, Array]:
        self[solref] = found = spring_of(np.frombuffer(solref).reshape(-1, 2), timestep=self._timestep)
        return found


class _Look:
    """Where to look for contacts: farther than needed, since to change that takes longer than to look."""

    def __init__(self, model: MjModel) -> None:
        self._own, self._reach = workspace(model, 0.0), 0.0
        self.names, self.springs = _Names(model), _Springs(model)

    def within(self, reach: float) -> Workspace:
        """The workspace, with margins of at least ``reach`` m."""
        now = float(self._own.wide.opt.o_margin)  # others may use the workspace between two states
        if now != self._reach or not 0.25 * now < reach < now:
            self._reach = 1.5 * reach
            widen(self._own.wide, self._reach)
        return self._own


def free_root(model: MjModel, data: MjData) -> FreeRoot:
    """The free joint of the heaviest tree; a model whose root is not free is refused."""
    free = int(engine().mjtJoint.mjJNT_FREE)
    found = find_root(model, data)
    if found.kind != "free":
        raise ModelError("model: its root slides or turns about fixed axes; wanted a free joint at the root")
    joint = int(np.flatnonzero((model.jnt_bodyid == found.body) & (model.jnt_type == free))[0])
    first = int(model.jnt_dofadr[joint])
    geoms = np.asarray(model.body_rootid)[np.asarray(model.geom_bodyid)] == found.body
    still = np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)] == 0
    names = joint_names(model)
    return FreeRoot(found.body, slice(first, first + 6), geoms, still, names[:joint] + names[joint + 1 :])


def _touchdown(
    model: MjModel,
    data: MjData,
    root: FreeRoot,
    look: _Look,
    window: float,
    deepest: float | None,
) -> Touchdown:
    mujoco = engine()
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    apart = data.geom_xpos - data.subtree_com[root.body]
    arms = np.sqrt(np.einsum("ij,ij->i", apart, apart)) + model.geom_rbound
    radius = float(arms.max(where=root.geoms, initial=0.0))
    twist = data.qvel[root.dofs]
    fastest = math.hypot(*twist[:3]) + 2.0 * radius * math.hypot(*twist[3:])
    reach = max(2.0 * SLOPE * radius, 2.0 * window * fastest)
    near = look_around(model, data, reach, look.within(reach))
    to_world = np.eye(6)
    to_world[3:, 3:] = near.data.xmat[root.body].reshape(3, 3)
    motion = RootMotion(root.dofs, np.array(near.data.xpos[root.body]), to_world)
    return held_touchdown(
        mass_matrix(near.model, near.data),
        np.array(data.qvel),
        motion,
        _seen(near, root, motion, look),
        reach=reach,
        equality=equality_rows(near),
        gravity=np.array(model.opt.gravity),
        held=root.held,
        deepest=deepest,
    )


def _seen(near: Near, root: FreeRoot, motion: RootMotion, look: _Look) -> Seen:
    """Contacts of the robot with what does not move, as `routh.models.mujoco.contacts.contact_rows` makes
    them, joints held."""
    contact = near.data.contact
    geoms = np.array(contact.geom).reshape(-1, 2)
    ours = root.geoms[geoms]  # flexible bodies have no geom: -1
    outer = (ours[:, 0] & root.still[geoms[:, 1]]) | (ours[:, 1] & root.still[geoms[:, 0]])
    kept = np.flatnonzero(outer & (geoms >= 0).all(axis=1))
    pos, frame = np.array(contact.pos)[kept], np.array(contact.frame).reshape(-1, 3, 3)[kept]
    second = np.where(ours[kept, 1], 1.0, -1.0)  # the velocity is that of the second geom less the first's
    sliding = np.array(contact.friction)[kept, :2] * (np.asarray(contact.dim)[kept, None] >= 3)
    mu = sliding.max(axis=1, initial=0.0)
    J = second[:, None, None] * rigid_jacobians(pos, frame, motion)
    if (sliding != mu[:, None]).any():  # friction differs by direction
        J[:, 1:] *= np.where(mu > 0.0, sliding.T / np.where(mu > 0.0, mu, 1.0), 1.0).T[:, :, None]
    springs = look.springs[np.array(contact.solref)[kept].tobytes()]
    pairs = [(look.names[a], look.names[b]) for a, b in geoms[kept].tolist()]
    named = [f"{b}/{a}" for a, b in pairs]
    return Seen(
        named, pairs, np.array(contact.dist)[kept], pos, frame, second[:, None] * frame[:, 0], J, mu, *springs
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
