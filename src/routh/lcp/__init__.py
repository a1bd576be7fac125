"""The linear complementarity problem: a reference solver and an enumerator of all solutions."""

from routh.lcp.enumeration import enumerate_solutions
from routh.lcp.result import LCPResult, natural_residual
from routh.lcp.solve import solve

__all__ = ["LCPResult", "enumerate_solutions", "natural_residual", "solve"]
