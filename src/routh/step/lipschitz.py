"""Lemma 7's constant: how much a step of HP23 (75) can magnify a change of its velocity or bound."""

from __future__ import annotations

from itertools import product

import numpy as np

from routh import tolerances
from routh.problem import ImpactProblem
from routh.step.mode_pairs import FORWARDS, FREE, REST, STICK, Mode, modes_of
from routh.validation import Array

MOST_CONTACTS = 4  # 7^4 modes


def lipschitz_constant(problem: ImpactProblem) -> float:
    """The Lipschitz constant of ``f_q(v, lambda_max)`` in the Euclidean norm, HP23 Lemma 7, in the plane.

    Under Assumption 6 (`routh.step.uniqueness`) a step is a continuous function of ``(v, lambda_max)``, which
    is linear wherever the contact modes stay the same. Its constant is the largest norm of these linear maps
    over all modes that hold in an open set; others are their common borders. Without Assumption 6 the number
    bounds the step's pieces, and not what a change of solution does.
    """
    if problem.nt != 1:
        raise ValueError("problem: is in space; wanted a planar one")
    if problem.nc > MOST_CONTACTS:
        raise ValueError(f"problem: has {problem.nc} contacts; wanted at most {MOST_CONTACTS}")
    each = [modes_of(not mu > 0.0) for mu in problem.mu]
    return max(_norm(problem, modes) for modes in product(*each))


def _norm(problem: ImpactProblem, modes: tuple[Mode, ...]) -> float:
    """The norm of the step's linear map in these modes; 0 where no open set has them."""
    A, B = _equations(problem, modes)
    rank = np.linalg.matrix_rank(A, tol=tolerances.RANK * np.linalg.norm(A))
    both = np.hstack([A, B])
    if np.linalg.matrix_rank(both, tol=tolerances.RANK * np.linalg.norm(both)) > rank:
        return 0.0  # consistent for special v only
    if not _holds_somewhere(problem, modes, A, B):
        return 0.0
    before = np.hstack([np.eye(problem.nv), np.zeros((problem.nv, problem.nc))])
    impulse = np.linalg.pinv(A, rcond=tolerances.RANK) @ B  # what it leaves open does not change v
    return float(np.linalg.norm(before + problem.response @ impulse, 2))


def _equations(problem: ImpactProblem, modes: tuple[Mode, ...]) -> tuple[Array, Array]:
    """``A impulse = B (v, lambda_max)``: what modes say of the impulses, (2 nc, 2 nc), (2 nc, nv + nc)."""
    nc, nv = problem.nc, problem.nv
    A, B, G = np.eye(2 * nc), np.zeros((2 * nc, nv + nc)), problem.delassus
    for i, (normal, friction) in enumerate(modes):
        at, beside = 2 * i, 2 * i + 1
        if normal == FREE:
            continue
        if normal == REST:
            A[at], B[at, :nv] = G[at], -problem.Jn[i]
        else:
            B[at, nv + i] = 1.0
        if friction == STICK:
            A[beside], B[beside, :nv] = G[beside], -problem.Jt[i, 0]
        elif problem.mu[i] > 0.0:
            A[beside, at] = problem.mu[i] if friction == FORWARDS else -problem.mu[i]
    return A, B


def _holds_somewhere(problem: ImpactProblem, modes: tuple[Mode, ...], A: Array, B: Array) -> bool:
    """Whether all inequalities of the modes hold strictly for some velocity, bound and impulse."""
    from scipy.optimize import linprog

    nc, nv = problem.nc, problem.nv
    n = nv + 3 * nc
    unit = np.eye(n)
    bound, impulse = unit[nv : nv + nc], unit[nv + nc :]
    velocity = np.hstack([problem.J.reshape(-1, nv), np.zeros((2 * nc, nc)), problem.delassus])
    above = list(bound)  # rows that are positive
    for i, (normal, friction) in enumerate(modes):
        push, drag = impulse[2 * i], impulse[2 * i + 1]
        y, t = velocity[2 * i], velocity[2 * i + 1]
        if normal == FREE:
            above.append(y)
            continue
        above += [push, bound[i] - push] if normal == REST else [-y]
        if friction == STICK:
            above += [problem.mu[i] * push - drag, problem.mu[i] * push + drag]
        elif problem.mu[i] > 0.0:
            above.append(t if friction == FORWARDS else -t)
    rows = np.array(above)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    slack = linprog(
        np.append(np.zeros(n), -1.0),
        np.hstack([-rows, np.ones((len(rows), 1))]),
        np.zeros(len(rows)),
        np.hstack([-B, A, np.zeros((2 * nc, 1))]),
        np.zeros(2 * nc),
        bounds=[(-1.0, 1.0)] * n + [(0.0, 1.0)],
    )
    return bool(slack.success and -slack.fun > 1e-7)
