"""A path that was found in floating point again in fractions, where `routh.exact.checker` decides on it."""

from __future__ import annotations

import numpy as np

from routh.exact.checker import verify_path
from routh.exact.checker_parts import LINE, CheckedPath
from routh.exact.checker_program import PathProgram
from routh.exact.rational import RationalProblem
from routh.paths import ImpactPath
from routh.validation import Array

#: Scaled velocities and impulses below this were zero before rounding; tried in turn. Small, because the
#: friction of 1.7320508 that stands for sqrt(3) makes slips of 1e-11 that are true.
_ROUNDING = (1e-13, 1e-14, 1e-11, 1e-9)


def replayed(problem: RationalProblem, path: ImpactPath) -> CheckedPath | None:
    """The path of straight pieces of a planar impact beside ``path``, exact and verified; None where none is.

    Contact statuses and impulses are read from ``path``; impulses that these leave free keep their numbers,
    the others follow by exact elimination. The result solves HP23 (39) without rounding, as verified.
    """
    for rounding in _ROUNDING:
        found = _beside(problem, path, rounding)
        if found is not None and verify_path(problem, found, found.v[-1]):
            return found
    return None


def _beside(problem: RationalProblem, path: ImpactPath, rounding: float) -> CheckedPath | None:
    unit = problem.problem.scaling
    velocity = problem.problem.contact_velocity(path.v) / unit.velocity[:, None]  # (k + 1, nc, 2)
    slip, push = velocity[..., 1], path.impulse[..., 0] / unit.impulse
    statuses = [
        [_status(*row, rounding) for row in zip(push[k], slip[k], slip[k + 1], strict=True)]
        for k in range(len(push))
    ]
    kept = [k for k, words in enumerate(statuses) if set(words) != {"separates"}]
    program = PathProgram(problem, None, [statuses[k] for k in kept], LINE)
    at_rest = [int(i) for i in np.flatnonzero(np.abs(velocity[-1, :, 0]) < rounding)]
    weights = program.near(_weights(program, path.impulse[kept]), at_rest, rounding)
    return None if weights is None or min(weights) < 0 else program.path(weights)


def _status(push: float, before: float, after: float, rounding: float) -> str:
    if push <= rounding:
        return "separates"
    if max(abs(before), abs(after)) <= rounding:
        return "sticks"
    return "slides +" if before + after > 0.0 else "slides -"


def _weights(program: PathProgram, impulses: Array) -> Array:
    """What each column of the program carries of the impulses (k, nc, 2)."""
    weights = np.zeros(len(program.columns))
    for j, (segment, i, (pressure, friction)) in enumerate(program.columns):
        push, drag = impulses[segment, i]
        mu = float(program.problem.mu[i])
        if friction == 0:
            weights[j] = push - abs(drag) / mu if mu > 0.0 else push
        elif pressure == 1:  # slides: all of it
            weights[j] = push
        else:  # one side of the cone
            weights[j] = max(drag / float(friction), 0.0)
    return np.maximum(weights, 0.0)
