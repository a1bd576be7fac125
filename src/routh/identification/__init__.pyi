# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.identification.bodies import TossedBox as TossedBox
from routh.identification.bodies import TossedModel as TossedModel
from routh.identification.estimates import Estimate as Estimate
from routh.identification.estimates import Identified as Identified
from routh.identification.estimates import identify as identify
from routh.identification.estimates import score_impacts as score_impacts
from routh.identification.estimates import scores_table as scores_table
from routh.identification.impacts import MeasuredImpacts as MeasuredImpacts
from routh.identification.scores import Scores as Scores
