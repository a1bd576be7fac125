"""Rest directions of the sliding direction (JW17's invariant directions): the next, the centrifugal one."""

from __future__ import annotations

import math

from routh.two_body import _layout as at
from routh.two_body._arc import lay_out
from routh.two_body._layout import Contact
from routh.validation import Array


def direction_rates(con: Contact, sx: float, sy: float) -> tuple[float, float, float]:
    """f, g and f' at the unit vector s: theta' = f, (ln r)' = g, with f' = -g - mu s_perp.B s_perp."""
    fx = con.dx - con.mu * (con.wxx * sx + con.wxy * sy)
    fy = con.dy - con.mu * (con.wxy * sx + con.wyy * sy)
    g = sx * fx + sy * fy
    across = con.mu * (con.wxx * sy * sy - 2.0 * con.wxy * sx * sy + con.wyy * sx * sx)
    return sx * fy - sy * fx, g, -g - across


def rest_ahead(con: Contact, sx: float, sy: float) -> tuple[float, float, bool]:
    """The first rest direction that the flow from s runs into; it is stable.

    Each step goes to the zero of a parabola below |f| (|f''| <= turn_rate), so no rest direction is
    jumped over, and near a simple one it is Newton's step.
    """
    bound = con.turn_rate
    rounding = 1e-16 * (bound + con.mu * (con.wxx + con.wyy))
    first = 0.0
    for _ in range(80):
        f, _g, slope = direction_rates(con, sx, sy)
        side = 1.0 if f > 0.0 else -1.0
        if abs(f) <= rounding or side * first < 0.0:
            return sx, sy, True  # there, or beyond by rounding alone
        first = side
        f = abs(f)  # along the motion its derivative is f' on either side
        angle = 2.0 * f / (math.sqrt(slope * slope + 2.0 * bound * f) - slope)
        # rotation by 2 atan(angle / 2) <= angle
        half = 0.5 * side * angle
        c, s = (1.0 - half * half) / (1.0 + half * half), 2.0 * half / (1.0 + half * half)
        sx, sy = c * sx - s * sy, s * sx + c * sy
        if angle < 1e-15:
            norm = math.sqrt(sx * sx + sy * sy)
            return sx / norm, sy / norm, True
    return sx, sy, False


def centrifugal(con: Contact) -> tuple[float, float]:
    """The unique direction with -mu B s + d = g s, g > 0, where ||B^-1 d|| > mu (JW17 Theorem 5 iv).

    s = (mu B + g)^-1 d has norm one; that norm falls strictly with g > 0, from ||B^-1 d|| / mu to 0. Newton
    on 1 / norm, which is concave there, converges monotonically from below, where g starts.
    """
    mxx, mxy, myy = con.mu * con.wxx, con.mu * con.wxy, con.mu * con.wyy
    g = max(math.sqrt(con.dx * con.dx + con.dy * con.dy) - mxx - myy, 0.0)
    sx, sy = 1.0, 0.0
    for _ in range(60):
        axx, ayy = mxx + g, myy + g
        det = axx * ayy - mxy * mxy
        sx, sy = (ayy * con.dx - mxy * con.dy) / det, (axx * con.dy - mxy * con.dx) / det
        norm2 = sx * sx + sy * sy
        norm = math.sqrt(norm2)
        # s.(mu B + g)^-1 s
        bend = (ayy * sx * sx - 2.0 * mxy * sx * sy + axx * sy * sy) / det
        move = (norm - 1.0) * norm2 / bend
        if not abs(move) > 1e-16 * (g + abs(axx)):
            break
        g = max(g + move, 0.0)
    norm = math.sqrt(sx * sx + sy * sy)
    return sx / norm, sy / norm


def find_tail(arc: Array, con: Contact, sx: float, sy: float, f: float) -> None:
    """Find the rest direction ahead of s, where the direction turns at the rate f, and what kind it is."""
    rx, ry, found = rest_ahead(con, sx, sy)
    _f, g0, f1 = direction_rates(con, rx, ry)
    lay_out(arc, at.FALL, con, rx, ry, -1.0 if f > 0.0 else 1.0)  # s lies on the side of s_perp
    arc[at.FALL, at.G0], arc[at.FALL, at.F1] = g0, f1
    arc[at.FALL, at.EXPANDED] = 0.0
    arc[at.FALL, at.KIND] = at.NO_TAIL
    if not found or f1 > -1e-4 * con.turn_rate:
        return  # a double root: the direction converges algebraically, the steps go on
    # where no denominator of FALL's series is small beside f1; if one is, g0 > 0 and the impact ends soon
    if min(abs(g0 + f1), abs(2.0 * g0 + f1)) >= -1e-3 * f1:
        arc[at.FALL, at.KIND] = at.FALLING
