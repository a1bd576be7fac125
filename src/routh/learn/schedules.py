"""Schedules: options that change with the number of steps so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from routh.validation import integer, real


def linear(begin: float, end: float, steps: int) -> Callable[[int], float]:
    """A schedule for ``share=``: from ``begin`` to ``end`` over so many steps, then constant."""
    for field, value in (("begin", begin), ("end", end)):
        real(field, value, at_least=0.0, at_most=1.0)
    return partial(_between, float(begin), float(end), integer("steps", steps, at_least=1))


def _between(begin: float, end: float, steps: int, step: int) -> float:
    return begin + min(step / steps, 1.0) * (end - begin)
