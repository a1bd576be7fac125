"""Simulation: the trajectory, the ways to make one, and the check that it is a solution."""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)  # who follows a motion event by event needs no time stepping
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.sim", _PUBLIC)
