"""Figures: functions that draw results into axes, in one style. Needs Matplotlib (extra ``viz``)."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
