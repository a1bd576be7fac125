"""Contacts and limits of a MuJoCo state as rows of an impact problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.models.mujoco.engine import Near, engine
from routh.models.regime import spring_of
from routh.models.robot import ContactRow, RobotContact

if TYPE_CHECKING:
    from mujoco import MjContact, MjData, MjModel


def geom_name(model: MjModel, geom: int) -> str:
    """The geom's name; where it has none, its body's, with a number if the body has several geoms."""
    name = model.geom(geom).name
    if name:
        return str(name)
    body = int(model.geom_bodyid[geom])
    owner = model.body(body).name or f"body{body}"
    if model.body_geomnum[body] == 1:
        return str(owner)
    return f"{owner}.{geom - int(model.body_geomadr[body])}"


def named(model: MjModel, word: str, index: int) -> str:
    """The name of a "joint", "tendon", "equality" or "actuator"; those that have none are numbered."""
    return str(getattr(model, word)(int(index)).name) or f"{word}{index}"


class SingleJoint(NamedTuple):
    """A hinge or a slide."""

    number: int
    name: str
    qpos: int  # address of its position
    dof: int  # address of its velocity
    limited: bool
    range: tuple[float, float]  # m or rad


def joint_names(model: MjModel) -> tuple[str, ...]:
    """The names of all joints; those that have none are numbered."""
    return tuple(named(model, "joint", j) for j in range(model.njnt))


def single_joints(model: MjModel) -> list[SingleJoint]:
    """The hinges and slides of a model."""
    kinds, names = engine().mjtJoint, joint_names(model)
    single = np.isin(model.jnt_type, (int(kinds.mjJNT_SLIDE), int(kinds.mjJNT_HINGE)))
    found = []
    for j in map(int, np.flatnonzero(single)):
        places = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        low, high = map(float, model.jnt_range[j])
        found.append(SingleJoint(j, names[j], *places, bool(model.jnt_limited[j]), (low, high)))
    return found


def near_contacts(data: MjData) -> Iterator[MjContact]:
    """The contacts one by one: a slice of MuJoCo's list copies each of them."""
    found = data.contact
    return (found[i] for i in range(data.ncon))


def contact_rows(near: Near) -> list[ContactRow]:
    """Every contact between geoms that MuJoCo's collision detection found, with its own frame and friction.

    Jacobians are taken in the middle of the gap, as MuJoCo does. Elliptic friction with two coefficients
    becomes a round cone by scaling the weaker tangent, which is exact: impulse and velocity along it are
    then in units of ``mu_weak / mu``.
    """
    model, data = near.model, near.data
    rows = []
    for contact in (one for one in near_contacts(data) if min(one.geom) >= 0):
        first, second = (geom_name(model, int(geom)) for geom in contact.geom)
        frame = np.array(contact.frame, dtype=np.float64).reshape(3, 3)
        J = frame @ relative_jacobian(model, data, contact.geom, contact.pos)
        mu, scale = friction(contact)
        J[1:] *= scale[:, None]
        where = float(contact.dist), contact.pos.copy(), frame
        place = RobotContact(f"{second}/{first}", "contact", first, second, *where)
        rows.append(ContactRow(place, J, mu, float(spring_of(contact.solref)[1])))
    return rows


def friction(contact: MjContact) -> tuple[float, Array]:
    """Coulomb's coefficient and the factors (2,) that make the cone round; zero for frictionless contacts."""
    if contact.dim < 3:
        return 0.0, np.ones(2)
    sliding = np.array(contact.friction[:2], dtype=np.float64)
    mu = float(sliding.max())
    return mu, sliding / mu if mu > 0.0 else np.ones(2)


def relative_jacobian(model: MjModel, data: MjData, geoms: Array, point: Array) -> Array:
    """Velocity of the second geom's material point less that of the first's, per qvel, (3, nv), world."""
    sides = np.zeros((2, 3, model.nv))
    for side, geom in zip(sides, geoms, strict=True):
        engine().mj_jac(model, data, side, None, point, int(model.geom_bodyid[geom]))
    return np.asarray(sides[1] - sides[0])


def limit_rows(near: Near) -> list[ContactRow]:
    """Limits of joints and tendons within reach: contacts without friction, ``dist`` in m or rad."""
    kinds = engine().mjtConstraint
    words = {int(kinds.mjCNSTR_LIMIT_JOINT): "joint", int(kinds.mjCNSTR_LIMIT_TENDON): "tendon"}
    rows = []
    for J, row_kind, index, dist in zip(near.J, near.kind, near.index, near.dist, strict=True):
        word = words.get(int(row_kind))
        if word is None:
            continue
        owner, side = named(near.model, word, int(index)), _side(near, word, int(index), J)
        name, kind, unit = f"{owner}:{side}", f"{word}-limit", _unit(near, word, int(index))
        contact = RobotContact(name, kind, owner, side, float(dist), unit=unit)
        rows.append(ContactRow(contact, np.vstack([J, np.zeros((2, len(J)))]), 0.0))
    return rows


def _unit(near: Near, word: str, index: int) -> str:
    """Unit of the distance to a limit: slides and tendons through space have lengths, all else angles."""
    mujoco, model = engine(), near.model
    if word == "tendon":
        wrap = int(model.wrap_type[model.tendon_adr[index]])
        return "rad" if wrap == int(mujoco.mjtWrap.mjWRAP_JOINT) else "m"
    return "m" if int(model.jnt_type[index]) == int(mujoco.mjtJoint.mjJNT_SLIDE) else "rad"


def _side(near: Near, word: str, index: int, row: Array) -> str:
    """Which end of the range: the row is the gradient of the distance to it."""
    model = near.model
    if word == "tendon":
        low, high = model.tendon_range[index]
        length = near.data.ten_length[index]
        return "lower" if abs(length - low) < abs(high - length) else "upper"
    if int(model.jnt_type[index]) == int(engine().mjtJoint.mjJNT_BALL):
        return "cone"
    return "lower" if row[model.jnt_dofadr[index]] > 0.0 else "upper"


def equality_rows(near: Near) -> Array:
    """Rows of the equality constraints that are active, (ne, nv)."""
    return near.J[near.kind == int(engine().mjtConstraint.mjCNSTR_EQUALITY)]
