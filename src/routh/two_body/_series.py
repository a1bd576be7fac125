"""Sliding as a power series in the smooth variable tau, dI_z = r dtau.

With gamma = (x, y) the sliding velocity and r = |gamma|, JW17 (31) times r reads

    gamma' = -mu B gamma + r d,    I_z' = r,    I_perp' = -mu gamma,
    v_z' = W_zz r - mu d.gamma,    E' = -v_z r,

which is linear but for r = |gamma|. Its Taylor coefficients follow from r r = x x + y y.
"""

from __future__ import annotations

import math
from typing import Any

from routh.two_body._layout import (
    EN,
    INVERSE,
    IX,
    IY,
    IZ,
    LOOSEST_TRUNCATION,
    ORDER,
    P_E,
    P_GX,
    P_GY,
    P_JX,
    P_JY,
    P_JZ,
    P_R,
    P_VZ,
    SUM,
    TRUNCATION,
    VZ,
    WORK,
    Contact,
    R,
    X,
    Y,
)


def horner(series: Any, row: int, t: float) -> float:
    """The value of a row's polynomial; even and odd powers apart, for speed."""
    square = t * t
    even, odd = series[row, ORDER], series[row, ORDER - 1]
    for k in range(ORDER - 2, 0, -2):
        even = even * square + series[row, k]
        odd = odd * square + series[row, k - 1]
    return (even * square + series[row, 0]) + odd * t


def horner_both(series: Any, row: int, t: float) -> tuple[float, float]:
    """The value and the derivative of a row's polynomial."""
    value, slope = series[row, ORDER], 0.0
    for k in range(ORDER - 1, -1, -1):
        slope = slope * t + value
        value = value * t + series[row, k]
    return value, slope


def expand(series: Any, con: Contact, x: float, y: float, r: float, vz: float) -> None:
    """Fill the rows of a sliding step that starts at gamma = (x, y); E and impulses start at zero."""
    series[X, 0], series[Y, 0], series[R, 0], series[VZ, 0] = x, y, r, vz
    series[EN, 0], series[IX, 0], series[IY, 0], series[IZ, 0] = 0.0, 0.0, 0.0, 0.0
    mxx, mxy, myy = con.mu * con.wxx, con.mu * con.wxy, con.mu * con.wyy
    mdx, mdy = con.mu * con.dx, con.mu * con.dy
    cx, cy = x / r, y / r
    half = 0.5 / r
    for m in range(ORDER + 1):
        series[SUM, m] = 0.0
        series[WORK, m] = 0.0
    series[WORK, 0] = vz * r
    for m in range(1, ORDER + 1):
        inverse = INVERSE[m]
        xk, yk, rk = series[X, m - 1], series[Y, m - 1], series[R, m - 1]
        xm = (con.dx * rk - mxx * xk - mxy * yk) * inverse
        ym = (con.dy * rk - mxy * xk - myy * yk) * inverse
        vm = (con.wzz * rk - mdx * xk - mdy * yk) * inverse
        # 2 r0 r_m = 2 (x0 x_m + y0 y_m) + sum over 0 < j < m of (x_j x_m-j + y_j y_m-j - r_j r_m-j)
        rm = cx * xm + cy * ym + half * series[SUM, m]
        series[X, m], series[Y, m], series[R, m], series[VZ, m] = xm, ym, rm, vm
        series[IX, m], series[IY, m] = -con.mu * xk * inverse, -con.mu * yk * inverse
        series[IZ, m] = rk * inverse
        series[EN, m] = -series[WORK, m - 1] * inverse
        # the new coefficients' share in the sums to come
        for j in range(1, min(m, ORDER + 1 - m)):
            series[SUM, m + j] += 2.0 * (xm * series[X, j] + ym * series[Y, j] - rm * series[R, j])
            series[WORK, m + j] += vm * series[R, j] + rm * series[VZ, j]
        series[WORK, m] += vm * r + rm * vz
        if 2 * m <= ORDER:
            series[SUM, 2 * m] += xm * xm + ym * ym - rm * rm
            series[WORK, 2 * m] += vm * rm


def step_length(series: Any, con: Contact, energy: float, floor: float, approach: float) -> float:
    """How far in tau the step's series may be trusted.

    Errors of the sliding velocity are measured by its length, or by ``floor`` (m/s) where that is larger;
    those of v_z by ``approach`` (m/s), those of E by ``energy`` (J). E goes with the square of the sliding
    speed, so it converges later.
    """
    r = series[R, 0]
    per_speed, per_energy = 1.0 / min(max(r, floor), r * (LOOSEST_TRUNCATION / TRUNCATION)), 1.0 / energy
    longest = 200.0 / (con.turn_rate + con.mu * (con.wxx + con.wyy))
    for k in (ORDER - 1, ORDER):
        size = max(abs(series[X, k]), abs(series[Y, k]), abs(series[R, k])) * per_speed
        size = max(size, abs(series[EN, k]) * per_energy, abs(series[VZ, k]) / approach)
        if size * longest**k > TRUNCATION:
            longest = math.exp(math.log(TRUNCATION / size) / k)
    return longest


def evaluate_step(series: Any, state: Any, t: float) -> None:
    """All rows of a sliding step at once, into the state's point."""
    x, y, r, vz = series[X, ORDER], series[Y, ORDER], series[R, ORDER], series[VZ, ORDER]
    en, ix, iy, iz = series[EN, ORDER], series[IX, ORDER], series[IY, ORDER], series[IZ, ORDER]
    for k in range(ORDER - 1, -1, -1):
        x = x * t + series[X, k]
        y = y * t + series[Y, k]
        r = r * t + series[R, k]
        vz = vz * t + series[VZ, k]
        en = en * t + series[EN, k]
        ix = ix * t + series[IX, k]
        iy = iy * t + series[IY, k]
        iz = iz * t + series[IZ, k]
    state[P_VZ], state[P_E], state[P_JX], state[P_JY], state[P_JZ] = vz, en, ix, iy, iz
    state[P_GX], state[P_GY], state[P_R] = x, y, r
