"""The events of an impact: where a segment has one, which letter it is, and the phase that follows."""

from __future__ import annotations

import math
from typing import Any

from routh.two_body._layout import (
    COMPRESSED_AGAIN,
    COMPRESSION,
    COUNT,
    DONE,
    END,
    END_COMPRESSION,
    ENERGY,
    EVENTS,
    LEFT,
    LINE,
    LOSSES,
    MAX_EVENTS,
    NEWTON,
    PHASE,
    POISSON,
    RATE,
    RELEASED,
    RESTITUTION,
    RETURNED,
    SQUEEZED,
    STORED,
    STRONGE,
    VN,
    VN0,
    Contact,
)
from routh.two_body._segments import energy, normal_impulse, normal_velocity


def value_of(series: Any, tail: Any, state: Any, kind: int, what: int, p: float) -> tuple[float, float]:
    """Normal velocity (0), energy (1) or normal impulse (2) at p, and its derivative."""
    if what == 0:
        return normal_velocity(series, tail, state, kind, p)
    if what == 1:
        return energy(series, tail, state, kind, p)
    return normal_impulse(series, tail, kind, p)


def line_crossing(state: Any, what: int, target: float) -> float:
    """The same on a LINE, in closed form: v_z is linear there and E quadratic."""
    rate, vz = state[RATE], state[VN]
    if what == 0:
        return (target - vz) / rate
    if what == 2:
        return target
    left = state[ENERGY] - target
    root = math.sqrt(max(vz * vz + 2.0 * rate * left, 0.0))
    if vz < 0.0:
        return (root - vz) / rate
    return 2.0 * left / (vz + root) if left > 0.0 else 0.0


def crossing(
    series: Any, tail: Any, state: Any, kind: int, what: int, target: float, low: float, high: float
) -> float:
    """Where a quantity that is monotone on [low, high] and crosses the target there does so.

    Newton's method kept in its bracket; it stops when the step after next would be rounding.
    """
    if kind == LINE:
        return min(max(line_crossing(state, what, target), low), high)
    at_low, _ = value_of(series, tail, state, kind, what, low)
    at_high, _ = value_of(series, tail, state, kind, what, high)
    rising = at_high > at_low
    length = high - low
    if at_high == at_low:
        return high
    p = low + length * min(max((target - at_low) / (at_high - at_low), 0.0), 1.0)
    for _ in range(100):
        value, slope = value_of(series, tail, state, kind, what, p)
        gap = value - target
        if gap == 0.0:
            return p
        if (gap > 0.0) == rising:
            high = p
        else:
            low = p
        following = p - gap / slope if slope != 0.0 else low
        move = abs(following - p)
        if move <= 1e-8 * length and move <= 1e-8 * abs(following):
            return min(max(following, low), high)
        if not low < following < high:
            following = 0.5 * (low + high)
            if not low < following < high:
                return p
        p = following
    return p


def record(state: Any, letter: int) -> None:
    """Append an event's letter to the record."""
    if state[COUNT] < MAX_EVENTS:
        state[EVENTS] = state[EVENTS] * 8.0 + letter
        state[COUNT] += 1.0


def next_event(
    series: Any,
    tail: Any,
    state: Any,
    con: Contact,
    kind: int,
    start: float,
    end: float,
    vz: float,
    stored: float,
    impulse: float,
) -> tuple[float, int]:
    """The first event after `start` on a segment where v_z is monotone: (where, letter), or (end, 0).

    ``vz``, ``stored`` and ``impulse`` are the values at the end: v_z, E and I_z since the segment's start.
    """
    if state[PHASE] == COMPRESSION:
        if vz >= 0.0:
            return crossing(series, tail, state, kind, 0, 0.0, start, end), END_COMPRESSION
        return end, 0
    turned = vz < 0.0
    if turned:
        end = crossing(series, tail, state, kind, 0, 0.0, start, end)
        if con.hypothesis == STRONGE:
            stored, _ = energy(series, tail, state, kind, end)
        else:
            impulse, _ = normal_impulse(series, tail, kind, end)
    if con.hypothesis == STRONGE:
        if stored <= 0.0:
            return crossing(series, tail, state, kind, 1, 0.0, start, end), END
    elif con.hypothesis == POISSON:
        begun, _ = normal_impulse(series, tail, kind, start)
        due = con.e * state[SQUEEZED] - state[RELEASED] + begun
        if impulse >= due:
            return crossing(series, tail, state, kind, 2, due, start, end), END
    elif not turned:
        wanted = -con.e * state[VN0]
        if vz >= wanted:
            return crossing(series, tail, state, kind, 0, wanted, start, end), END
    return end, COMPRESSED_AGAIN if turned else 0


def account(state: Any, gained: float, impulse: float) -> None:
    """Book the energy and the normal impulse of a stretch within one phase."""
    if state[PHASE] == COMPRESSION:
        state[STORED] += gained
        state[SQUEEZED] += impulse
    else:
        state[RETURNED] -= gained
        state[RELEASED] += impulse


def enter_phase(state: Any, con: Contact, letter: int, stored: float) -> None:
    """Record an event and enter the phase that it begins; `stored` is E there."""
    record(state, letter)
    if letter == END_COMPRESSION:
        state[PHASE] = RESTITUTION
        state[LEFT] = stored
        if con.hypothesis == STRONGE and state[LOSSES] == 0.0:
            state[LEFT] = con.e * con.e * stored  # JW17, section 2.2, step 3
            state[ENERGY] -= stored - state[LEFT]
        state[LOSSES] += 1.0
        if con.e == 0.0 or (con.hypothesis == POISSON and con.e * state[SQUEEZED] <= state[RELEASED]):
            record(state, END)
            state[PHASE] = DONE
    elif letter == COMPRESSED_AGAIN:
        state[PHASE] = COMPRESSION
    else:
        state[PHASE] = DONE


def line_end(state: Any, con: Contact) -> float:
    """An impulse within which an impact on a line with rising v_z has certainly ended."""
    rate, vz = state[RATE], state[VN]
    stored = state[ENERGY] + (vz * vz / (2.0 * rate) if vz < 0.0 else 0.0)
    end = (abs(vz) + math.sqrt(vz * vz + 2.0 * rate * max(stored, 0.0))) / rate
    if con.hypothesis == NEWTON:
        end = (abs(vz) + con.e * abs(state[VN0])) / rate
    elif con.hypothesis == POISSON:
        end = max(-vz, 0.0) / rate
        end += con.e * (state[SQUEEZED] + end)
    return 2.0 * end
