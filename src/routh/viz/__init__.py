"""Figures: functions that draw results into axes, in one style. Needs Matplotlib (extra ``viz``)."""

from routh.viz.plotting import plot

__all__ = ["plot"]
