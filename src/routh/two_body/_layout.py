"""Names for the places in the kernel's work arrays, and its numerical constants.

The kernel is plain scalar Python that runs interpreted, compiled for threads, and compiled for CUDA; so it
works on three small float64 arrays owned by the caller: ``series`` (coefficients of power series along an
arc, ``series[kind, row, power]``), ``arc`` (what else belongs to it, ``arc[kind, entry]``) and ``state``
(where the impact stands). The kinds with a series are STEP and FALL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.validation import Array

#: Order of the power series.
ORDER = 28
#: Share of the sliding speed that truncating a series may cost. The step length follows from it.
TRUNCATION = 1e-11
#: Where sliding is slow, what it moves is a small part of the impact, and truncation is measured by the
#: impact's own size instead; but it stays below this share of the sliding speed.
LOOSEST_TRUNCATION = 1e-4
#: 1 / k, so that the series need no divisions.
INVERSE = np.array([0.0, *(1.0 / k for k in range(1, ORDER + 3))])
#: What a difference of equal numbers leaves of them.
CANCELLED = 1e-15
#: Segments (series steps, closed forms) after which an impact is given up with a status.
MAX_SEGMENTS = 500
#: Events that are recorded in order; later ones are dropped from the record, never from the impact.
MAX_EVENTS = 15

# kinds of segment
STEP, FALL, LINE = range(3)

# rows of `series`: q, q (1 + w^2)^2, the integrals I_z, I_s, I_s_perp and v_z, two of E, see `_arc`
Q, Z, IZ, IU, IT, VZ, EA, EB = range(8)
SERIES_SHAPE = (2, 8, ORDER + 1)

# entries of `arc`: the base direction s, which side s_perp is, the unit of x, the power of x in front of the
# integrals, their amplitude and linear part, v_z without what the series add, the integrals at the beginning
SX, SY, SIDE, UNIT, POWER, AMP, LINEAR, VZS, BEGIN_Z, BEGIN_U, BEGIN_T, BEGIN_E = range(12)
# polynomials in x: P, 2 H and W_zz - mu d.s times 1 + w^2; what turns dI_z / dx into that by the parameter
P0, P1, P2, P3, P4, H1, H2, H3, H4, V0, V1, V2, PACE = range(12, 25)
# of the rest direction ahead alone: g and f' there, what is known of it, the x where FALL begins
G0, F1, KIND, EXPANDED, X0 = range(25, 30)
ARC_SHAPE = (2, 30)
UNKNOWN, NO_TAIL, FALLING = -1.0, 0.0, 1.0

# entries of `state`
GX, GY, SLIDE, JX, JY, JZ, VN, ENERGY, STORED, RETURNED = range(10)
SQUEEZED, RELEASED, PHASE, LOSSES, EVENTS, COUNT, MODE, LINED, TURNED = range(10, 19)
# TURNED has two places, one for each direction
SIGX, SIGY, RATE, DRIFT, SLIDE0, VN0, SEGMENTS, RESIDUAL, FORCE_STEP, MISSED, FLOOR, LEFT = range(20, 32)
# the point last evaluated: v_z, and since the segment's start E, impulses; the sliding velocity
P_VZ, P_E, P_JX, P_JY, P_JZ, P_GX, P_GY, P_R = range(32, 40)
# v_z, E and I_z since the segment's start, where the search for events begins and where the segment ends
FROM_VZ, FROM_E, FROM_JZ, TO_VZ, TO_E, TO_JZ = range(40, 46)
STATE_SIZE = 46

# quantities along a segment, in the order of FROM and TO: v_z, and since its start the energy gained and I_z
VELOCITY, WORK, PRESS = range(3)
# phases
COMPRESSION, RESTITUTION, DONE = 0.0, 1.0, 2.0
# modes: sliding freely, or a line in impulse space (stick, resumed slip, no friction)
SLIDING, ON_LINE = 0.0, 1.0
# letters of the event record, base 8
END_COMPRESSION, VANISHED, LINED_UP, END, COMPRESSED_AGAIN = 1, 2, 3, 4, 5
LETTERS = "?cslrk"
# hypotheses, in the order of routh.problem.impact.HYPOTHESES
ENERGETIC, POISSON, NEWTON = range(3)

#: Events that are approached and never reached are declared by a tolerance, and never change the answer: l
#: within this angle of an invariant direction (rad), and s where the sliding speed passes its minimum below
#: this share of its initial value and grows again. An l counts only above that share, since every way into
#: the origin lines up in the end; 1e-2 is what JW17's steps (36) resolve.
EVENT_TOLERANCE = 1e-3
VANISHED_SHARE = 1e-2


class ScaledImpact(NamedTuple):
    """One impact in scaled units: W split as in JW17 (21), (22), and what follows from it."""

    wxx: float
    wxy: float
    wyy: float
    dx: float  # d = W[:2, 2], JW17 (22)
    dy: float
    wzz: float
    mu: float
    e: float
    hypothesis: int
    turn_rate: float  # bound of |f''|, the scale of the direction's rate
    turns: bool  # (18) is violated: v_z' changes sign at two directions
    ax: float  # those directions, unit vectors
    ay: float
    bx: float
    by: float
    near: float  # angle of event l, see EVENT_TOLERANCE


class SolverWork(NamedTuple):
    """Scratch of one thread."""

    series: Array  # SERIES_SHAPE
    arc: Array  # ARC_SHAPE
    state: Array  # (STATE_SIZE,)


class Impacts(NamedTuple):
    """n impacts, and what comes of them."""

    W: Array  # (n, 3, 3)
    v: Array  # (n, 3)
    mu: Array  # (n,)
    e: Array  # (n,)
    hypothesis: int
    near: float  # angle of event l, see EVENT_TOLERANCE
    out: Array  # (n, 8), see `routh.two_body._kernel`
    codes: np.ndarray  # (n, 1) int64
    status: np.ndarray  # (n,) int8


def workspace() -> SolverWork:
    """Scratch for one thread, or for one impact."""
    return SolverWork(np.zeros(SERIES_SHAPE), np.zeros(ARC_SHAPE), np.zeros(STATE_SIZE))
