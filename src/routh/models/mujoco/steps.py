"""A MuJoCo model at the states of a time stepper: arrays that stay in their place, for compiled steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import bound
from routh.models.base import SpringRows
from routh.models.mujoco.engine import engine, mass_matrix
from routh.models.mujoco.ground import Watched, fill_all

if TYPE_CHECKING:
    from routh.models.mujoco.model import MujocoModel


class Seen(NamedTuple):
    """What a step needs of a state, beside spring-dampers."""

    M: Array  # (nv, nv)
    force: Array  # (nv,) all forces but those of contacts and spring-dampers
    gap: Array  # (nc,) m or rad
    J: Array  # (nc, 1 + nt, nv) normal first
    bias: Array  # (nc, 1 + nt) ``dJ/dt v``


class StepLook:
    """Looks at states of one model, one after the other; not for two threads at a time.

    Parameters
    ----------
    model : whose workspace it uses.
    dt : s, the step.
    """

    def __init__(self, model: MujocoModel, dt: float) -> None:
        self.model, self.dt, self._springs = model, dt, model.springs
        nc, nv = len(model.contacts), model.nv
        rows = nc, 1 + model.nt
        self.seen = Seen(*map(np.zeros, ((nv, nv), (nv,), (nc,), (*rows, nv), rows)))
        self._faces, self._loose = model.faces, model.loose
        self._hidden = np.flatnonzero(model.by_faces)
        data, arrays = self._springs.data, model.ground.arrays
        views = Watched(*(getattr(data, name) for name in Watched._fields))
        point = np.zeros((len(arrays.geom), 3))
        self._ground = bound(fill_all, arrays, views, point, *self.seen[2:])

    def at(self, q: Array, v: Array, u: Array | None) -> list[SpringRows]:
        """Fill ``seen``; the spring-dampers, the same objects as before where they have not changed."""
        mujoco, springs, seen = engine(), self._springs, self.seen
        force, rows = springs.at(q, v, self.dt, u)
        seen.force[:] = force
        mass_matrix(springs.model, springs.data, seen.M)
        if len(seen.gap):
            mujoco.mj_rnePostConstraint(springs.model, springs.data)  # of no acceleration
            self._ground()
        if len(self._loose):
            loose = self.model.loose_terms(q, v)
            seen.gap[self._loose], seen.J[self._loose], seen.bias[self._loose] = loose
            seen.gap[self._hidden] = np.maximum(seen.gap[self._hidden], 1.0)
        return rows if self._faces is None else [*rows, self._faces.at(q)]

    def move(self, q: Array, v: Array) -> None:
        """Move a configuration (nq,) with a velocity (nv,) for a step, in place."""
        engine().mj_integratePos(self._springs.model, q, v, self.dt)
