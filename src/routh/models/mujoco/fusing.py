"""Links of a URDF that are fixed to each other move as one body: their inertias are added up.

Many URDFs have a root link with a made-up inertia that no body has, and the real one in a link fixed to it.
MuJoCo judges each link by itself and refuses; Pinocchio adds them up first, and so does this.
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
    from mujoco import MjsBody, MjSpec


Inertia = tuple[float, Array, Array]  # mass, first moment (3,) and second moments about the origin (3, 3)


def fuse_fixed_links(spec: MjSpec) -> None:
    """Move the inertia of every link that is fixed to another one to the link that carries it.

    Links without any inertia stay as they are: MuJoCo takes it from their shapes.
    """
    for body in list(spec.worldbody.bodies):
        _fuse_below(body)


def _fuse_below(body: MjsBody) -> None:
    fixed = list(_fixed_to(body))
    if body.explicitinertial or any(child.explicitinertial for child, _, _ in fixed):
        carried = _own(body)
        for child, rotation, position in fixed:
            carried = _add(carried, _moved(_own(child), rotation, position))
            _clear(child)
        _assign(body, carried)
    for child in _next_moving(body):
        _fuse_below(child)


def _fixed_to(body: MjsBody) -> Iterator[tuple[MjsBody, Array, Array]]:
    """Links fixed to a body, directly or by others, with their placement in its frame."""
    for child in body.bodies:
        if any(True for _ in child.joints):
            continue
        rotation, position = _rotation(child.quat), np.array(child.pos, dtype=np.float64)
        yield child, rotation, position
        for further, turn, offset in _fixed_to(child):
            yield further, rotation @ turn, position + rotation @ offset


def _next_moving(body: MjsBody) -> Iterator[MjsBody]:
    for child in body.bodies:
        if any(True for _ in child.joints):
            yield child
        else:
            yield from _next_moving(child)


def _own(body: MjsBody) -> Inertia:
    """A link's inertia about the origin of its own frame; nothing where it has none."""
    if not body.explicitinertial or body.mass == 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    if not 0.0 < body.mass < np.inf:
        raise ModelError(f"the link {body.name!r} has mass {body.mass:g} kg; wanted >= 0")
    xx, yy, zz, xy, xz, yz = np.array(body.fullinertia, dtype=np.float64)
    if np.isfinite(xx):
        moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        moments = np.diag(np.array(body.inertia, dtype=np.float64))
    turn, centre = _rotation(body.iquat), np.array(body.ipos, dtype=np.float64)
    return body.mass, body.mass * centre, turn @ moments @ turn.T + body.mass * _spread(centre)


def _moved(inertia: Inertia, rotation: Array, position: Array) -> Inertia:
    """The same inertia in a frame in which its own frame is placed so."""
    mass, first, second = inertia
    if mass == 0.0:
        return inertia
    centre = first / mass
    about_centre = second - mass * _spread(centre)
    place = position + rotation @ centre
    return mass, mass * place, rotation @ about_centre @ rotation.T + mass * _spread(place)


def _add(left: Inertia, right: Inertia) -> Inertia:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def _assign(body: MjsBody, inertia: Inertia) -> None:
    mass, first, second = inertia
    if mass == 0.0:
        _clear(body)
        return
    centre = first / mass
    about_centre = second - mass * _spread(centre)
    body.explicitinertial = True
    body.mass, body.ipos, body.iquat = mass, centre, [1.0, 0.0, 0.0, 0.0]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = about_centre
    body.fullinertia = [xx, yy, zz, xy, xz, yz]


def _clear(body: MjsBody) -> None:
    """Take a link's mass away, and see that its shapes give it none."""
    body.explicitinertial = False
    body.mass = 0.0
    body.fullinertia = np.full(6, np.nan)
    for geom in body.geoms:
        geom.mass = 0.0


def _spread(point: Array) -> Array:
    """Second moments of a unit mass at a point: |p|^2 I - p p^T."""
    return float(point @ point) * np.eye(3) - np.outer(point, point)


def _rotation(quat: Array) -> Array:
    unit = np.array(quat, dtype=np.float64)
    engine().mju_normalize4(unit)
    return np.asarray(rotation_matrices(unit[None])[0])
