"""How much of an exact set a cloud of samples fills."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import cKDTree

from routh import tolerances
from routh.exact.result import ExactSet
from routh.sampling.filling import watch_directions
from routh.sampling.outcomes import Outcomes
from routh.validation import Array, integer


@dataclass(frozen=True, eq=False)
class Coverage:
    """Samples against the exact set. All numbers are shares: 0 is perfect."""

    directions: Array = field(repr=False)  # (k, nv)
    missing: Array = field(repr=False)  # (k,): what the samples' support lacks, over the exact width
    outside: float  # largest distance from the outer set that is proved, over the speed; 0 up to `RESIDUAL`
    holes: Array = field(repr=False)  # from points spread over the set to the nearest sample, over the speed
    samples: int  # solved samples

    @property
    def worst(self) -> float:
        """Largest share of a width that the samples miss."""
        return float(self.missing.max(initial=0.0))

    @property
    def largest_hole(self) -> float:
        """Largest distance from a point of the set to the nearest sample, over the speed before."""
        return float(self.holes.max(initial=0.0))

    def __str__(self) -> str:
        return (
            f"{self.samples} samples miss at most {100 * self.worst:.2f} % of the width in "
            f"{len(self.missing)} directions; largest hole {self.largest_hole:.3g}, "
            f"farthest outside {self.outside:.2g} (shares of the speed before)"
        )


def coverage(outcomes: Outcomes, exact: ExactSet, *, directions: int = 32, points: int = 400) -> Coverage:
    """Compare the solved samples with the exact set.

    ``directions`` (even) directions in contact velocity, in opposite pairs, are compared by support function;
    ``points`` points spread over the inner pieces look for their nearest sample. Directions in which the
    set is flat are left out. Samples are solved to `routh.tolerances.RESIDUAL` (`RESIDUAL_HUGE_FRICTION`):
    ``outside`` is 0 where none is proved to be farther out than that.
    """
    v = outcomes.v[outcomes.solved]
    if not len(v):
        raise ValueError("outcomes: no sample is solved; wanted at least one")
    if not len(exact.inner):
        raise ValueError(f"exact: has no inner pieces ({exact.status.name}); wanted a set to compare with")
    rows = watch_directions(exact.problem, directions)
    top, bottom = exact.support(rows), -exact.support(-rows)
    width = top - bottom
    wide = width > 1e-6 * width.max(initial=0.0)
    missing = np.maximum((top - (v @ rows.T).max(axis=0))[wide] / width[wide], 0.0)
    half = exact.outer[0].frame.half
    spread = _spread(exact, integer("points", points, at_least=1))
    distances, _ = cKDTree(v @ half.T).query(spread @ half.T)
    huge = exact.problem.mu.max() > tolerances.HUGE_FRICTION
    promised = tolerances.RESIDUAL_HUGE_FRICTION if huge else tolerances.RESIDUAL
    far = exact.outer.violation(v)
    return Coverage(
        rows[wide],
        missing,
        float(np.max(far, where=far > promised, initial=0.0)),
        distances / exact.outer[0].frame.speed,
        len(v),
    )


def _spread(exact: ExactSet, points: int) -> Array:
    """Points spread over the inner pieces, vertices included."""
    rng = np.random.default_rng(points)
    clouds = []
    for piece in exact.inner:
        share = max(points // len(exact.inner), 1)
        weights = rng.dirichlet(np.full(len(piece.points), 0.6), size=share)
        clouds += [piece.points, weights @ piece.points]
    return np.vstack(clouds)
