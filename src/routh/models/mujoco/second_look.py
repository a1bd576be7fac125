"""A second look at the contacts of a motion, by MuJoCo's collision detection.

`routh.sim.verify` takes one, and so do motions themselves where the list is known to fall short of the
shapes. A `MujocoModel` lists its contacts in advance and asks distances of its own. What it leaves out, or
takes to be otherwise, shows here: MuJoCo decides anew which geoms touch, where, and how rough they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh.base.validation import Array
from routh.models.mujoco.contacts import geom_name, near_contacts
from routh.models.mujoco.engine import engine, make_workspace, widen
from routh.models.simultaneity import TOUCHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mujoco import MjContact, MjModel

    from routh.models.mujoco.touches import Touch


class SecondLook:
    """Looks at configurations of one model.

    Parameters
    ----------
    model : MjModel, as it was given.
    listed : the contacts that motions know, in the order of their gaps.
    left_out : pairs of geoms that motions leave out: by wish, or because no motion changes their distance.
    """

    def __init__(self, model: MjModel, listed: Sequence[Touch], left_out: Iterable[tuple[int, int]]) -> None:
        own = make_workspace(model)
        widen(own.wide, TOUCHING)
        self.model, self.data = own.wide, own.data
        self._rows: dict[frozenset[int], list[int]] = {}
        for row, touch in enumerate(listed):
            self._rows.setdefault(frozenset((touch.geom1, touch.geom2)), []).append(row)
        self._listed = listed
        self._left_out = {frozenset(pair) for pair in left_out}
        self.deepest = ""  # the pair of the last look that overlaps most

    def at(self, q: Array, gaps: Array) -> tuple[float, float]:
        """The deepest overlap (m) that the gaps (nc,) of a motion do not show, and how friction differs.

        That is of pairs of geoms of which no contact of the motion is closed. Of the others the coefficients
        are compared: the largest difference, infinite for surfaces that move or contacts that pull.
        """
        mujoco, data = engine(), self.data
        data.qpos[:] = q
        for compute in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_collision):
            compute(self.model, data)
        unseen = odd = 0.0
        for contact in near_contacts(data):
            pair = frozenset(map(int, contact.geom))
            rows = self._rows.get(pair, [])
            if pair in self._left_out or min(contact.geom) < 0:
                continue
            if rows:
                odd = max(odd, self._difference(contact, self._listed[rows[0]]))
            closed = any(gaps[row] <= TOUCHING for row in rows)
            short = max((self._listed[row].short for row in rows), default=0.0)
            if not closed and -float(contact.dist) - short > unseen:
                unseen = -float(contact.dist) - short
                self.deepest = " and ".join(geom_name(self.model, geom) for geom in map(int, contact.geom))
        return unseen, odd

    def _difference(self, contact: MjContact, touch: Touch) -> float:
        if any(np.any(np.asarray(getattr(contact, name, 0.0)) != 0.0) for name in ("surfacevel", "adhesion")):
            return np.inf
        sliding = np.asarray(contact.friction)[:2] * (contact.dim > 1)
        return float(np.abs(sliding - touch.mu * touch.scale).max())
