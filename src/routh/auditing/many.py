"""Audit of many answers at once: where they lie relative to the outcomes of their rows, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from routh.sampling.batch import BatchOutcomes
from routh.status import Status
from routh.validation import Array, real_array


@dataclass(frozen=True, eq=False)
class BatchAudit:
    """What can be said of each row without solving anything; NaN where there was no impact to solve.

    Whether impulses inside the friction cones explain an answer takes a program: `routh.audit` for one row.
    """

    distance: Array  # (rows,) to the nearest outcome, a share of the speed before; infinite where none ended
    nearest: np.ndarray = field(repr=False)  # (rows,) its index among the samples, -1 where there is none
    energy_gained: Array = field(repr=False)  # (rows,) as a share of the kinetic energy before
    approach: Array = field(repr=False)  # (rows,) fastest approach left, a share of the contact's own speed

    def suspects(self, tolerance: float = 0.05) -> np.ndarray:
        """Rows that gain energy, still approach, or lie farther from every outcome than ``tolerance``."""
        found = (self.distance, self.energy_gained, self.approach)
        return np.flatnonzero(np.any([amount > tolerance for amount in found], axis=0))


def audit_many(outcomes: BatchOutcomes, v_after: ArrayLike) -> BatchAudit:
    """Compare velocities after, ``v_after`` (rows, nv), with the sampled outcomes of the same rows.

    Numbers that are not finite are allowed in rows without an impact only.
    """
    batch = outcomes.batch
    shape = batch.v.shape
    given = real_array("v_after", v_after, [shape], f"shape {shape}", finite=False)
    impacts = batch.status == Status.SOLVED
    bad = np.flatnonzero(impacts & ~np.isfinite(given).all(axis=1))
    if bad.size:
        raise ValueError(f"v_after: row {bad[0]} holds a number that is not finite; wanted finite numbers")
    from routh.kernels.common.judge import compare  # loads LLVM
    from routh.preparing import scratch

    found = np.full((len(batch), 4), np.nan)
    found[:, 1] = -1.0
    rows = batch.arrays
    compare(rows, ~impacts, scratch(rows), given, outcomes.v, outcomes.solved, found)
    return BatchAudit(found[:, 0], found[:, 1].astype(np.int64), found[:, 2], found[:, 3])
