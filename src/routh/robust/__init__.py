"""Acting on sets: worst cases, what holds in every outcome, designs, parameters from measurements."""

from routh.identification.bodies import TossedBox, TossedModel
from routh.identification.identify import Estimate, Identified, identify, score_impacts, scores_table
from routh.identification.impacts import MeasuredImpacts
from routh.identification.scores import Scores
from routh.robust.candidates import Constraint, same_feet
from routh.robust.designs import Design, Designed, design
from routh.robust.feet import StandingProblem, no_tipping, standing_problem, tipping_ratio
from routh.robust.guarantees import Answer, Guarantee, Guarantees, holds
from routh.robust.objectives import Linear, Objective, Own, Quadratic
from routh.robust.region import SafeRegion, safe_region
from routh.robust.return_maps import (
    Compass,
    Gait,
    ReturnMap,
    Rolling,
    StepTaken,
    Wheel,
    keeps_rolling,
    return_map,
)
from routh.robust.sensitivity import Sensitivity, sensitivity
from routh.robust.support import Edge, Support
from routh.robust.tipping import Tipping, Tippings, tipping
from routh.robust.worst import WorstCase, WorstCases, worst_case, worst_cases

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
