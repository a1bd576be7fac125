# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.systems.base import MotionSystem as MotionSystem
from routh.systems.base import Parameter as Parameter
from routh.systems.base import System as System
from routh.systems.base import get as get
from routh.systems.base import impact as impact
from routh.systems.base import motion as motion
from routh.systems.base import names as names
from routh.systems.base import parameters as parameters
from routh.systems.base import register as register
