"""From the bars of a problem in its own units to those of M, Jn, Jt, mu, v and restitution.

With ``root_i = (Jn_i M^-1 Jn_i^T)^-1/2`` and the speed ``(v^T M v)^1/2`` (`routh.problem.Scaling`) and the
scaled rows ``S = root J``, a path sees ``G = S U`` with ``U = M^-1 S^T``, starts from ``S v / speed`` and
ends with the velocity ``v + speed U P``, P its total impulse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.compiling import kernel
from routh.kernels.reverse_rates import PUSH, STATE, ReverseWork
from routh.problem import ImpactProblem
from routh.validation import Array


class Frame(NamedTuple):
    """One problem in SI units and the factors of its own units."""

    S: Array  # (n, nv) scaled Jacobians, contact by contact with the normal first
    U: Array  # (nv, n)
    inverse: Array  # (nv, nv) M^-1
    v: Array  # (nv,)
    momentum: Array  # (nv,) M v over the speed
    root: Array  # (nc,)
    speed: float


def frame_of(problem: ImpactProblem) -> Frame:
    """The factors of a problem's own units."""
    unit = problem.scaling
    root = np.sqrt(unit.mass)
    S = (problem.J * root[:, None, None]).reshape(-1, problem.nv)
    inverse = problem.solve_mass(np.eye(problem.nv))
    momentum = problem.M @ problem.v / unit.speed
    return Frame(
        np.ascontiguousarray(S),
        np.ascontiguousarray(inverse @ S.T),
        np.ascontiguousarray(0.5 * (inverse + inverse.T)),
        np.ascontiguousarray(problem.v),
        momentum,
        root,
        float(unit.speed),
    )


class Pull(NamedTuple):
    """Scratch of one thread."""

    S: Array  # (n, nv) bar of S
    half: Array  # (n, nv) the part of it that comes from G
    change: Array  # (nv,) velocity change per speed, U P
    raised: Array  # (nv,) M^-1 times the cotangent


def pull_workspace(n: int, nv: int) -> Pull:
    """Scratch arrays of one thread."""
    return Pull(np.zeros((n, nv)), np.zeros((n, nv)), np.zeros(nv), np.zeros(nv))


@kernel
def start_bars(frame: Frame, cotangent: Array, own: ReverseWork) -> None:
    """``bars[PUSH]``: the bar of the total impulse for that of the velocity after."""
    for a in range(frame.U.shape[1]):
        value = 0.0
        for r in range(frame.U.shape[0]):
            value += frame.U[r, a] * cotangent[r]
        own.bars[PUSH, a] = frame.speed * value


@kernel
def pull_S(frame: Frame, cotangent: Array, total: Array, own: ReverseWork, pull: Pull) -> float:
    """The bar of S; returns that of the speed."""
    n, nv = frame.S.shape
    of_speed = 0.0
    for r in range(nv):
        pull.change[r] = pull.raised[r] = 0.0
        for a in range(n):
            pull.change[r] += frame.U[r, a] * total[a]
        for s in range(nv):
            pull.raised[r] += frame.inverse[r, s] * cotangent[s]
        of_speed += cotangent[r] * pull.change[r]
    for a in range(n):
        start = own.bars[STATE, a] / frame.speed
        for r in range(nv):
            value = 0.0
            for b in range(n):
                value += (own.of_G[a, b] + own.of_G[b, a]) * frame.U[r, b]
            pull.half[a, r] = value
            pull.S[a, r] = value + start * frame.v[r] + frame.speed * total[a] * pull.raised[r]
            of_speed -= start * frame.S[a, r] * frame.v[r] / frame.speed
    return of_speed


@kernel
def of_root(frame: Frame, pull: Pull, i: int, width: int) -> float:
    """The bar of contact i's root, times the root."""
    value = 0.0
    for a in range(width * i, width * (i + 1)):
        for r in range(frame.S.shape[1]):
            value += pull.S[a, r] * frame.S[a, r]
    return value


@kernel
def pull_M(frame: Frame, pull: Pull, of_speed: float, width: int, out: Array) -> None:
    """The bar of M, symmetric."""
    n, nv = frame.S.shape
    for r in range(nv):
        for s in range(r + 1):
            value = of_speed * frame.v[r] * frame.v[s] / frame.speed
            value -= frame.speed * pull.raised[r] * pull.change[s]
            value -= frame.speed * pull.raised[s] * pull.change[r]
            for a in range(n):
                value -= 0.5 * (frame.U[r, a] * pull.half[a, s] + frame.U[s, a] * pull.half[a, r])
            out[r, s] = out[s, r] = 0.5 * value
    for i in range(len(frame.root)):
        root, a = 0.5 * of_root(frame, pull, i, width), width * i
        for r in range(nv):
            for s in range(nv):
                out[r, s] += root * (frame.U[r, a] * frame.U[s, a])


@kernel
def pull_J(frame: Frame, pull: Pull, width: int, out: Array) -> None:
    """The bar of J, normal first."""
    for i in range(len(frame.root)):
        root, normal = of_root(frame, pull, i, width), width * i
        for r in range(frame.S.shape[1]):
            for a in range(normal, normal + width):
                out[a, r] = frame.root[i] * pull.S[a, r]
            out[normal, r] -= frame.root[i] * root * frame.U[r, normal]


@kernel
def pull_v(frame: Frame, cotangent: Array, of_speed: float, own: ReverseWork, out: Array) -> None:
    """The bar of the velocity before."""
    for r in range(len(frame.v)):
        value = cotangent[r] + of_speed * frame.momentum[r]
        for a in range(frame.S.shape[0]):
            value += frame.S[a, r] * own.bars[STATE, a] / frame.speed
        out[r] = value
