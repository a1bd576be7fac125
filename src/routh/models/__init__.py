"""Models of mechanisms with contacts: the protocol, planar trees, free bodies in space, and robots."""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)  # who samples a planar system needs no robot
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.models", _PUBLIC)
