"""Two bodies that collide at one point in space (JW17): solved in closed form and smooth series.

Stands apart from the set-valued laws: one contact, Coulomb friction, and restitution by energy, impulse or
velocity. See docs/theory/two_body.md.
"""

from routh.two_body.api import batch, impact
from routh.two_body.bodies import Body, contact_frame, contact_velocity, inverse_inertia, velocities_after
from routh.two_body.closed_form import central, frictionless
from routh.two_body.curve import Hodograph, hodograph
from routh.two_body.directions import InvariantDirections, invariant_directions, sticking
from routh.two_body.result import Energy, TwoBodyBatch, TwoBodyImpact

__all__ = [
    "Body",
    "Energy",
    "Hodograph",
    "InvariantDirections",
    "TwoBodyBatch",
    "TwoBodyImpact",
    "batch",
    "central",
    "contact_frame",
    "contact_velocity",
    "frictionless",
    "hodograph",
    "impact",
    "invariant_directions",
    "inverse_inertia",
    "sticking",
    "velocities_after",
]
