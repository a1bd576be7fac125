"""Acting on sets: worst cases, what holds in every outcome, designs, parameters from measurements."""

from routh.robust.candidates import Constraint, same_feet
from routh.robust.designing import Design, Designed, design
from routh.robust.guarantees import Answer, Guarantee, Guarantees, holds
from routh.robust.identify import identify, score_impacts
from routh.robust.identify_body import TossedBox
from routh.robust.identify_data import MeasuredImpacts
from routh.robust.identify_report import Estimate, Identified, scores_table
from routh.robust.identify_score import Scores
from routh.robust.many import WorstCases, worst_cases
from routh.robust.objectives import Linear, Objective, Own, Quadratic
from routh.robust.sensitivity import Sensitivity, sensitivity
from routh.robust.worst import WorstCase, worst_case

__all__ = [
    "Answer",
    "Constraint",
    "Design",
    "Designed",
    "Estimate",
    "Guarantee",
    "Guarantees",
    "Identified",
    "Linear",
    "MeasuredImpacts",
    "Objective",
    "Own",
    "Quadratic",
    "Scores",
    "Sensitivity",
    "TossedBox",
    "WorstCase",
    "WorstCases",
    "design",
    "holds",
    "identify",
    "same_feet",
    "score_impacts",
    "scores_table",
    "sensitivity",
    "worst_case",
    "worst_cases",
]
