"""One impact from beginning to end: choose a segment, find its first event, move there, repeat."""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.two_body import _layout as at
from routh.two_body._arc import (
    NOT_FOUND,
    enter_fall,
    expand_step,
    half_tangent,
    near_miss_at,
    parameter,
    step_length,
)
from routh.two_body._events import (
    account,
    centrifugal,
    direction_rates,
    enter_phase,
    evaluate,
    find_tail,
    line_end,
    next_event,
    record,
)
from routh.two_body._layout import ScaledImpact

#: Below this the energy left after compression is small beside its rounding: the series starts afresh there.
SMALL_RESTITUTION = 1e-3
#: Friction below this is none: its quotients would overflow.
NO_FRICTION = 1e-100
#: Half-angle tangent from the rest direction beyond which FALL is not tried.
FALL_WITHIN = 0.8


def make_contact(w: Array, scale: float, mu: float, e: float, hypothesis: int, near: float) -> ScaledImpact:
    """The contact with the directions at which v_z' = W_zz - mu d.s changes sign, where (18) is violated.

    ``w`` is JW17's W (3, 3), to be multiplied by ``scale``.
    """
    wxx, wxy, wyy = w[0, 0] * scale, w[0, 1] * scale, w[1, 1] * scale
    dx, dy, wzz = w[0, 2] * scale, w[1, 2] * scale, w[2, 2] * scale
    d = math.sqrt(dx * dx + dy * dy)
    spread = math.sqrt((wxx - wyy) * (wxx - wyy) + 4.0 * wxy * wxy)
    turns = mu * d > wzz
    ax, ay, bx, by = 0.0, 0.0, 0.0, 0.0
    if turns:
        c = wzz / (mu * d)
        s = math.sqrt(1.0 - c * c)
        ux, uy = dx / d, dy / d
        ax, ay, bx, by = c * ux - s * uy, s * ux + c * uy, c * ux + s * uy, c * uy - s * ux
    rate = 2.0 * mu * spread + d
    return ScaledImpact(wxx, wxy, wyy, dx, dy, wzz, mu, e, hypothesis, rate, turns, ax, ay, bx, by, near)


def vanish(state: Array, con: ScaledImpact) -> None:
    """The sliding velocity is zero: stick, or resume slip along the centrifugal direction, JW17 (38)."""
    if state[at.MISSED] == 0.0:
        record(state, at.VANISHED)
    state[at.GX], state[at.GY], state[at.SLIDE], state[at.MODE] = 0.0, 0.0, 0.0, at.ON_LINE
    kx, ky = sticking_force(con)
    if kx * kx + ky * ky <= con.mu * con.mu:
        state[at.SIGX], state[at.SIGY] = -kx, -ky
    else:
        sx, sy = centrifugal(con)
        state[at.SIGX], state[at.SIGY] = -con.mu * sx, -con.mu * sy
        _, drift, _ = direction_rates(con, sx, sy)
        state[at.DRIFT] = drift
        state[at.GX], state[at.GY] = sx, sy  # the direction of the sliding to come
    state[at.RATE] = con.wzz + con.dx * state[at.SIGX] + con.dy * state[at.SIGY]


def sticking_force(con: ScaledImpact) -> tuple[float, float]:
    """B^-1 d by elimination from the larger diagonal entry: its residual is rounding, however B is."""
    if con.wxx >= con.wyy:
        share = con.wxy / con.wxx
        ky = (con.dy - share * con.dx) / (con.wyy - share * con.wxy)
        return (con.dx - con.wxy * ky) / con.wxx, ky
    share = con.wxy / con.wyy
    kx = (con.dx - share * con.dy) / (con.wxx - share * con.wxy)
    return kx, (con.dy - con.wxy * kx) / con.wyy


def enter_line(state: Array, con: ScaledImpact, sx: float, sy: float, g: float) -> float:
    """Slide straight along a rest direction, JW17 (43): the normal impulse that leads to the origin."""
    state[at.SIGX], state[at.SIGY] = -con.mu * sx, -con.mu * sy
    state[at.RATE] = con.wzz - con.mu * (con.dx * sx + con.dy * sy)
    state[at.DRIFT] = g
    return -state[at.SLIDE] / g if g < 0.0 else 2.0 * NOT_FOUND


def sure_end(state: Array, con: ScaledImpact) -> float:
    """Normal impulse by which an impact along a line has ended; v_z falls only on the way to the origin."""
    return line_end(state, con) if state[at.RATE] > 0.0 else NOT_FOUND


def lined_up_at(arc: Array, state: Array, con: ScaledImpact, kind: int) -> float:
    """Place in the segment at which event l happens, or beyond its end (see EVENT_TOLERANCE)."""
    if state[at.LINED] > 0.0 or not state[at.SLIDE] > at.VANISHED_SHARE * state[at.SLIDE0]:
        return NOT_FOUND
    if kind == at.LINE:
        return 0.0
    here, wanted = half_tangent(arc, at.FALL, state[at.GX], state[at.GY], state[at.SLIDE]), 0.5 * con.near
    if abs(here) <= wanted:
        return 0.0
    if kind == at.STEP:
        return parameter(arc, kind, (here - wanted) / (1.0 + here * wanted))
    found = parameter(arc, kind, wanted)
    left = arc[kind, at.AMP] * (1.0 + arc[kind, at.G0] * found)
    return found if left > at.VANISHED_SHARE * state[at.SLIDE0] else NOT_FOUND


def turning_end(
    series: Array, arc: Array, state: Array, con: ScaledImpact, kind: int, end: float
) -> tuple[float, int]:
    """Shorten an arc to where v_z' changes sign: (its end, which of the two directions or 0).

    The state's point is at the end of the segment, and is moved with it.
    """
    which = 0
    for side in range(2):
        if state[at.TURNED + side] == 0.0:
            x, y = (con.ax, con.ay) if side == 0 else (con.bx, con.by)
            found = parameter(arc, kind, half_tangent(arc, kind, x, y, 1.0))
            if found < end:
                end, which = found, 1 + side
    if which > 0:
        evaluate(series, arc, state, con, kind, end)
    return end, which


def choose_segment(series: Array, arc: Array, state: Array, con: ScaledImpact) -> tuple[int, float, bool]:
    """The segment that starts here: its kind, its end in its own parameter, whether that is the origin."""
    if state[at.MODE] == at.ON_LINE:
        return at.LINE, line_end(state, con), False
    r = state[at.SLIDE]
    sx, sy = state[at.GX] / r, state[at.GY] / r
    f, g, slope = direction_rates(con, sx, sy)
    scale = con.turn_rate + con.mu * (con.wxx + con.wyy)
    if abs(f) <= 2e-16 * scale or abs(f) <= 1e-13 * slope:
        # a rest direction; off an unstable one, r times the angle only falls, so a line it stays
        reach = enter_line(state, con, sx, sy, g)
        end = sure_end(state, con)
        return (at.LINE, reach, True) if reach <= end else (at.LINE, end, False)
    if arc[at.FALL, at.KIND] == at.UNKNOWN:
        find_tail(arc, con, sx, sy, f)
        if state[at.LINED] == 0.0 and abs(f) <= con.near * abs(slope):  # beside a rest direction already
            state[at.LINED] = 1.0
            record(state, at.LINED_UP)
    w = half_tangent(arc, at.FALL, state[at.GX], state[at.GY], r)
    near = 0.0 < w < FALL_WITHIN and state[at.FORCE_STEP] == 0.0
    if near and arc[at.FALL, at.KIND] == at.FALLING and enter_fall(series, arc, state, con, w):
        state[at.RATE] = arc[at.FALL, at.V0]
        # the rate at which v_z rises is V0 once the direction has arrived, which takes some 1 / |f'|
        g0, arrived = arc[at.FALL, at.G0], -5.0 / arc[at.FALL, at.F1]
        end = arrived + sure_end(state, con) / arc[at.FALL, at.AMP]
        if g0 < 0.0 and -1.0 / g0 <= end:
            return at.FALL, -1.0 / g0, True
        return at.FALL, end, False
    state[at.FORCE_STEP] = 0.0
    expand_step(series, arc, state, con, f)
    return at.STEP, step_length(series, arc, state, con), False


def negligible(arc: Array, state: Array, con: ScaledImpact) -> bool:
    """Whether the way left to the origin is below rounding, here and along the rest direction ahead."""
    r = state[at.SLIDE]
    _, g, _ = direction_rates(con, state[at.GX] / r, state[at.GY] / r)
    if arc[at.FALL, at.KIND] != at.UNKNOWN and arc[at.FALL, at.G0] < 0.0:
        g = max(g, arc[at.FALL, at.G0])
    return g < 0.0 and r < -1e-15 * g * (state[at.JZ] + abs(state[at.VN0]) / con.wzz)


def note_near_events(state: Array, here: float, line_up: float, miss: float) -> None:
    """Record the events l and s that are declared by tolerance, where they come before `here`."""
    if state[at.LINED] == 0.0 and line_up <= here and line_up <= miss:
        state[at.LINED] = 1.0
        record(state, at.LINED_UP)
    if state[at.MISSED] == 0.0 and miss <= here:
        state[at.MISSED], state[at.LINED] = 1.0, 1.0  # l would have to come before s
        record(state, at.VANISHED)


def run_segment(series: Array, arc: Array, state: Array, con: ScaledImpact) -> tuple[int, float]:
    """Take one segment to its end, or to an event that asks for a new start: its kind, where it ended."""
    kind, end, origin = choose_segment(series, arc, state, con)
    turn = 0
    evaluate(series, arc, state, con, kind, end)
    if con.turns and kind != at.LINE:
        end, turn = turning_end(series, arc, state, con, kind, end)
    line_up = miss = NOT_FOUND
    if state[at.MODE] != at.ON_LINE:
        line_up = lined_up_at(arc, state, con, kind)
        if kind != at.LINE:
            miss = near_miss_at(series, arc, state, kind, end)
    state[at.FROM_VZ], state[at.FROM_E], state[at.FROM_JZ] = state[at.VN], 0.0, 0.0
    state[at.TO_VZ], state[at.TO_E], state[at.TO_JZ] = state[at.P_VZ], state[at.P_E], state[at.P_JZ]
    here, letter = 0.0, 0
    for _ in range(at.MAX_SEGMENTS):
        here, letter = next_event(series, arc, state, con, kind, here, end)
        note_near_events(state, here, line_up, miss)
        if letter == 0:
            break
        evaluate(series, arc, state, con, kind, here)
        account(state, state[at.P_E] - state[at.FROM_E], state[at.P_JZ] - state[at.FROM_JZ])
        state[at.FROM_VZ], state[at.FROM_E], state[at.FROM_JZ] = 0.0, state[at.P_E], state[at.P_JZ]
        enter_phase(state, con, letter, state[at.ENERGY] + state[at.P_E])
        if state[at.PHASE] == at.DONE or con.e < SMALL_RESTITUTION:
            break
    else:
        state[at.PHASE] = NOT_FOUND  # cannot happen: v_z is monotone on a segment
    if letter == 0:
        if state[at.P_JZ] != state[at.TO_JZ]:
            evaluate(series, arc, state, con, kind, end)
        account(state, state[at.P_E] - state[at.FROM_E], state[at.P_JZ] - state[at.FROM_JZ])
    commit(state, letter)
    if letter != 0:
        state[at.FORCE_STEP] = 1.0
    elif turn > 0:
        state[at.TURNED + turn - 1] = 1.0
    elif origin or (state[at.MODE] != at.ON_LINE and negligible(arc, state, con)):
        vanish(state, con)
    return kind, here


def commit(state: Array, letter: int) -> None:
    """Move to the point last evaluated."""
    state[at.JX] += state[at.P_JX]
    state[at.JY] += state[at.P_JY]
    state[at.JZ] += state[at.P_JZ]
    # at the end of compression E is known better than the difference of two large numbers tells
    state[at.ENERGY] = state[at.LEFT] if letter == at.END_COMPRESSION else state[at.ENERGY] + state[at.P_E]
    state[at.VN] = 0.0 if letter in (at.END_COMPRESSION, at.COMPRESSED_AGAIN) else state[at.P_VZ]
    if state[at.MODE] != at.ON_LINE:
        state[at.GX], state[at.GY] = state[at.P_GX], state[at.P_GY]
    state[at.SLIDE] = state[at.P_R]


def begin(arc: Array, state: Array, con: ScaledImpact, vx: float, vy: float, vz: float) -> None:
    """The state before the impact."""
    for i in range(at.STATE_SIZE):
        state[i] = 0.0
    state[at.GX], state[at.GY] = vx, vy
    state[at.SLIDE] = math.sqrt(vx * vx + vy * vy)
    state[at.SLIDE0], state[at.VN0], state[at.VN] = state[at.SLIDE], vz, vz
    state[at.PHASE] = at.COMPRESSION
    # a sliding velocity of this size changes the impulse by the order of the impulse itself
    spread = math.sqrt((con.wxx - con.wyy) * (con.wxx - con.wyy) + 4.0 * con.wxy * con.wxy)
    state[at.FLOOR] = -vz * min(0.5 * (con.wxx + con.wyy - spread) / con.wzz, 1.0)
    arc[at.FALL, at.KIND] = at.UNKNOWN
    if con.mu < NO_FRICTION:
        state[at.MODE], state[at.RATE], state[at.LINED] = at.ON_LINE, con.wzz, 1.0
    elif state[at.SLIDE] == 0.0:
        vanish(state, con)


def solve(
    series: Array, arc: Array, state: Array, con: ScaledImpact, vx: float, vy: float, vz: float
) -> None:
    """Solve one impact in scaled units; everything that came of it is in `state`."""
    begin(arc, state, con, vx, vy, vz)
    for _ in range(at.MAX_SEGMENTS):
        state[at.SEGMENTS] += 1.0
        run_segment(series, arc, state, con)
        if state[at.PHASE] == at.DONE:
            break
    if con.hypothesis == at.ENERGETIC and state[at.PHASE] == at.DONE:
        create_nothing(state, con, vx, vy, vz)
    state[at.RESIDUAL] = mismatch(state, con, vx, vy, vz)


def create_nothing(state: Array, con: ScaledImpact, vx: float, vy: float, vz: float) -> None:
    """Take back the last bit of impulse where truncation and rounding left more energy than there was.

    What is lost is -(v + W I / 2).I; along the last direction of the impulse it falls at the rate of the
    power there, which is positive at the end of restitution. Only where e is 1 within some 1e-12 can the
    loss be as small as its error.
    """
    jx, jy, jz = state[at.JX], state[at.JY], state[at.JZ]
    cx = con.wxx * jx + con.wxy * jy + con.dx * jz
    cy = con.wxy * jx + con.wyy * jy + con.dy * jz
    cz = con.dx * jx + con.dy * jy + con.wzz * jz
    created = (vx + 0.5 * cx) * jx + (vy + 0.5 * cy) * jy + (vz + 0.5 * cz) * jz
    if not created > 0.0:
        return
    sx, sy = state[at.SIGX], state[at.SIGY]
    if state[at.MODE] != at.ON_LINE and state[at.SLIDE] > 0.0:
        sx, sy = -con.mu * state[at.GX] / state[at.SLIDE], -con.mu * state[at.GY] / state[at.SLIDE]
    power = (vx + cx) * sx + (vy + cy) * sy + (vz + cz)
    if power > 0.0:
        back = min(created / power, jz)
        state[at.JX], state[at.JY], state[at.JZ] = jx - back * sx, jy - back * sy, jz - back


def mismatch(state: Array, con: ScaledImpact, vx: float, vy: float, vz: float) -> float:
    """How far the velocities carried along are from v + W I, relative to the sizes of its terms."""
    jx, jy, jz = state[at.JX], state[at.JY], state[at.JZ]
    px, py = con.wxx * jx + con.wxy * jy, con.wxy * jx + con.wyy * jy
    qx, qy = con.dx * jz, con.dy * jz
    gx, gy = state[at.GX], state[at.GY]
    if state[at.MODE] == at.ON_LINE:
        gx, gy = gx * state[at.SLIDE], gy * state[at.SLIDE]
    size = abs(vx) + abs(vy) + abs(vz) + abs(px) + abs(py) + abs(qx) + abs(qy) + con.wzz * abs(jz)
    off = abs(vz + con.dx * jx + con.dy * jy + con.wzz * jz - state[at.VN])
    if con.mu >= NO_FRICTION:
        off += abs(vx + px + qx - gx) + abs(vy + py + qy - gy)
    return off / size
