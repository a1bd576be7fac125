"""Sliding along an arc of directions, as power series in the tangent of half the angle turned.

With w = tan(angle / 2) from a base direction s, the sliding velocity is gamma = rho n, n = (1 - w^2) s +
2 w s_perp, r = rho (1 + w^2), and JW17 (31) becomes linear with polynomial coefficients:

    P rho' = 2 H rho,   P = n_perp.V,   H = s.V + w s_perp.V,   V = -mu B n + (1 + w^2) d,
    I_z' = q (1 + w^2)^2,   I_perp' = -mu q (1 + w^2) n,   E' = -v_z I_z',   q = 2 rho / P,

P of degree four and H of three. So each coefficient of q follows from the four before it, the integrals from
q, and the series converge up to the nearest root of P, which is an invariant direction or a complex one.

STEP starts at an ordinary direction, and its parameter is x = w / unit:

    I = x sum I_k x^k,   v_z = v_z(0) + x sum v_k x^k.

FALL has a rest direction for its base, where P vanishes: there rho is w^p times a power series, p = g / f',
and one evaluation leads into the origin. With dI_z = r dtau the parameter is i = (exp(g tau) - 1) / g, which
is tau itself as g goes to 0; x = x0 exp(f' tau) and z = (x / x0)^p = 1 + g i. The term k = 0 of the integrals
is i, and no other is singular at p = 0:

    I = amp (i + z sum I_k x^k - begin).
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.two_body import _layout as at
from routh.two_body._layout import ScaledImpact

NOT_FOUND = 1e100  # a parameter beyond every segment's end


def horner(series: Array, kind: int, row: int, x: float) -> float:
    """The value of a row's polynomial; even and odd powers apart, for speed."""
    square = x * x
    even, odd = series[kind, row, at.ORDER], series[kind, row, at.ORDER - 1]
    for k in range(at.ORDER - 2, 0, -2):
        even = even * square + series[kind, row, k]
        odd = odd * square + series[kind, row, k - 1]
    return (even * square + series[kind, row, 0]) + odd * x


def polynomial(arc: Array, kind: int, x: float) -> float:
    """P at x (STEP), or P / x (FALL)."""
    p = arc[kind, at.P3] + x * arc[kind, at.P4]
    return arc[kind, at.P0] + x * (arc[kind, at.P1] + x * (arc[kind, at.P2] + x * p))


def lay_out(arc: Array, kind: int, con: ScaledImpact, sx: float, sy: float, side: float) -> None:
    """The polynomials around the base direction s, with s_perp to its left (side 1) or right (-1)."""
    tx, ty = -side * sy, side * sx
    bx, by = con.mu * (con.wxx * sx + con.wxy * sy), con.mu * (con.wxy * sx + con.wyy * sy)
    uu, ut = sx * bx + sy * by, tx * bx + ty * by
    tt = con.mu * (con.wxx * tx * tx + 2.0 * con.wxy * tx * ty + con.wyy * ty * ty)
    du, dt = con.dx * sx + con.dy * sy, con.dx * tx + con.dy * ty
    arc[kind, at.SX], arc[kind, at.SY], arc[kind, at.SIDE] = sx, sy, side
    arc[kind, at.P0], arc[kind, at.P1] = dt - ut, 2.0 * (uu - du - tt)
    arc[kind, at.P2], arc[kind, at.P3], arc[kind, at.P4] = 6.0 * ut, 2.0 * (tt - uu - du), -dt - ut
    arc[kind, at.H1], arc[kind, at.H2] = 2.0 * (du - uu), 2.0 * (dt - 3.0 * ut)
    arc[kind, at.H3], arc[kind, at.H4] = 2.0 * (du + uu - 2.0 * tt), 2.0 * (dt + ut)
    arc[kind, at.V0], arc[kind, at.V1] = con.wzz - con.mu * du, -2.0 * con.mu * dt
    arc[kind, at.V2] = con.wzz + con.mu * du


def expand(series: Array, arc: Array, kind: int, first: float, shift: float) -> None:
    """Fill the rows of an arc whose q begins with `first`; `shift` is the power of x in front of rho."""
    per = 1.0 / arc[kind, at.P0]
    b1, b2, b3, b4 = arc[kind, at.P1], arc[kind, at.P2], arc[kind, at.P3], arc[kind, at.P4]
    a1, a2 = (arc[kind, at.H1] - shift * b1) * per, (arc[kind, at.H2] - shift * b2) * per
    a3, a4 = (arc[kind, at.H3] - shift * b3) * per, (arc[kind, at.H4] - shift * b4) * per
    b1, b2, b3, b4 = b1 * per, b2 * per, b3 * per, b4 * per
    unit, power = arc[kind, at.UNIT], arc[kind, at.POWER]
    square = unit * unit
    # v_z = W_zz I_z - mu d.(I_s s + I_perp s_perp) by the coefficients of that combination
    zz, zu = 0.5 * (arc[kind, at.V0] + arc[kind, at.V2]), 0.5 * (arc[kind, at.V0] - arc[kind, at.V2])
    zt = 0.5 * arc[kind, at.V1]
    q, q1, q2, q3, q4, s1, s2 = first, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(at.ORDER + 1):
        if k > 0:
            i = at.INVERSE[k]
            older = (a2 * i - b2) * q2 + (a3 * i - b3) * q3 + (a4 * i - b4) * q4
            q = (a1 * i - b1) * q1 + older
        s = q + square * q2  # q (1 + w^2)
        z = s + square * s2
        # the first term of FALL is linear in its parameter, and apart
        inverse = 1.0 / (power + k) if k > 0 else 1.0 - arc[kind, at.LINEAR]
        iz, iu, it = z * inverse, (s - square * s2) * inverse, 2.0 * unit * s1 * inverse
        series[kind, at.Q, k], series[kind, at.Z, k] = q, z
        series[kind, at.IZ, k], series[kind, at.IU, k], series[kind, at.IT, k] = iz, iu, it
        series[kind, at.VZ, k] = zz * iz + zu * iu + zt * it
        q4, q3, q2, q1 = q3, q2, q1, q
        s2, s1 = s1, s
    for k in range(at.ORDER + 1):
        total = 0.0
        for j in range(k + 1):
            total += series[kind, at.VZ, j] * series[kind, at.Z, k - j]
        series[kind, at.EA, k], series[kind, at.EB, k] = 0.0, total * at.INVERSE[k + 2]


def expand_step(series: Array, arc: Array, state: Array, con: ScaledImpact, f: float) -> None:
    """The arc that starts at the sliding velocity, where the direction turns at the rate f."""
    r = state[at.SLIDE]
    lay_out(arc, at.STEP, con, state[at.GX] / r, state[at.GY] / r, 1.0 if f > 0.0 else -1.0)
    first = abs(f)
    largest = max(abs(arc[at.STEP, at.P1]), abs(arc[at.STEP, at.P2]))
    largest = max(largest, max(abs(arc[at.STEP, at.P3]), abs(arc[at.STEP, at.P4])))
    unit = first / max(first, largest)  # no root of P is much nearer
    arc[at.STEP, at.P0] = first
    scale = unit
    for k in range(4):
        arc[at.STEP, at.P1 + k] *= scale
        arc[at.STEP, at.H1 + k] *= scale
        scale *= unit
    arc[at.STEP, at.UNIT], arc[at.STEP, at.POWER], arc[at.STEP, at.LINEAR] = unit, 1.0, 0.0
    arc[at.STEP, at.AMP], arc[at.STEP, at.PACE], arc[at.STEP, at.VZS] = 1.0, 1.0, state[at.VN]
    arc[at.STEP, at.BEGIN_Z], arc[at.STEP, at.BEGIN_U] = 0.0, 0.0
    arc[at.STEP, at.BEGIN_T], arc[at.STEP, at.BEGIN_E] = 0.0, 0.0
    expand(series, arc, at.STEP, 2.0 * r * unit / first, 0.0)


def step_length(series: Array, arc: Array, state: Array, con: ScaledImpact) -> float:
    """How far in x the step's series may be trusted, by their last two coefficients.

    Errors of the sliding velocity are measured by its length, or by FLOOR where that is larger; those of v_z
    and W_zz I_z by the approach velocity, those of E by what that would store.
    """
    r, unit = state[at.SLIDE], arc[at.STEP, at.UNIT]
    speed = min(max(r, state[at.FLOOR]), r * (at.LOOSEST_TRUNCATION / at.TRUNCATION))
    per_speed, per_approach = 0.5 / (unit * speed), -1.0 / state[at.VN0]
    per_energy = con.wzz * per_approach * per_approach
    longest = -math.log(unit)  # a right angle
    for k in (at.ORDER - 1, at.ORDER):
        slid = arc[at.STEP, at.P0] * abs(series[at.STEP, at.Q, k])
        pressed = abs(series[at.STEP, at.IZ, k - 1])
        moved = max(abs(series[at.STEP, at.VZ, k - 1]), con.wzz * pressed)
        stored = abs(state[at.VN]) * pressed + abs(series[at.STEP, at.EB, k - 2])
        size = max(slid * per_speed, max(moved * per_approach, stored * per_energy))
        if size > 0.0:
            longest = min(longest, math.log(at.TRUNCATION / size) * at.INVERSE[k])
    return math.exp(longest)


def expand_fall(series: Array, arc: Array) -> None:
    """The arc that leads into the rest direction, or out of it to infinity; `lay_out` was called with it."""
    g0, f1, v0 = arc[at.FALL, at.G0], arc[at.FALL, at.F1], arc[at.FALL, at.V0]
    power = g0 / f1
    # P has lost its first coefficient, and H its share in the power
    arc[at.FALL, at.P0], arc[at.FALL, at.P1] = 2.0 * f1, arc[at.FALL, at.P2]
    arc[at.FALL, at.P2], arc[at.FALL, at.P3] = arc[at.FALL, at.P3], arc[at.FALL, at.P4]
    arc[at.FALL, at.H1], arc[at.FALL, at.H2] = arc[at.FALL, at.H2], arc[at.FALL, at.H3]
    arc[at.FALL, at.H3], arc[at.FALL, at.H4], arc[at.FALL, at.P4] = arc[at.FALL, at.H4], 0.0, 0.0
    arc[at.FALL, at.UNIT], arc[at.FALL, at.POWER], arc[at.FALL, at.EXPANDED] = 1.0, power, 1.0
    arc[at.FALL, at.LINEAR] = 1.0
    expand(series, arc, at.FALL, 1.0 / f1, power)
    # v_z = VZS + amp (v0 i + z sum v_k x^k): what the first of them adds to the integral of v_z dI_z
    for k in range(1, at.ORDER + 1):
        inverse = 1.0 / (2.0 * power + k)
        bent = series[at.FALL, at.EB, k] * (k + 2.0) * inverse
        series[at.FALL, at.EA, k] = bent - v0 * inverse * series[at.FALL, at.IZ, k] / f1
        series[at.FALL, at.EB, k] = g0 * bent + v0 * inverse * series[at.FALL, at.Z, k]
    series[at.FALL, at.EB, 0] = 0.0


def enter_fall(series: Array, arc: Array, state: Array, con: ScaledImpact, x: float) -> bool:
    """Set up FALL from x = tan(angle / 2) beside the rest direction, if its series reach that far."""
    if arc[at.FALL, at.EXPANDED] == 0.0:
        expand_fall(series, arc)
    q, iz, iu, it, vz, en = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(at.ORDER, -1, -1):
        q = q * x + series[at.FALL, at.Q, k]
        iz = iz * x + series[at.FALL, at.IZ, k]
        iu = iu * x + series[at.FALL, at.IU, k]
        it = it * x + series[at.FALL, at.IT, k]
        vz = vz * x + series[at.FALL, at.VZ, k]
        en = en * x + series[at.FALL, at.EA, k]
    rho = 0.5 * polynomial(arc, at.FALL, x) * q
    if not rho > 0.1:
        return False
    amp = state[at.SLIDE] / ((1.0 + x * x) * rho)
    # the last two terms, measured as in a step, and what cancels where sliding is fast beside v_z
    high = x ** (at.ORDER - 1)
    slid = abs(arc[at.FALL, at.F1]) * high * last_terms(series, at.Q, x)
    moved = amp * (con.wzz * high * last_terms(series, at.IZ, x) + at.CANCELLED * abs(vz))
    stored = amp * amp * (high * last_terms(series, at.EA, x) + at.CANCELLED * abs(en))
    size = max(state[at.ENERGY], state[at.VN0] * state[at.VN0] / con.wzz)
    speed = min(max(1.0, state[at.FLOOR] / state[at.SLIDE]), at.LOOSEST_TRUNCATION / at.TRUNCATION)
    if not (
        slid <= at.TRUNCATION * speed
        and moved <= at.TRUNCATION * max(-state[at.VN0], abs(state[at.VN]))
        and stored <= at.TRUNCATION * size
    ):
        return False
    arc[at.FALL, at.X0], arc[at.FALL, at.AMP] = x, amp
    arc[at.FALL, at.VZS] = state[at.VN] - amp * vz
    arc[at.FALL, at.PACE] = amp * arc[at.FALL, at.F1]
    arc[at.FALL, at.BEGIN_Z], arc[at.FALL, at.BEGIN_U] = iz, iu
    arc[at.FALL, at.BEGIN_T], arc[at.FALL, at.BEGIN_E] = it, en
    return True


def last_terms(series: Array, row: int, x: float) -> float:
    """The size of the last two terms of one of FALL's rows, without the power that they share."""
    return abs(series[at.FALL, row, at.ORDER]) * x + abs(series[at.FALL, row, at.ORDER - 1])


def coordinates(arc: Array, kind: int, p: float) -> tuple[float, float]:
    """x, and what multiplies the series of the integrals, at the segment's parameter p."""
    if kind == at.STEP:
        return p, p
    product = arc[kind, at.G0] * p
    if product <= -1.0:
        return 0.0, 0.0
    tau = math.log1p(product) / arc[kind, at.G0] if abs(product) > 1e-12 else p
    return arc[kind, at.X0] * math.exp(arc[kind, at.F1] * tau), 1.0 + product


def parameter(arc: Array, kind: int, w: float) -> float:
    """The segment's parameter at which the tangent of half the angle from its base is w."""
    if not w > 0.0:
        return NOT_FOUND
    if kind == at.STEP:
        return w / arc[kind, at.UNIT]
    share = w / arc[kind, at.X0]
    if not share < 1.0:
        return NOT_FOUND
    tau = math.log(share) / arc[kind, at.F1]
    product = arc[kind, at.G0] * tau
    return math.expm1(product) / arc[kind, at.G0] if abs(product) > 1e-12 else tau


def half_tangent(arc: Array, kind: int, x: float, y: float, length: float) -> float:
    """tan(angle / 2) from the arc's base direction to the vector (x, y), positive on the arc's side."""
    sx, sy = arc[kind, at.SX], arc[kind, at.SY]
    bottom = length + sx * x + sy * y
    return arc[kind, at.SIDE] * (sx * y - sy * x) / bottom if bottom > 0.0 else NOT_FOUND


def arc_value(series: Array, arc: Array, kind: int, what: int, p: float) -> tuple[float, float]:
    """VELOCITY, WORK or PRESS at the segment's parameter p, and its derivative by p."""
    x, z = coordinates(arc, kind, p)
    amp, start, pace = arc[kind, at.AMP], arc[kind, at.VZS], arc[kind, at.PACE]
    linear, v0 = arc[kind, at.LINEAR] * p, arc[kind, at.V0]
    if what == at.VELOCITY:
        w = x * arc[kind, at.UNIT]
        turn = (1.0 + w * w) * (v0 + w * (arc[kind, at.V1] + w * arc[kind, at.V2]))
        vz = start + amp * (linear * v0 + z * horner(series, kind, at.VZ, x))
        return vz, pace * horner(series, kind, at.Q, x) * turn
    pressed = amp * (linear + z * horner(series, kind, at.IZ, x) - arc[kind, at.BEGIN_Z])
    rate = pace * horner(series, kind, at.Z, x)
    if what == at.PRESS:
        return pressed, rate
    vz = start + amp * (linear * v0 + z * horner(series, kind, at.VZ, x))
    bent = z * (horner(series, kind, at.EA, x) + p * horner(series, kind, at.EB, x))
    bent += 0.5 * v0 * linear * linear - arc[kind, at.BEGIN_E]
    return -start * pressed - amp * amp * bent, -vz * rate


def evaluate_arc(series: Array, arc: Array, state: Array, con: ScaledImpact, kind: int, p: float) -> None:
    """Everything at the segment's parameter p, into the state's point."""
    x, z = coordinates(arc, kind, p)
    q, iz, iu, it, ea, eb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(at.ORDER, -1, -1):
        q = q * x + series[kind, at.Q, k]
        iz = iz * x + series[kind, at.IZ, k]
        iu = iu * x + series[kind, at.IU, k]
        it = it * x + series[kind, at.IT, k]
        ea = ea * x + series[kind, at.EA, k]
        eb = eb * x + series[kind, at.EB, k]
    amp, start, v0 = arc[kind, at.AMP], arc[kind, at.VZS], arc[kind, at.V0]
    w, linear = x * arc[kind, at.UNIT], arc[kind, at.LINEAR] * p
    vz = con.wzz * iz + 0.5 * ((v0 - arc[kind, at.V2]) * iu + arc[kind, at.V1] * it)
    weight = z if kind == at.FALL else 1.0 / arc[kind, at.UNIT]
    rho = 0.5 * amp * weight * polynomial(arc, kind, x) * q
    pressed = amp * (linear + z * iz - arc[kind, at.BEGIN_Z])
    bent = z * (ea + p * eb) + 0.5 * v0 * linear * linear - arc[kind, at.BEGIN_E]
    state[at.P_VZ] = start + amp * (linear * v0 + z * vz)
    state[at.P_JZ], state[at.P_E] = pressed, -start * pressed - amp * amp * bent
    along = amp * (linear + z * iu - arc[kind, at.BEGIN_U])
    across = amp * (z * it - arc[kind, at.BEGIN_T])
    u, t = rho * (1.0 - w * w), rho * 2.0 * w
    # components along and across the base direction, turned
    sx, sy = arc[kind, at.SX], arc[kind, at.SY]
    tx, ty = -arc[kind, at.SIDE] * sy, arc[kind, at.SIDE] * sx
    state[at.P_JX] = -con.mu * (along * sx + across * tx)
    state[at.P_JY] = -con.mu * (along * sy + across * ty)
    state[at.P_GX], state[at.P_GY] = u * sx + t * tx, u * sy + t * ty
    state[at.P_R] = math.sqrt(u * u + t * t)


def growth_sign(arc: Array, kind: int, x: float) -> float:
    """Value of (1 + w^2) H + w P at x, whose sign is that of g: whether the sliding speed grows."""
    unit, p = arc[kind, at.UNIT], polynomial(arc, kind, x)
    h = arc[kind, at.H1] + x * (arc[kind, at.H2] + x * (arc[kind, at.H3] + x * arc[kind, at.H4]))
    if kind == at.FALL:
        h, p = 2.0 * arc[kind, at.G0] + x * h, x * p
    w = x * unit
    return (1.0 + w * w) * 0.5 * h / unit + w * p


def near_miss_at(series: Array, arc: Array, state: Array, kind: int, end: float) -> float:
    """Place on an arc at which the sliding speed passes a minimum that is nearly zero, or beyond its end."""
    if state[at.MISSED] > 0.0 or not arc[at.FALL, at.G0] > 0.0:
        return NOT_FOUND
    low, _ = coordinates(arc, kind, 0.0)
    high, _ = coordinates(arc, kind, end)
    if not growth_sign(arc, kind, low) < 0.0 < growth_sign(arc, kind, high):
        return NOT_FOUND
    for _ in range(40):
        middle = 0.5 * (low + high)
        if growth_sign(arc, kind, middle) < 0.0:
            low = middle
        else:
            high = middle
    w = high * arc[kind, at.UNIT]
    found = parameter(arc, kind, w)
    _, z = coordinates(arc, kind, found)
    weight = arc[kind, at.AMP] * z if kind == at.FALL else 1.0 / arc[kind, at.UNIT]
    rho = 0.5 * weight * polynomial(arc, kind, high) * horner(series, kind, at.Q, high)
    return found if rho * (1.0 + w * w) < at.VANISHED_SHARE * state[at.SLIDE0] else NOT_FOUND
