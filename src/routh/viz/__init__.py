"""Figures: functions that draw into given Matplotlib axes (extra ``viz``)."""
