"""Constraint forces that are stable at any stiffness and any step (D19)."""

from routh.constraints.forces import ConstraintForces
from routh.constraints.paper import PaperProgram, paper_program
from routh.constraints.residual import Residuals
from routh.constraints.solve import solve
from routh.constraints.system import ConstrainedSystem
from routh.constraints.types import Bilateral, Contact, Unilateral

__all__ = [
    "Bilateral",
    "ConstrainedSystem",
    "ConstraintForces",
    "Contact",
    "PaperProgram",
    "Residuals",
    "Unilateral",
    "paper_program",
    "solve",
]
