"""Constraint forces that are stable at any stiffness and any step (D19)."""

from routh.constraints.bridge import STEEL, Compliance, from_model
from routh.constraints.derivatives import Derivative, differentiate
from routh.constraints.forces import ConstraintForces
from routh.constraints.holonomic import ElasticFoundation, Holonomic, StateConstraint, coordinate_limit
from routh.constraints.inverse import InverseResult, forces_at, inputs_for
from routh.constraints.residual import Residuals
from routh.constraints.solve import solve
from routh.constraints.state_gradient import StateGradient, state_gradient
from routh.constraints.stiffness import (
    Hertz,
    contact_modulus,
    effective_radius,
    foundation_stiffness,
    square_grid,
)
from routh.constraints.system import ConstrainedSystem
from routh.constraints.system_gradient import ContactGradient, RowsGradient, SystemGradient
from routh.constraints.types import Bilateral, Contact, Unilateral

__all__ = [
    "STEEL",
    "Bilateral",
    "Compliance",
    "ConstrainedSystem",
    "ConstraintForces",
    "Contact",
    "ContactGradient",
    "Derivative",
    "ElasticFoundation",
    "Hertz",
    "Holonomic",
    "InverseResult",
    "Residuals",
    "RowsGradient",
    "StateConstraint",
    "StateGradient",
    "SystemGradient",
    "Unilateral",
    "contact_modulus",
    "coordinate_limit",
    "differentiate",
    "effective_radius",
    "forces_at",
    "foundation_stiffness",
    "from_model",
    "inputs_for",
    "solve",
    "square_grid",
    "state_gradient",
]
