"""The free body of a model: of MuJoCo with its joints locked, or of one body in space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, ModelError
from routh.models.spatial import PlaneContact, SpatialModel
from routh.to_rest.bodies import FreeBody, principal

if TYPE_CHECKING:
    from mujoco import MjModel


def free_body(model: MjModel | SpatialModel | FreeBody, qpos: ArrayLike | None = None) -> FreeBody:
    """The free rigid body of a model: of MuJoCo with joints locked at ``qpos`` (default: the model's own).

    Parameters
    ----------
    model : mujoco.MjModel with one tree, which has a free root, over one plane that stands still; or a
        `SpatialModel` of one body.
    qpos : (nq,).
    """
    if isinstance(model, FreeBody):
        return model
    if isinstance(model, SpatialModel):
        return _of_spatial(model)
    if type(model).__module__.partition(".")[0] != "mujoco":
        raise InputError("model", got=type(model).__name__, wanted="a mujoco.MjModel or a SpatialModel")
    from routh.to_rest.of_mujoco import of_mujoco

    return of_mujoco(model, qpos)


def _of_spatial(model: SpatialModel) -> FreeBody:
    if len(model.bodies) != 1:
        raise ModelError("model", got=f"{len(model.bodies)} bodies", wanted="one")
    contacts = [one for one in model.definitions if isinstance(one, PlaneContact)]
    planes = {(one.plane.point, one.plane.normal) for one in contacts}
    if len(planes) != 1:
        raise ModelError("model", got=f"{len(planes)} planes", wanted="one, and contacts with it")
    body, (place, normal) = model.bodies[0], next(iter(planes))
    moments, axes = principal(np.asarray(body.inertia))
    unknown = np.full(len(contacts), np.nan)
    return FreeBody(
        body.mass,
        moments,
        axes,
        np.zeros(3),
        np.array([one.point for one in contacts]) @ axes,
        np.array([one.radius for one in contacts]),
        tuple(one.name for one in contacts),
        np.array([one.mu for one in contacts]),
        unknown,
        unknown,
        -model.bias(np.array([0, 0, 0, 1.0, 0, 0, 0]), np.zeros(6))[:3] / body.mass,
        np.array(place, dtype=np.float64),
        np.array(normal, dtype=np.float64) / np.linalg.norm(normal),
    )
