"""What weighs on a body in MuJoCo, and whether its energy can prove anything about what comes later.

A body that has too little energy to climb over an edge of its support never does, if nothing gives it more,
and if there is nothing around it but the plane that it stands on: on a plane the height that it has to climb
is known, whatever it does until then. A plane has no end for MuJoCo's contacts, whatever its size. Forces in
joints need not be looked at: joints are held, which the answer says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import ModelError
from routh.models.landings import Load
from routh.models.mujoco.contacts import geom_name, named
from routh.models.mujoco.engine import engine, switched_off
from routh.models.robot import listed

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


def load_of(model: MjModel, data: MjData, body: int) -> Load:
    """Mass and weight of the tree at a body, where it is: gravity, less what is compensated of it."""
    tree = np.asarray(model.body_rootid) == body
    mass, places = np.asarray(model.body_mass)[tree], np.asarray(data.xipos)[tree]
    share = np.ones(len(mass))
    if model.ngravcomp:
        share -= np.asarray(model.body_gravcomp)[tree]
    gravity = np.array(model.opt.gravity, dtype=np.float64)
    if switched_off(model, "GRAVITY"):
        raise ModelError(
            "gravity", wrong="the model's flag switches it off", wanted="gravity that pulls the body down"
        )
    carried = float(mass @ share)  # kg
    if not carried > 0.0:
        raise ModelError(
            "gravcomp",
            wrong=f"it leaves {carried:.3g} of {mass.sum():.3g} kg for gravity to pull",
            wanted="a body that is pulled down",
        )
    com = np.array(data.subtree_com[body])
    centre = com if not model.ngravcomp else (mass * share) @ places / carried
    return Load(float(mass.sum()), com, carried * gravity, centre, gravity)


def ground_and_doubts(
    model: MjModel, data: MjData, ours: np.ndarray, joint: int
) -> tuple[str, tuple[str, ...]]:
    """The one plane that a free body can meet, or ""; and why its energy proves nothing, if it does not.

    Parameters
    ----------
    data : whose mocap poses and applied forces count.
    ours : (ngeom,) bool, of the body; joint : its free one.
    """
    reach = _reached(model, ours)
    planes = np.asarray(model.geom_type) == int(engine().mjtGeom.mjGEOM_PLANE)
    bodies = np.asarray(model.geom_bodyid)
    still = (np.asarray(model.body_weldid)[bodies] == 0) & (np.asarray(model.body_mocapid)[bodies] < 0)
    ground = geom_name(model, int(reach[0])) if len(reach) == 1 and (planes & still)[reach[0]] else ""
    doubts = [] if ground else [_other_ground(model, reach, planes & still)]
    return ground, (*doubts, *_surfaces(model, ours, reach), *_forces(model, data, joint))


def _reached(model: MjModel, ours: np.ndarray) -> np.ndarray:
    """What else there is that can touch one of our geoms, (k,); pairs that are excluded are not looked at."""
    types, wants = np.asarray(model.geom_contype), np.asarray(model.geom_conaffinity)
    meets = (types & np.bitwise_or.reduce(wants[ours])) | (wants & np.bitwise_or.reduce(types[ours])) != 0
    first, second = np.asarray(model.pair_geom1), np.asarray(model.pair_geom2)
    meets[first[ours[second]]] = True
    meets[second[ours[first]]] = True
    return np.flatnonzero(meets & ~ours)


def _other_ground(model: MjModel, reach: np.ndarray, planes: np.ndarray) -> str:
    others = [geom_name(model, int(geom)) for geom in reach if not planes[geom]]
    if not others:
        return f"there is more than one plane ({listed([geom_name(model, int(geom)) for geom in reach])})"
    return f"there is more around it than a plane ({listed(others)})"


def _surfaces(model: MjModel, ours: np.ndarray, reach: np.ndarray) -> Iterator[str]:
    """What contacts do besides stopping the body; what moves or sticks is refused before, by `features`."""
    those = [*np.flatnonzero(ours), *reach]
    if early := _having(model, "geom_margin", those):
        yield f"contacts push from afar ({early})"
    override = int(model.opt.enableflags) & int(engine().mjtEnableBit.mjENBL_OVERRIDE)
    if np.any(np.asarray(model.pair_margin) > 0.0) or (override and model.opt.o_margin > 0.0):
        yield "contacts push from afar (pair or override margin)"


def _having(model: MjModel, field: str, geoms: Sequence[int]) -> str:
    """The names of those geoms for which a field, if this version of MuJoCo has it, is not zero."""
    values = np.asarray(getattr(model, field, np.zeros(model.ngeom))).reshape(model.ngeom, -1)
    those = [geom_name(model, int(geom)) for geom in geoms if np.any(values[geom] != 0.0)]
    return listed(those) if those else ""


def _forces(model: MjModel, data: MjData, joint: int) -> Iterator[str]:
    """What can push or pull the body besides its weight and its contacts."""
    body, dof = int(model.jnt_bodyid[joint]), int(model.jnt_dofadr[joint])
    springs = [
        np.asarray(getattr(model, name, np.zeros(0))) for name in ("jnt_stiffness", "jnt_stiffnesspoly")
    ]
    if any(np.any(values[joint] != 0.0) for values in springs if len(values)):
        yield f"its joint has a spring ({named(model, 'joint', joint)})"
    if np.any(np.asarray(model.dof_damping)[dof : dof + 6] < 0.0):
        yield f"its joint drives it ({named(model, 'joint', joint)})"
    pushing = [named(model, "actuator", i) for i in range(model.nu) if not _internal(model, i, body, joint)]
    if pushing and not switched_off(model, "ACTUATION"):
        yield f"actuators can push it ({listed(pushing)})"
    pulling = [named(model, "tendon", i) for i in range(model.ntendon) if not _within(model, i, body)]
    if pulling:
        yield f"tendons hold it to what is outside ({listed(pulling)})"
    tree = np.asarray(model.body_rootid) == body
    if model.opt.density > 0.0 or model.opt.viscosity > 0.0:
        shaped = np.any(np.asarray(model.geom_fluid)[tree[np.asarray(model.geom_bodyid)], 0] > 0.0)
        if np.any(np.asarray(model.opt.wind) != 0.0):
            yield "there is wind"
        elif shaped:
            yield "air carries it (fluidshape)"
    if model.nplugin:
        yield "plugins can push it"
    if np.any(np.asarray(data.xfrc_applied)[tree] != 0.0) or np.any(np.asarray(data.qfrc_applied) != 0.0):
        yield "forces are applied to it"


def _internal(model: MjModel, actuator: int, body: int, joint: int) -> bool:
    """Whether an actuator acts between links of one tree only: held joints hold against it."""
    kinds, kind = engine().mjtTrn, int(model.actuator_trntype[actuator])
    target = int(model.actuator_trnid[actuator, 0])
    if kind in (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)):
        return target != joint
    if kind == int(kinds.mjTRN_TENDON):
        return _within(model, target, body)
    return False


def _within(model: MjModel, tendon: int, body: int) -> bool:
    """Whether all that a tendon runs over is in the tree of a body, or nothing is."""
    kinds, first = engine().mjtWrap, int(model.tendon_adr[tendon])
    inside = []
    for k in range(first, first + int(model.tendon_num[tendon])):
        kind, target = int(model.wrap_type[k]), int(model.wrap_objid[k])
        if kind == int(kinds.mjWRAP_JOINT):
            owner = int(model.jnt_bodyid[target])
        elif kind == int(kinds.mjWRAP_SITE):
            owner = int(model.site_bodyid[target])
        elif kind in (int(kinds.mjWRAP_SPHERE), int(kinds.mjWRAP_CYLINDER)):
            owner = int(model.geom_bodyid[target])
        else:
            continue
        inside.append(int(model.body_rootid[owner]) == body)
    return all(inside) or not any(inside)
