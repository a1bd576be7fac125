"""The farthest outcome of all solutions that pass through the same contact statuses as a given one.

Solutions of HP23 (39) whose segments have given statuses (who pushes, who sticks, who slides which way)
form a convex set: impulses enter linearly and the statuses are linear conditions at the ends of each segment.
So the farthest outcome in a direction is a linear program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from routh.validation import Array

_NOT_ENDED = 1e-7  # scaled: how far some pushing contact is from rest when a segment begins
_FEASIBLE = 1e-10  # scaled violation beyond which a solution of the linear program is not used

STICK, APART, SMOOTH = 0, 2, 3  # beside +1 and -1, the signs of slip
Statuses = tuple[int, ...]  # per contact


@dataclass(frozen=True, eq=False)
class Extreme:
    """An outcome: impulses (2 nc,) and final contact velocity (2 nc,), scaled, and the worst violation."""

    impulse: Array
    c: Array
    violation: float
    moving: tuple[bool, ...]  # per segment: whether anything happens in it


def farthest(G: Array, start: Array, mu: Array, sequence: Sequence[Statuses], cost: Array) -> Extreme | None:
    """Maximise ``cost . impulse`` over the solutions with these statuses; None where there are none.

    Parameters
    ----------
    G : (2 nc, 2 nc) scaled Delassus matrix.
    start : (2 nc,) scaled contact velocity ``(y_1, t_1, ...)`` before.
    cost : (2 nc,) what one unit of each scaled impulse is worth.
    """
    effects, segments = _columns(sequence, mu)
    equal, below = _conditions(sequence, mu)
    moved = G @ effects  # (2 nc, variables)

    def rows(table: list[tuple[Array, int]]) -> tuple[Array, Array]:
        """``form . c`` at a breakpoint, as coefficients of the variables and a constant."""
        forms = np.array([form for form, _ in table]).reshape(len(table), len(start))
        before = segments[None, :] < np.array([k for _, k in table]).reshape(-1, 1)
        return (forms @ moved) * before, forms @ start

    A_eq, b_eq = rows(equal)
    A_ub, b_ub = rows([(form, k) for form, k, _ in below])
    margins = np.array([margin for *_, margin in below])
    cone = _cone(sequence, mu, len(segments))
    result = linprog(
        -(cost @ effects),
        np.vstack([A_ub, cone]),
        np.append(-b_ub - margins, np.zeros(len(cone))),
        A_eq if len(equal) else None,
        -b_eq if len(equal) else None,
        bounds=[(None, None) if free else (0, None) for free in _free(sequence, mu)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": _FEASIBLE},
    )
    if result.status != 0:
        return None
    x = result.x
    violation = max(
        float(np.max(np.abs(A_eq @ x + b_eq), initial=0.0)),
        float(np.max(A_ub @ x + b_ub, initial=0.0)),
        float(np.max(cone @ x, initial=0.0)),
    )
    if not violation <= _FEASIBLE:
        return None
    moving = np.bincount(segments, weights=np.abs(x), minlength=len(sequence)) > 0.0
    return Extreme(effects @ x, start + moved @ x, violation, tuple(bool(m) for m in moving))


def _sticks(status: int, mu: float) -> bool:
    return status == STICK and mu > 0.0


def _columns(sequence: Sequence[Statuses], mu: Array) -> tuple[Array, np.ndarray]:
    """Impulse (2 nc,) of a unit of each variable, and the segment that it belongs to."""
    columns, segments = [], []
    for k, statuses in enumerate(sequence):
        for i, status in enumerate(statuses):
            if status == APART:
                continue
            column = np.zeros(2 * len(statuses))
            column[2 * i] = 1.0
            column[2 * i + 1] = -mu[i] * status if status in (1, -1) else 0.0
            columns.append(column)
            if _sticks(status, mu[i]):
                friction = np.zeros(2 * len(statuses))
                friction[2 * i + 1] = 1.0
                columns.append(friction)
            segments += [k] * (2 if _sticks(status, mu[i]) else 1)
    return np.array(columns).T, np.array(segments)


def _free(sequence: Sequence[Statuses], mu: Array) -> list[bool]:
    """Which variables may be negative: the friction of sticking contacts."""
    flags: list[bool] = []
    for statuses in sequence:
        for status, m in zip(statuses, mu, strict=True):
            if status != APART:
                flags += [False, True] if _sticks(status, m) else [False]
    return flags


def _cone(sequence: Sequence[Statuses], mu: Array, variables: int) -> Array:
    """``|friction| - mu normal <= 0`` of sticking contacts, (m, variables)."""
    rows, j = [], 0
    for statuses in sequence:
        for status, m in zip(statuses, mu, strict=True):
            if _sticks(status, m):
                for sign in (1.0, -1.0):
                    row = np.zeros(variables)
                    row[j], row[j + 1] = -m, sign
                    rows.append(row)
            j += 0 if status == APART else 1 + _sticks(status, m)
    return np.array(rows).reshape(len(rows), variables)


def _conditions(
    sequence: Sequence[Statuses], mu: Array
) -> tuple[list[tuple[Array, int]], list[tuple[Array, int, float]]]:
    """Forms in c that are zero, and forms that are at most minus a margin, each at a breakpoint."""
    nc = len(mu)
    unit = np.eye(2 * nc)
    equal: list[tuple[Array, int]] = []
    below: list[tuple[Array, int, float]] = []
    for k, statuses in enumerate(sequence):
        pushing = [i for i in range(nc) if statuses[i] != APART]
        below.append((unit[[2 * i for i in pushing]].sum(axis=0), k, _NOT_ENDED))
        for i in pushing:
            for end in (k, k + 1):
                below.append((unit[2 * i], end, 0.0))
                if _sticks(statuses[i], mu[i]):
                    equal.append((unit[2 * i + 1], end))
                elif statuses[i] in (1, -1):
                    below.append((-statuses[i] * unit[2 * i + 1], end, 0.0))
    below += [(-unit[2 * i], len(sequence), 0.0) for i in range(nc)]  # nothing approaches in the end
    return equal, below
