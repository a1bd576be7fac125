"""Parameters from measured impacts: those whose sets of outcomes foretell the measured velocities best.

In the order of reading: `impacts` (what was measured), `bodies` (tossed bodies as a function of what they
are like), `scores` (how well a set foretells a velocity), `fit` (where the score is least, and how surely),
`identify` (the front door). The public names stand in `routh.robust` as well.
"""

from routh.identification.bodies import TossedBox, TossedModel
from routh.identification.identify import Estimate, Identified, identify, score_impacts, scores_table
from routh.identification.impacts import MeasuredImpacts
from routh.identification.scores import Scores

__all__ = [
    "Estimate",
    "Identified",
    "MeasuredImpacts",
    "Scores",
    "TossedBox",
    "TossedModel",
    "identify",
    "score_impacts",
    "scores_table",
]
