"""Figures: functions that draw results into axes, in one style. Needs Matplotlib (extra ``viz``)."""
