"""Acting on sets: the worst outcome of an impact, and what holds in every outcome."""

from routh.robust.guarantees import Answer, Guarantee, Guarantees, holds
from routh.robust.many import WorstCases, worst_cases
from routh.robust.objectives import Linear, Objective, Own, Quadratic
from routh.robust.sensitivity import Sensitivity, sensitivity
from routh.robust.worst import WorstCase, worst_case

__all__ = [
    "Answer",
    "Guarantee",
    "Guarantees",
    "Linear",
    "Objective",
    "Own",
    "Quadratic",
    "Sensitivity",
    "WorstCase",
    "WorstCases",
    "holds",
    "sensitivity",
    "worst_case",
    "worst_cases",
]
