"""Inertias of a URDF's links as MuJoCo wants them: of links fixed to each other added up, and all positive.

Many URDFs have a root link with a made-up inertia that no body has, and the real one in a link fixed to it.
MuJoCo judges each link by itself and refuses; Pinocchio adds them up first, and so does this.

A joint with several axes is often written as several joints with links of no mass between them, and a link's
inertia as zero. MuJoCo wants both positive; they get a millionth of what they carry. A joint that moves
nothing with mass has no motion of its own: it is fixed. Everything that is changed is named.

Inertias here are pseudo-inertias (4, 4), the sum of ``m (x, 1) (x, 1)^T`` over the mass of a body: those of
several bodies add up, and with a placement T that of a body becomes ``T P T^T``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from routh.models.mujoco.engine import engine
from routh.models.spatial.rotations import rotation_matrices
from routh.status import ModelError
from routh.validation import Array

if TYPE_CHECKING:
    from mujoco import MjsBody, MjsJoint, MjSpec

_LITTLE = 1e-6  # of the mass that is carried
_RADIUS = 0.01  # m: of the ball that this little mass has the inertia of


def fuse_fixed_links(spec: MjSpec) -> None:
    """Move the inertia of every link that is fixed to another one to the link that carries it.

    Links without any inertia stay as they are: MuJoCo takes it from their shapes.
    """
    roots = [body for body in spec.worldbody.bodies if not _moves(body)]
    for body in [*roots, *filter(_moves, spec.bodies)]:
        _fuse(body)


def moments_of(body: MjsBody) -> Array:
    """The inertia matrix (3, 3) about the centre of mass, in the frame that the link gives it in."""
    xx, yy, zz, xy, xz, yz = np.array(body.fullinertia, dtype=np.float64)
    if np.isfinite(xx):
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.diag(np.array(body.inertia, dtype=np.float64))


def set_moments(body: MjsBody, moments: Array) -> None:
    """Write an inertia matrix (3, 3)."""
    body.fullinertia = [*np.diag(moments), moments[0, 1], moments[0, 2], moments[1, 2]]


def _moves(body: MjsBody) -> bool:
    return any(True for _ in body.joints)


def _fuse(body: MjsBody) -> None:
    fixed = list(_fixed_to(body))
    if body.explicitinertial or any(child.explicitinertial for child, _ in fixed):
        carried = _own(body)
        for child, placed in fixed:
            carried = carried + placed @ _own(child) @ placed.T
            _clear(child)
        _assign(body, carried)


def _fixed_to(body: MjsBody) -> Iterator[tuple[MjsBody, Array]]:
    """Links fixed to a body, directly or by others, with their placement (4, 4) in its frame."""
    for child in body.bodies:
        if not _moves(child):
            placed = _placement(child.quat, child.pos)
            yield child, placed
            for further, there in _fixed_to(child):
                yield further, placed @ there


def _own(body: MjsBody) -> Array:
    """A link's pseudo-inertia in its own frame; zero where it has none."""
    second = np.zeros((4, 4))
    if not body.explicitinertial or body.mass == 0.0:
        return second
    if not 0.0 < body.mass < np.inf:
        raise ModelError(f"the link {body.name!r} has mass {body.mass:g} kg; wanted >= 0")
    moments = moments_of(body)
    second[:3, :3] = 0.5 * np.trace(moments) * np.eye(3) - moments
    second[3, 3] = body.mass
    placed = _placement(body.iquat, body.ipos)
    return placed @ second @ placed.T


def _assign(body: MjsBody, inertia: Array) -> None:
    mass = inertia[3, 3]
    if mass == 0.0:
        _clear(body)
        return
    centre = inertia[:3, 3] / mass
    about_centre = inertia[:3, :3] - mass * np.outer(centre, centre)
    body.explicitinertial = True
    body.mass, body.ipos, body.iquat = mass, centre, [1.0, 0.0, 0.0, 0.0]
    set_moments(body, np.trace(about_centre) * np.eye(3) - about_centre)


def _clear(body: MjsBody) -> None:
    """Take a link's mass away, and see that its shapes give it none."""
    body.explicitinertial = False
    body.mass = 0.0
    body.fullinertia = np.full(6, np.nan)
    for geom in body.geoms:
        geom.mass = 0.0


def _placement(quat: Array, pos: Array) -> Array:
    unit, placed = np.array(quat, dtype=np.float64), np.eye(4)
    engine().mju_normalize4(unit)
    placed[:3, :3], placed[:3, 3] = rotation_matrices(unit[None])[0], pos
    return placed


def mend_inertias(spec: MjSpec) -> list[str]:
    """Change what must be changed, after the inertias of fixed links were added up; what it was, by name."""
    changed: list[str] = []
    for body in list(spec.worldbody.bodies):
        _mend(spec, body, changed)
    return changed


def _mend(spec: MjSpec, body: MjsBody, changed: list[str]) -> float:
    """Mend a link and all below it; the mass that it carries, its own included, kg."""
    below = sum(_mend(spec, child, changed) for child in list(body.bodies))
    joints = list(body.joints)
    own = _mass(body)
    if not joints:
        return own + below
    if own + below == 0.0:
        for joint in joints:
            changed.append(f"joint {joint.name!r} moves nothing that has mass: fixed")
            _delete(spec, joint)
        return 0.0
    if own == 0.0:
        changed.append(f"link {body.name!r} has no mass: given {_LITTLE:g} of what it carries")
        body.explicitinertial, body.mass, body.ipos = True, _LITTLE * below, [0.0, 0.0, 0.0]
        set_moments(body, _LITTLE * below * _RADIUS**2 * np.eye(3))
    elif body.explicitinertial and abs(least := _least_moment(body)) <= 1e-12 * own:  # a radius of 1 um
        changed.append(f"link {body.name!r} has a principal inertia of {least:.3g} kg m^2: made positive")
        set_moments(body, moments_of(body) + _LITTLE * (own + below) * _RADIUS**2 * np.eye(3))
    return own + below


def _delete(spec: MjSpec, joint: MjsJoint) -> None:
    """Fix a joint, and drop what couples it to others (``<mimic>``)."""
    for equality in list(spec.equalities):
        if joint.name in (equality.name1, equality.name2):
            spec.delete(equality)
    spec.delete(joint)


def _mass(body: MjsBody) -> float:
    """The mass that a link will have, kg; one whose shapes give it some counts as 1."""
    if body.explicitinertial:
        return float(body.mass)
    return 1.0 if any(geom.mass != 0.0 for geom in body.geoms) else 0.0


def _least_moment(body: MjsBody) -> float:
    return float(np.linalg.eigvalsh(moments_of(body))[0])
