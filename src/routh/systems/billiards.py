"""Many contacts at once: a billiards break and Newton's cradle."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from routh.base.status import InputError
from routh.base.validation import integer, real
from routh.models.base import State
from routh.models.planar import Body, DiscContact, PlanarModel, Revolute, disc
from routh.models.planar.bodies import circle
from routh.systems.base import GRAVITY, System, catalogued, register


@register("billiards-break")
def billiards_break(
    *,
    balls: int = 15,
    radius: float = 0.028575,
    mass: float = 0.17,
    speed: float = 8.0,
    aim: float = 0.0,
    mu: float = 0.06,
    restitution: float = 0.0,
) -> System:
    """A cue ball hits the apex of a triangular rack, seen from above (poster, "Billiards").

    ``balls`` is 1, 3, 6, 10, 15, ...; radius in m, mass in kg, ``speed`` of the cue ball in m/s. ``aim``
    (rad) is how far from head on the cue ball meets the apex ball: its centre is on the line at this angle,
    and it moves along x. Balls are solid spheres that only turn about the vertical on a frictionless table.
    All pairs are possible contacts, called "cue-1", "1-2" and so on; the impact has those that touch.
    """
    count = integer("balls", balls, at_least=1)
    rows = round((math.sqrt(8 * count + 1) - 1) / 2)
    if rows * (rows + 1) // 2 != count:
        raise InputError("balls", got=count, wanted="a triangular number: 1, 3, 6, 10, 15, ...")
    r, m = real("radius", radius, above=0.0), real("mass", mass, above=0.0)
    angle = real("aim", aim, at_least=-math.pi / 3, at_most=math.pi / 3)
    cue = (-2 * r * math.cos(angle), 2 * r * math.sin(angle))
    # columns of the triangle along x, the apex at the origin
    rack = [(row * r * math.sqrt(3.0), (2 * k - row) * r) for row in range(rows) for k in range(row + 1)]
    names = ["cue", *map(str, range(1, count + 1))]
    bodies = [disc(name, r, mass=m, inertia=0.4 * m * r * r) for name in names]
    contacts = [
        DiscContact(f"{a}-{b}", a, b, mu=mu, restitution=restitution) for a, b in combinations(names, 2)
    ]
    model = PlanarModel(bodies, contacts, gravity=(0.0, 0.0))
    q = np.zeros((count + 1, 3))
    q[:, :2] = [cue, *rack]
    v = np.zeros(model.nv)
    v[0] = real("speed", speed, at_least=0.0)
    state = State(q.ravel(), v)
    return catalogued("billiards-break", model, state, model.problem(state))


@register("newtons-cradle")
def newtons_cradle(
    *,
    balls: int = 5,
    raised: int = 1,
    angle: float = math.radians(30.0),
    length: float = 0.2,
    radius: float = 0.02,
    mass: float = 0.1,
    mu: float = 0.0,
    restitution: float = 1.0,
) -> System:
    """Balls on massless strings that touch at rest; the first ``raised`` ones are let go at ``angle`` (rad).

    Coordinates: the angle of each string from the vertical. Contacts "1-2", "2-3", ...: neighbours. The
    problem is the first impact, at the bottom.
    """
    n = integer("balls", balls, at_least=2)
    k = integer("raised", raised, at_least=1, at_most=n - 1)
    string, r = real("length", length, above=0.0), real("radius", radius, above=0.0)
    up = real("angle", angle, above=0.0, at_most=math.pi / 2)
    m = real("mass", mass, above=0.0)
    below, inertia = (0.0, -string), 0.4 * m * r * r
    outline = (np.array([(0.0, 0.0), below]), circle(r, below))
    bodies = [
        Body(str(i + 1), m, inertia, below, Revolute(at=(2 * r * i, string)), outline) for i in range(n)
    ]
    contacts = [
        DiscContact(f"{i}-{i + 1}", str(i), str(i + 1), below, below, r, r, mu, restitution)
        for i in range(1, n)
    ]
    model = PlanarModel(bodies, contacts, gravity=(0.0, -GRAVITY))
    moving = (np.arange(n) < k).astype(np.float64)
    energy_per_inertia = m * GRAVITY * string * (1.0 - math.cos(up)) / (m * string**2 + inertia)
    impact = State(np.zeros(n), math.sqrt(2.0 * energy_per_inertia) * moving)
    return catalogued("newtons-cradle", model, State(-up * moving, np.zeros(n)), model.problem(impact))
