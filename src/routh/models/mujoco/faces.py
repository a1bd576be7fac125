"""Flat shapes on each other, as time stepping needs them: all the points at which MuJoCo lets them touch.

Between boxes, cylinders and meshes `routh.simulate` knows one pair of points, which moves smoothly. A step
asks only what touches now: that is MuJoCo's own contacts, as many as there are, in a fixed number of rows.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from routh.models.base import SpringRows
from routh.models.mujoco.contacts import near_contacts, relative_jacobian
from routh.models.mujoco.engine import engine, widen
from routh.models.mujoco.touching import Touch
from routh.validation import Array

if TYPE_CHECKING:
    from mujoco import MjModel

_REACH = 0.02  # m, from which on contacts are looked at
_PER_BODY = 16  # rows; where more touch, the deepest count
_APART = 1.0  # m, of rows that nothing needs


def flat_pairs(model: MjModel, found: Sequence[Touch]) -> np.ndarray:
    """Which of the possible contacts are those of two flat shapes, (nc,) bool."""
    kinds = engine().mjtGeom
    flat = (int(kinds.mjGEOM_BOX), int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_MESH))
    types = np.asarray(model.geom_type)
    return np.array([types[t.geom1] in flat and types[t.geom2] in flat for t in found], dtype=bool)


class Faces:
    """Contacts of pairs of flat shapes.

    Parameters
    ----------
    model : MjModel; it is copied.
    pairs : their possible contacts, one each.
    plane : (3,) the normal of the plane in which everything moves; None in space.
    """

    def __init__(self, model: MjModel, pairs: Sequence[Touch], plane: Array | None) -> None:
        own = copy.copy(model)
        widen(own, _REACH)
        own.opt.disableflags &= ~int(engine().mjtDisableBit.mjDSBL_CONTACT)
        own.opt.disableflags &= ~int(engine().mjtDisableBit.mjDSBL_CONSTRAINT)
        involved = {geom for pair in pairs for geom in (pair.geom1, pair.geom2)}
        others = [geom for geom in range(own.ngeom) if geom not in involved]
        own.geom_contype[others] = own.geom_conaffinity[others] = 0
        self.model, self.plane = own, plane
        self.mu = {frozenset((pair.geom1, pair.geom2)): pair.mu for pair in pairs}
        self.count = _PER_BODY * min(len(pairs), own.nbody - 1)
        self.data = engine().MjData(own)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "data"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, data=engine().MjData(state["model"]))

    def at(self, q: Array) -> SpringRows:
        """The rows at a configuration; those that nothing needs are far from touching."""
        mujoco, model, data = engine(), self.model, self.data
        data.qpos[:] = q
        for compute in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_collision):
            compute(model, data)
        near = [c for c in near_contacts(data) if frozenset(map(int, c.geom)) in self.mu]
        near = sorted(near, key=lambda c: float(c.dist))[: self.count]
        nt = 2 if self.plane is None else 1
        J = np.zeros((self.count, 1 + nt, model.nv))
        phi, mu = np.full(self.count, _APART), np.zeros(self.count)
        for k, contact in enumerate(near):
            frame = np.array(contact.frame).reshape(3, 3)
            if self.plane is not None:
                frame = np.stack([frame[0], np.cross(self.plane, frame[0])])
            J[k] = frame @ relative_jacobian(model, data, contact.geom, contact.pos)
            phi[k], mu[k] = contact.dist, self.mu[frozenset(map(int, contact.geom))]
        none = np.zeros(self.count)
        return SpringRows("faces", "contacts", J[:, 0], phi, none, none, none, mu, tangents=J[:, 1:])
