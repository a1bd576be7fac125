"""Acting on sets: worst cases, what holds in every outcome, designs, parameters from measurements."""

from routh.robust.candidates import Constraint, same_feet
from routh.robust.designing import Design, Designed, design
from routh.robust.feet import StandingProblem, no_tipping, standing_problem, tipping_ratio
from routh.robust.gaits import Compass, Wheel
from routh.robust.guarantees import Answer, Guarantee, Guarantees, holds
from routh.robust.identify import identify, score_impacts
from routh.robust.identify_body import TossedBox, TossedModel
from routh.robust.identify_data import MeasuredImpacts
from routh.robust.identify_report import Estimate, Identified, scores_table
from routh.robust.identify_score import Scores
from routh.robust.many import WorstCases, worst_cases
from routh.robust.objectives import Linear, Objective, Own, Quadratic
from routh.robust.region import SafeRegion, safe_region
from routh.robust.returning import Gait, ReturnMap, Rolling, StepTaken, keeps_rolling, return_map
from routh.robust.sensitivity import Sensitivity, sensitivity
from routh.robust.standing import Edge, Support
from routh.robust.tipping import Tipping, Tippings, tipping
from routh.robust.worst import WorstCase, worst_case

__all__ = [
    "Answer",
    "Compass",
    "Constraint",
    "Design",
    "Designed",
    "Edge",
    "Estimate",
    "Gait",
    "Guarantee",
    "Guarantees",
    "Identified",
    "Linear",
    "MeasuredImpacts",
    "Objective",
    "Own",
    "Quadratic",
    "ReturnMap",
    "Rolling",
    "SafeRegion",
    "Scores",
    "Sensitivity",
    "StandingProblem",
    "StepTaken",
    "Support",
    "Tipping",
    "Tippings",
    "TossedBox",
    "TossedModel",
    "Wheel",
    "WorstCase",
    "WorstCases",
    "design",
    "holds",
    "identify",
    "keeps_rolling",
    "no_tipping",
    "return_map",
    "safe_region",
    "same_feet",
    "score_impacts",
    "scores_table",
    "sensitivity",
    "standing_problem",
    "tipping",
    "tipping_ratio",
    "worst_case",
    "worst_cases",
]
