"""The linear complementarity problem ``0 <= z _|_ W z + q >= 0``: its residual and its result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.status import Status
from routh.validation import Array


@dataclass(frozen=True, eq=False)
class LCPResult:
    """What became of one linear complementarity problem."""

    z: Array  # (n,)
    status: Status
    pivots: int
    residual: float  # dimensionless, recomputed from W, q and z; infinite where z is not finite
    method: str = "lemke"  # which attempt gave the answer


def natural_residual(W: Array, q: Array, z: Array) -> float:
    """``max |min(z, W z + q)|``, infinite where anything is not finite."""
    if not np.all(np.isfinite(z)):
        return float("inf")
    gap = float(np.abs(np.minimum(z, W @ z + q)).max())
    return gap if np.isfinite(gap) else float("inf")


def default_units(W: Array, q: Array) -> tuple[float, float]:
    """Units of z and w for a problem about which nothing else is known: from its largest entries."""
    w_unit = float(np.abs(q).max()) or 1.0
    return w_unit / (float(np.abs(W).max()) or 1.0), w_unit
