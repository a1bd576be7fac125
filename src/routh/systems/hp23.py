"""The six impacts of HP23 section 5.4: planar mechanisms, each in the state in which its impact begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import per_contact, real
from routh.models.base import Model, State
from routh.models.planar import (
    GROUND,
    Body,
    DiscContact,
    HalfPlane,
    PlanarModel,
    PlaneContact,
    Revolute,
    box,
    corners,
    disc,
    link,
    point_mass,
)
from routh.models.planar.bodies import Contact, circle
from routh.systems.base import GRAVITY, System, catalogued, register

WALL = HalfPlane("wall", normal=(-1.0, 0.0))  # to the right, at x = 0
_FALL_SPEED = math.sqrt(2.0 * GRAVITY * 0.01)  # m/s, after 1 cm
_SQRT3 = math.sqrt(3.0)
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


def block(width: float, height: float, mass: float, mu: ArrayLike) -> PlanarModel:
    """A box over the ground, with contacts A at its lower left and B at its lower right corner."""
    left, right = map(float, per_contact("mu", mu, 2))
    contacts = box_contacts("block", width, height, [("A", GROUND, 0, left), ("B", GROUND, 1, right)])
    return PlanarModel([box("block", width, height, mass=mass)], contacts)


def _impact(name: str, model: Model, state: State, contacts: Sequence[str] = "AB") -> System:
    """The impact of the paper's contacts; those of later motion are left out however near they are."""
    return catalogued(name, model, state, model.problem(state, gap=math.inf).subset(contacts))


@register("rocking-block")
def rocking_block(
    *,
    width: float = 1.0,
    height: float = 2.0,
    mass: float = 1.0,
    speed: float = _FALL_SPEED,
    mu: ArrayLike = 1.0,
) -> System:
    """A block that falls flat on two corners, A left and B right (HP23 Fig. 1, Table 4).

    Lengths in m, mass in kg; ``speed`` is the downward speed in m/s, that of a fall of 1 cm by default.
    """
    w, h, m = _positive(width=width, height=height, mass=mass)
    v0 = real("speed", speed, at_least=0.0)
    state = State(np.array([0.0, h / 2, 0.0]), np.array([0.0, -v0, 0.0]))
    return _impact("rocking-block", block(w, h, m, mu), state)


@register("compass-gait")
def compass_gait(
    *,
    leg: float = 1.0,
    mass_to_foot: float = 0.5,
    mass: float = 1.0,
    angle: float = math.radians(78.0),
    rate: float = 0.25,
    mu: ArrayLike = 5.0,
) -> System:
    """A walker of two legs takes a wide step: leading foot A lands, trailing foot B rests (Fig. 4, Table 5).

    Coordinates: hip x, hip y, leading angle, trailing angle; foot = hip + leg (sin a, -cos a). Each massless
    leg carries a point mass. The legs are at ``angle`` (rad) to either side of the vertical, so that both
    feet touch the ground; ``rate`` (rad/s) is the angular velocity of both.
    """
    length, m = _positive(leg=leg, mass=mass)
    s = length - real("mass_to_foot", mass_to_foot, at_least=0.0, at_most=math.nextafter(length, 0.0))
    tr = real("angle", angle, above=0.0, at_most=math.nextafter(math.pi / 2, 0.0))
    w = real("rate", rate)
    friction = per_contact("mu", mu, 2)
    bodies, contacts = [point_mass("hip", 0.0)], []
    for contact, name, coefficient in zip("AB", ("leading", "trailing"), friction, strict=True):
        bodies.append(link(name, length, mass=m, centre=s, joint=Revolute("hip")))
        contacts.append(PlaneContact(contact, name, point=(0.0, -length), mu=float(coefficient)))
    contacts.append(PlaneContact("hip", "hip", mu=float(friction[0])))
    across, up = length * math.sin(tr), length * math.cos(tr)
    state = State(np.array([-across, up, -tr, tr]), np.array([-up * w, -across * w, w, w]))
    return _impact("compass-gait", PlanarModel(bodies, contacts), state)  # the trailing foot is at (0, 0)


@register("box-wall")
def box_wall(
    *,
    side: float = 1.0,
    mass: float = 1.0,
    tilt: float = math.radians(10.0),
    speed: float = 1.0,
    mu: ArrayLike = 1.0,
) -> System:
    """A box that slides on its lowest corner A into a wall at its right-most corner B (Fig. 5, Table 6).

    ``tilt`` (rad) is the angle from the box to the ground: the box is turned by 90 degrees less the tilt.
    """
    length, m = _positive(side=side, mass=mass)
    lean = real("tilt", tilt, above=0.0, at_most=math.nextafter(math.pi / 4, 0.0))
    velocity = np.array([real("speed", speed, at_least=0.0), 0.0, 0.0])
    turn = math.pi / 2 - lean
    near = (math.cos(turn) + math.sin(turn)) * length / 2  # from the centre to the ground and to the wall
    a, b = map(float, per_contact("mu", mu, 2))
    contacts = box_contacts("box", length, length, [("A", GROUND, 0, a), ("B", WALL, 1, b)])
    model = PlanarModel([box("box", length, length, mass=m)], contacts)
    return _impact("box-wall", model, State(np.array([-near, near, turn]), velocity))


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


@register("ramone")
def ramone(
    *,
    pitch: float = math.radians(16.0),
    leading_hip: float = math.radians(-70.0),
    trailing_hip: float = math.radians(70.0),
    leading_knee: float = math.radians(-2.0),
    rate: float = 1.0,
    mu: ArrayLike = 1e5,
) -> System:
    """The bipedal robot RAMone lands on foot A while foot B rests (HP23 Fig. 13, Table 7; Remy 2017).

    Coordinates: x, y, pitch of the trunk, hip and knee of the leading leg, hip and knee of the trailing leg
    (rad). The trailing knee follows from both feet touching the ground; the trunk turns with ``rate``
    (rad/s) and moves so that the trailing contact is at rest.
    """
    phi, le, tr = real("pitch", pitch), real("leading_hip", leading_hip), real("trailing_hip", trailing_hip)
    knee, w = real("leading_knee", leading_knee), real("rate", rate)
    model = _ramone_model(*map(float, per_contact("mu", mu, 2)))
    q = np.array([0.0, 0.0, phi, le, knee, tr, ramone_trailing_knee(phi, le, knee, tr)])
    q[1] -= model.gaps(q)[1]  # stand on the trailing foot
    Jn, Jt = model.jacobians(q)
    state = State(q, np.array([-w * Jt[1, 0, 2], -w * Jn[1, 2], w, 0.0, 0.0, 0.0, 0.0]))
    return _impact("ramone", model, state)


def _ramone_model(leading: float, trailing: float) -> PlanarModel:
    """RAMone with the friction of its feet, A of the leading and B of the trailing leg."""
    robot, origin = RAMONE, (0.0, 0.0)
    hip, knee, ankle = (0.0, -robot.trunk_to_hip), (0.0, -robot.thigh), (0.0, -robot.shank)
    trunk_line = np.array([hip, (0.0, robot.trunk_to_hip)])
    thigh, shank = (np.array([origin, knee]),), (np.array([origin, ankle]), circle(robot.foot_radius, ankle))
    bodies = [Body("trunk", robot.trunk_mass, robot.trunk_inertia, outline=(trunk_line,))]
    feet, others = [], [PlaneContact("hip", "trunk", point=hip, mu=leading)]
    for foot, leg, mu in (("A", "leading", leading), ("B", "trailing", trailing)):
        upper, lower = f"{leg} thigh", f"{leg} shank"
        at_hip, at_knee = Revolute("trunk", hip), Revolute(upper, knee)
        centres = (0.0, -robot.hip_to_thigh), (0.0, -robot.knee_to_shank)
        bodies += [
            Body(upper, robot.thigh_mass, robot.thigh_inertia, centres[0], at_hip, thigh),
            Body(lower, robot.shank_mass, robot.shank_inertia, centres[1], at_knee, shank),
        ]
        feet.append(PlaneContact(foot, lower, point=ankle, radius=robot.foot_radius, mu=mu))
        others.append(PlaneContact(f"{leg}-knee", upper, point=knee, mu=leading))
    return PlanarModel(bodies, feet + others)


def ramone_trailing_knee(pitch: float, leading_hip: float, leading_knee: float, trailing_hip: float) -> float:
    """The trailing knee angle (rad) at which both feet are at one height, bent backwards (in (-pi, 0))."""
    robot = RAMONE

    def height(hip: float, knee: float) -> float:
        return -robot.thigh * math.cos(pitch + hip) - robot.shank * math.cos(pitch + hip + knee)

    # the shank's angle from the vertical, on the branch where the trailing foot is behind its knee
    cosine = -(height(leading_hip, leading_knee) + robot.thigh * math.cos(pitch + trailing_hip)) / robot.shank
    if not abs(cosine) <= 1.0:
        raise InputError(
            "trailing_hip", got=trailing_hip, wanted="a pose in which the trailing foot reaches the ground"
        )
    return -math.acos(cosine) - pitch - trailing_hip


@register("disk-stack")
def disk_stack(
    *, radius: float = 1.0, mass: float = 1.0, speed: float = 1.0, mu: ArrayLike = _SQRT3
) -> System:
    """A disc falls with ``speed`` (m/s) on two that rest on the ground (HP23 Fig. 14, Table 8).

    Coordinates: x, y, angle of the left, the right and the top disc. Contacts: A left and B right disc on
    the ground, C top on left, D top on right, E left against right. Table 8 says 1 kg; the published
    figures were made with 5 kg (`disk-stack-5kg`).
    """
    return _stack("disk-stack", radius, mass, speed, mu)


@register("disk-stack-5kg")
def disk_stack_5kg(
    *, radius: float = 1.0, mass: float = 5.0, speed: float = 1.0, mu: ArrayLike = _SQRT3
) -> System:
    """The disc stack with the mass of 5 kg behind the paper's Fig. 14 and Table 3; see `disk_stack`."""
    return _stack("disk-stack-5kg", radius, mass, speed, mu)


def _stack(name: str, radius: float, mass: float, speed: float, mu: ArrayLike) -> System:
    r, m = _positive(radius=radius, mass=mass)
    a, b, c, d, e = map(float, per_contact("mu", mu, 5))
    contacts: list[Contact] = [
        PlaneContact("A", "left", radius=r, mu=a),
        PlaneContact("B", "right", radius=r, mu=b),
        DiscContact("C", "top", "left", mu=c),
        DiscContact("D", "top", "right", mu=d),
        DiscContact("E", "left", "right", mu=e),
        PlaneContact("top-ground", "top", radius=r, mu=a),  # where the tower falls apart
    ]
    model = PlanarModel([disc(body, r, mass=m) for body in ("left", "right", "top")], contacts)
    q, v = np.array([-r, r, 0.0, r, r, 0.0, 0.0, r * (1.0 + _SQRT3), 0.0]), np.zeros(9)
    v[7] = -real("speed", speed, at_least=0.0)
    return _impact(name, model, State(q, v), "ABCDE")


def _positive(**values: float) -> tuple[float, ...]:
    """Check that named parameters are positive numbers."""
    return tuple(real(name, value, above=0.0) for name, value in values.items())
