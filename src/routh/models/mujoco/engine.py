"""MuJoCo itself: the import, and what differs between its versions."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from routh.status import CapacityError, MissingExtraError
from routh.validation import Array

# Solver features that would change which contacts exist or drop sleeping bodies; absent in older versions.
_IGNORED_FLAGS = ("mjENBL_SLEEP", "mjENBL_IPC", "mjENBL_SPECULATIVE", "mjENBL_ENERGY", "mjENBL_FWDINV")


def engine() -> Any:
    """The module ``mujoco``."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("mujoco", "mujoco") from None
    return mujoco


def mass_matrix(model: Any, data: Any) -> Array:
    """The mass matrix with armature, (nv, nv), at positions that were computed before."""
    mujoco = engine()
    M = np.zeros((model.nv, model.nv))
    if hasattr(data, "qM"):  # before 4.0
        mujoco.mj_fullM(model, M, data.qM)
    else:
        mujoco.mj_fullM(model, data, M)
    return M


@dataclass(frozen=True, eq=False)
class Near:
    """What is near in one state: contacts in ``data.contact``, and the rows of equalities and limits."""

    model: Any
    data: Any
    J: Array  # (k, nv) rows of equality constraints and limits
    kind: np.ndarray  # (k,) mjtConstraint
    index: np.ndarray  # (k,) which equality, joint or tendon
    dist: Array  # (k,) distance to the limit, m or rad


def look_around(model: Any, data: Any, reach: float) -> Near:
    """Contacts and limits within ``reach`` (m, rad) of a state; the given model and data stay untouched."""
    mujoco = engine()
    wide = _widened(model, reach)
    near = mujoco.MjData(wide)
    near.qpos[:], near.qvel[:] = data.qpos, data.qvel
    near.mocap_pos[:], near.mocap_quat[:] = data.mocap_pos, data.mocap_quat
    near.eq_active[:] = data.eq_active
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
    full = [name for name in ("mjWARN_CONTACTFULL", "mjWARN_CNSTRFULL") if _warned(near, name)]
    if full:
        raise CapacityError(
            f"gap: MuJoCo's memory of {wide.narena} bytes is too small for all contacts within {reach:g} m; "
            "wanted a smaller gap, or a larger <size memory=.../> in the model"
        )
    return Near(wide, near, rows, kind, index, dist)


def _widened(model: Any, reach: float) -> Any:
    """A copy of the model that detects contacts and limits from ``reach``."""
    mujoco = engine()
    wide = copy.copy(model)
    for field in ("geom_margin", "pair_margin", "body_margin", "flex_margin", "jnt_margin", "tendon_margin"):
        if hasattr(wide, field):
            getattr(wide, field)[:] = reach
    for field in ("geom_gap", "pair_gap", "flex_gap"):
        if hasattr(wide, field):
            getattr(wide, field)[:] = 0.0
    wide.opt.o_margin = reach
    wide.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    for name in _IGNORED_FLAGS:
        bit = getattr(mujoco.mjtEnableBit, name, None)
        if bit is not None:
            wide.opt.enableflags &= ~int(bit)
    return wide


def _warned(data: Any, name: str) -> bool:
    return int(data.warning[int(getattr(engine().mjtWarning, name))].number) > 0


def speed_bound(near: Near) -> float:
    """A speed (m/s) that no point of any geom exceeds."""
    mujoco = engine()
    model, data = near.model, near.data
    fastest, twist = 0.0, np.zeros(6)
    for geom in range(model.ngeom):
        body = model.geom_bodyid[geom]
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_GEOM, geom, twist, 0)
        if model.body_weldid[body] == 0:
            continue
        fastest = max(
            fastest, np.linalg.norm(twist[3:]) + model.geom_rbound[geom] * np.linalg.norm(twist[:3])
        )
    return float(fastest)
