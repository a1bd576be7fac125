"""A problem as the step solver and Algorithm 1 want it: arrays in the problem's own units, and scratch."""

from __future__ import annotations

import numpy as np

from routh.kernels.step_arrays import (
    PENDING,
    Pivoting,
    Samples,
    Sampling,
    ScaledProblem,
    Sizes,
    Step,
    Vectors,
)
from routh.kernels.walking import extents
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import residual_tolerance, scaled_delassus
from routh.validation import Array


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
    return ScaledProblem(step, start, np.array(unit.impulse), residual_tolerance(problem))


def make_sampling(
    problem: ImpactProblem,
    scaled: ScaledProblem,
    size: Array,
    points: Array,
    *,
    max_steps: int,
    seed: int,
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
        max_steps,
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


def make_vectors(sizes: Sizes) -> Vectors:
    """Scratch of one thread."""
    nc, nt, _ = sizes
    n = nc * (1 + nt)
    values = np.zeros(extents(sizes)[0])
    return Vectors(np.empty(n + nc), np.empty(n), np.empty(n), np.empty(n), np.empty(n), values, np.empty(n))


def make_pivoting(sizes: Sizes) -> Pivoting:
    """Scratch of one thread's pivoting."""
    shapes = pivoting_shapes(sizes)
    return Pivoting(*(np.zeros(shape, dtype) for shape, dtype in shapes))


def pivoting_shapes(sizes: Sizes) -> list[tuple[tuple[int, ...], type]]:
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
