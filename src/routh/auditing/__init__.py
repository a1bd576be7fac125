"""Auditing: is a simulator's or a measured answer possible, and how ambiguous are many impacts?"""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)  # comparing with the classical laws needs none of these
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.auditing", _PUBLIC)
