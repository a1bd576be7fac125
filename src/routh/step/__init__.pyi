# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.step.base import StepResult as StepResult
from routh.step.polyhedral import PolyhedralStep as PolyhedralStep
from routh.step.solvers import make_step as make_step
