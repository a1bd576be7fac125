"""The linear complementarity problem: a reference solver and an enumerator of all solutions."""

from routh.lcp.enumeration import enumerate_solutions
from routh.lcp.solve import LCPResult, natural_residual, solve

__all__ = ["LCPResult", "enumerate_solutions", "natural_residual", "solve"]
