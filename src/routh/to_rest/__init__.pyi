# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.to_rest.checking import check as check
from routh.to_rest.many import LandingRuns as LandingRuns
from routh.to_rest.many import landings as landings
from routh.to_rest.uncertainty import Uncertainty as Uncertainty
