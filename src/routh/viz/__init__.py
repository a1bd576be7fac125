"""Figures: functions that draw results into axes, in one style. Needs Matplotlib (extra ``viz``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routh.viz.plotting import plot

__all__ = ["plot"]


if not TYPE_CHECKING:  # `plot` knows every result, so it is loaded when it is asked for

    def __getattr__(name: str) -> object:
        if name == "plot":
            from routh.viz.plotting import plot

            return plot
        raise AttributeError(f"module 'routh.viz' has no attribute {name!r}")
