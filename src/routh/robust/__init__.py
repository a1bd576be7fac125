"""Acting on sets: the worst outcome of an impact, and what holds in every outcome."""

from routh.robust.guarantees import Answer, Guarantee, holds
from routh.robust.objectives import Linear, Objective, Own, Quadratic
from routh.robust.worst import WorstCase, worst_case, worst_cases

__all__ = [
    "Answer",
    "Guarantee",
    "Linear",
    "Objective",
    "Own",
    "Quadratic",
    "WorstCase",
    "holds",
    "worst_case",
    "worst_cases",
]
