# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.models.spatial.bodies import GROUND as GROUND
from routh.models.spatial.bodies import Body as Body
from routh.models.spatial.bodies import HalfSpace as HalfSpace
from routh.models.spatial.bodies import PlaneContact as PlaneContact
from routh.models.spatial.bodies import SphereContact as SphereContact
from routh.models.spatial.bodies import box as box
from routh.models.spatial.bodies import corner_contacts as corner_contacts
from routh.models.spatial.bodies import corners as corners
from routh.models.spatial.bodies import sphere as sphere
from routh.models.spatial.model import SpatialModel as SpatialModel
