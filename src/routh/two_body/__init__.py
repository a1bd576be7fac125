"""Two bodies that collide at one point in space (JW17): solved in closed form and smooth series.

Stands apart from the set-valued laws: one contact, Coulomb friction, and restitution by energy, impulse or
velocity. See docs/theory/two_body.md.
"""

from routh.lazily import exported as _exported
from routh.two_body.api import Energy as Energy
from routh.two_body.api import TwoBodyBatch as TwoBodyBatch
from routh.two_body.api import TwoBodyImpact as TwoBodyImpact
from routh.two_body.api import batch as batch
from routh.two_body.api import impact as impact
from routh.two_body.bodies import Body as Body
from routh.two_body.bodies import central as central
from routh.two_body.bodies import contact_frame as contact_frame
from routh.two_body.bodies import contact_velocity as contact_velocity
from routh.two_body.bodies import frictionless as frictionless
from routh.two_body.bodies import inverse_inertia as inverse_inertia
from routh.two_body.bodies import velocities_after as velocities_after
from routh.two_body.curve import Hodograph as Hodograph
from routh.two_body.curve import hodograph as hodograph
from routh.two_body.directions import InvariantDirections as InvariantDirections
from routh.two_body.directions import invariant_directions as invariant_directions
from routh.two_body.directions import sticking as sticking

__all__ = _exported(vars())
