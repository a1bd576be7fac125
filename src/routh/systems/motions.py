"""Motions: what happens over time. Where there is a problem, it is the motion's first impact."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import integer, real, real_array
from routh.models import spatial
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, disc, rod, slope
from routh.systems.base import GRAVITY, System, catalogued, register
from routh.systems.hp19 import wheel
from routh.systems.hp23 import block

_CRITICAL_ANGLE = math.atan(2.0)  # where the least friction (4/3) makes a uniform rod paradoxical


@register("zeno-block")
def zeno_block(
    *, width: float = 1.0, height: float = 2.0, mass: float = 1.0, rate: float = 1.0, mu: ArrayLike = 1.0
) -> System:
    """A block rocks from corner to corner, ever faster, until it rests (HP23 section 4.3).

    It begins upright and pivots about its lower left corner A with ``rate`` (rad/s). Each impact leaves the
    share 0.7 of the rate, and the impacts accumulate at t = 2.67 s.
    """
    w, h = real("width", width, above=0.0), real("height", height, above=0.0)
    turning = real("rate", rate, at_least=0.0)
    model = block(w, h, real("mass", mass, above=0.0), mu)
    velocity = turning * np.array([-h / 2, w / 2, 1.0])  # HP23 (60)
    return catalogued("zeno-block", model, State(np.array([0.0, h / 2, 0.0]), velocity))


@register("bouncing-ball")
def bouncing_ball(
    *,
    radius: float = 0.1,
    mass: float = 1.0,
    height: float = 1.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    mu: float = 0.3,
    restitution: float = 0.8,
) -> System:
    """A ball (a planar disc) falls from ``height`` (m, of its lowest point) and bounces.

    ``velocity`` is the first (x', y', angle'), m/s and rad/s.
    """
    r = real("radius", radius, above=0.0)
    contact = PlaneContact("A", "ball", radius=r, mu=mu, restitution=restitution)
    model = PlanarModel([disc("ball", r, mass=mass)], [contact])
    v = real_array("velocity", velocity, [(3,)])
    above = real("height", height, at_least=0.0)
    landing_speed = math.sqrt(v[1] ** 2 + 2 * GRAVITY * above)
    landing = State(np.array([0.0, r, 0.0]), np.array([v[0], -landing_speed, v[2]]))
    return catalogued(
        "bouncing-ball", model, State(np.array([0.0, r + above, 0.0]), v), model.problem(landing)
    )


@register("painleve-rod")
def painleve_rod(
    *,
    length: float = 2.0,
    mass: float = 1.0,
    inertia: float | None = None,
    angle: float = _CRITICAL_ANGLE,
    mu: float = 1.8,
    speed: float = 1.0,
    rate: float = 0.0,
) -> System:
    """A rod slides on its lower end A, which leads: Painlevé's paradox where friction is large.

    The rod leans back from A by ``angle`` (rad) above the floor, and A slides to the right with ``speed``
    (m/s) while the rod turns with ``rate`` (rad/s). While A slides, a normal force there presses it into the
    floor if ``1/m + (l/2)^2 cos(angle) (cos(angle) - mu sin(angle)) / I < 0``; for the uniform rod that takes
    mu > 4/3, first at tan(angle) = 2. B is the other end. The problem is the impact at A, with nothing that
    approaches: an impact without collision.
    """
    whole, m = real("length", length, above=0.0), real("mass", mass, above=0.0)
    lean = real("angle", angle, above=0.0, at_most=math.nextafter(math.pi / 2, 0.0))
    if inertia is not None:
        real("inertia", inertia, above=0.0)
    half = whole / 2
    contacts = [
        PlaneContact("A", "rod", point=(-half, 0.0), mu=mu),
        PlaneContact("B", "rod", point=(half, 0.0), mu=mu),
    ]
    model = PlanarModel([rod("rod", whole, mass=m, inertia=inertia)], contacts)
    w = real("rate", rate)
    arm = half * np.array([-math.cos(lean), math.sin(lean)])  # from A to the centre
    velocity = np.array([real("speed", speed, at_least=0.0) - w * arm[1], w * arm[0], w])
    state = State(np.array([arm[0], arm[1], math.pi - lean]), velocity)
    return catalogued("painleve-rod", model, state, model.problem(state))


@register("rimless-wheel-slope")
def rimless_wheel_slope(
    *,
    spokes: int = 8,
    length: float = 1.0,
    mass: float = 1.0,
    inertia: float | None = None,
    descent: float = 0.08,
    rate: float | None = None,
    mu: ArrayLike = 1.0,
) -> System:
    """A rimless wheel walks down a slope of angle ``descent`` (rad), to the right.

    It begins just after a step, on foot B with foot A about to lift, turning clockwise with ``rate`` (rad/s);
    by default with the rate of the steady gait, which repeats from step to step.
    """
    n = integer("spokes", spokes, at_least=4)
    gamma = real("descent", descent, above=0.0, at_most=math.nextafter(math.pi / n, 0.0))
    model = wheel(n, length, mass, inertia, mu, slope("slope", gamma))
    steady = steady_rate(n, length, mass, model.bodies[0].inertia, gamma)
    turning = steady if rate is None else real("rate", rate, above=0.0)
    along = np.array([math.cos(gamma), -math.sin(gamma)])
    normal = np.array([math.sin(gamma), math.cos(gamma)])
    half = math.pi / n
    hub = length * math.cos(half) * normal
    arm = hub - length * math.sin(half) * along  # from foot B to the hub
    velocity = -turning * np.array([-arm[1], arm[0], 1.0])
    return catalogued("rimless-wheel-slope", model, State(np.array([hub[0], hub[1], -gamma]), velocity))


def steady_rate(spokes: int, length: float, mass: float, inertia: float, descent: float) -> float:
    """Turning rate (rad/s) just after each step of the steady gait.

    A step keeps the share ``eta = (I + m l^2 cos(2 pi / n)) / (I + m l^2)`` of the rate (angular momentum
    about the new foot), and between two steps the hub falls by ``2 l sin(pi / n) sin(descent)``.
    """
    about_foot = inertia + mass * length**2
    eta = (inertia + mass * length**2 * math.cos(2 * math.pi / spokes)) / about_foot
    gained = 2 * mass * GRAVITY * 2 * length * math.sin(math.pi / spokes) * math.sin(descent) / about_foot
    return eta * math.sqrt(gained / (1 - eta * eta))


@register("box-drop")
def box_drop(
    *,
    size: ArrayLike = (0.4, 0.3, 0.2),
    mass: float = 1.0,
    height: float = 0.1,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    mu: float = 0.5,
) -> System:
    """A box in space falls flat from ``height`` (m) on four corners.

    ``size`` (3,) m; ``velocity`` (3,) m/s is the first linear velocity. Contacts A to H are the corners, the
    four lower ones first. The problem is the landing, with the contacts A to D.
    """
    edges = real_array("size", size, [(3,)])
    v = real_array("velocity", velocity, [(3,)])
    body = spatial.box("box", edges, mass=mass)
    model = spatial.SpatialModel([body], spatial.corner_contacts(body, mu=mu))
    fall, half = real("height", height, at_least=0.0), edges[2] / 2
    landing_speed = math.sqrt(v[2] ** 2 + 2 * GRAVITY * fall)

    def upright(height: float, *velocity: float) -> State:
        return State(np.array([0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]), np.array([*velocity, 0.0, 0.0, 0.0]))

    landing = upright(half, v[0], v[1], -landing_speed)
    return catalogued("box-drop", model, upright(half + fall, *v), model.problem(landing))
