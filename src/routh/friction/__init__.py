"""Coulomb friction: what a contact does, its cone, and what several cones together allow.

`routh.friction.cones`        the modes of a contact, the true cone and its polyhedral approximation
`routh.friction.pointedness`  can contacts jam: do their friction cones contain opposite impulses?
`routh.friction.termination`  does every impact of a set of contacts end?
"""

from routh.friction.cones import ContactMode, facet_directions

__all__ = ["ContactMode", "facet_directions"]
