"""What measured impacts say about parameters, as data and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from routh.robust.identify_score import Scores
from routh.validation import Array


@dataclass(frozen=True)
class Estimate:
    """One parameter."""

    value: float
    interval: tuple[float, float]
    range: tuple[float, float]  # that was given
    determined: (
        bool  # by the data: they are fitted, the interval is shorter than half the range, the value inside
    )
    at_end: bool  # of the range: a wider one may fit better
    fits: bool = True  # whether the fitted outcomes foretell the data at all

    @property
    def width(self) -> float:
        """Of the interval, as a share of the range."""
        return (self.interval[1] - self.interval[0]) / (self.range[1] - self.range[0])


@dataclass(frozen=True, eq=False)
class Identified:
    """What measured impacts say about parameters."""

    estimates: dict[str, Estimate]
    scores: Scores = field(repr=False)  # of the impacts that were fitted on
    before: Scores = field(repr=False)  # with the start's values
    undetermined: tuple[dict[str, float], ...]  # directions of which the data say nothing, shares of ranges
    draws: Array = field(repr=False)  # (b, p) estimates of the bootstrap
    confidence: float
    converged: bool  # whether the score is least here, to a tenth of the standard errors
    failed: int  # samples that did not end; the velocity before stands for their outcome
    lost: int  # samples without a derivative
    calls: dict[str, int] = field(repr=False)  # how often scores and slopes were computed
    misfit: float  # mean energy score over that of "any velocity that impulses and energy allow"
    fits: bool  # whether the score is clearly less than that one's, else nothing is determined

    @property
    def values(self) -> dict[str, float]:
        """The estimates by name."""
        return {name: estimate.value for name, estimate in self.estimates.items()}

    def report(self) -> str:
        """Values, intervals and what the data determine, and how well the outcomes foretell them."""
        share = f"{100 * self.confidence:g} %"
        head = ("parameter", "value", f"from ({share})", "to", "of its range", "determined by the data")
        rows: list[tuple[str, ...]] = [head]
        for name, one in self.estimates.items():
            numbers = (f"{x:.4g}" for x in (one.value, *one.interval))
            rows.append((name, *numbers, f"{100 * one.width:.0f} %", _verdict(one)))
        lines = [_lines(rows), ""]
        if not self.fits:
            lines.append(
                f"does not fit the data: the score is {self.misfit:.3g} times that of one who knows no"
                " contact law and says 'any velocity that impulses and energy allow'; wanted clearly less"
            )
        for direction in self.undetermined:
            parts = ", ".join(f"{name} {part:+.2f}" for name, part in direction.items())
            lines.append(f"not determined: changes along ({parts}), as shares of the ranges")
        lines.append(scores_table({"at the start": self.before, "fitted": self.scores}))
        if not self.converged:
            lines.append("the slope of the score does not vanish: more samples, or another start, may help")
        if self.failed or self.lost:
            lines.append(f"{self.failed} samples did not end, {self.lost} have no derivative")
        return "\n".join(lines)


def scores_table(rows: Mapping[str, Scores], mask: np.ndarray | None = None) -> str:
    """Scores side by side, of the impacts in a mask (n,) or of all: means of the score, else medians."""
    head = ("", "energy score", "nearest", "mean outcome", "spread", "turned cloud", "samples")
    lines: list[tuple[str, ...]] = [head]
    for name, scores in rows.items():
        (row,) = scores.rows(None if mask is None else {name: mask})
        numbers = (f"{float(row[key]):.4f}" for key in ("energy", "nearest", "mean", "spread", "turned"))
        lines.append((name, *numbers, str(scores.samples)))
    return _lines(lines)


def _verdict(one: Estimate) -> str:
    if not one.fits:
        return "does not fit the data"
    if one.at_end:
        return "at the end of its range"
    return "yes" if one.determined else "no"


def _lines(rows: Sequence[Sequence[str]]) -> str:
    """Columns of equal width, the first to the left and the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
