"""Acting on sets: the worst outcome of an impact, what holds in every outcome, designs for all."""

from routh.robust.candidates import Constraint, same_feet
from routh.robust.designing import Design, Designed, design
from routh.robust.guarantees import Answer, Guarantee, holds
from routh.robust.many import WorstCases, worst_cases
from routh.robust.objectives import Linear, Objective, Own, Quadratic
from routh.robust.sensitivity import Sensitivity, sensitivity
from routh.robust.worst import WorstCase, worst_case

__all__ = [
    "Answer",
    "Constraint",
    "Design",
    "Designed",
    "Guarantee",
    "Linear",
    "Objective",
    "Own",
    "Quadratic",
    "Sensitivity",
    "WorstCase",
    "WorstCases",
    "design",
    "holds",
    "same_feet",
    "sensitivity",
    "worst_case",
    "worst_cases",
]
