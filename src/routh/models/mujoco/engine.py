"""MuJoCo itself: the import, and what differs between its versions."""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from routh.base.status import CapacityError, ModelError, optional
from routh.base.validation import Array
from routh.models.rotations import cross
from routh.models.simultaneity import Simultaneity

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


# Solver features that would change which contacts exist or drop sleeping bodies; absent in older versions.
_IGNORED_FLAGS = ("mjENBL_SLEEP", "mjENBL_IPC", "mjENBL_SPECULATIVE", "mjENBL_ENERGY", "mjENBL_FWDINV")


@cache
def engine() -> ModuleType:
    """The module ``mujoco``."""
    return optional("mujoco", "mujoco")


def switched_off(model: MjModel, *what: str) -> bool:
    """Whether the model's options disable any of these, such as "CONTACT"."""
    bits, flags = engine().mjtDisableBit, int(model.opt.disableflags)
    return any(flags & int(getattr(bits, f"mjDSBL_{one}")) for one in what)


def mass_matrix(model: MjModel, data: MjData, out: Array | None = None) -> Array:
    """The mass matrix with armature, (nv, nv), at positions that were computed before."""
    mujoco = engine()
    M = np.zeros((model.nv, model.nv)) if out is None else out
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:  # before 3.9 or so
        mujoco.mj_fullM(model, M, data.qM)
    return M


class OwnData:
    """Something with a ``model`` and MuJoCo's ``data`` for it, which are made anew in another process."""

    model: MjModel
    data: MjData

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "data"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, data=engine().MjData(state["model"]))


@dataclass(frozen=True, eq=False)
class Near:
    """What is near in one state: contacts in ``data.contact``, and the rows of equalities and limits."""

    model: MjModel
    data: MjData
    J: Array  # (k, nv) rows of equality constraints and limits
    kind: np.ndarray  # (k,) mjtConstraint
    index: np.ndarray  # (k,) which equality, joint or tendon
    dist: Array  # (k,) distance to the limit, m or rad


def refuse_still(model: MjModel) -> None:
    """Raise where nothing moves."""
    if model.nv == 0:
        raise ModelError("model", wrong="has no body that moves", wanted="at least one joint")


def look_around(model: MjModel, data: MjData, reach: float, own: Workspace | None = None) -> Near:
    """Contacts and limits within ``reach`` (m, rad) of a state; the given model and data stay untouched.

    What it returns lives in a workspace that the next call for this model in this thread uses again; ``own``
    is one that has these margins already.
    """
    mujoco = engine()
    own = own or workspace(model, reach)
    wide, near = own.wide, own.data
    mujoco.mj_resetData(wide, near)
    near.qpos[:], near.qvel[:] = data.qpos, data.qvel
    take_environment(near, data)
    # constraint rows first and contacts after them: rows of contacts are not needed, and there can be many
    flags = int(wide.opt.disableflags)
    wide.opt.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    mujoco.mj_fwdPosition(wide, near)
    count = int(near.nefc)
    rows = np.array(near.efc_J, dtype=np.float64).reshape(-1, wide.nv)[:count]
    kind, index, dist = (np.array(a[:count]) for a in (near.efc_type, near.efc_id, near.efc_pos))
    wide.opt.disableflags = flags
    mujoco.mj_comVel(wide, near)
    mujoco.mj_collision(wide, near)
    check_capacity(wide, near, reach)
    return Near(wide, near, rows, kind, index, dist)


def take_environment(near: MjData, data: MjData) -> None:
    """What of a state is neither qpos nor qvel: mocap poses and which equality constraints are active."""
    near.mocap_pos[:], near.mocap_quat[:] = data.mocap_pos, data.mocap_quat
    near.eq_active[:] = data.eq_active


def check_capacity(wide: MjModel, near: MjData, reach: float) -> None:
    """Raise where MuJoCo had no room for all contacts since the last reset."""
    kinds = engine().mjtWarning
    full = kinds.mjWARN_CONTACTFULL, kinds.mjWARN_CNSTRFULL
    if any(near.warning[int(kind)].number > 0 for kind in full):
        raise CapacityError(
            "window",
            wrong=(f"MuJoCo's memory of {wide.narena} bytes is too small for contacts within {reach:g} m"),
            wanted="a smaller window or gap, or a larger <size memory=.../> in the model",
        )


@dataclass(eq=False)
class Workspace:
    """A copy of a model that detects contacts and limits from afar, and data for it."""

    wide: MjModel
    data: MjData
    fields: tuple[str, ...]  # arrays of the model that can matter
    options: tuple[tuple[str, bool], ...]  # of model.opt, and whether they are numbers, set as a whole


_WORKSPACES = threading.local()  # .by_model: WeakKeyDictionary from models to this thread's workspaces
#: Arrays that have to do with pictures, names and sensors only.
_IRRELEVANT = (
    "cam_", "light_", "mat_", "name", "numeric_", "key_", "sensor_", "skin_", "tex_", "text_", "tuple_"
)  # fmt: skip


def workspace(model: MjModel, reach: float) -> Workspace:
    """This thread's workspace for a model as it is now, with margins of ``reach`` (m, rad).

    The model may have been changed since the last call (masses, friction, shapes): its arrays are copied
    anew.
    """
    if not hasattr(_WORKSPACES, "by_model"):
        _WORKSPACES.by_model = WeakKeyDictionary()
    own = _WORKSPACES.by_model.get(model)
    if own is None:
        own = _WORKSPACES.by_model[model] = make_workspace(model)
    else:
        follow(own, model)
    widen(own.wide, reach)
    return own


def make_workspace(model: MjModel) -> Workspace:
    """A workspace of one's own, with the model's margins."""
    wide = copy.copy(model)
    arrays = {name: getattr(wide, name) for name in dir(wide) if not name.startswith(("_", *_IRRELEVANT))}
    fields = [
        name
        for name, value in arrays.items()
        if isinstance(value, np.ndarray) and value.size and value.flags.writeable
    ]
    settings = {name: one for name, one in vars(type(wide.opt)).items() if isinstance(one, property)}
    options = [(name, one.fset is not None) for name, one in settings.items() if name[0] != "_"]
    return Workspace(wide, engine().MjData(wide), tuple(fields), tuple(options))


def follow(own: Workspace, model: MjModel) -> None:
    """Copy what may have been changed in the model, margins included."""
    for field in own.fields:
        getattr(own.wide, field)[...] = getattr(model, field)
    for name, settable in own.options:
        if settable:
            setattr(own.wide.opt, name, getattr(model.opt, name))
        else:
            getattr(own.wide.opt, name)[...] = getattr(model.opt, name)


def widen(wide: MjModel, reach: float) -> None:
    """Margins of ``reach`` for everything, and no features that hide contacts."""
    for owner in ("geom", "pair", "body", "flex", "jnt", "tendon"):
        for field, value in ((f"{owner}_margin", reach), (f"{owner}_gap", 0.0)):
            if hasattr(wide, field):
                getattr(wide, field)[:] = value
    wide.opt.o_margin = reach
    wide.opt.jacobian = engine().mjtJacobian.mjJAC_DENSE
    hide_nothing(wide)


def hide_nothing(own: MjModel) -> None:
    """Switch off what lets bodies sleep or hides contacts from a model that is one's own."""
    for name in _IGNORED_FLAGS:
        bit = getattr(engine().mjtEnableBit, name, None)
        if bit is not None:
            own.opt.enableflags &= ~int(bit)


def point_velocities(model: MjModel, data: MjData, bodies: np.ndarray, points: Array) -> Array:
    """Velocities (n, 3) of material points (n, 3) of some bodies, all in the world, after ``mj_comVel``."""
    twist = data.cvel[bodies]  # rotation first, at the centre of mass of the tree
    arms = points - data.subtree_com[np.asarray(model.body_rootid)[bodies]]
    return np.asarray(twist[:, 3:] + cross(twist[:, :3], arms))


def reach_at(model: MjModel, data: MjData, rules: Simultaneity) -> float:
    """How far open a contact or a joint's limit can be that takes part, m or rad.

    The given model and data stay untouched.
    """
    mujoco, own = engine(), workspace(model, 0.0)
    near = own.data
    near.qpos[:], near.qvel[:] = data.qpos, data.qvel
    take_environment(near, data)
    for compute in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
        compute(own.wide, near)
    bodies = np.asarray(model.geom_bodyid)
    centres = np.linalg.norm(point_velocities(model, near, bodies, near.geom_xpos), axis=1)
    turning = model.geom_rbound * np.linalg.norm(near.cvel[bodies, :3], axis=1)
    moving = np.asarray(model.body_weldid)[bodies] != 0
    fastest = float((centres + turning).max(where=moving, initial=0.0))  # no point of any geom is faster
    rate = max(2.0 * fastest, float(np.abs(data.qvel).max(initial=0.0)))
    return max(rate * rules.horizon, float(np.nextafter(rules.near, np.inf)))
