"""Sampling by events in space with the true friction cone: the kernel of `routh.kernels.events_space`."""

from __future__ import annotations

from typing import Any

from routh.kernels import events_space
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.validation import Array


def run(rows: Rows, draw: Draw, outputs: Outputs, directions: Array, **options: Any) -> None:
    """Draw all samples of all rows; the friction disc has no corners, so ``directions`` are not looked at."""
    events_space.run(rows, draw, outputs, None, **options)


def pieces(rows: Rows, draw: Draw, sample: int, directions: Array, *, rates: Any = None) -> Array:
    """The scaled impulses (k, n) of one sample of a single row, point by point along its curves."""
    return events_space.pieces(rows, draw, sample, None, rates=rates)
