"""Planar mechanisms: boxes, discs, rods and point masses, floating or joined in trees, with contacts."""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.models.planar", _PUBLIC)
