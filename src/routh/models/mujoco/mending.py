"""Links of a URDF that MuJoCo refuses although the robot is sound: massless ones, and point masses.

A joint with several axes is often written as several joints with links of no mass between them, and a link's
inertia as zero. MuJoCo wants both positive; they get a millionth of what they carry. A joint that moves
nothing with mass has no motion of its own: it is fixed. Everything that is changed is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh.models.mujoco.fusing import moments_of, set_moments

if TYPE_CHECKING:
    from mujoco import MjsBody, MjsJoint, MjSpec

_LITTLE = 1e-6  # of the mass that is carried
_RADIUS = 0.01  # m: of the ball that this little mass has the inertia of


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
        _give(body, _LITTLE * below)
    elif body.explicitinertial and 0.0 >= (least := _least_moment(body)) >= -1e-12 * own:
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


def _give(body: MjsBody, mass: float) -> None:
    body.explicitinertial = True
    body.mass, body.ipos = mass, [0.0, 0.0, 0.0]
    set_moments(body, mass * _RADIUS**2 * np.eye(3))
