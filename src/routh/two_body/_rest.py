"""Rest directions of the sliding direction (JW17's invariant directions): the next, the centrifugal one."""

from __future__ import annotations

import math
from typing import Any

from routh.two_body._layout import (
    EXPANDED,
    F1,
    FALLING,
    G0,
    INVERSE,
    KIND,
    M1,
    NO_TAIL,
    ORDER,
    PR,
    PT,
    PU,
    Q0,
    Q1,
    QI,
    RHO,
    RHO1,
    RUNNING,
    SUM,
    SX,
    SY,
    TMAX,
    TMIN,
    TRUNCATION,
    YMAX,
    Contact,
    Q,
    S,
    T,
    U,
)
from routh.two_body._series import horner


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


def find_tail(tail: Any, con: Contact, sx: float, sy: float) -> None:
    """Find the rest direction ahead and what kind it is."""
    rx, ry, found = rest_ahead(con, sx, sy)
    _f, g0, f1 = direction_rates(con, rx, ry)
    tail[SX], tail[SY], tail[G0], tail[F1] = rx, ry, g0, f1
    tail[KIND] = NO_TAIL
    if not found or f1 > -1e-4 * con.turn_rate:
        return  # a double root: the direction converges algebraically, the series in tau goes on
    tail[M1] = -con.mu * (
        (con.wxx * rx + con.wxy * ry) * -ry + (con.wxy * rx + con.wyy * ry) * rx
    )  # -mu s.B s_perp
    along, across = con.dx * rx + con.dy * ry, con.dy * rx - con.dx * ry
    tail[RHO1] = tail[M1] / f1
    tail[Q0] = con.wzz - con.mu * along
    tail[Q1] = con.wzz * tail[RHO1] - con.mu * (along * tail[RHO1] + across)
    # where no denominator of the full series is small beside f1
    small = min(abs(g0), abs(g0 + f1), abs(2.0 * g0 + f1))
    tail[KIND] = FALLING if small >= -1e-3 * f1 else RUNNING
    tail[EXPANDED] = 0.0


def expand_tail(series: Any, tail: Any, con: Contact) -> None:
    """Power series in y of gamma = C exp(g0 tau) (u s + t s_perp), y = y0 exp(f1 tau), and of its integrals.

    gamma' = -mu B gamma + r d gives, order by order, (k - 1) f1 t_k = n_k d_perp and
    k f1 u_k = n_k d_par + m t_k, with rho_k = u_k + n_k from rho rho = u u + t t. The integrals divide by
    g0 + k f1 and, for E, by 2 g0 + k f1; f1 < 0 and g0 < -f1, so only the first few could be small.
    """
    g0, f1, m1 = tail[G0], tail[F1], tail[M1]
    along, across = con.dx * tail[SX] + con.dy * tail[SY], con.dy * tail[SX] - con.dx * tail[SY]
    tail[EXPANDED] = 1.0
    per_f1 = 1.0 / f1
    for k in range(ORDER + 1):
        series[SUM, k] = 0.0
    for k in range(ORDER + 1):
        n = 0.5 * series[SUM, k]
        if k == 0:
            u, t = 1.0, 0.0
        elif k == 1:
            u, t = m1 / f1, 1.0
        else:
            t = n * across * per_f1 * INVERSE[k - 1]
            u = (n * along + m1 * t) * per_f1 * INVERSE[k]
        rho = u + n
        inverse = 1.0 / (g0 + k * f1)
        q = con.wzz * rho - con.mu * (along * u + across * t)
        series[U, k], series[T, k], series[RHO, k] = u, t, rho
        series[PU, k], series[PT, k], series[PR, k] = u * inverse, t * inverse, rho * inverse
        series[Q, k], series[QI, k] = q, q * inverse
        for j in range(1, min(k, ORDER + 1 - k)):
            series[SUM, k + j] += 2.0 * (u * series[U, j] + t * series[T, j] - rho * series[RHO, j])
        if 0 < 2 * k <= ORDER:
            series[SUM, 2 * k] += u * u + t * t - rho * rho
    longest = 0.9
    for k in (ORDER - 1, ORDER):
        size = max(abs(series[U, k]), abs(series[T, k]), abs(series[RHO, k]))
        if size * longest**k > TRUNCATION:
            longest = math.exp(math.log(TRUNCATION / size) / k)
    tail[YMAX] = longest
    low, high = horner(series, U, -longest), horner(series, U, longest)
    if not (low > 0.1 and high > 0.1):
        tail[KIND] = NO_TAIL
        return
    tail[TMIN], tail[TMAX] = horner(series, T, -longest) / low, horner(series, T, longest) / high


def expand_tail_energy(series: Any, tail: Any) -> None:
    """The row S: the integral of v_z r's part that is quadratic in the amplitude."""
    for n in range(ORDER + 1):
        total = 0.0
        for j in range(n + 1):
            total += series[QI, j] * series[RHO, n - j]
        series[S, n] = total / (2.0 * tail[G0] + n * tail[F1])
