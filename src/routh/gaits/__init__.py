"""Gaits: where a step of a walker can end, as a set, and whether it can go on for ever.

`return_map` of a `Wheel` or a `Compass` walker has every outcome of its impacts; `keeps_rolling` is the
guarantee of a rimless wheel.
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
