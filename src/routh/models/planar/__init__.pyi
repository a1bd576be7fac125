# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.models.planar.bodies import GROUND as GROUND
from routh.models.planar.bodies import Body as Body
from routh.models.planar.bodies import DiscContact as DiscContact
from routh.models.planar.bodies import Free as Free
from routh.models.planar.bodies import FreePoint as FreePoint
from routh.models.planar.bodies import HalfPlane as HalfPlane
from routh.models.planar.bodies import PlaneContact as PlaneContact
from routh.models.planar.bodies import Prismatic as Prismatic
from routh.models.planar.bodies import Revolute as Revolute
from routh.models.planar.bodies import box as box
from routh.models.planar.bodies import corners as corners
from routh.models.planar.bodies import disc as disc
from routh.models.planar.bodies import link as link
from routh.models.planar.bodies import point_mass as point_mass
from routh.models.planar.bodies import rod as rod
from routh.models.planar.bodies import slope as slope
from routh.models.planar.model import PlanarModel as PlanarModel
