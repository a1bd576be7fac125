"""A problem as the kernels want it: arrays in the problem's own units, and the workspace of one solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from routh.kernels.walking import extents
from routh.problem import ImpactProblem
from routh.step.base import residual_tolerance, scaled_delassus
from routh.validation import Array


@dataclass(frozen=True, eq=False)
class KernelData:
    """The constant arrays of one problem, scaled by its own speed and effective masses."""

    shape: tuple[int, int]  # nc, nt
    G: Array  # (n, n) Delassus matrix, n = nc (1 + nt), contact by contact, normal first
    dirs: Array  # (k, nt) friction directions
    mu: Array  # (nc,)
    cover: Array  # (nc, 3) Lemke's covering vector, one in SI units: velocity rows, impulse rows; 1 / first
    velocity: Array  # (nc,) m/s, unit of contact velocities
    impulse: Array  # (nc,) N s, unit of impulses
    c: Array  # (n,) contact velocities before
    limit: float  # the residual below which a step counts as solved

    @property
    def solver(self) -> tuple[Array, Array, Array, Array]:
        """What the pivoting takes as ``data``."""
        return self.G, self.dirs, self.mu, self.cover


def kernel_data(problem: ImpactProblem, directions: Array) -> KernelData:
    """Scale a problem; ``directions`` (k, nt) are the friction directions of every contact."""
    unit = problem.scaling
    root = np.sqrt(unit.mass)
    return KernelData(
        shape=(problem.nc, problem.nt),
        G=np.ascontiguousarray(scaled_delassus(problem)),
        dirs=np.array(directions, dtype=np.float64, order="C"),
        mu=np.array(problem.mu),
        cover=np.stack([root, 1.0 / root, 1.0 / root], axis=1),
        velocity=np.array(unit.velocity),
        impulse=np.array(unit.impulse),
        c=(problem.contact_velocity() / unit.velocity[:, None]).ravel(),
        limit=residual_tolerance(problem),
    )


def workspace(nc: int, nt: int, k: int) -> tuple[Any, ...]:
    """Scratch arrays of the pivoting; one set per thread."""
    sizes = workspace_sizes(nc, nt, k)
    return tuple(np.zeros(size, dtype=dtype) for size, dtype in sizes)


def workspace_sizes(nc: int, nt: int, k: int) -> list[tuple[tuple[int, ...], Any]]:
    """Shape and type of each scratch array, in the kernels' order."""
    n = nc * (1 + nt)
    candidates = 1 + nc * (5 + k)
    return [
        ((nc, 4), np.int8),  # state
        ((nc, 1 + nt), np.int64),  # columns
        ((candidates, 4), np.int64),  # which
        ((nc, nt, nt), np.float64),  # frame
        ((n + 1, 2 * n + 1), np.float64),  # D
        ((2 * n + 1,), np.float64),  # x
        ((2 * n + 1,), np.float64),  # g
        ((candidates, 2), np.float64),  # found
        ((extents((nc, nt, k))[0],), np.float64),  # w, see routh.kernels.slots
    ]


def facet_normals(dirs: Array) -> Array:
    """``N`` (k, nt): friction f lies in mu lambda_n times the polygon of directions where N f <= mu lambda_n.

    Row j belongs to the edge from direction j to the next one; in the plane to direction j itself.
    """
    if dirs.shape[1] == 1:
        return dirs
    following = np.roll(dirs, -1, axis=0)
    return np.stack(
        [np.linalg.solve(np.stack(pair), np.ones(2)) for pair in zip(dirs, following, strict=True)]
    )


def tangential_axes(G: Array) -> Array:
    """Eigenvalues of each spatial contact's tangential block, cosine and sine of its first axis, (nc, 4)."""
    axes = np.empty((len(G) // 3, 4))
    for i in range(len(axes)):
        values, vectors = np.linalg.eigh(G[3 * i + 1 : 3 * i + 3, 3 * i + 1 : 3 * i + 3])
        # a direction that nothing can move along would have eigenvalue 0: friction does nothing there
        floor = np.finfo(float).eps * values[1]
        axes[i] = *np.maximum(values, floor), vectors[0, 0], vectors[1, 0]
    return axes
