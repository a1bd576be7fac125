"""The three kinds of segment that an impact consists of: their normal velocity, energy and impulse.

STEP and FALL: an arc of directions, see `_arc`. LINE: straight in impulse space, its parameter is I_z.
"""

from __future__ import annotations

from routh.two_body import _layout as at
from routh.two_body._arc import arc_value, evaluate_arc
from routh.two_body._layout import Contact
from routh.validation import Array


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


def evaluate(series: Array, arc: Array, state: Array, con: Contact, kind: int, p: float) -> None:
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
