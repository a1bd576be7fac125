# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.lcp.enumeration import enumerate_solutions as enumerate_solutions
from routh.lcp.solving import LCPResult as LCPResult
from routh.lcp.solving import solve as solve
