"""How the set of outcomes grows as more contacts of a robot count as simultaneous."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from routh.models.robot import RobotProblem
from routh.models.simultaneity import redundancy
from routh.problem import ImpactProblem
from routh.sampling import Outcomes
from routh.sampling.ambiguity import measure_ambiguity
from routh.sampling.sampler import sample


@dataclass(frozen=True)
class GrowthRow:
    """The set of outcomes for one choice of what is simultaneous."""

    threshold: float  # gap (m) or window (s)
    contacts: tuple[str, ...]
    redundant: int
    ambiguity: float  # diameter over speed before, both in the kinetic-energy norm
    energy: tuple[float, float]  # smallest and largest kinetic energy after, J
    solved: float  # share of the samples


def growth(
    problem: RobotProblem,
    *,
    gaps: Sequence[float] | None = None,
    windows: Sequence[float] | None = None,
    n: int = 1024,
    seed: int = 0,
    friction: str = "cone",
    drawn: Outcomes | None = None,
) -> list[GrowthRow]:
    """How the set of outcomes grows as more contacts count as simultaneous.

    Parameters
    ----------
    problem : made with the largest gap or window of interest; each row takes a part of its contacts.
    gaps, windows : increasing thresholds, one of the two (m; s). By default every distinct distance.
    n, seed, friction : for `routh.sample`.
    drawn : outcomes of the contacts of a row, if they are at hand: its first n are taken
        where they are what would be drawn.
    """
    if gaps is not None and windows is not None:
        raise ValueError("gaps: got gaps and windows; wanted one of the two")
    values = problem.time_to_contact if windows is not None else problem.dist
    given = windows if windows is not None else gaps
    thresholds = (
        np.unique(values[np.isfinite(values)]) if given is None else np.asarray(given, dtype=np.float64)
    )
    rows: list[GrowthRow] = []
    for threshold in thresholds:
        kept = [name for name, value in zip(problem.names, values, strict=True) if value <= threshold]
        if rows and tuple(kept) == rows[-1].contacts:
            rows.append(replace(rows[-1], threshold=float(threshold)))
        elif kept:
            part = problem.subset(kept)
            outcomes = _first(drawn, part, n, seed, friction)
            if outcomes is None:
                outcomes = sample(part, n, seed=seed, friction=friction)
            energies = outcomes.kinetic_energy[outcomes.solved]
            rows.append(
                GrowthRow(
                    float(threshold),
                    part.names,
                    len(redundancy(part).redundant),
                    measure_ambiguity(outcomes).score,
                    (float(energies.min(initial=np.inf)), float(energies.max(initial=-np.inf))),
                    float(outcomes.solved.mean()),
                )
            )
    return rows


def _first(drawn: Outcomes | None, part: ImpactProblem, n: int, seed: int, friction: str) -> Outcomes | None:
    """The first n samples where they are those that `routh.sample` would draw."""
    wanted = {"method": "events", "rates": "mixed", "seed": seed, "friction": friction}
    if drawn is None or drawn.problem.names != part.names or len(drawn) < n:
        return None
    if any(drawn.settings.get(name) != value for name, value in wanted.items()):
        return None
    arrays = {name: getattr(drawn, name)[:n] for name in ("v", "impulse", "steps", "status", "residual")}
    return replace(drawn, **arrays, stored=None, returned=None, error=None)
