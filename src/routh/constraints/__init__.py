"""Constraint forces that are stable at any stiffness and any step (D19)."""

from routh.constraints.compliance import STEEL as STEEL
from routh.constraints.compliance import Compliance as Compliance
from routh.constraints.compliance import from_model as from_model
from routh.constraints.gradients import ContactGradient as ContactGradient
from routh.constraints.gradients import Derivative as Derivative
from routh.constraints.gradients import RowsGradient as RowsGradient
from routh.constraints.gradients import StateGradient as StateGradient
from routh.constraints.gradients import SystemGradient as SystemGradient
from routh.constraints.gradients import differentiate as differentiate
from routh.constraints.gradients import state_gradient as state_gradient
from routh.constraints.inverse import InverseResult as InverseResult
from routh.constraints.inverse import forces_at as forces_at
from routh.constraints.inverse import inputs_for as inputs_for
from routh.constraints.many import ManyForces as ManyForces
from routh.constraints.many import solve_many as solve_many
from routh.constraints.solve import ConstraintForces as ConstraintForces
from routh.constraints.solve import solve as solve
from routh.constraints.stiffness import Hertz as Hertz
from routh.constraints.stiffness import contact_modulus as contact_modulus
from routh.constraints.stiffness import effective_radius as effective_radius
from routh.constraints.stiffness import foundation_stiffness as foundation_stiffness
from routh.constraints.stiffness import square_grid as square_grid
from routh.constraints.system import ConstrainedSystem as ConstrainedSystem
from routh.constraints.types import Bilateral as Bilateral
from routh.constraints.types import Contact as Contact
from routh.constraints.types import ElasticFoundation as ElasticFoundation
from routh.constraints.types import Holonomic as Holonomic
from routh.constraints.types import StateConstraint as StateConstraint
from routh.constraints.types import Unilateral as Unilateral
from routh.constraints.types import coordinate_limit as coordinate_limit
from routh.kernels.constraints.scaling import Residuals as Residuals
from routh.lazily import exported as _exported

__all__ = _exported(vars())
