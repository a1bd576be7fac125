"""Points of the studies in sweeps.py: in a module of their own, since worker processes import them."""

from __future__ import annotations

import time

import numpy as np

from routh import ImpactProblem


def block(angle: float, slide: float) -> ImpactProblem:
    """A block of 1 by 0.5 m, tilted a little, that lands on its two lower corners."""
    corners = np.array([[-0.5, -0.25], [0.5, -0.25]])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    x, y = turn @ corners.T
    normals = np.stack([np.zeros(2), np.ones(2), x], axis=1)
    tangents = np.stack([np.ones(2), np.zeros(2), -y], axis=1)[:, None]
    return ImpactProblem(np.diag([1.0, 1.0, 5 / 48]), normals, tangents, 0.5, [slide, -1.0, 0.1])


def waited(x: float) -> ImpactProblem:
    """The block after ten milliseconds of processor time, so that a chunk's cost is known."""
    end = time.process_time() + 0.01
    while time.process_time() < end:
        pass
    return block(0.0, 0.3 + 1e-3 * x)


def speed(problem: ImpactProblem, row: int, seed: int) -> dict[str, float]:
    """A measure that costs nothing."""
    return {"speed": float(np.linalg.norm(problem.v))}
