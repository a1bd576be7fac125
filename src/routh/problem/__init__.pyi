# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.problem import pointedness as pointedness
from routh.problem import termination as termination
from routh.problem.batch import ImpactBatch as ImpactBatch
from routh.problem.friction import ContactMode as ContactMode
from routh.problem.friction import facet_directions as facet_directions
from routh.problem.impact import ImpactProblem as ImpactProblem
