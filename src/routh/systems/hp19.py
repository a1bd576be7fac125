"""The examples of HP19 section III and of its poster: rimless wheel, pushing, block into wall.

The papers give no dimensions for them; those here are our choice, such that the described behaviour comes
out (see each docstring).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import integer, per_contact, real
from routh.models.base import State
from routh.models.planar import GROUND, Body, HalfPlane, PlanarModel, PlaneContact, box
from routh.systems.base import System, catalogued, register
from routh.systems.hp23 import WALL, box_contacts


@register("rimless-wheel")
def rimless_wheel(
    *,
    spokes: int = 8,
    length: float = 1.0,
    mass: float = 1.0,
    inertia: float | None = None,
    speed: float = 1.0,
    mu: ArrayLike = 1.0,
) -> System:
    """A wheel of spokes that drops straight down on two feet, A left and B right (HP19 Fig. 3).

    Length in m, mass in kg, ``inertia`` about the hub in kg m^2 (default: uniform spokes), ``speed`` downward
    in m/s. ``mu`` is for all feet, or (spokes,).
    """
    model = wheel(integer("spokes", spokes, at_least=3), length, mass, inertia, mu)
    q = np.array([0.0, length * math.cos(math.pi / spokes), 0.0])
    state = State(q, np.array([0.0, -real("speed", speed, at_least=0.0), 0.0]))
    return catalogued("rimless-wheel", model, state, model.problem(state))


def wheel(
    spokes: int, length: float, mass: float, inertia: float | None, mu: ArrayLike, ground: HalfPlane = GROUND
) -> PlanarModel:
    """A rimless wheel; at angle 0 it stands on its feet A and B, and the others follow counterclockwise."""
    leg, m = real("length", length, above=0.0), real("mass", mass, above=0.0)
    about_hub = m * leg * leg / 3.0 if inertia is None else real("inertia", inertia, above=0.0)
    first = -math.pi / 2 - math.pi / spokes
    directions = [first + 2.0 * math.pi * k / spokes for k in range(spokes)]
    feet = [(leg * math.cos(a), leg * math.sin(a)) for a in directions]
    lines = tuple(np.array([(0.0, 0.0), foot]) for foot in feet)
    names = ["A", "B", *(f"foot-{k}" for k in range(3, spokes + 1))]
    contacts = [
        PlaneContact(name, "wheel", ground, foot, mu=float(friction))
        for name, foot, friction in zip(names, feet, per_contact("mu", mu, spokes), strict=True)
    ]
    return PlanarModel([Body("wheel", m, about_hub, outline=lines)], contacts)


@register("pushing")
def pushing(
    *,
    width: float = 2.0,
    height: float = 1.0,
    mass: float = 1.0,
    turn: float = math.radians(35.0),
    speed: float = 1.0,
    mu: float = 1.0,
) -> System:
    """A box slides on its lowest corner A, with friction, into a frictionless wall at B (HP19 Fig. 4).

    ``turn`` (rad) is the box's angle. An impact at the wall presses A into the floor where the box's centre
    is on the inner side of both corners, ``tan(turn)`` between height / width and width / height; a square
    would lift A at once and leave nothing to decide. After B alone and then A the box leaves the wall, moving
    upwards; where the impulses mix, it slides up along the wall.
    """
    w, h = real("width", width, above=0.0), real("height", height, above=0.0)
    angle = real("turn", turn, above=0.0, at_most=math.nextafter(math.pi / 2, 0.0))
    contacts = box_contacts("box", w, h, [("A", GROUND, 0, mu), ("B", WALL, 1, 0.0)])
    model = PlanarModel([box("box", w, h, mass=mass)], contacts)
    state = _against(model, ("A", "B"), angle, speed)
    # the paper's two contacts: a fast turn brings a third corner down within the usual window
    return catalogued("pushing", model, state, model.problem(state, window=0.0))


@register("block-into-wall")
def block_into_wall(
    *, width: float = 1.0, height: float = 1.0, mass: float = 1.0, speed: float = 1.0, mu: ArrayLike = 0.5
) -> System:
    """A block slides flat on the floor into a wall, with friction at both (poster, "Manipulation").

    Contacts: A and B of the lower left and lower right corner with the floor, C and D of the lower right and
    upper right corner with the wall. Only C and D approach, but what they do to A and B depends on the order.
    Friction of 1 or more can jam the corner between floor and wall.
    """
    w, h = real("width", width, above=0.0), real("height", height, above=0.0)
    a, b, c, d = map(float, per_contact("mu", mu, 4))
    named = [("A", GROUND, 0, a), ("B", GROUND, 1, b), ("C", WALL, 1, c), ("D", WALL, 2, d)]
    model = PlanarModel([box("block", w, h, mass=mass)], box_contacts("block", w, h, named))
    state = _against(model, ("A", "D"), 0.0, speed)
    return catalogued("block-into-wall", model, state, model.problem(state))


def _against(model: PlanarModel, touching: tuple[str, str], angle: float, speed: float) -> State:
    """One body at ``angle``, moved so that its contacts with floor and wall close, and sliding right."""
    names = [info.name for info in model.contacts]
    gaps = model.gaps(np.array([0.0, 0.0, angle]))
    floor, wall = (gaps[names.index(name)] for name in touching)
    q = np.array([wall, -floor, angle])
    return State(q, np.array([real("speed", speed, at_least=0.0), 0.0, 0.0]))
