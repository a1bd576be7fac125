"""States of a pinocchio.Model as touch-downs: see `routh.models.touchdown`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from routh.models.pinocchio.engine import engine
from routh.models.pinocchio.points import Points
from routh.models.pinocchio.problem import (
    DEFAULT_MU,
    Surroundings,
    ground_rows,
    look_up,
    mass_matrix,
    over_ground,
)
from routh.models.simultaneity import DEEPEST
from routh.models.touchdown import SLOPE, RootMotion, Seen, Touchdown, held_touchdown
from routh.status import ModelError
from routh.validation import Array, real

if TYPE_CHECKING:
    from pinocchio import GeometryModel, Model


def touchdowns(
    model: Model,
    qpos: Array,
    qvel: Array,
    *,
    window: float,
    ground: float = 0.0,
    points: Points | None = None,
    geometry: GeometryModel | None = None,
    mu: float | Mapping[str, float] = DEFAULT_MU,
    deepest: float | None = DEEPEST,
) -> Iterator[Touchdown | ValueError]:
    """One by one; an error where a state has none. The ground is level, at the height ``ground``."""
    if model.njoints < 2 or model.joints[1].shortname() != "JointModelFreeFlyer":
        raise ModelError(
            "model: its base is fixed, so it cannot tip; wanted a free-flyer as its first joint "
            "(floating=True of routh.models.pinocchio.load)"
        )
    around = look_up(model, ground=real("ground", ground), points=points, geometry=geometry, mu=mu)
    for q, v in zip(qpos, qvel, strict=True):
        try:
            if not (np.isfinite(q).all() and np.isfinite(v).all()):
                raise ValueError("qpos, qvel: got a number that is not finite; wanted finite ones")
            found: Touchdown | ValueError = _touchdown(around, q, v, window, deepest)
        except ValueError as error:
            found = error
        yield found


def _touchdown(around: Surroundings, q: Array, v: Array, window: float, deepest: float | None) -> Touchdown:
    pin = engine()
    model, data = around.model, around.data
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    assert around.ground is not None
    found = over_ground(around, around.ground, np.inf)
    com = np.array(pin.centerOfMass(model, data, q))
    radius = max((float(np.linalg.norm(point.surface - com)) for point in found), default=0.0)
    fastest = float(np.linalg.norm(v[:3]) + 2.0 * radius * np.linalg.norm(v[3:6]))
    reach = max(2.0 * SLOPE * radius, 2.0 * window * fastest)
    rows = ground_rows(model, data, [point for point in found if point.dist <= reach], around.mu)
    to_world = np.zeros((6, 6))
    to_world[:3, :3] = to_world[3:, 3:] = data.oMi[1].rotation
    ups = np.array([row.contact.frame[0] for row in rows]).reshape(-1, 3)
    return held_touchdown(
        mass_matrix(model, data, q),
        v,
        RootMotion(slice(0, 6), np.array(data.oMi[1].translation), to_world),
        Seen.of_rows(rows, slice(0, 6), ups),  # a URDF says nothing of how soft its contacts are
        reach=reach,
        equality=np.zeros((0, model.nv)),
        gravity=np.array(model.gravity.linear),
        held=tuple(model.names)[2:],
        deepest=deepest,
    )
