# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.auditing.scans import Grid as Grid
from routh.auditing.scans import axis_from_text as axis_from_text
from routh.auditing.scans import grid as grid
from routh.auditing.scans import grid_from_text as grid_from_text
from routh.sweep.measures import Measure as Measure
from routh.sweep.measures import ambiguity as ambiguity
from routh.sweep.measures import audits as audits
from routh.sweep.measures import exact_widths as exact_widths
from routh.sweep.measures import extremes as extremes
from routh.sweep.measures import mode_shares as mode_shares
from routh.sweep.measures import own as own
from routh.sweep.recipes import Recipe as Recipe
from routh.sweep.recipes import recipe as recipe
from routh.sweep.studies import RunReport as RunReport
from routh.sweep.studies import Study as Study
from routh.sweep.studies import open_study as open_study
from routh.sweep.studies import study as study
