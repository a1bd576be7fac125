# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.models.mujoco.files import load as load
from routh.models.mujoco.files import state as state
from routh.models.mujoco.impacts import problem as problem
from routh.models.mujoco.impacts import problems as problems
from routh.models.mujoco.model import MujocoModel as MujocoModel
