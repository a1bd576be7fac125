"""One impact from beginning to end: choose a segment, find its first event, move there, repeat."""

from __future__ import annotations

import math
from typing import Any

from routh.two_body._events import account, enter_phase, line_end, next_event, record
from routh.two_body._layout import (
    AMP,
    COMPRESSED_AGAIN,
    COMPRESSION,
    DONE,
    DRIFT,
    END_COMPRESSION,
    ENERGY,
    EXPANDED,
    F1,
    FALL,
    FALLING,
    FLOOR,
    FORCE_STEP,
    G0,
    GX,
    GY,
    JX,
    JY,
    JZ,
    KIND,
    LEFT,
    LINE,
    LINED,
    LINED_UP,
    LOOSEST_TRUNCATION,
    MAX_SEGMENTS,
    MISSED,
    MODE,
    NO_TAIL,
    ON_LINE,
    ORDER,
    P_E,
    P_GX,
    P_GY,
    P_JX,
    P_JY,
    P_JZ,
    P_R,
    P_VZ,
    PHASE,
    PR,
    PR0,
    PT,
    PT0,
    PU,
    PU0,
    Q0,
    QI,
    RATE,
    RESIDUAL,
    RHO1,
    RUN,
    RUNNING,
    S0,
    SEGMENTS,
    SIGX,
    SIGY,
    SLIDE,
    SLIDE0,
    STATE_SIZE,
    STEP,
    SX,
    SY,
    TMAX,
    TMIN,
    TRUNCATION,
    TURNED1,
    TURNED2,
    UNKNOWN,
    VANISHED,
    VN,
    VN0,
    VZS,
    Y0,
    YMAX,
    Contact,
    R,
    S,
    T,
    U,
    X,
    Y,
)
from routh.two_body._rest import centrifugal, direction_rates, expand_tail, expand_tail_energy, find_tail
from routh.two_body._segments import evaluate
from routh.two_body._series import expand, horner, horner_both, step_length

NOT_FOUND = 1e100  # a parameter beyond every segment's end
#: Below this the energy left after compression is small beside its rounding: the series starts afresh there.
SMALL_RESTITUTION = 1e-3
#: Friction below this is none: its quotients would overflow.
NO_FRICTION = 1e-100
#: What a difference of equal numbers leaves of them.
CANCELLED = 1e-15


def make_contact(
    wxx: float,
    wxy: float,
    wyy: float,
    dx: float,
    dy: float,
    wzz: float,
    mu: float,
    e: float,
    hypothesis: int,
    near: float,
) -> Contact:
    """The contact with the directions at which v_z' = W_zz - mu d.s changes sign, where (18) is violated."""
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
    return Contact(wxx, wxy, wyy, dx, dy, wzz, mu, e, hypothesis, rate, turns, ax, ay, bx, by, near)


def vanish(state: Any, con: Contact) -> None:
    """The sliding velocity is zero: stick, or resume slip along the centrifugal direction, JW17 (38)."""
    if state[MISSED] == 0.0:
        record(state, VANISHED)
    state[GX], state[GY], state[SLIDE], state[MODE] = 0.0, 0.0, 0.0, ON_LINE
    det = con.wxx * con.wyy - con.wxy * con.wxy
    kx, ky = (con.wyy * con.dx - con.wxy * con.dy) / det, (con.wxx * con.dy - con.wxy * con.dx) / det
    if kx * kx + ky * ky <= con.mu * con.mu:
        state[SIGX], state[SIGY] = -kx, -ky
    else:
        sx, sy = centrifugal(con)
        state[SIGX], state[SIGY] = -con.mu * sx, -con.mu * sy
        _, drift, _ = direction_rates(con, sx, sy)
        state[DRIFT] = drift
        state[GX], state[GY] = sx, sy  # the direction of the sliding to come
    state[RATE] = con.wzz + con.dx * state[SIGX] + con.dy * state[SIGY]


def enter_line(state: Any, con: Contact, sx: float, sy: float, g: float) -> float:
    """Slide straight along a rest direction, JW17 (43): the normal impulse that leads to the origin."""
    state[SIGX], state[SIGY] = -con.mu * sx, -con.mu * sy
    state[RATE] = con.wzz - con.mu * (con.dx * sx + con.dy * sy)
    state[DRIFT] = g
    return -state[SLIDE] / g if g < 0.0 else 2.0 * NOT_FOUND


def sure_end(state: Any, con: Contact) -> float:
    """Normal impulse by which an impact along a line has ended; v_z falls only on the way to the origin."""
    return line_end(state, con) if state[RATE] > 0.0 else NOT_FOUND


def tail_coordinate(series: Any, tail: Any, t: float) -> float:
    """The y at which the direction is at the angle atan(t) from the rest direction."""
    y = min(max(t, -tail[YMAX]), tail[YMAX])
    for _ in range(30):
        across, across_slope = horner_both(series, T, y)
        along, along_slope = horner_both(series, U, y)
        move = (across - t * along) / (across_slope - t * along_slope)
        y -= move
        if not abs(move) > 1e-8 * abs(y):
            break
    return y


def enter_fall(series: Any, tail: Any, state: Any, con: Contact, t: float) -> bool:
    """Set up the way along the rest direction, if it is near enough for the series."""
    if not tail[TMIN] < t < tail[TMAX]:
        return False
    y = tail_coordinate(series, tail, t)
    if not abs(y) <= tail[YMAX]:
        return False
    along = state[GX] * tail[SX] + state[GY] * tail[SY]
    tail[Y0] = y
    tail[AMP] = along / horner(series, U, y)
    tail[VZS] = state[VN] - tail[AMP] * horner(series, QI, y)
    expand_tail_energy(series, tail)
    pu, pt, pr, s = 0.0, 0.0, 0.0, 0.0
    for k in range(ORDER, -1, -1):
        pu = pu * y + series[PU, k]
        pt = pt * y + series[PT, k]
        pr = pr * y + series[PR, k]
        s = s * y + series[S, k]
    tail[PU0], tail[PT0], tail[PR0], tail[S0] = pu, pt, pr, s
    # the last two terms of E and of v_z, and what cancels in them where sliding is fast beside v_z
    share = tail[AMP] * abs(y) ** (ORDER - 1)
    stored = tail[AMP] * share * (abs(series[S, ORDER] * y) + abs(series[S, ORDER - 1]))
    moved = share * (abs(series[QI, ORDER] * y) + abs(series[QI, ORDER - 1]))
    stored += CANCELLED * tail[AMP] * tail[AMP] * abs(s)
    moved += CANCELLED * abs(tail[VZS] - state[VN])
    size = max(state[ENERGY], state[VN0] * state[VN0] / con.wzz)
    return stored <= TRUNCATION * size and moved <= TRUNCATION * max(-state[VN0], abs(state[VN]))


def fall_until(series: Any, tail: Any, t: float) -> float:
    """FALL's parameter at which the direction is at the angle atan(t), or beyond the end."""
    y = tail_coordinate(series, tail, t)
    share = y / tail[Y0]
    if not 0.0 < share < 1.0:
        return NOT_FOUND
    return abs(1.0 - share ** (tail[G0] / tail[F1]))


def pass_in_step(
    series: Any, state: Any, ax: float, ay: float, lean: float, end: float, x: float, y: float, r: float
) -> float:
    """Where in a step cross(a, gamma) - lean r changes sign ahead of a, or beyond the end.

    ``x``, ``y``, ``r`` are the sliding velocity and speed at the end of the step.
    """
    first = ax * state[GY] - ay * state[GX] - lean * state[SLIDE]
    last = ax * y - ay * x - lean * r
    if not first * last < 0.0 or ax * (x + state[GX]) + ay * (y + state[GY]) < 0.0:
        return NOT_FOUND
    low, high = 0.0, end
    at = end * first / (first - last)
    for _ in range(60):
        x, dx = horner_both(series, X, at)
        y, dy = horner_both(series, Y, at)
        r, dr = horner_both(series, R, at)
        gap, slope = ax * y - ay * x - lean * r, ax * dy - ay * dx - lean * dr
        if (gap < 0.0) == (first < 0.0):
            low = at
        else:
            high = at
        following = at - gap / slope if slope != 0.0 else low
        if abs(following - at) <= 1e-8 * end:
            return min(max(following, low), high)
        if not low < following < high:
            following = 0.5 * (low + high)
        at = following
    return at


def near_miss_at(series: Any, tail: Any, state: Any, con: Contact, end: float) -> float:
    """Where in a step the sliding speed passes a minimum that is nearly zero, or beyond its end."""
    if state[MISSED] > 0.0 or not tail[G0] > 0.0:
        return NOT_FOUND
    _, last = horner_both(series, R, end)
    if not series[R, 1] < 0.0 < last:
        return NOT_FOUND
    low, high = 0.0, end
    for _ in range(40):
        middle = 0.5 * (low + high)
        _, slope = horner_both(series, R, middle)
        if slope < 0.0:
            low = middle
        else:
            high = middle
    return high if horner(series, R, high) < con.near * state[SLIDE0] else NOT_FOUND


def lined_up_at(series: Any, tail: Any, state: Any, con: Contact, kind: int, end: float) -> float:
    """Where in the segment event l happens, or beyond its end (see EVENT_TOLERANCE)."""
    if state[LINED] > 0.0 or not state[SLIDE] > con.near * state[SLIDE0]:
        return NOT_FOUND
    if kind in (RUN, LINE):
        return 0.0
    across = tail[SX] * state[GY] - tail[SY] * state[GX]
    lean = con.near if across > 0.0 else -con.near
    if abs(across) <= con.near * state[SLIDE]:
        return 0.0
    if kind == STEP:
        gx, gy, r = state[P_GX], state[P_GY], state[P_R]
        return pass_in_step(series, state, tail[SX], tail[SY], lean, end, gx, gy, r)
    at = fall_until(series, tail, lean)
    z = 1.0 - at if tail[G0] < 0.0 else 1.0 + at
    return at if tail[AMP] * z > con.near * state[SLIDE0] else NOT_FOUND


def turning_end(series: Any, tail: Any, state: Any, con: Contact, kind: int, end: float) -> tuple[float, int]:
    """Shorten a segment to where v_z' changes sign: (its end, which of the two directions or 0).

    The state's point is at the end of the segment, and is moved with it.
    """
    which = 0
    for i in range(1, 3):
        ax, ay = (con.ax, con.ay) if i == 1 else (con.bx, con.by)
        if state[TURNED1 if i == 1 else TURNED2] > 0.0:
            continue
        at = NOT_FOUND
        if kind == STEP:
            at = pass_in_step(series, state, ax, ay, 0.0, end, state[P_GX], state[P_GY], state[P_R])
        elif kind == FALL:
            along = ax * tail[SX] + ay * tail[SY]
            if along > 0.0:
                t = (ay * tail[SX] - ax * tail[SY]) / along
                now = (state[GY] * tail[SX] - state[GX] * tail[SY]) / (
                    state[GX] * tail[SX] + state[GY] * tail[SY]
                )
                if 0.0 < t / now < 1.0:
                    at = fall_until(series, tail, t)
        if at < end:
            end, which = at, i
            evaluate(series, tail, state, con, kind, end)
    return end, which


def run_error(tail: Any, state: Any, t: float) -> float:
    """What RUN leaves out: the square of the distance from the rest direction, measured as in a step."""
    y = t * (1.0 + abs(tail[RHO1]))
    return y * y * max(state[SLIDE] / state[FLOOR], TRUNCATION / LOOSEST_TRUNCATION)


def choose_segment(series: Any, tail: Any, state: Any, con: Contact) -> tuple[int, float, bool]:
    """The segment that starts here: its kind, its end in its own parameter, whether that is the origin."""
    if state[MODE] == ON_LINE:
        return LINE, line_end(state, con), False
    r = state[SLIDE]
    sx, sy = state[GX] / r, state[GY] / r
    f, g, slope = direction_rates(con, sx, sy)
    scale = con.turn_rate + con.mu * (con.wxx + con.wyy)
    if abs(f) <= 2e-16 * scale or abs(f) <= 1e-13 * slope:
        # a rest direction; off an unstable one, r times the angle only falls, so a line it stays
        reach = enter_line(state, con, sx, sy, g)
        end = sure_end(state, con)
        return (LINE, reach, True) if reach <= end else (LINE, end, False)
    if tail[KIND] == UNKNOWN:
        find_tail(tail, con, sx, sy)
        if abs(f) <= con.near * abs(slope):  # beside a rest direction from the start
            state[LINED] = 1.0
            record(state, LINED_UP)
    along = state[GX] * tail[SX] + state[GY] * tail[SY]
    if tail[KIND] != NO_TAIL and along > 0.0 and state[FORCE_STEP] == 0.0:
        t = (state[GY] * tail[SX] - state[GX] * tail[SY]) / along
        if tail[KIND] == FALLING and abs(t) < 0.7:
            if tail[EXPANDED] == 0.0:
                expand_tail(series, tail, con)
            if tail[KIND] == FALLING and enter_fall(series, tail, state, con, t):
                state[RATE] = tail[Q0]
                if tail[G0] < 0.0:
                    return FALL, 1.0, True
                return FALL, line_end(state, con) * tail[G0] / tail[AMP], False
        if tail[KIND] == RUNNING and run_error(tail, state, t) <= TRUNCATION:
            tail[Y0] = t / (1.0 - t * tail[RHO1])
            tail[AMP] = along / (1.0 + tail[RHO1] * tail[Y0])
            state[RATE] = tail[Q0]
            end = sure_end(state, con) / tail[AMP]
            if tail[G0] < 0.0 and -1.0 / tail[G0] <= end:
                return RUN, -1.0 / tail[G0] * (1.0 - 1e-15), True
            return RUN, end, False
    state[FORCE_STEP] = 0.0
    expand(series, con, state[GX], state[GY], r, state[VN])
    energy = state[VN0] * state[VN0] / con.wzz
    return STEP, step_length(series, con, energy, state[FLOOR], -state[VN0]), False


def negligible(state: Any, con: Contact) -> bool:
    """Whether the way left to the origin is below rounding."""
    r = state[SLIDE]
    _, g, _ = direction_rates(con, state[GX] / r, state[GY] / r)
    return g < 0.0 and r < -1e-15 * g * (state[JZ] + abs(state[VN0]) / con.wzz)


def note_near_events(state: Any, at: float, line_up: float, miss: float) -> None:
    """Record the events l and s that are declared by tolerance, where they come before `at`."""
    if state[LINED] == 0.0 and line_up <= at and line_up <= miss:
        state[LINED] = 1.0
        record(state, LINED_UP)
    if state[MISSED] == 0.0 and miss <= at:
        state[MISSED], state[LINED] = 1.0, 1.0  # l would have to come before s
        record(state, VANISHED)


def run_segment(series: Any, tail: Any, state: Any, con: Contact) -> tuple[int, float]:
    """Take one segment to its end, or to an event that asks for a new start: its kind, where it ended."""
    kind, end, origin = choose_segment(series, tail, state, con)
    turn = 0
    evaluate(series, tail, state, con, kind, end)
    if con.turns and kind in (STEP, FALL):
        end, turn = turning_end(series, tail, state, con, kind, end)
    line_up = miss = NOT_FOUND
    if state[MODE] != ON_LINE:
        line_up = lined_up_at(series, tail, state, con, kind, end)
        if kind == STEP:
            miss = near_miss_at(series, tail, state, con, end)
    vz, gained, impulse = state[P_VZ], state[P_E], state[P_JZ]
    at, letter, booked, pressed = 0.0, 0, 0.0, 0.0
    for _ in range(MAX_SEGMENTS):
        start = at
        at, letter = next_event(
            series, tail, state, con, kind, start, end, vz, state[ENERGY] + gained, impulse
        )
        note_near_events(state, at, line_up, miss)
        if letter == 0:
            break
        evaluate(series, tail, state, con, kind, at)
        account(state, state[P_E] - booked, state[P_JZ] - pressed)
        booked, pressed = state[P_E], state[P_JZ]
        enter_phase(state, con, letter, state[ENERGY] + booked)
        if state[PHASE] == DONE or con.e < SMALL_RESTITUTION:
            break
    else:
        state[PHASE] = NOT_FOUND  # cannot happen: v_z is monotone on a segment
    if letter == 0:
        if at < end or state[P_JZ] != impulse:
            evaluate(series, tail, state, con, kind, end)
        account(state, state[P_E] - booked, state[P_JZ] - pressed)
    commit(state, kind, letter)
    if letter != 0:
        state[FORCE_STEP] = 1.0
    elif turn == 1:
        state[TURNED1] = 1.0
    elif turn == 2:
        state[TURNED2] = 1.0
    elif origin or (state[MODE] != ON_LINE and negligible(state, con)):
        vanish(state, con)
    return kind, at


def commit(state: Any, kind: int, letter: int) -> None:
    """Move to the point last evaluated."""
    if kind == STEP:
        length = math.sqrt(state[P_GX] * state[P_GX] + state[P_GY] * state[P_GY])
        off = abs(state[P_R] - length) / max(state[SLIDE], state[FLOOR])
        state[RESIDUAL] = max(state[RESIDUAL], off)
        state[P_R] = length
    state[JX] += state[P_JX]
    state[JY] += state[P_JY]
    state[JZ] += state[P_JZ]
    # at the end of compression E is known better than the difference of two large numbers tells
    state[ENERGY] = state[LEFT] if letter == END_COMPRESSION else state[ENERGY] + state[P_E]
    state[VN] = 0.0 if letter in (END_COMPRESSION, COMPRESSED_AGAIN) else state[P_VZ]
    if state[MODE] != ON_LINE:
        state[GX], state[GY] = state[P_GX], state[P_GY]
    state[SLIDE] = state[P_R]


def begin(tail: Any, state: Any, con: Contact, vx: float, vy: float, vz: float) -> None:
    """The state before the impact."""
    for i in range(STATE_SIZE):
        state[i] = 0.0
    state[GX], state[GY] = vx, vy
    state[SLIDE] = math.sqrt(vx * vx + vy * vy)
    state[SLIDE0], state[VN0], state[VN] = state[SLIDE], vz, vz
    state[PHASE] = COMPRESSION
    # a sliding velocity of this size changes the impulse by the order of the impulse itself
    spread = math.sqrt((con.wxx - con.wyy) * (con.wxx - con.wyy) + 4.0 * con.wxy * con.wxy)
    state[FLOOR] = -vz * min(0.5 * (con.wxx + con.wyy - spread) / con.wzz, 1.0)
    tail[KIND] = UNKNOWN
    if con.mu < NO_FRICTION:
        state[MODE], state[RATE], state[LINED] = ON_LINE, con.wzz, 1.0
    elif state[SLIDE] == 0.0:
        vanish(state, con)


def solve(series: Any, tail: Any, state: Any, con: Contact, vx: float, vy: float, vz: float) -> None:
    """Solve one impact in scaled units; everything that came of it is in `state`."""
    begin(tail, state, con, vx, vy, vz)
    for _ in range(MAX_SEGMENTS):
        state[SEGMENTS] += 1.0
        run_segment(series, tail, state, con)
        if state[PHASE] == DONE:
            break
    state[RESIDUAL] = max(state[RESIDUAL], mismatch(state, con, vx, vy, vz))


def mismatch(state: Any, con: Contact, vx: float, vy: float, vz: float) -> float:
    """How far the velocities carried along are from v + W I, relative to the sizes of its terms."""
    jx, jy, jz = state[JX], state[JY], state[JZ]
    px, py = con.wxx * jx + con.wxy * jy, con.wxy * jx + con.wyy * jy
    qx, qy = con.dx * jz, con.dy * jz
    gx, gy = state[GX], state[GY]
    if state[MODE] == ON_LINE:
        gx, gy = gx * state[SLIDE], gy * state[SLIDE]
    size = abs(vx) + abs(vy) + abs(vz) + abs(px) + abs(py) + abs(qx) + abs(qy) + con.wzz * abs(jz)
    off = abs(vz + con.dx * jx + con.dy * jy + con.wzz * jz - state[VN])
    if con.mu >= NO_FRICTION:
        off += abs(vx + px + qx - gx) + abs(vy + py + qy - gy)
    return off / size
