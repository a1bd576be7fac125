"""Exact solutions beside the paths of samples, for the checker to decide on (planar contacts)."""

from __future__ import annotations

import numpy as np

from routh.base.results import ImpactPath
from routh.exact.checker import LINE, SMALL, CheckedPath, PathProgram
from routh.exact.rational import RationalProblem

_ZERO = 1e-11  # scaled velocities below this are zero


def exact_path(problem: RationalProblem, path: ImpactPath) -> CheckedPath | None:
    """A path in fractions beside one in floating point, piece by piece with the same statuses; None if none.

    What is zero up to rounding becomes exactly so, the rest stays as near as that lets it. It proves nothing
    until `routh.exact.checker.verify_path` says so, and it may lie anywhere: compare its last velocity.
    """
    words, frictions = _statuses(problem, path)
    program = PathProgram(problem, None, words, LINE)
    weights = []
    sticking = 0  # columns of a sticking contact come as three: pressure, and friction either way
    for k, i, impulse in program.columns:
        normal, friction = path.impulse[k, i]
        mu = float(problem.mu[i])
        if words[k][i] != "sticks" or mu == 0.0 or not frictions[i]:
            weights.append(normal)
            continue
        way = 0.0 if sticking % 3 == 0 else -float(impulse[1])
        weights.append(max(normal - abs(friction) / mu, 0.0) if way == 0.0 else max(-way * friction, 0.0))
        sticking += 1
    rounded = problem.problem
    ends = rounded.contact_velocity(path.v[-1])[:, 0] / rounded.scaling.velocity
    at_rest = np.flatnonzero(np.abs(ends) <= _ZERO)
    for small in SMALL:
        exact = program.near(np.array(weights), at_rest.tolist(), small)
        if exact is not None and program.satisfied(exact, strictly=True):
            return program.path(exact)
    return None


def _statuses(problem: RationalProblem, path: ImpactPath) -> tuple[list[list[str]], list[bool]]:
    """The word of each contact on each piece, and which contacts have any friction."""
    rounded = problem.problem
    slip = rounded.contact_velocity(path.v)[:, :, 1] / rounded.scaling.velocity
    slip = np.where(np.abs(slip) > _ZERO, slip, 0.0)
    sign = np.sign(slip[:-1] + slip[1:]).astype(int)
    names = {0: "sticks", 1: "slides +", -1: "slides -"}
    words = [
        [names[sign[k, i]] if push[i, 0] > 0.0 else "separates" for i in range(problem.nc)]
        for k, push in enumerate(path.impulse)
    ]
    return words, [bool(mu) and any(map(any, rows)) for mu, rows in zip(problem.mu, problem.Jt, strict=True)]
