"""The six impacts of HP23 section 5.4, with closed-form matrices and the paper's settings.

In every system a point at ``r = (rx, ry)`` from a body's centre moves with
``(x' - ry theta', y' + rx theta')``; the normal ``n`` points away from the obstacle and the tangent is
``(n_y, -n_x)``: to the right on a floor, upwards on a wall to the right.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from routh.models.base import State
from routh.problem import ImpactProblem
from routh.systems import hp23_models
from routh.systems.base import PaperSettings, System, register
from routh.systems.hp23_models import RAMONE
from routh.validation import Array, per_contact, real

GRAVITY = 9.81  # m/s^2, HP23 section 4.3
_FALL_SPEED = math.sqrt(2.0 * GRAVITY * 0.01)  # m/s, after 1 cm
_SQRT3 = math.sqrt(3.0)


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
    inertia = m * (w * w + h * h) / 12.0
    problem = ImpactProblem(
        np.diag([m, m, inertia]),
        [[0.0, 1.0, -w / 2], [0.0, 1.0, w / 2]],
        [[1.0, 0.0, h / 2], [1.0, 0.0, h / 2]],
        per_contact("mu", mu, 2),
        [0.0, -v0, 0.0],
        names=["A", "B"],
    )
    paper = PaperSettings("HP23 Table 4", step=0.3, max_steps=10, samples=2**14, lcps_per_sample=2.67)
    return System(
        "rocking-block",
        "impact",
        paper,
        problem,
        hp23_models.block(w, h, m, problem.mu),
        State(np.array([0.0, h / 2, 0.0]), problem.v),
    )


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
    le, w = -tr, real("rate", rate)
    (cl, sl), (ct, st) = (math.cos(le), math.sin(le)), (math.cos(tr), math.sin(tr))
    M = np.array(
        [
            [2 * m, 0.0, m * s * cl, m * s * ct],
            [0.0, 2 * m, m * s * sl, m * s * st],
            [m * s * cl, m * s * sl, m * s * s, 0.0],
            [m * s * ct, m * s * st, 0.0, m * s * s],
        ]
    )
    problem = ImpactProblem(
        M,
        [[0.0, 1.0, length * sl, 0.0], [0.0, 1.0, 0.0, length * st]],
        [[1.0, 0.0, length * cl, 0.0], [1.0, 0.0, 0.0, length * ct]],
        per_contact("mu", mu, 2),
        [-length * ct * w, -length * st * w, w, w],
        names=["A", "B"],
    )
    model, state = hp23_models.compass_gait(length, s, m, tr, problem.v, problem.mu)
    paper = PaperSettings("HP23 Table 5", step=0.25, max_steps=5, samples=2**20, lcps_per_sample=2.27)
    return System(
        "compass-gait",
        "impact",
        paper,
        problem,
        model,
        state,
    )


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
    problem = _box_wall_problem(side, mass, tilt, speed, mu)
    model, state = hp23_models.box_wall(side, mass, tilt, problem.v, problem.mu)
    paper = PaperSettings("HP23 Table 6", step=2.0, max_steps=5, samples=2**18, lcps_per_sample=1.97)
    return System(
        "box-wall",
        "impact",
        paper,
        problem,
        model,
        state,
    )


def _box_wall_problem(side: float, mass: float, tilt: float, speed: float, mu: ArrayLike) -> ImpactProblem:
    """Turned by 90 deg - tilt, the corner (-1, -1) side / 2 is the lowest and (1, -1) side / 2 right-most."""
    length, m = _positive(side=side, mass=mass)
    turn = math.pi / 2 - real("tilt", tilt, above=0.0, at_most=math.nextafter(math.pi / 4, 0.0))
    c, s = math.cos(turn), math.sin(turn)
    near, far = (c + s) * length / 2, (s - c) * length / 2
    lowest, rightmost = (far, -near), (near, far)
    return ImpactProblem(
        np.diag([m, m, m * length * length / 6.0]),
        [[0.0, 1.0, lowest[0]], [-1.0, 0.0, rightmost[1]]],
        [[1.0, 0.0, -lowest[1]], [0.0, 1.0, rightmost[0]]],
        per_contact("mu", mu, 2),
        [real("speed", speed, at_least=0.0), 0.0, 0.0],
        names=["A", "B"],
    )


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
    M, Jn, Jt = _ramone_matrices(angles)
    velocity = np.array([-w * Jt[1, 2], -w * Jn[1, 2], w, 0.0, 0.0, 0.0, 0.0])
    problem = ImpactProblem(M, Jn, Jt, per_contact("mu", mu, 2), velocity, names=["A", "B"])
    model, state = hp23_models.ramone(angles, problem.v, problem.mu)
    paper = PaperSettings("HP23 Table 7", step=1.0, max_steps=10, samples=2**20, lcps_per_sample=3.20)
    return System(
        "ramone",
        "impact",
        paper,
        problem,
        model,
        state,
    )


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


def _ramone_matrices(angles: Array) -> tuple[Array, Array, Array]:
    """``M (7, 7)``, ``Jn (2, 7)`` and ``Jt (2, 7)`` at (pitch, hip, knee, hip, knee).

    A link hangs along ``d(a) = (sin a, -cos a)``, so ``d'(a) = (cos a, sin a)``, where ``a`` is the sum of
    the joint angles down to it.
    """
    robot = RAMONE
    pitch, *joints = angles
    M = np.zeros((7, 7))
    M[[0, 1, 2], [0, 1, 2]] = robot.trunk_mass, robot.trunk_mass, robot.trunk_inertia
    Jn, Jt = np.zeros((2, 7)), np.zeros((2, 7))
    for leg in range(2):
        hip, knee = 3 + 2 * leg, 4 + 2 * leg
        thigh_angle = pitch + joints[2 * leg]
        shank_angle = thigh_angle + joints[2 * leg + 1]
        to_hip = robot.trunk_to_hip * _hanging(pitch)
        thigh = np.zeros((3, 7))  # of the thigh's centre of mass, and below of the shank's and the foot's
        thigh[:2, :2] = np.eye(2)
        shank, foot = thigh.copy(), thigh.copy()
        thigh[:2, hip] = robot.hip_to_thigh * _hanging(thigh_angle)
        shank[:2, knee] = robot.knee_to_shank * _hanging(shank_angle)
        shank[:2, hip] = robot.thigh * _hanging(thigh_angle) + shank[:2, knee]
        foot[:2, knee] = robot.shank * _hanging(shank_angle) + [robot.foot_radius, 0.0]
        foot[:2, hip] = robot.thigh * _hanging(thigh_angle) + foot[:2, knee]
        for jacobian in (thigh, shank, foot):
            jacobian[:2, 2] = to_hip + jacobian[:2, hip]
        thigh[2, [2, hip]] = 1.0
        shank[2, [2, hip, knee]] = 1.0
        for jacobian, m, inertia in (
            (thigh, robot.thigh_mass, robot.thigh_inertia),
            (shank, robot.shank_mass, robot.shank_inertia),
        ):
            M += jacobian.T @ np.diag([m, m, inertia]) @ jacobian
        Jt[leg], Jn[leg] = foot[0], foot[1]
    return M, Jn, Jt


def _hanging(angle: float) -> Array:
    """Derivative of ``(sin a, -cos a)``."""
    return np.array([math.cos(angle), math.sin(angle)])


@register("disk-stack")
def disk_stack(
    *, radius: float = 1.0, mass: float = 1.0, speed: float = 1.0, mu: ArrayLike = _SQRT3
) -> System:
    """A disc falls with ``speed`` (m/s) on two that rest on the ground (HP23 Fig. 14, Table 8).

    Coordinates: x, y, angle of the left, the right and the top disc. Contacts: A left and B right disc on
    the ground, C top on left, D top on right, E left against right. Table 8 says 1 kg; the published
    figures were made with 5 kg (`disk-stack-5kg`).
    """
    problem = _disk_stack_problem(radius, mass, speed, mu)
    model, state = hp23_models.disk_stack(radius, mass, problem.v, problem.mu)
    paper = PaperSettings("HP23 Table 8", step=1.0, max_steps=10, samples=2**20)
    return System(
        "disk-stack",
        "impact",
        paper,
        problem,
        model,
        state,
    )


@register("disk-stack-5kg")
def disk_stack_5kg(
    *, radius: float = 1.0, mass: float = 5.0, speed: float = 1.0, mu: ArrayLike = _SQRT3
) -> System:
    """The disc stack with the mass of 5 kg behind the paper's Fig. 14 and Table 3; see `disk_stack`."""
    problem = _disk_stack_problem(radius, mass, speed, mu)
    model, state = hp23_models.disk_stack(radius, mass, problem.v, problem.mu)
    paper = PaperSettings(
        "HP23 Table 8, with the mass its figures used",
        step=1.0,
        max_steps=10,
        samples=2**20,
        lcps_per_sample=9.04,
    )
    return System(
        "disk-stack-5kg",
        "impact",
        paper,
        problem,
        model,
        state,
    )


def _disk_stack_problem(radius: float, mass: float, speed: float, mu: ArrayLike) -> ImpactProblem:
    """C and D are at 60 degrees; between two discs the normal points from the second to the first."""
    r, m = _positive(radius=radius, mass=mass)
    h = _SQRT3 / 2
    Jn = [
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # A
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],  # B
        [-0.5, -h, 0.0, 0.0, 0.0, 0.0, 0.5, h, 0.0],  # C
        [0.0, 0.0, 0.0, 0.5, -h, 0.0, -0.5, h, 0.0],  # D
        [-1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # E
    ]
    Jt = [
        [1.0, 0.0, r, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, r, 0.0, 0.0, 0.0],
        [-h, 0.5, r, 0.0, 0.0, 0.0, h, -0.5, r],
        [0.0, 0.0, 0.0, -h, -0.5, r, h, 0.5, r],
        [0.0, 1.0, r, 0.0, -1.0, r, 0.0, 0.0, 0.0],
    ]
    v = np.zeros(9)
    v[7] = -real("speed", speed, at_least=0.0)
    inertia = m * r * r / 2
    M = np.diag([m, m, inertia] * 3)
    return ImpactProblem(M, Jn, Jt, per_contact("mu", mu, 5), v, names=list("ABCDE"))


def _positive(**values: float) -> tuple[float, ...]:
    """Check that named parameters are positive numbers."""
    return tuple(real(name, value, above=0.0) for name, value in values.items())
