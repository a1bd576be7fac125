"""The six impacts of HP23 section 5.4, with the paper's settings; planar models give the matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from routh.models.base import Model, State
from routh.systems import hp23_models
from routh.systems.base import PaperSettings, System, catalogued, register
from routh.systems.hp23_models import RAMONE
from routh.validation import per_contact, real

GRAVITY = 9.81  # m/s^2, HP23 section 4.3
_FALL_SPEED = math.sqrt(2.0 * GRAVITY * 0.01)  # m/s, after 1 cm
_SQRT3 = math.sqrt(3.0)


def _impact(name: str, model: Model, state: State, contacts: Sequence[str], paper: PaperSettings) -> System:
    """The impact of the paper's contacts; those of later motion are left out however near they are."""
    problem = model.problem(state, gap=math.inf).subset(contacts)
    return catalogued(name, model, state, problem, paper=paper)


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
    model = hp23_models.block(w, h, m, per_contact("mu", mu, 2))
    state = State(np.array([0.0, h / 2, 0.0]), np.array([0.0, -v0, 0.0]))
    paper = PaperSettings("HP23 Table 4", step=0.3, max_steps=10, samples=2**14, lcps_per_sample=2.67)
    return _impact("rocking-block", model, state, "AB", paper)


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
    velocity = np.array([-length * math.cos(tr) * w, -length * math.sin(tr) * w, w, w])
    model, state = hp23_models.compass_gait(length, s, m, tr, velocity, per_contact("mu", mu, 2))
    paper = PaperSettings("HP23 Table 5", step=0.25, max_steps=5, samples=2**20, lcps_per_sample=2.27)
    return _impact("compass-gait", model, state, "AB", paper)


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
    model, state = hp23_models.box_wall(length, m, lean, velocity, per_contact("mu", mu, 2))
    paper = PaperSettings("HP23 Table 6", step=2.0, max_steps=5, samples=2**18, lcps_per_sample=1.97)
    return _impact("box-wall", model, state, "AB", paper)


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
    angles = np.array([phi, le, knee, tr, ramone_trailing_knee(phi, le, knee, tr)])
    model, q = hp23_models.ramone(angles, per_contact("mu", mu, 2))
    Jn, Jt = model.jacobians(q)
    state = State(q, np.array([-w * Jt[1, 0, 2], -w * Jn[1, 2], w, 0.0, 0.0, 0.0, 0.0]))
    paper = PaperSettings("HP23 Table 7", step=1.0, max_steps=10, samples=2**20, lcps_per_sample=3.20)
    return _impact("ramone", model, state, "AB", paper)


def ramone_trailing_knee(pitch: float, leading_hip: float, leading_knee: float, trailing_hip: float) -> float:
    """The trailing knee angle (rad) at which both feet are at one height, bent backwards (in (-pi, 0))."""
    robot = RAMONE

    def height(hip: float, knee: float) -> float:
        return -robot.thigh * math.cos(pitch + hip) - robot.shank * math.cos(pitch + hip + knee)

    # the shank's angle from the vertical, on the branch where the trailing foot is behind its knee
    cosine = -(height(leading_hip, leading_knee) + robot.thigh * math.cos(pitch + trailing_hip)) / robot.shank
    if not abs(cosine) <= 1.0:
        raise ValueError(
            f"trailing_hip: got {trailing_hip}; wanted a pose in which the trailing foot reaches the ground"
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
    paper = PaperSettings("HP23 Table 8", step=1.0, max_steps=10, samples=2**20)
    return _stack("disk-stack", radius, mass, speed, mu, paper)


@register("disk-stack-5kg")
def disk_stack_5kg(
    *, radius: float = 1.0, mass: float = 5.0, speed: float = 1.0, mu: ArrayLike = _SQRT3
) -> System:
    """The disc stack with the mass of 5 kg behind the paper's Fig. 14 and Table 3; see `disk_stack`."""
    source = "HP23 Table 8, with the mass its figures used"
    paper = PaperSettings(source, step=1.0, max_steps=10, samples=2**20, lcps_per_sample=9.04)
    return _stack("disk-stack-5kg", radius, mass, speed, mu, paper)


def _stack(
    name: str, radius: float, mass: float, speed: float, mu: ArrayLike, paper: PaperSettings
) -> System:
    r, m = _positive(radius=radius, mass=mass)
    velocity = np.zeros(9)
    velocity[7] = -real("speed", speed, at_least=0.0)
    model, state = hp23_models.disk_stack(r, m, velocity, per_contact("mu", mu, 5))
    return _impact(name, model, state, "ABCDE", paper)


def _positive(**values: float) -> tuple[float, ...]:
    """Check that named parameters are positive numbers."""
    return tuple(real(name, value, above=0.0) for name, value in values.items())
