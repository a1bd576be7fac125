"""Parameters from measured impacts: those whose sets of outcomes foretell the measured velocities best.

In the order of reading: `impacts` (what was measured), `bodies` (tossed bodies as a function of what they
are like), `scores` (how well a set foretells a velocity), `fit` (where the score is least, and how surely),
`identify` (the front door). The public names stand in `routh.robust` as well.
"""

from routh.identification.bodies import TossedBox as TossedBox
from routh.identification.bodies import TossedModel as TossedModel
from routh.identification.identify import Estimate as Estimate
from routh.identification.identify import Identified as Identified
from routh.identification.identify import identify as identify
from routh.identification.identify import score_impacts as score_impacts
from routh.identification.identify import scores_table as scores_table
from routh.identification.impacts import MeasuredImpacts as MeasuredImpacts
from routh.identification.scores import Scores as Scores
from routh.lazily import exported as _exported

__all__ = _exported(vars())
