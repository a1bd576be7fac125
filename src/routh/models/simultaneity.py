"""Which contacts of a robot are simultaneous, which of them are redundant, and what the choice does.

A contact takes part in an impact if its signed distance is at most ``gap``, or if it closes within ``window``
seconds at the present velocity. The default is the gap alone, `DEFAULT_GAP`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from routh import tolerances
from routh.models.robot import RobotProblem
from routh.problem import ImpactProblem
from routh.sets.ambiguity import measure_ambiguity
from routh.sets.sampling import sample
from routh.validation import Array

#: 1 mm: feet of robots that land together differ by more than rounding and by less than this, and solvers of
#: simulators let contacts penetrate by about as much.
DEFAULT_GAP = 1e-3


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


@dataclass(frozen=True)
class GrowthRow:
    """The set of outcomes for one choice of what is simultaneous."""

    threshold: float  # gap (m) or window (s)
    contacts: tuple[str, ...]
    redundant: int
    ambiguity: float  # diameter over speed before, both in the kinetic-energy norm
    energy: tuple[float, float]  # smallest and largest kinetic energy after, J
    terminated: float  # share of the samples


def growth(
    problem: RobotProblem,
    *,
    gaps: Sequence[float] | None = None,
    windows: Sequence[float] | None = None,
    n: int = 1024,
    seed: int = 0,
    friction: str = "cone",
) -> list[GrowthRow]:
    """How the set of outcomes grows as more contacts count as simultaneous.

    Parameters
    ----------
    problem : made with the largest gap or window of interest; each row takes a part of its contacts.
    gaps, windows : increasing thresholds, one of the two (m; s). By default every distinct distance.
    n, seed, friction : for `routh.sample`.
    """
    if gaps is not None and windows is not None:
        raise ValueError("gaps: got gaps and windows; wanted one of the two")
    values = problem.time_to_contact if windows is not None else problem.dist
    given = windows if windows is not None else gaps
    thresholds = (
        np.unique(values[np.isfinite(values)]) if given is None else np.asarray(given, dtype=np.float64)
    )
    rows = []
    for threshold in thresholds:
        kept = [name for name, value in zip(problem.names, values, strict=True) if value <= threshold]
        if kept:
            part = problem.subset(kept)
            rows.append(_growth_row(float(threshold), part, n=n, seed=seed, friction=friction))
    return rows


def _growth_row(threshold: float, part: ImpactProblem, *, n: int, seed: int, friction: str) -> GrowthRow:
    outcomes = sample(part, n, seed=seed, friction=friction)
    energies = outcomes.kinetic_energy
    return GrowthRow(
        threshold,
        part.names,
        len(redundancy(part).redundant),
        measure_ambiguity(outcomes).score,
        (float(energies.min()), float(energies.max())),
        float(outcomes.terminated.mean()),
    )


def _metric_rows(problem: ImpactProblem, rows: Array) -> Array:
    return np.asarray(solve_triangular(problem.cholesky, rows.T, lower=True).T)


def _misfit(weights: Array, others: Array, row: Array) -> bool:
    return not float(np.linalg.norm(weights @ others - row)) <= tolerances.DEPENDENT * float(
        np.linalg.norm(row)
    )


def _rank(rows: Array) -> int:
    scaled = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    values = np.linalg.svd(scaled, compute_uv=False)
    return int(np.count_nonzero(values > tolerances.DEPENDENT * values[0]))
