"""Two bodies that collide at one point in space (JW17): solved in closed form and smooth series.

Stands apart from the set-valued laws: one contact, Coulomb friction, and restitution by energy, impulse or
velocity. See docs/theory/two_body.md.
"""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.two_body", _PUBLIC)
