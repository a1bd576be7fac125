"""The HP23 systems as planar mechanisms, each in the state in which its impact begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routh.models.base import State
from routh.models.planar import (
    GROUND,
    Body,
    Contact,
    DiscContact,
    HalfPlane,
    PlanarModel,
    PlaneContact,
    Revolute,
    box,
    circle,
    corners,
    disc,
    link,
    point_mass,
)
from routh.validation import Array

Simulable = tuple[PlanarModel, State]
WALL = HalfPlane("wall", normal=(-1.0, 0.0))  # to the right, at x = 0


_CORNERS = ("lower-left", "lower-right", "upper-right", "upper-left")
Named = tuple[str, HalfPlane, int, float]  # name, plane, corner counted from the lower left, friction


def box_contacts(body: str, width: float, height: float, named: Sequence[Named]) -> list[PlaneContact]:
    """The named contacts of a box's corners, then all its other corners with the same planes.

    The others, called "upper-left-ground" and so on, have the friction of the plane's first named contact;
    they are open when the impact begins, and stop the box in a simulation.
    """
    points = corners(width, height)
    contacts = [PlaneContact(name, body, plane, points[k], mu=mu) for name, plane, k, mu in named]
    taken = {(plane, k) for _, plane, k, _ in named}
    friction: dict[HalfPlane, float] = {}
    for _, plane, _, mu in named:
        friction.setdefault(plane, mu)
    for plane, mu in friction.items():
        contacts += [
            PlaneContact(f"{corner}-{plane.name}", body, plane, points[k], mu=mu)
            for k, corner in enumerate(_CORNERS)
            if (plane, k) not in taken
        ]
    return contacts


def block(width: float, height: float, mass: float, mu: Array) -> PlanarModel:
    """A box over the ground, with contacts A at its lower left and B at its lower right corner."""
    named = [("A", GROUND, 0, float(mu[0])), ("B", GROUND, 1, float(mu[1]))]
    contacts = box_contacts("block", width, height, named)
    return PlanarModel([box("block", width, height, mass=mass)], contacts)


def compass_gait(
    leg: float, centre: float, mass: float, angle: float, velocity: Array, mu: Array
) -> Simulable:
    """Two legs with point masses ``centre`` below a massless hip, at ``angle`` on either side of it."""
    bodies = [point_mass("hip", 0.0)]
    bodies += [
        link(name, leg, mass=mass, centre=centre, joint=Revolute("hip")) for name in ("leading", "trailing")
    ]
    contacts = [
        PlaneContact(name, body, point=(0.0, -leg), mu=float(friction))
        for name, body, friction in zip("AB", ("leading", "trailing"), mu, strict=True)
    ]
    contacts.append(PlaneContact("hip", "hip", mu=float(mu[0])))
    q = [-leg * math.sin(angle), leg * math.cos(angle), -angle, angle]  # the trailing foot is at (0, 0)
    return PlanarModel(bodies, contacts), State(np.array(q), velocity)


def box_wall(side: float, mass: float, tilt: float, velocity: Array, mu: Array) -> Simulable:
    """A box turned by 90 degrees less ``tilt``, on the ground with one corner and at a wall with another."""
    turn = math.pi / 2 - tilt
    near = (math.cos(turn) + math.sin(turn)) * side / 2  # from the centre to the ground and to the wall
    named = [("A", GROUND, 0, float(mu[0])), ("B", WALL, 1, float(mu[1]))]
    model = PlanarModel([box("box", side, side, mass=mass)], box_contacts("box", side, side, named))
    return model, State(np.array([-near, near, turn]), velocity)


@dataclass(frozen=True)
class Ramone:
    """Masses (kg), inertias (kg m^2) and lengths (m) of RAMone, from Remy (2017)."""

    trunk_mass: float = 7.9026
    thigh_mass: float = 0.7887
    shank_mass: float = 0.510
    trunk_inertia: float = 0.08
    thigh_inertia: float = 0.00221
    shank_inertia: float = 0.00652
    trunk_to_hip: float = 0.137675
    hip_to_thigh: float = 0.019399
    knee_to_shank: float = 0.2385 - 0.073265
    thigh: float = 0.2
    shank: float = 0.2385
    foot_radius: float = 0.0563 / 2


RAMONE = Ramone()


def ramone(angles: Array, mu: Array) -> tuple[PlanarModel, Array]:
    """RAMone, and its configuration at (pitch, hip, knee, hip, knee), rad, with the trunk over x = 0."""
    robot = RAMONE
    hip = (0.0, -robot.trunk_to_hip)
    trunk_line = np.array([hip, (0.0, robot.trunk_to_hip)])
    bodies = [Body("trunk", robot.trunk_mass, robot.trunk_inertia, outline=(trunk_line,))]
    contacts = []
    for contact, leg, friction in zip("AB", ("leading", "trailing"), mu, strict=True):
        bodies += _ramone_leg(leg, hip)
        ankle = (0.0, -robot.shank)
        contacts.append(
            PlaneContact(contact, f"{leg} shank", point=ankle, radius=robot.foot_radius, mu=float(friction))
        )
    floor = float(mu[0])
    contacts.append(PlaneContact("hip", "trunk", point=hip, mu=floor))
    for leg in ("leading", "trailing"):
        contacts.append(PlaneContact(f"{leg}-knee", f"{leg} thigh", point=(0.0, -robot.thigh), mu=floor))
    model = PlanarModel(bodies, contacts)
    q = np.concatenate([[0.0, 0.0], angles])
    q[1] -= model.gaps(q)[1]  # stand on the trailing foot
    return model, q


def _ramone_leg(leg: str, hip: tuple[float, float]) -> list[Body]:
    robot = RAMONE
    knee, ankle, origin = (0.0, -robot.thigh), (0.0, -robot.shank), (0.0, 0.0)
    centres = (0.0, -robot.hip_to_thigh), (0.0, -robot.knee_to_shank)
    joints = Revolute("trunk", hip), Revolute(f"{leg} thigh", knee)
    thigh, shank = (np.array([origin, knee]),), (np.array([origin, ankle]), circle(robot.foot_radius, ankle))
    return [
        Body(f"{leg} thigh", robot.thigh_mass, robot.thigh_inertia, centres[0], joints[0], thigh),
        Body(f"{leg} shank", robot.shank_mass, robot.shank_inertia, centres[1], joints[1], shank),
    ]


def disk_stack(radius: float, mass: float, velocity: Array, mu: Array) -> Simulable:
    """Two discs on the ground that touch, one on top; contacts A to E as in the paper."""
    names = ("left", "right", "top")
    bodies = [disc(name, radius, mass=mass) for name in names]
    a, b, c, d, e = map(float, mu)
    contacts: list[Contact] = [
        PlaneContact("A", "left", radius=radius, mu=a),
        PlaneContact("B", "right", radius=radius, mu=b),
        DiscContact("C", "top", "left", mu=c),
        DiscContact("D", "top", "right", mu=d),
        DiscContact("E", "left", "right", mu=e),
        PlaneContact("top-ground", "top", radius=radius, mu=a),  # where the tower falls apart
    ]
    height = radius * (1.0 + math.sqrt(3.0))
    q = [-radius, radius, 0.0, radius, radius, 0.0, 0.0, height, 0.0]
    return PlanarModel(bodies, contacts), State(np.array(q), velocity)
