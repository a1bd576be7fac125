"""The data of the step solver and of Algorithm 1: named tuples of arrays, in the problem's own units.

``nc`` contacts, ``nt`` tangents each, ``k`` friction directions; ``n = nc (1 + nt)`` coordinates, contact by
contact, normal first; ``places`` and ``rows`` as `routh.kernels.walking.extents` says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.kernels.random import Key
from routh.validation import Array

PENDING = -1  # status of a sample under way: its steps, residual and scaled impulse say how far it got
Sizes = tuple[int, int, int]  # nc, nt, k


class Step(NamedTuple):
    """The implicit step HP23 (75) of one problem, without its right side."""

    G: Array  # (n, n) scaled Delassus matrix
    directions: Array  # (k, nt) friction directions, in the order of their angle
    normals: Array  # (k, nt) of the friction polygon: friction f is inside where normals @ f <= mu lambda_n
    mu: Array  # (nc,)
    cover: Array  # (nc, 3) Lemke's covering vector, one in SI units: velocity rows, impulse rows; 1 / first


class Sampling(NamedTuple):
    """What Algorithm 1 draws and where it begins."""

    size: Array  # (nc,) the box that lambda_max is drawn from
    start: Array  # (n,) contact velocities before
    response: Array  # (nv, n) velocity per impulse, SI
    before: Array  # (nv,) velocity before, SI
    unit: Array  # (nc,) N s, unit of impulses
    points: Array  # (samples, steps * nc) numbers in (0, 1) for the first steps; then by `key`
    max_steps: int
    limit: float  # a step with a larger residual is not solved
    key: Key


class Samples(NamedTuple):
    """What becomes of every sample."""

    v: Array  # (samples, nv) SI
    impulse: Array  # (samples, nc, 1 + nt) N s, scaled while PENDING
    steps: np.ndarray  # (samples,) int32
    status: np.ndarray  # (samples,) int8, `routh.status.Status` or PENDING
    residual: Array  # (samples,) the largest of a sample's steps


class Vectors(NamedTuple):
    """Scratch of one thread."""

    inputs: Array  # (n + nc,) contact velocities, then lambda_max
    impulse: Array  # (n,) of one step
    after: Array  # (n,) contact velocities after it
    total: Array  # (n,) impulses of all steps before it
    reached: Array  # (n,) and with it
    values: Array  # (places,) see `routh.kernels.places`
    sized: Array  # (n,) sizes of the impulses


class Vertices(NamedTuple):
    """Known vertices of Lemke's path, as walking needs them; numbers of vertices begin with FIRST."""

    roots: np.ndarray  # (places,) int32: the vertex behind the first ray where this place leaves it
    records: Array  # per vertex: direction of travel (places); per row 1 / -rate, and rounding times that
    links: np.ndarray  # int32, per vertex: number of rows, then per row its place, rank and next vertex
    finals: np.ndarray  # (vertices,) int32: the solution that belongs to a vertex where the path ends there
    rounding: Array  # (places,) of the values
    wins: np.ndarray  # int32, per vertex: how often each place left it; empty where that is not counted
    states: np.ndarray  # (solutions, nc, 4) int8, see `routh.kernels.dictionary`
    operators: (
        Array  # (solutions, n, n + nc): sizes of impulses from the inputs, see `routh.kernels.solution`
    )


class Dictionaries(NamedTuple):
    """What pivoting on from a known vertex needs, and a hash table of the vertices' names."""

    names: np.ndarray  # (2^b,) int64
    slots: np.ndarray  # (2^b,) int32: the vertex of each name, the solution + 1 of a final state's
    frozen: np.ndarray  # (1,) int64: whether nothing more is written
    used: np.ndarray  # (2,) int64: next vertex, next solution
    entering: np.ndarray  # (vertices,) int64 row of D whose quantity enters
    states: np.ndarray  # (vertices, nc, 4) int8
    columns: np.ndarray  # (vertices, nc, 1 + nt) int64
    frames: Array  # (vertices, nc, nt, nt)
    D: Array  # (vertices, n + 1, 2 n + 1)


class Pivoting(NamedTuple):
    """Scratch of the pivoting, see `routh.kernels.dictionary`."""

    state: np.ndarray  # (nc, 4) int8
    columns: np.ndarray  # (nc, 1 + nt) int64
    frame: Array  # (nc, nt, nt) the friction directions that impulses are sums of
    D: Array  # (n + 1, 2 n + 1)
    change: Array  # (2 n + 1,)
    rates: Array  # (places,) of the values along the direction of travel
    which: np.ndarray  # (candidates, 4) int64: kind, contact, direction; rank
    found: Array  # (candidates, 2) ratio under a perturbation, rate
    matrix: Array  # (n, 2 n + nc) of the solution's equations
    operator: Array  # (n + nc, n)


class Table(NamedTuple):
    """All that is known of a problem's vertices."""

    vertices: Vertices
    dictionaries: Dictionaries


class ScaledProblem(NamedTuple):
    """A problem as the kernels want it, and its units."""

    step: Step
    start: Array  # (n,) contact velocities before
    impulse: Array  # (nc,) N s, unit of impulses
    limit: float  # the residual below which a step counts as solved

    @property
    def sizes(self) -> Sizes:
        """nc, nt, k."""
        return len(self.step.mu), self.step.directions.shape[1], len(self.step.directions)
