"""The data of Algorithm 1: what is drawn, what becomes of samples, and the scratch of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.status import Status
from routh.base.validation import Array
from routh.compiling import distinct, kernel
from routh.compiling.foreign import Foreign
from routh.compiling.rows import count_rows
from routh.compiling.rows import rows as named_rows
from routh.kernels.common.arrays import place_of
from routh.problem.rows import IMPULSE, MU, ROOT_MASS, Rows

PENDING = int(Status.OUT_OF_TIME)  # of a sample under way: its steps, residual and scaled impulse say how far
Directions = Array | None  # (k, nt) friction directions in the order of their angle; None: the true cone


class StepDraw(NamedTuple):
    """What is drawn: the samples 0 to ``n - 1`` of every row."""

    n: int
    row: int  # number of the first row: row r of the arrays draws the numbers of row ``row + r``
    seed: Foreign  # np.uint64
    boxes: Array  # (rows, nc), (1, nc) or (0, nc) N s: what lambda_max is drawn from; none: the unit
    points: Array  # (n, steps * nc) numbers in (0, 1) for the first steps; then by `seed`
    max_steps: int


class Samples(NamedTuple):
    """What becomes of every sample of one problem."""

    v: Array  # (samples, nv) SI
    impulse: Array  # (samples, nc, 1 + nt) N s
    steps: np.ndarray  # (samples,) int32
    status: np.ndarray  # (samples,) int8, `routh.base.status.Status`
    residual: Array  # (samples,) the largest of a sample's steps


class WorkArrays(NamedTuple):
    """The arrays of `Work` for at most nc contacts, n = nc (1 + nt); a row's problem is copied here.

    N = nc (3 + k) is the size of the linear complementarity problem; with the true cone (k = 0) n, that of
    Newton's equations.
    """

    G: Array  # (n, n) scaled Delassus matrix
    contacts: Array  # (rows named below, nc)
    inputs: Array  # (n + nc,) contact velocities, then lambda_max
    impulse: Array  # (n,) of one step
    after: Array  # (n,) contact velocities after it
    total: Array  # (n,) impulses of all steps
    W: Array  # (N, N) of HP23 (75), as are the following; or of Newton's method
    q: Array  # (N,)
    cover: Array  # (N,) ones in SI units
    T: Array  # (N, N + 2) see `routh.lcp.lemke.follow_path`, as are the following
    basis: np.ndarray  # (N,) int64
    place: np.ndarray  # (2 N + 1,) int64


class Work(WorkArrays):
    """Scratch of one thread."""

    __slots__ = ()
    # friction, what lambda_max is drawn from, square root of the effective mass
    mu, box, root = named_rows("contacts", 3)
    # with the true cone: eigenvalues of the tangential block of G, and the axis of the larger one
    small, large, cosine, sine = named_rows("contacts", 4)


def make_work(nc: int, nt: int, k: int) -> Work:
    """Scratch for rows of at most so many contacts; ``k``: directions of friction, 0 with the true cone."""
    n, size = nc * (1 + nt), nc * (3 + k)
    numbers = [(n, n), (count_rows(Work, "contacts"), nc), (n + nc,), (n,), (n,), (n,)]
    numbers += [(size, size), (size,), (size,), (size, size + 2)]
    marks = [np.zeros(length, np.int64) for length in (size, 2 * size + 1)]
    return Work(*map(np.zeros, numbers), *marks)


@kernel
def load_row(rows: Rows, row: int, draw: StepDraw, nt: int, work: Work) -> None:
    """The problem of one row into the scratch."""
    # reads draw.boxes, rows.G, rows.contact, rows.nc
    # writes work.G, work.box, work.mu, work.root
    # hands on rows
    nc = rows.nc[row]
    n = nc * (1 + nt)
    for r in range(n):
        for j in range(n):
            work.G[r, j] = rows.G[row, r, j]
    for i in range(nc):
        work.mu[i], work.box[i] = rows.contact[row, MU, i], 1.0
        work.root[i] = rows.contact[row, ROOT_MASS, i]
        if draw.boxes.shape[0] > 0:
            given = draw.boxes[min(row, draw.boxes.shape[0] - 1), place_of(rows, row, i)]
            work.box[i] = given / rows.contact[row, IMPULSE, i]


@distinct
def velocity_after(n: int, G: Array, before: Array, p: Array, after: Array) -> None:
    """Contact velocities ``before + G p`` (n,); G is symmetric, so its rows are added up."""
    for row in range(n):
        after[row] = before[row]
    for j in range(n):
        push = p[j]
        if push != 0.0:
            for row in range(n):
                after[row] = after[row] + G[j, row] * push
