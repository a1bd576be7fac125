"""What a MuJoCo model holds that an impact problem cannot represent, in words."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from routh.models.mujoco.contacts import geom_name, near_contacts
from routh.models.mujoco.engine import Near, engine
from routh.models.robot import listed

if TYPE_CHECKING:
    from mujoco import MjContact, MjModel


_DAMPED = 0.8  # damping ratio: exp(-pi 0.8 / 0.6) = 0.015


def unrepresented(near: Near, pairs: Collection[tuple[str, str]]) -> list[str]:
    """One sentence part per thing that is left out; ``pairs`` are the geoms of the contacts that are kept.

    Finite forces (joint friction, damping, springs, actuators, fluid) do no work in an instant: they are
    rightly absent and not listed.
    """
    model, data = near.model, near.data
    notes: dict[str, list[str]] = {}
    for contact in near_contacts(data):
        if min(contact.geom) < 0:
            notes.setdefault("contacts of flexible bodies", []).append(f"flex {int(max(contact.flex))}")
            continue
        first, second = (geom_name(model, int(geom)) for geom in contact.geom)
        if (first, second) in pairs:
            for what in of_contact(contact):
                notes.setdefault(what, []).append(f"{second}/{first}")
    adhesive = adhesion_actuators(model)
    if adhesive:
        notes["adhesion"] = adhesive
    return [f"{what} ({listed(where)})" for what, where in notes.items()]


def of_contact(contact: MjContact) -> list[str]:
    """What a contact has that Coulomb's cone has not."""
    found = []
    if contact.dim >= 4 and contact.friction[2] > 0.0:
        found.append("torsional friction")
    if contact.dim >= 6 and np.any(contact.friction[3:5] > 0.0):
        found.append("rolling friction")
    if np.any(np.asarray(getattr(contact, "surfacevel", 0.0)) != 0.0):  # MuJoCo 4
        found.append("moving surfaces")
    if np.any(np.asarray(getattr(contact, "adhesion", 0.0)) != 0.0):  # MuJoCo 4
        found.append("adhesion of contacts")
    if _bounces(contact.solref):
        found.append("underdamped solref, which bounces: give restitution= instead")
    return found


def _bounces(solref: np.ndarray) -> bool:
    """Whether the contact's spring is underdamped: a mass on it would come back with more than 1.5 %."""
    time, ratio = (float(x) for x in solref[:2])
    if time <= 0.0:  # direct format: -stiffness, -damping
        ratio = -ratio / (2.0 * np.sqrt(max(-time, 1e-300)))
    return bool(ratio < _DAMPED)


def adhesion_actuators(model: MjModel) -> list[str]:
    """Actuators that pull bodies to what they touch, by name."""
    body = int(engine().mjtTrn.mjTRN_BODY)
    return [
        model.actuator(i).name or f"actuator{i}"
        for i in range(model.nu)
        if int(model.actuator_trntype[i]) == body
    ]
