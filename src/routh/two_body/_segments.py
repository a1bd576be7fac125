"""The four kinds of segment that an impact consists of: their normal velocity, energy and impulse.

STEP: a power series in tau. FALL: all the way along a rest direction, into the origin or away from it, in
zeta = |1 - exp(g0 tau)|. RUN: the same where exp(g0 tau) hardly changes (or another exponent nearly
vanishes), to first order in the distance from the direction, in iota = (exp(g0 tau) - 1) / g0. LINE: straight
in impulse space, in I_z.
"""

from __future__ import annotations

import math
from typing import Any

from routh.two_body._layout import (
    AMP,
    DRIFT,
    EN,
    ENERGY,
    F1,
    FALL,
    G0,
    GX,
    GY,
    IZ,
    ORDER,
    P_E,
    P_GX,
    P_GY,
    P_JX,
    P_JY,
    P_JZ,
    P_R,
    P_VZ,
    PR,
    PR0,
    PT,
    PT0,
    PU,
    PU0,
    Q0,
    Q1,
    QI,
    RATE,
    RHO,
    RHO1,
    RUN,
    S0,
    SIGX,
    SIGY,
    SLIDE,
    STEP,
    SX,
    SY,
    VN,
    VZ,
    VZS,
    Y0,
    Contact,
    Q,
    S,
    T,
    U,
)
from routh.two_body._series import evaluate_step, horner, horner_both


def growth(rate: float, time: float) -> float:
    """The integral of exp(rate t) from 0 to time."""
    product = rate * time
    if abs(product) < 1e-12:
        return time * (1.0 + 0.5 * product)
    return math.expm1(product) / rate


def run_basis(tail: Any, iota: float) -> tuple[float, float, float, float]:
    """exp(a0 tau), exp(a1 tau), the latter's integral, and J = int iota exp(a1 tau) dtau (RUN)."""
    a0 = tail[G0]
    a1 = a0 + tail[F1]
    product = a0 * iota
    if abs(product) < 1e-12:
        time = iota * (1.0 - 0.5 * product)
    else:
        time = math.log1p(product) / a0
    first, second = math.exp(a0 * time), math.exp(a1 * time)
    grown = growth(a1, time)
    if abs(a1) >= abs(a0):
        mixed = (iota * second - growth(a0 + a1, time)) / a1
    else:
        mixed = (growth(a0 + a1, time) - grown) / a0
    return first, second, grown, mixed


def fall_coordinates(tail: Any, p: float) -> tuple[float, float]:
    """exp(g0 tau) and y at FALL's parameter."""
    z = 1.0 - p if tail[G0] < 0.0 else 1.0 + p
    return z, tail[Y0] * z ** (tail[F1] / tail[G0])


def normal_velocity(series: Any, tail: Any, state: Any, kind: int, p: float) -> tuple[float, float]:
    """v_z at the segment's parameter p, and its derivative by p."""
    if kind == STEP:
        return horner_both(series, VZ, p)
    if kind == FALL:
        z, y = fall_coordinates(tail, p)
        value = tail[VZS] + tail[AMP] * z * horner(series, QI, y)
        return value, tail[AMP] * horner(series, Q, y) / abs(tail[G0])
    if kind == RUN:
        first, second, grown, _ = run_basis(tail, p)
        bend = tail[Q1] * tail[Y0]
        value = state[VN] + tail[AMP] * (tail[Q0] * p + bend * grown)
        return value, tail[AMP] * (tail[Q0] + bend * second / first)
    return state[VN] + state[RATE] * p, state[RATE]


def energy(series: Any, tail: Any, state: Any, kind: int, p: float) -> tuple[float, float]:
    """E at the segment's parameter p, and its derivative by p."""
    if kind == STEP:
        value, slope = horner_both(series, EN, p)
        return state[ENERGY] + value, slope
    vz, _ = normal_velocity(series, tail, state, kind, p)
    if kind == FALL:
        z, y = fall_coordinates(tail, p)
        impulse = tail[AMP] * (z * horner(series, PR, y) - tail[PR0])
        bent = z * z * horner(series, S, y) - tail[S0]
        value = state[ENERGY] - tail[VZS] * impulse - tail[AMP] * tail[AMP] * bent
        return value, -vz * tail[AMP] * horner(series, RHO, y) / abs(tail[G0])
    if kind == RUN:
        first, second, grown, mixed = run_basis(tail, p)
        bend = tail[Y0] * tail[RHO1]
        value = state[ENERGY] + run_energy(tail, state, p, grown, mixed)
        return value, -vz * tail[AMP] * (1.0 + bend * second / first)
    return state[ENERGY] - p * (state[VN] + 0.5 * state[RATE] * p), -vz


def run_energy(tail: Any, state: Any, p: float, grown: float, mixed: float) -> float:
    """E gained in RUN since its start."""
    y0, rho1 = tail[Y0], tail[RHO1]
    impulse = tail[AMP] * (p + rho1 * y0 * grown)
    bent = 0.5 * tail[Q0] * p * p + y0 * (tail[Q0] * rho1 * mixed + tail[Q1] * (p * grown - mixed))
    return -state[VN] * impulse - tail[AMP] * tail[AMP] * bent


def normal_impulse(series: Any, tail: Any, kind: int, p: float) -> tuple[float, float]:
    """I_z since the segment's start at its parameter p, and its derivative by p."""
    if kind == STEP:
        return horner_both(series, IZ, p)
    if kind == FALL:
        z, y = fall_coordinates(tail, p)
        value = tail[AMP] * (z * horner(series, PR, y) - tail[PR0])
        return value, tail[AMP] * horner(series, RHO, y) / abs(tail[G0])
    if kind == RUN:
        first, second, grown, _ = run_basis(tail, p)
        bend = tail[RHO1] * tail[Y0]
        return tail[AMP] * (p + bend * grown), tail[AMP] * (1.0 + bend * second / first)
    return p, 1.0


def evaluate(series: Any, tail: Any, state: Any, con: Contact, kind: int, p: float) -> None:
    """Everything at the segment's parameter p, into the state's point."""
    if kind == STEP:
        evaluate_step(series, state, p)
    elif kind == FALL:
        evaluate_fall(series, tail, state, con, p)
    elif kind == RUN:
        first, second, grown, mixed = run_basis(tail, p)
        amp, y0, rho1 = tail[AMP], tail[Y0], tail[RHO1]
        state[P_VZ] = state[VN] + amp * (tail[Q0] * p + tail[Q1] * y0 * grown)
        state[P_E] = run_energy(tail, state, p, grown, mixed)
        iz = amp * (p + rho1 * y0 * grown)
        place(tail, state, con, iz, amp * y0 * grown, amp * (first + rho1 * y0 * second), amp * y0 * second)
        state[P_JZ] = iz
    else:
        state[P_VZ] = state[VN] + state[RATE] * p
        state[P_E] = -p * (state[VN] + 0.5 * state[RATE] * p)
        state[P_JX], state[P_JY], state[P_JZ] = p * state[SIGX], p * state[SIGY], p
        after = max(state[SLIDE] + state[DRIFT] * p, 0.0)  # JW17 (32)
        ratio = after / state[SLIDE] if state[SLIDE] > 0.0 else 0.0
        state[P_GX], state[P_GY], state[P_R] = state[GX] * ratio, state[GY] * ratio, after


def evaluate_fall(series: Any, tail: Any, state: Any, con: Contact, p: float) -> None:
    """FALL at its parameter p; at its end only what was stored at its start is left."""
    z, y = fall_coordinates(tail, p)
    amp = tail[AMP]
    u, t, qi, s = 0.0, 0.0, 0.0, 0.0
    iu, it, ir = 0.0, 0.0, 0.0
    if z > 0.0:
        for k in range(ORDER, -1, -1):
            u = u * y + series[U, k]
            t = t * y + series[T, k]
            qi = qi * y + series[QI, k]
            s = s * y + series[S, k]
            iu = iu * y + series[PU, k]
            it = it * y + series[PT, k]
            ir = ir * y + series[PR, k]
    state[P_VZ] = tail[VZS] + amp * z * qi
    state[P_JZ] = amp * (z * ir - tail[PR0])
    state[P_E] = -tail[VZS] * state[P_JZ] - amp * amp * (z * z * s - tail[S0])
    place(tail, state, con, amp * (z * iu - tail[PU0]), amp * (z * it - tail[PT0]), amp * z * u, amp * z * t)


def place(tail: Any, state: Any, con: Contact, iu: float, it: float, u: float, t: float) -> None:
    """Turn components along and across the rest direction into the point's impulse and sliding velocity."""
    sx, sy = tail[SX], tail[SY]
    state[P_JX], state[P_JY] = -con.mu * (iu * sx - it * sy), -con.mu * (iu * sy + it * sx)
    state[P_GX], state[P_GY] = u * sx - t * sy, u * sy + t * sx
    state[P_R] = math.sqrt(u * u + t * t)
