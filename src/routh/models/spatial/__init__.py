"""Free rigid bodies in space: spheres and boxes with unit quaternions, against half-spaces and each other."""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.models.spatial", _PUBLIC)
