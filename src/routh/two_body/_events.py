"""The events of an impact: where a segment has one, which letter it is, and the phase that follows."""

from __future__ import annotations

import math

from routh.two_body import _layout as at
from routh.two_body._layout import Contact
from routh.two_body._segments import value_of
from routh.validation import Array


def line_crossing(state: Array, what: int, target: float) -> float:
    """Where a quantity crosses the target on a LINE, in closed form: v_z is linear there and E quadratic."""
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
    """Where a quantity that is monotone from ``low`` (FROM) to ``high`` (``at_high``) crosses the target.

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
    series: Array, arc: Array, state: Array, con: Contact, kind: int, start: float, end: float
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


def enter_phase(state: Array, con: Contact, letter: int, stored: float) -> None:
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


def line_end(state: Array, con: Contact) -> float:
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
