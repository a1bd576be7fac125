"""Which contacts of a robot are simultaneous, which of them are redundant, and what the choice does.

A contact takes part in an impact if its signed distance is at most ``gap``, or if it closes within ``window``
seconds at the present velocity. The default is the gap alone, `DEFAULT_GAP`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.problem import ImpactProblem
from routh.validation import Array, real

#: 1 mm: feet of robots that land together differ by more than rounding and by less than this, and solvers of
#: simulators let contacts penetrate by about as much.
DEFAULT_GAP = 1e-3

#: s: contacts that close within this time of the first one are part of a landing; the order of a contact's
#: duration.
LANDING_WINDOW = 5e-3

#: A single state is refused where bodies overlap by more than this (m), or a joint is farther past its limit
#: (rad): no solver of a simulator lets that happen in a state that is meant.
DEEPEST, PAST_LIMIT = 0.02, 0.1

#: The same for rows of batches and for rollouts, whose soft contacts go deeper: of random Walker2d states
#: 39 % are deeper than 5 mm, some 65 mm.
DEEPEST_OF_MANY, PAST_LIMIT_OF_MANY = 0.1, 0.4


@dataclass(frozen=True)
class Rules:
    """Which contacts take part in an impact, how elastic they are, and which states are refused."""

    gap: float = DEFAULT_GAP  # m; rad for limits of hinges
    window: float | None = None  # s
    limits: bool = True  # of joints and tendons
    restitution: float | Mapping[str, float] | Sequence[float] = 0.0  # of all, by name, or one each
    deepest: float | None = DEEPEST  # m; None: any
    past_limit: float | None = PAST_LIMIT  # rad; None: any

    def __post_init__(self) -> None:
        for field in ("gap", "window", "deepest", "past_limit"):
            value = getattr(self, field)
            if value is not None or field == "gap":
                real(field, value, at_least=0.0)

    def most(self, unit: str) -> float:
        """How far a contact or limit whose distance is in m or rad may be past it."""
        limit = self.deepest if unit == "m" else self.past_limit
        return np.inf if limit is None else limit


@dataclass(frozen=True)
class Redundancy:
    """How the contacts of a problem depend on each other; every one of them is kept."""

    contacts: int
    normal_rank: int  # independent normals
    rows: int  # normals, and tangents of contacts with friction
    rank: int  # how many of these rows are independent
    redundant: tuple[str, ...]  # contacts whose normal is a combination of the others'
    implied: tuple[str, ...]  # ... with non-negative weights: they cannot approach unless another one does

    @property
    def determined(self) -> bool:
        """Whether the velocity after determines all contact impulses."""
        return self.rank == self.rows


def redundancy(problem: ImpactProblem) -> Redundancy:
    """Which contacts of a face, or of several, say the same as the others.

    Ranks are those of the Jacobians in the kinetic-energy metric (``J L^-T`` with ``M = L L^T``).
    """
    from scipy.optimize import nnls  # not on the way to a sample

    normals = _metric_rows(problem, problem.Jn)
    with_friction = problem.Jt[problem.mu > 0.0].reshape(-1, problem.nv)
    rows = np.vstack([normals, _metric_rows(problem, with_friction)])
    redundant, implied = [], []
    for i, name in enumerate(problem.names):
        others = np.delete(normals, i, axis=0)
        if not len(others):
            continue
        if _misfit(np.linalg.lstsq(others.T, normals[i], rcond=None)[0], others, normals[i]):
            continue
        redundant.append(name)
        if not _misfit(nnls(others.T, normals[i])[0], others, normals[i]):
            implied.append(name)
    return Redundancy(problem.nc, _rank(normals), len(rows), _rank(rows), tuple(redundant), tuple(implied))


def _metric_rows(problem: ImpactProblem, rows: Array) -> Array:
    return np.asarray(np.linalg.solve(problem.cholesky, rows.T).T)


def _misfit(weights: Array, others: Array, row: Array) -> bool:
    return not float(np.linalg.norm(weights @ others - row)) <= tolerances.DEPENDENT * float(
        np.linalg.norm(row)
    )


def _rank(rows: Array) -> int:
    scaled = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    values = np.linalg.svd(scaled, compute_uv=False)
    return int(np.count_nonzero(values > tolerances.DEPENDENT * values[0]))
