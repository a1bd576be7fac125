"""The papers' impacts in exact rational numbers.

Angles become rational points exactly on the unit circle, and M, J and v are built from them together, so that
coincidences (a foot at rest, mirror images, a force that is exactly horizontal) survive. Where all entries
are free numbers, as for one body on level ground, snapping them does the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from routh import tolerances
from routh.exact.algebra import simplest
from routh.exact.rational import RationalProblem, unit_circle
from routh.exact.snapping import snap
from routh.problem import ImpactProblem
from routh.systems.hp23 import RAMONE

Point = tuple[Fraction, Fraction]


def rational_problem(
    name: str, problem: ImpactProblem, *, tolerance: float = tolerances.SNAP
) -> RationalProblem:
    """The impact of the system ``name`` in rational numbers near ``problem``, which fixes its parameters.

    ``tolerance`` bounds the tangent of half the change of any angle, and the relative change of other
    numbers; a coarser one gives shorter numbers.
    """
    build = _BUILDERS.get(name)
    if build is None:
        return snap(problem, tolerance=tolerance).rational
    return build(problem, tolerance)


def _compass_gait(problem: ImpactProblem, tolerance: float) -> RationalProblem:
    """Coordinates and matrices as in `hp23.compass_gait`."""
    length = math.hypot(problem.Jn[0, 2], problem.Jt[0, 0, 2])
    leg, m = simplest(length, tolerance), simplest(problem.M[0, 0] / 2, tolerance)
    s = simplest(math.sqrt(problem.M[2, 2] / float(m)), tolerance)
    (cl, sl), (ct, st) = (
        unit_circle(math.atan2(problem.Jn[i, 2 + i], problem.Jt[i, 0, 2 + i]), tolerance=tolerance)
        for i in range(2)
    )
    w = simplest(problem.v[2], tolerance)
    zero = Fraction(0)
    M = [
        [2 * m, zero, m * s * cl, m * s * ct],
        [zero, 2 * m, m * s * sl, m * s * st],
        [m * s * cl, m * s * sl, m * s * s, zero],
        [m * s * ct, m * s * st, zero, m * s * s],
    ]
    Jn = [[0, 1, leg * sl, 0], [0, 1, 0, leg * st]]
    Jt = [[[1, 0, leg * cl, 0]], [[1, 0, 0, leg * ct]]]
    v = [-leg * ct * w, -leg * st * w, w, w]
    return RationalProblem(M, Jn, Jt, _friction(problem, tolerance), v, problem.names)


def _ramone(problem: ImpactProblem, tolerance: float) -> RationalProblem:
    """Coordinates and matrices as in `hp23.ramone`: links hang along (sin a, -cos a).

    Both feet must be at one height exactly, or the leading contact would slip by the rounding. No rational
    angles do that, so the trailing shank's length gives way, by about the tolerance.
    """
    shank_length, thigh_length = _number(RAMONE.shank), _number(RAMONE.thigh)
    radius, to_hip = _number(RAMONE.foot_radius), _number(RAMONE.trunk_to_hip)
    Jn, Jt = problem.Jn, problem.Jt[:, 0]
    trunk = unit_circle(math.atan2(Jn[0, 2] - Jn[0, 3], Jt[0, 2] - Jt[0, 3]), tolerance=tolerance)
    M = [[Fraction(0)] * 7 for _ in range(7)]
    for i, value in enumerate((RAMONE.trunk_mass, RAMONE.trunk_mass, RAMONE.trunk_inertia)):
        M[i][i] = _number(value)
    normals, tangents = [], []
    height = None  # of the hips above the feet's centres
    for leg in range(2):
        hip, knee = 3 + 2 * leg, 4 + 2 * leg
        shank = unit_circle(
            math.atan2(Jn[leg, knee], Jt[leg, knee] - RAMONE.foot_radius), tolerance=tolerance
        )
        thigh = unit_circle(
            math.atan2(Jn[leg, hip] - Jn[leg, knee], Jt[leg, hip] - Jt[leg, knee]), tolerance=tolerance
        )
        if height is None:
            height = thigh_length * thigh[0] + shank_length * shank[0]
        else:
            shank_length = (height - thigh_length * thigh[0]) / shank[0]
        foot_arm = _plus(_scaled(shank_length, shank), (radius, Fraction(0)))
        arms = {  # of hip and knee joints to the thigh's centre, the shank's centre, the foot's lowest point
            "thigh": (_scaled(_number(RAMONE.hip_to_thigh), thigh), None),
            "shank": _both(thigh_length, thigh, _scaled(_number(RAMONE.knee_to_shank), shank)),
            "foot": _both(thigh_length, thigh, foot_arm),
        }
        hip_offset = _scaled(to_hip, trunk)
        x, y = _link_rows(*arms["foot"], hip, knee, hip_offset)
        tangents.append([x])
        normals.append(y)
        for part, mass, inertia, joints in (
            ("thigh", RAMONE.thigh_mass, RAMONE.thigh_inertia, (2, hip)),
            ("shank", RAMONE.shank_mass, RAMONE.shank_inertia, (2, hip, knee)),
        ):
            turn = [Fraction(int(k in joints)) for k in range(7)]
            x, y = _link_rows(*arms[part], hip, knee, hip_offset)
            for row, weight in ((x, mass), (y, mass), (turn, inertia)):
                _add_outer(M, row, _number(weight))
    w = simplest(problem.v[2], tolerance)
    v = [-w * tangents[1][0][2], -w * normals[1][2], w, 0, 0, 0, 0]
    return RationalProblem(M, normals, tangents, _friction(problem, tolerance), v, problem.names)


def _link_rows(
    hip_arm: Point, knee_arm: Point | None, hip: int, knee: int, hip_offset: Point
) -> tuple[list[Fraction], list[Fraction]]:
    """Velocity rows (x, y) of a point whose arms from the hip and the knee are given."""
    rows = []
    for axis in range(2):
        row = [Fraction(int(k == axis)) for k in range(7)]
        row[hip] = hip_arm[axis]
        row[knee] = knee_arm[axis] if knee_arm is not None else Fraction(0)
        row[2] = hip_offset[axis] + hip_arm[axis]
        rows.append(row)
    return rows[0], rows[1]


def _disk_stack(problem: ImpactProblem, tolerance: float) -> RationalProblem:
    """Coordinates and matrices as in `hp23.disk_stack`; friction tan(60 deg) stays that of the normals."""
    c, s = unit_circle(math.atan2(problem.Jn[2, 7], problem.Jn[2, 6]), tolerance=tolerance)
    r = simplest(problem.Jt[0, 0, 2], tolerance)
    m = simplest(problem.M[0, 0], tolerance)
    matched = [abs(mu - math.sqrt(3.0)) <= 1e-6 for mu in problem.mu]
    mu = [s / c if same else simplest(x, tolerance) for same, x in zip(matched, problem.mu, strict=True)]
    Jn: list[list[Fraction | int]] = [
        [0, 1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 0, 0, 0],
        [-c, -s, 0, 0, 0, 0, c, s, 0],
        [0, 0, 0, c, -s, 0, -c, s, 0],
        [-1, 0, 0, 1, 0, 0, 0, 0, 0],
    ]
    Jt: list[list[list[Fraction | int]]] = [
        [[1, 0, r, 0, 0, 0, 0, 0, 0]],
        [[0, 0, 0, 1, 0, r, 0, 0, 0]],
        [[-s, c, r, 0, 0, 0, s, -c, r]],
        [[0, 0, 0, -s, -c, r, s, c, r]],
        [[0, 1, r, 0, -1, r, 0, 0, 0]],
    ]
    diagonal = [m, m, m * r * r / 2] * 3
    M = [[diagonal[i] if i == j else 0 for j in range(9)] for i in range(9)]
    v = [simplest(x, tolerance) for x in problem.v]
    return RationalProblem(M, Jn, Jt, mu, v, problem.names)


_BUILDERS: dict[str, Callable[[ImpactProblem, float], RationalProblem]] = {
    "compass-gait": _compass_gait,
    "ramone": _ramone,
    "disk-stack": _disk_stack,
    "disk-stack-5kg": _disk_stack,
}


def _friction(problem: ImpactProblem, tolerance: float) -> list[Fraction]:
    return [simplest(mu, tolerance * max(mu, 1.0)) for mu in problem.mu]


def _number(value: float) -> Fraction:
    """A decimal constant as the fraction that was meant."""
    return Fraction(repr(round(value, 12)))


def _scaled(length: Fraction, point: Point) -> Point:
    return length * point[0], length * point[1]


def _plus(a: Point, b: Point) -> Point:
    return a[0] + b[0], a[1] + b[1]


def _both(thigh_length: Fraction, thigh: Point, knee_arm: Point) -> tuple[Point, Point]:
    """Arms from the hip and from the knee of a point below the knee."""
    return _plus(_scaled(thigh_length, thigh), knee_arm), knee_arm


def _add_outer(M: list[list[Fraction]], row: list[Fraction], weight: Fraction) -> None:
    """``M += weight row^T row``."""
    for i, a in enumerate(row):
        if a:
            for j, b in enumerate(row):
                M[i][j] += weight * a * b
