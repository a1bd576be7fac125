"""The data of the step solver and of Algorithm 1: named tuples of arrays, in the problem's own units.

``nc`` contacts, ``nt`` tangents each, ``k`` friction directions; ``n = nc (1 + nt)`` coordinates, contact by
contact, normal first; ``places`` and ``rows`` as `routh.kernels.walking.extents` says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh import tolerances
from routh.kernels.random import Key
from routh.kernels.walking import extents
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import residual_tolerance, scaled_delassus
from routh.validation import Array

PENDING = -1  # status of a sample under way: its steps, residual and scaled impulse say how far it got


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
    first: int  # row r is sample first + r
    max_steps: int
    approach: float  # slower approach is none
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
    total: Array  # (n,) impulses of all steps
    values: Array  # (places,) see `routh.kernels.places`
    sized: Array  # (n,) sizes of the impulses


class Vertices(NamedTuple):
    """Known vertices of Lemke's path, as walking needs them; numbers of vertices begin with FIRST."""

    roots: np.ndarray  # (places,) int32: the vertex behind the first ray where this place leaves it
    records: Array  # per vertex: direction of travel (places), 1 / -rate of each row, rounding of its ratio
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
    velocity: Array  # (nc,) m/s, unit of contact velocities
    impulse: Array  # (nc,) N s, unit of impulses
    limit: float  # the residual below which a step counts as solved

    @property
    def sizes(self) -> tuple[int, int, int]:
        """nc, nt, k."""
        return len(self.step.mu), self.step.directions.shape[1], len(self.step.directions)


def scaled_problem(problem: ImpactProblem, directions: Array) -> ScaledProblem:
    """Scale a problem; ``directions`` (k, nt) are the friction directions of every contact."""
    unit = problem.scaling
    root = np.sqrt(unit.mass)
    step = Step(
        np.ascontiguousarray(scaled_delassus(problem)),
        np.array(directions, dtype=np.float64, order="C"),
        facet_normals(np.array(directions, dtype=np.float64, order="C")),
        np.array(problem.mu),
        np.stack([root, 1.0 / root, 1.0 / root], axis=1),
    )
    start = (problem.contact_velocity() / unit.velocity[:, None]).ravel()
    return ScaledProblem(
        step, start, np.array(unit.velocity), np.array(unit.impulse), residual_tolerance(problem)
    )


def make_sampling(
    problem: ImpactProblem,
    scaled: ScaledProblem,
    size: Array,
    points: Array,
    *,
    max_steps: int,
    seed: int,
    first: int = 0,
    row: int = 0,
) -> Sampling:
    """What Algorithm 1 draws; ``size`` (nc,) is scaled."""
    return Sampling(
        size,
        scaled.start,
        np.ascontiguousarray(problem.response),
        np.array(problem.v),
        scaled.impulse,
        points,
        first,
        max_steps,
        tolerances.APPROACH,
        scaled.limit,
        (np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32), np.uint32(row)),
    )


def empty_samples(problem: ImpactProblem, n: int) -> Samples:
    """Arrays for n samples, all pending at their start."""
    return Samples(
        np.tile(problem.v, (n, 1)),
        np.zeros((n, problem.nc, 1 + problem.nt)),
        np.zeros(n, dtype=np.int32),
        np.full(n, PENDING, dtype=np.int8),
        np.zeros(n),
    )


def out_of_time(samples: Samples) -> None:
    """What is pending has run out of time: its velocity is that before, its impulse none."""
    late = samples.status == PENDING
    samples.impulse[late], samples.steps[late], samples.residual[late] = 0.0, 0, 0.0
    samples.status[late] = Status.OUT_OF_TIME


def make_vectors(sizes: tuple[int, int, int]) -> Vectors:
    """Scratch of one thread."""
    nc, nt, _ = sizes
    n = nc * (1 + nt)
    return Vectors(
        np.empty(n + nc), np.empty(n), np.empty(n), np.empty(n), np.zeros(extents(sizes)[0]), np.empty(n)
    )


def make_pivoting(sizes: tuple[int, int, int]) -> Pivoting:
    """Scratch of one thread's pivoting."""
    shapes = pivoting_shapes(sizes)
    return Pivoting(*(np.zeros(shape, dtype) for shape, dtype in shapes))


def pivoting_shapes(sizes: tuple[int, int, int]) -> list[tuple[tuple[int, ...], type]]:
    """Shape and type of each array of `Pivoting`, in order."""
    nc, nt, k = sizes
    n, candidates = nc * (1 + nt), 1 + nc * (5 + k)
    return [
        ((nc, 4), np.int8),
        ((nc, 1 + nt), np.int64),
        ((nc, nt, nt), np.float64),
        ((n + 1, 2 * n + 1), np.float64),
        ((2 * n + 1,), np.float64),
        ((extents(sizes)[0],), np.float64),
        ((candidates, 4), np.int64),
        ((candidates, 2), np.float64),
        ((n, 2 * n + nc), np.float64),
        ((n + nc, n), np.float64),
    ]


def facet_normals(directions: Array) -> Array:
    """``N`` (k, nt): friction f lies in mu lambda_n times the polygon of directions where N f <= mu lambda_n.

    Row j belongs to the edge from direction j to the next one; in the plane to direction j itself.
    """
    if directions.shape[1] == 1:
        return directions
    following = np.roll(directions, -1, axis=0)
    area = directions[:, 0] * following[:, 1] - directions[:, 1] * following[:, 0]
    edge = following - directions
    return np.stack([edge[:, 1], -edge[:, 0]], axis=1) / area[:, None]


def tangential_axes(G: Array) -> Array:
    """Eigenvalues of each spatial contact's tangential block, cosine and sine of its first axis, (nc, 4)."""
    axes = np.empty((len(G) // 3, 4))
    for i in range(len(axes)):
        values, vectors = np.linalg.eigh(G[3 * i + 1 : 3 * i + 3, 3 * i + 1 : 3 * i + 3])
        # a direction that nothing can move along would have eigenvalue 0: friction does nothing there
        floor = np.finfo(float).eps * values[1]
        axes[i] = *np.maximum(values, floor), vectors[0, 0], vectors[1, 0]
    return axes
