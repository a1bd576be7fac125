"""Friction of one contact in space: the disc and the polygon, minimised exactly.

``p^T A p / 2 + b^T p`` with ``A`` the contact's tangential block and b its slip rate without friction; the
minimiser is the friction that opposes slip most (HP23 (16)).
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common.one_contact import disc_axes, on_disc
from routh.kernels.space.workspace import WALL, Corners, SpaceWork


@kernel
def on_edge(
    corners: Array, j: int, a00: float, a01: float, a11: float, b0: float, b1: float, radius: float
) -> tuple[float, float, float]:
    """The minimiser between ``-radius`` times corners j and j + 1, and its value."""
    following = j + 1 if j + 1 < corners.shape[0] else 0
    x0, x1 = -radius * corners[j, 0], -radius * corners[j, 1]
    e0, e1 = -radius * corners[following, 0] - x0, -radius * corners[following, 1] - x1
    curve = e0 * (a00 * e0 + a01 * e1) + e1 * (a01 * e0 + a11 * e1)
    slope = e0 * (a00 * x0 + a01 * x1 + b0) + e1 * (a01 * x0 + a11 * x1 + b1)
    share = 0.0
    if slope < 0.0:
        share = -slope / curve if -slope < curve else 1.0
    p0, p1 = x0 + share * e0, x1 + share * e1
    value = 0.5 * (p0 * (a00 * p0 + a01 * p1) + p1 * (a01 * p0 + a11 * p1)) + b0 * p0 + b1 * p1
    return p0, p1, value


@kernel
def on_polygon(
    corners: Array, a00: float, a01: float, a11: float, b0: float, b1: float, radius: float
) -> tuple[float, float]:
    """The minimiser on the whole polygon."""
    size = a00 + a11
    determinant = a00 * a11 - a01 * a01
    if determinant > 1e-13 * size * size:
        p0 = -(a11 * b0 - a01 * b1) / determinant
        p1 = -(a00 * b1 - a01 * b0) / determinant
    else:  # one direction moves nothing: the shortest of many minimisers
        scale = size * size
        p0, p1 = -(a00 * b0 + a01 * b1) / scale, -(a01 * b0 + a11 * b1) / scale
    inside = True
    for j in range(corners.shape[0]):
        following = j + 1 if j + 1 < corners.shape[0] else 0
        x0, x1 = -radius * corners[j, 0], -radius * corners[j, 1]
        e0, e1 = -radius * corners[following, 0] - x0, -radius * corners[following, 1] - x1
        inside = inside and e0 * (p1 - x1) - e1 * (p0 - x0) >= 0.0
    if inside:
        return p0, p1
    lowest, best0, best1 = math.inf, 0.0, 0.0
    for j in range(corners.shape[0]):
        p0, p1, value = on_edge(corners, j, a00, a01, a11, b0, b1, radius)
        if value < lowest:
            lowest, best0, best1 = value, p0, p1
    return best0, best1


@kernel
def friction_of(
    work: SpaceWork, corners: Corners, i: int, b0: float, b1: float, radius: float
) -> tuple[float, float]:
    """Friction of contact i at zero slip (or on a wall of its polygon) for a normal rate of radius / mu."""
    # reads corner, gram, slip
    at = 3 * i + 1
    a00, a01, a11 = work.gram[at, at], work.gram[at, at + 1], work.gram[at + 1, at + 1]
    if not radius > 0.0:
        return 0.0, 0.0
    if corners is None:
        p0, p1 = on_disc(disc_axes(a00, a01, a11), b0, b1, radius)
    elif work.slip[i] == WALL:
        p0, p1, _ = on_edge(corners, work.corner[i], a00, a01, a11, b0, b1, radius)
    else:
        p0, p1 = on_polygon(corners, a00, a01, a11, b0, b1, radius)
    return p0, p1
