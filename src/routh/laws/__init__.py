"""Impact laws: each turns an `ImpactProblem` into one outcome, all by one protocol."""

from routh.laws.base import ImpactLaw, ImpactPath, ImpactResult
from routh.laws.lzb import LZB
from routh.laws.newton import Newton
from routh.laws.sequential import Sequential
from routh.laws.set_valued import SetValued
from routh.laws.simultaneous import Simultaneous
from routh.laws.single_contact import SingleContact
from routh.laws.two_body import TwoBody

__all__ = [
    "LZB",
    "ImpactLaw",
    "ImpactPath",
    "ImpactResult",
    "Newton",
    "Sequential",
    "SetValued",
    "Simultaneous",
    "SingleContact",
    "TwoBody",
]
