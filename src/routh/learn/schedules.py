"""Schedules: options that change with the number of steps so far."""

from __future__ import annotations

from dataclasses import dataclass

from routh.validation import integer, real


@dataclass(frozen=True)
class Linear:
    """From ``begin`` to ``end`` over so many steps, then constant."""

    begin: float
    end: float
    steps: int

    def __call__(self, step: int) -> float:
        """The value after so many steps."""
        done = min(step / self.steps, 1.0)
        return self.begin + done * (self.end - self.begin)


def linear(begin: float, end: float, steps: int) -> Linear:
    """A schedule for ``share=``: from ``begin`` to ``end`` over so many steps, then constant."""
    for field, value in (("begin", begin), ("end", end)):
        real(field, value, at_least=0.0, at_most=1.0)
    return Linear(float(begin), float(end), integer("steps", steps, at_least=1))
