"""The events of an impact: where a segment has one, which letter it is, and the phase that follows."""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.two_body import _layout as at
from routh.two_body._arc import arc_value, evaluate_arc, lay_out
from routh.two_body._layout import ScaledImpact

# Rest directions of the sliding direction (JW17's invariant directions): the next, the centrifugal one.


def direction_rates(con: ScaledImpact, sx: float, sy: float) -> tuple[float, float, float]:
    """f, g and f' at the unit vector s: theta' = f, (ln r)' = g, with f' = -g - mu s_perp.B s_perp."""
    fx = con.dx - con.mu * (con.wxx * sx + con.wxy * sy)
    fy = con.dy - con.mu * (con.wxy * sx + con.wyy * sy)
    g = sx * fx + sy * fy
    across = con.mu * (con.wxx * sy * sy - 2.0 * con.wxy * sx * sy + con.wyy * sx * sx)
    return sx * fy - sy * fx, g, -g - across


def rest_ahead(con: ScaledImpact, sx: float, sy: float) -> tuple[float, float, bool]:
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


def centrifugal(con: ScaledImpact) -> tuple[float, float]:
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


def find_tail(arc: Array, con: ScaledImpact, sx: float, sy: float, f: float) -> None:
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


# The three kinds of segment that an impact consists of: their normal velocity, energy and impulse.
#
# STEP and FALL: an arc of directions, see `_arc`. LINE: straight in impulse space, its parameter is I_z.


def value_of(series: Array, arc: Array, state: Array, kind: int, what: int, p: float) -> tuple[float, float]:
    """VELOCITY, WORK or PRESS at the segment's parameter p, and its derivative by p."""
    if kind != at.LINE:
        return arc_value(series, arc, kind, what, p)
    vz, rate = state[at.VN], state[at.RATE]
    if what == at.VELOCITY:
        return vz + rate * p, rate
    if what == at.WORK:
        return -p * (vz + 0.5 * rate * p), -vz - rate * p
    return p, 1.0


def evaluate(series: Array, arc: Array, state: Array, con: ScaledImpact, kind: int, p: float) -> None:
    """Everything at the segment's parameter p, into the state's point."""
    if kind != at.LINE:
        evaluate_arc(series, arc, state, con, kind, p)
        return
    state[at.P_VZ] = state[at.VN] + state[at.RATE] * p
    state[at.P_E] = -p * (state[at.VN] + 0.5 * state[at.RATE] * p)
    state[at.P_JX], state[at.P_JY], state[at.P_JZ] = p * state[at.SIGX], p * state[at.SIGY], p
    after = max(state[at.SLIDE] + state[at.DRIFT] * p, 0.0)  # JW17 (32)
    ratio = after / state[at.SLIDE] if state[at.SLIDE] > 0.0 else 0.0
    state[at.P_GX], state[at.P_GY], state[at.P_R] = state[at.GX] * ratio, state[at.GY] * ratio, after


def line_crossing(state: Array, what: int, target: float) -> float:
    """Place at which a quantity crosses the target on a LINE: there v_z is linear and E quadratic."""
    rate, vz = state[at.RATE], state[at.VN]
    if what == at.VELOCITY:
        return (target - vz) / rate
    if what == at.PRESS:
        return target
    root = math.sqrt(max(vz * vz - 2.0 * rate * target, 0.0))
    if vz < 0.0:
        return (root - vz) / rate
    return -2.0 * target / (vz + root) if target < 0.0 else 0.0


def crossing(
    series: Array,
    arc: Array,
    state: Array,
    kind: int,
    what: int,
    target: float,
    low: float,
    high: float,
    at_high: float,
) -> float:
    """Find where a quantity monotone from ``low`` (FROM) to ``high`` (``at_high``) crosses the target.

    Newton's method kept in its bracket; it stops when the step after next would be rounding.
    """
    at_low = state[at.FROM_VZ + what]
    if kind == at.LINE:
        return min(max(line_crossing(state, what, target), low), high)
    rising = at_high > at_low
    length = high - low
    if at_high == at_low:
        return high
    share = min(max((target - at_low) / (at_high - at_low), 0.0), 1.0)
    if what == at.WORK and state[at.FROM_VZ] == 0.0:
        share = math.sqrt(share)  # E begins with a parabola
    p = low + length * share
    for _ in range(100):
        value, slope = value_of(series, arc, state, kind, what, p)
        gap = value - target
        if gap == 0.0:
            return p
        if (gap > 0.0) == rising:
            high = p
        else:
            low = p
        following = p - gap / slope if slope != 0.0 else low
        move = abs(following - p)
        if move <= 1e-7 * length and move <= 1e-7 * abs(following):
            return min(max(following, low), high)
        if not low < following < high:
            following = 0.5 * (low + high)
            if not low < following < high:
                return p
        p = following
    return p


def record(state: Array, letter: int) -> None:
    """Append an event's letter to the record."""
    if state[at.COUNT] < at.MAX_EVENTS:
        state[at.EVENTS] = state[at.EVENTS] * 8.0 + letter
        state[at.COUNT] += 1.0


def next_event(
    series: Array, arc: Array, state: Array, con: ScaledImpact, kind: int, start: float, end: float
) -> tuple[float, int]:
    """The first event after `start` on a segment where v_z is monotone: (where, letter), or (end, 0).

    The state's FROM and TO are v_z, E and I_z since the segment's start, at `start` and at `end`.
    """
    vz = state[at.TO_VZ]
    if state[at.PHASE] == at.COMPRESSION:
        if not vz >= 0.0:
            return end, 0
        return crossing(series, arc, state, kind, at.VELOCITY, 0.0, start, end, vz), at.END_COMPRESSION
    gained, impulse = state[at.TO_E], state[at.TO_JZ]
    turned = vz < 0.0
    if turned:
        end = crossing(series, arc, state, kind, at.VELOCITY, 0.0, start, end, vz)
        gained, _ = value_of(series, arc, state, kind, at.WORK, end)
        impulse, _ = value_of(series, arc, state, kind, at.PRESS, end)
    if con.hypothesis == at.ENERGETIC:
        if state[at.ENERGY] + gained <= 0.0:
            return crossing(series, arc, state, kind, at.WORK, -state[at.ENERGY], start, end, gained), at.END
    elif con.hypothesis == at.POISSON:
        due = con.e * state[at.SQUEEZED] - state[at.RELEASED] + state[at.FROM_JZ]
        if impulse >= due:
            return crossing(series, arc, state, kind, at.PRESS, due, start, end, impulse), at.END
    elif not turned:
        wanted = -con.e * state[at.VN0]
        if vz >= wanted:
            return crossing(series, arc, state, kind, at.VELOCITY, wanted, start, end, vz), at.END
    return end, at.COMPRESSED_AGAIN if turned else 0


def account(state: Array, gained: float, impulse: float) -> None:
    """Book the energy and the normal impulse of a stretch within one phase."""
    if state[at.PHASE] == at.COMPRESSION:
        state[at.STORED] += gained
        state[at.SQUEEZED] += impulse
    else:
        state[at.RETURNED] -= gained
        state[at.RELEASED] += impulse


def enter_phase(state: Array, con: ScaledImpact, letter: int, stored: float) -> None:
    """Record an event and enter the phase that it begins; `stored` is E there."""
    record(state, letter)
    if letter == at.END_COMPRESSION:
        state[at.PHASE] = at.RESTITUTION
        state[at.LEFT] = stored
        if con.hypothesis == at.ENERGETIC and state[at.LOSSES] == 0.0:
            state[at.LEFT] = con.e * con.e * stored  # JW17, section 2.2, step 3
            state[at.ENERGY] -= stored - state[at.LEFT]
        state[at.LOSSES] += 1.0
        if con.e == 0.0 or (
            con.hypothesis == at.POISSON and con.e * state[at.SQUEEZED] <= state[at.RELEASED]
        ):
            record(state, at.END)
            state[at.PHASE] = at.DONE
    elif letter == at.COMPRESSED_AGAIN:
        state[at.PHASE] = at.COMPRESSION
    else:
        state[at.PHASE] = at.DONE


def line_end(state: Array, con: ScaledImpact) -> float:
    """An impulse within which an impact on a line with rising v_z has certainly ended."""
    rate, vz = state[at.RATE], state[at.VN]
    stored = state[at.ENERGY] + (vz * vz / (2.0 * rate) if vz < 0.0 else 0.0)
    end = (abs(vz) + math.sqrt(vz * vz + 2.0 * rate * max(stored, 0.0))) / rate
    if con.hypothesis == at.NEWTON:
        end = (abs(vz) + con.e * abs(state[at.VN0])) / rate
    elif con.hypothesis == at.POISSON:
        end = max(-vz, 0.0) / rate
        end += con.e * (state[at.SQUEEZED] + end)
    return 2.0 * end
