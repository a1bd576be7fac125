"""Names for the places in the kernel's work arrays, and its numerical constants.

The kernel is plain scalar Python that runs interpreted, compiled for threads, and compiled for CUDA; so it
works on three small float64 arrays owned by the caller: ``series`` (coefficients of power series, one per
row), ``tail`` (the rest direction ahead) and ``state`` (where the impact stands).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Order of the power series, in the sliding variable and around rest directions. Even.
ORDER = 20
#: Share of the sliding speed that truncating a series may cost. The step length follows from it.
TRUNCATION = 1e-12
#: Where sliding is slow, what it moves is a small part of the impact, and truncation is measured by the
#: impact's own size instead; but it stays below this share of the sliding speed.
LOOSEST_TRUNCATION = 1e-4
#: 1 / k, so that the series need no divisions.
INVERSE = np.array([0.0, *(1.0 / k for k in range(1, ORDER + 1))])
#: Segments (series steps, closed forms) after which an impact is given up with a status.
MAX_SEGMENTS = 500
#: Events that are recorded in order; later ones are dropped from the record, never from the impact.
MAX_EVENTS = 15

# rows of `series`: a sliding step in tau ...
X, Y, R, VZ, EN, IX, IY, IZ = range(8)
# ... and the approach to a rest direction, in y = y0 exp(f1 tau)
U, T, RHO, PU, PT, PR, Q, QI, S = range(8, 17)
# ... and sums under way
SUM, WORK = range(17, 19)
SERIES_ROWS = 19

# entries of `tail`
SX, SY, G0, F1, KIND, YMAX, TMIN, TMAX, AMP, Y0, VZS, RHO1, Q0, Q1, M1 = range(15)
PU0, PT0, PR0, S0, EXPANDED = range(15, 20)  # the integrals' rows at y0; whether the series is there
TAIL_SIZE = 20
UNKNOWN, NO_TAIL, FALLING, RUNNING = -1.0, 0.0, 1.0, 2.0

# entries of `state`
GX, GY, SLIDE, JX, JY, JZ, VN, ENERGY, STORED, RETURNED = range(10)
SQUEEZED, RELEASED, PHASE, LOSSES, EVENTS, COUNT, MODE, LINED, TURNED1, TURNED2 = range(10, 20)
SIGX, SIGY, RATE, DRIFT, SLIDE0, VN0, STATUS, SEGMENTS, RESIDUAL, FORCE_STEP, MISSED, FLOOR, LEFT = range(
    20, 33
)
# the point last evaluated: v_z, and since the segment's start E, impulses; the sliding velocity
P_VZ, P_E, P_JX, P_JY, P_JZ, P_GX, P_GY, P_R = range(32, 40)
STATE_SIZE = 40

# phases
COMPRESSION, RESTITUTION, DONE = 0.0, 1.0, 2.0
# modes: sliding freely, or a line in impulse space (stick, resumed slip, no friction)
SLIDING, ON_LINE = 0.0, 1.0
# kinds of segment
STEP, FALL, RUN, LINE = range(4)
# letters of the event record, base 8
END_COMPRESSION, VANISHED, LINED_UP, END, COMPRESSED_AGAIN = 1, 2, 3, 4, 5
LETTERS = "?cslrk"
# hypotheses
STRONGE, POISSON, NEWTON = range(3)
HYPOTHESES = ("stronge", "poisson", "newton")

#: Events that are approached and never reached are declared by a tolerance, and never change the answer: l
#: within this angle of an invariant direction (rad), and s where the sliding speed passes its minimum below
#: this share of its initial value and grows again. An l counts only above that share.
EVENT_TOLERANCE = 1e-3


class Contact(NamedTuple):
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
    near: float  # tolerance of the events l and s, see EVENT_TOLERANCE
