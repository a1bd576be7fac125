"""The impacts of HP23 section 5.4 in closed form, written by hand: what the planar models must give.

In every system a point at ``r = (rx, ry)`` from a body's centre moves with
``(x' - ry theta', y' + rx theta')``; the normal ``n`` points away from the obstacle and the tangent is
``(n_y, -n_x)``: to the right on a floor, upwards on a wall to the right.
"""

import math

import numpy as np

from routh.systems.hp23 import RAMONE, ramone_trailing_knee

FALL_SPEED = math.sqrt(2.0 * 9.81 * 0.01)
ANGLE, TILT = math.radians(78.0), math.radians(10.0)


def rocking_block(width=1.0, height=2.0, mass=1.0, speed=FALL_SPEED):
    """M, Jn, Jt and v of each; parameters as in `routh.systems`."""
    w, h, m = width, height, mass
    inertia = m * (w * w + h * h) / 12.0
    Jn = [[0.0, 1.0, -w / 2], [0.0, 1.0, w / 2]]
    Jt = [[1.0, 0.0, h / 2], [1.0, 0.0, h / 2]]
    return np.diag([m, m, inertia]), Jn, Jt, [0.0, -speed, 0.0]


def compass_gait(leg=1.0, mass_to_foot=0.5, mass=1.0, angle=ANGLE, rate=0.25):
    m, s, w = mass, leg - mass_to_foot, rate
    (cl, sl), (ct, st) = (math.cos(-angle), math.sin(-angle)), (math.cos(angle), math.sin(angle))
    M = [
        [2 * m, 0.0, m * s * cl, m * s * ct],
        [0.0, 2 * m, m * s * sl, m * s * st],
        [m * s * cl, m * s * sl, m * s * s, 0.0],
        [m * s * ct, m * s * st, 0.0, m * s * s],
    ]
    Jn = [[0.0, 1.0, leg * sl, 0.0], [0.0, 1.0, 0.0, leg * st]]
    Jt = [[1.0, 0.0, leg * cl, 0.0], [1.0, 0.0, 0.0, leg * ct]]
    return M, Jn, Jt, [-leg * ct * w, -leg * st * w, w, w]


def box_wall(side=1.0, mass=1.0, tilt=TILT, speed=1.0):
    """Turned by 90 deg - tilt, the corner (-1, -1) side / 2 is the lowest and (1, -1) side / 2 right-most."""
    turn = math.pi / 2 - tilt
    c, s = math.cos(turn), math.sin(turn)
    near, far = (c + s) * side / 2, (s - c) * side / 2
    lowest, rightmost = (far, -near), (near, far)
    Jn = [[0.0, 1.0, lowest[0]], [-1.0, 0.0, rightmost[1]]]
    Jt = [[1.0, 0.0, -lowest[1]], [0.0, 1.0, rightmost[0]]]
    return np.diag([mass, mass, mass * side * side / 6.0]), Jn, Jt, [speed, 0.0, 0.0]


def disk_stack(radius=1.0, mass=1.0, speed=1.0):
    """C and D are at 60 degrees; between two discs the normal points from the second to the first."""
    r, h = radius, math.sqrt(3.0) / 2
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
    v[7] = -speed
    return np.diag([mass, mass, mass * r * r / 2] * 3), Jn, Jt, v


def disk_stack_5kg(radius=1.0, mass=5.0, speed=1.0):
    return disk_stack(radius, mass, speed)


def ramone(pitch=16.0, leading_hip=-70.0, trailing_hip=70.0, leading_knee=-2.0, rate=1.0):
    """Angles in degrees."""
    phi, le, tr, knee = np.deg2rad([pitch, leading_hip, trailing_hip, leading_knee])
    M, Jn, Jt = _ramone_matrices([phi, le, knee, tr, ramone_trailing_knee(phi, le, knee, tr)])
    return M, Jn, Jt, [-rate * Jt[1, 2], -rate * Jn[1, 2], rate, 0.0, 0.0, 0.0, 0.0]


def _ramone_matrices(angles):
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


def _hanging(angle):
    """Derivative of ``(sin a, -cos a)``."""
    return np.array([math.cos(angle), math.sin(angle)])
