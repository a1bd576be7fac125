"""Two bodies that collide at one point in space (JW17): solved in closed form and smooth series.

Stands apart from the set-valued laws: one contact, Coulomb friction, and restitution by energy, impulse or
velocity. See docs/theory/two_body.md.
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
