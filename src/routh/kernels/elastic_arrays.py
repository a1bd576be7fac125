"""The data of the kernels of impacts with restitution: named tuples of arrays, and the names of their rows.

Everything is in the problem's own units (see `routh.problem.Scaling`), in which work is a share of
``|v|_M^2`` and the kinetic energy before is one half. ``m = nc (3 + k)`` unknowns of the tableau,
``n = nc (1 + nt)`` coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.kernels.random import Key
from routh.validation import Array

# rows of `Scratch.flat`, (n,) each
NOW, THEN, PUSH, TOTAL, KEPT_THEN, KEPT_PUSH = 0, 1, 2, 3, 4, 5
# rows of `Scratch.ledger`, (nc,) each
RATE, BOUND, FLOOR, BUDGET, STORED, RETURNED = 0, 1, 2, 3, 4, 5
GAIN, GIVEN, EARNED, SPENT, BELOW, ABOVE, VALUE, SLOPE, KIND = 6, 7, 8, 9, 10, 11, 12, 13, 14
# what a contact waits for (row KIND)
NOTHING, END_OF_COMPRESSION, END_OF_BUDGET = 0.0, 1.0, 2.0


class Elastic(NamedTuple):
    """One problem with restitution."""

    W: Array  # (m, m) of HP23 (75)
    G: Array  # (n, n) Delassus matrix
    cover: Array  # (m,) Lemke's covering vector
    directions: Array  # (k, nt)
    mu: Array  # (nc,)
    start: Array  # (n,) contact velocities before
    restitution: Array  # (nc,)
    share: Array  # (nc,) what is returned of what is stored
    poisson: bool
    rest: float  # slower approach is none
    least: float  # a smaller budget is none
    scale: float  # of the budgets' event functions
    tolerance: float  # residual above which a solve has failed


class Drawing(NamedTuple):
    """What is drawn."""

    size: Array  # (nc,) the box of the rates
    points: Array  # (samples, intervals * nc) numbers in (0, 1) of the first intervals; then by `key`
    first: int  # row r is sample first + r
    key: Key
    max_steps: int


class Scratch(NamedTuple):
    """Arrays of one thread."""

    T: Array  # (m, 2 m + 2) tableau
    basis: np.ndarray  # (m,) int64
    q: Array  # (m,)
    z: Array  # (m,)
    flat: Array  # (6, n): contact velocities NOW and THEN, the impulse PUSH, the TOTAL, and two kept
    ledger: Array  # (15, nc): the numbers per contact, named above
    residual: Array  # (1,) the largest


class ElasticSamples(NamedTuple):
    """What becomes of every sample."""

    impulse: Array  # (samples, n)
    work: Array  # (samples, 2, nc): stored, returned
    status: np.ndarray  # (samples,) int8
    steps: np.ndarray  # (samples,) int32
    residual: Array  # (samples,)
