"""Friction of one contact alone in space: the disc and the polygon, minimised exactly.

``p^T A p / 2 + b^T p`` with ``A`` the contact's tangential block and b its slip rate without friction; the
minimiser is the friction that opposes slip most (HP23 (16)).
"""

from __future__ import annotations

import math
from typing import Any

from routh.compiling import kernel
from routh.kernels.space_names import WALL

NEWTON = 60


@kernel
def on_disc(
    a00: float, a01: float, a11: float, b0: float, b1: float, radius: float
) -> tuple[float, float, bool]:
    """The minimiser on a disc, and whether it lies on the rim."""
    mean, half = 0.5 * (a00 + a11), 0.5 * (a00 - a11)
    spread = math.sqrt(half * half + a01 * a01)
    high = mean + spread
    low = max(mean - spread, 1e-15 * high)  # nothing moves along a direction of eigenvalue 0
    # the first axis, that of the larger eigenvalue
    angle = 0.5 * math.atan2(a01, half) if spread > 0.0 else 0.0
    cosine, sine = math.cos(angle), math.sin(angle)
    q0, q1 = cosine * b0 + sine * b1, cosine * b1 - sine * b0
    p0, p1 = -q0 / high, -q1 / low
    rim = p0 * p0 + p1 * p1 > radius * radius
    if rim:
        # |(A + shift)^-1 b| = radius; Newton on 1 / |p|, which is concave and nearly linear in the shift
        shift = max(0.0, max(abs(q0) / radius - high, abs(q1) / radius - low))
        p0, p1 = -q0 / (high + shift), -q1 / (low + shift)
        for _ in range(NEWTON):
            length = math.sqrt(p0 * p0 + p1 * p1)
            slope = (p0 * p0 / (high + shift) + p1 * p1 / (low + shift)) / length
            change = (length - radius) / radius * length / slope
            shift += change
            p0, p1 = -q0 / (high + shift), -q1 / (low + shift)
            if abs(change) <= 1e-15 * (shift + high):
                break
        length = math.sqrt(p0 * p0 + p1 * p1)
        p0, p1 = p0 * radius / length, p1 * radius / length
    return cosine * p0 - sine * p1, sine * p0 + cosine * p1, rim


@kernel
def on_edge(
    dirs: Any, j: int, a00: float, a01: float, a11: float, b0: float, b1: float, radius: float
) -> tuple[float, float, float, float]:
    """The minimiser between ``-radius`` times corners j and j + 1: (p0, p1, share of the second, value)."""
    following = j + 1 if j + 1 < dirs.shape[0] else 0
    x0, x1 = -radius * dirs[j, 0], -radius * dirs[j, 1]
    e0, e1 = -radius * dirs[following, 0] - x0, -radius * dirs[following, 1] - x1
    curve = e0 * (a00 * e0 + a01 * e1) + e1 * (a01 * e0 + a11 * e1)
    slope = e0 * (a00 * x0 + a01 * x1 + b0) + e1 * (a01 * x0 + a11 * x1 + b1)
    share = 0.0
    if slope < 0.0:
        share = -slope / curve if -slope < curve else 1.0
    p0, p1 = x0 + share * e0, x1 + share * e1
    value = 0.5 * (p0 * (a00 * p0 + a01 * p1) + p1 * (a01 * p0 + a11 * p1)) + b0 * p0 + b1 * p1
    return p0, p1, share, value


@kernel
def on_polygon(
    dirs: Any, a00: float, a01: float, a11: float, b0: float, b1: float, radius: float
) -> tuple[float, float, int, float]:
    """The minimiser on the whole polygon: (p0, p1, edge, share); edge -1 inside."""
    size = a00 + a11
    determinant = a00 * a11 - a01 * a01
    if determinant > 1e-13 * size * size:
        p0 = -(a11 * b0 - a01 * b1) / determinant
        p1 = -(a00 * b1 - a01 * b0) / determinant
    else:  # one direction moves nothing: the shortest of many minimisers
        scale = size * size
        p0, p1 = -(a00 * b0 + a01 * b1) / scale, -(a01 * b0 + a11 * b1) / scale
    inside = True
    for j in range(dirs.shape[0]):
        following = j + 1 if j + 1 < dirs.shape[0] else 0
        x0, x1 = -radius * dirs[j, 0], -radius * dirs[j, 1]
        e0, e1 = -radius * dirs[following, 0] - x0, -radius * dirs[following, 1] - x1
        inside = inside and e0 * (p1 - x1) - e1 * (p0 - x0) >= 0.0
    if inside:
        return p0, p1, -1, 0.0
    edge, lowest, best0, best1, share = -1, math.inf, 0.0, 0.0, 0.0
    for j in range(dirs.shape[0]):
        p0, p1, at, value = on_edge(dirs, j, a00, a01, a11, b0, b1, radius)
        if value < lowest:
            lowest, edge, best0, best1, share = value, j, p0, p1, at
    return best0, best1, edge, share


@kernel
def friction_alone(
    G: Any, dirs: Any, i: int, slip: int, corner: int, b0: float, b1: float, radius: float
) -> tuple[float, float]:
    """Friction of contact i at zero slip (or on a wall of its polygon) for a normal rate of radius / mu."""
    at = 3 * i + 1
    a00, a01, a11 = G[at, at], G[at, at + 1], G[at + 1, at + 1]
    if not radius > 0.0:
        return 0.0, 0.0
    if dirs.shape[0] == 0:
        p0, p1, _ = on_disc(a00, a01, a11, b0, b1, radius)
    elif slip == WALL:
        p0, p1, _, _ = on_edge(dirs, corner, a00, a01, a11, b0, b1, radius)
    else:
        p0, p1, _, _ = on_polygon(dirs, a00, a01, a11, b0, b1, radius)
    return p0, p1
