# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.models.pinocchio.files import Robot as Robot
from routh.models.pinocchio.files import load as load
from routh.models.pinocchio.impacts import problem as problem
from routh.models.pinocchio.impacts import problems as problems
from routh.models.pinocchio.model import GroundedRobot as GroundedRobot
from routh.models.pinocchio.points import ContactPoint as ContactPoint
from routh.models.pinocchio.points import feet as feet
