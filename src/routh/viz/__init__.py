"""Figures: functions that draw results into axes, in one style. Needs Matplotlib (extra ``viz``)."""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)  # `plot` knows every result
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.viz", _PUBLIC)
