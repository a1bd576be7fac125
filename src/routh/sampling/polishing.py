"""The farthest outcome of all solutions that pass through the same contact statuses as a given one.

Solutions of HP23 (39) whose segments have given statuses (who pushes, who sticks, who slides which way)
form a convex set: impulses enter linearly and the statuses are linear conditions at the ends of each segment.
So the farthest outcome in a direction is a linear program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
    mu : (nc,) friction.
    sequence : the statuses of each segment.
    cost : (2 nc,) what one unit of each scaled impulse is worth.
    """
    effects, segments, bounds, cone = _variables(sequence, mu)
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
    result = linprog(
        -(cost @ effects),
        np.vstack([A_ub, cone]),
        np.append(-b_ub - margins, np.zeros(len(cone))),
        A_eq if len(equal) else None,
        -b_eq if len(equal) else None,
        bounds=bounds,
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


class _Variables(NamedTuple):
    """The unknowns: per segment and pushing contact the normal impulse and, where it sticks, friction."""

    effects: Array  # (2 nc, n) impulse of a unit of each
    segments: np.ndarray  # (n,) the segment that each belongs to
    bounds: list[tuple[float | None, None]]  # friction may have either sign
    cone: Array  # (m, n): ``|friction| - mu normal <= 0`` of sticking contacts


def _variables(sequence: Sequence[Statuses], mu: Array) -> _Variables:
    columns: list[Array] = []
    segments: list[int] = []
    sticking: list[tuple[int, float]] = []  # place of the normal impulse, mu; friction stands next to it
    unit = np.eye(2 * len(mu))
    for k, statuses in enumerate(sequence):
        for i, status in enumerate(statuses):
            if status == APART:
                continue
            slope = -mu[i] * status if status in (1, -1) else 0.0
            if _sticks(status, mu[i]):
                sticking.append((len(columns), float(mu[i])))
                columns += [unit[2 * i], unit[2 * i + 1]]
                segments += [k, k]
            else:
                columns.append(unit[2 * i] + slope * unit[2 * i + 1])
                segments.append(k)
    bounds: list[tuple[float | None, None]] = [(0.0, None)] * len(columns)
    cone = np.zeros((2 * len(sticking), len(columns)))
    for row, (place, m) in enumerate(sticking):
        bounds[place + 1] = (None, None)
        cone[2 * row : 2 * row + 2, place] = -m
        cone[2 * row : 2 * row + 2, place + 1] = 1.0, -1.0
    return _Variables(np.array(columns).T, np.array(segments), bounds, cone)


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
