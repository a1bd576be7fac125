"""Impact laws: each turns an `ImpactProblem` into one outcome, all by one base class."""

from routh.laws.base import ImpactLaw, ImpactResult
from routh.laws.lzb import LZB
from routh.laws.newton import Newton
from routh.laws.sequential import Sequential
from routh.laws.set_valued import SetValued
from routh.laws.simultaneous import Simultaneous
from routh.laws.single_contact import SingleContact
from routh.laws.two_body import TwoBody
from routh.paths import ImpactPath, PathKind

__all__ = [
    "LZB",
    "ImpactLaw",
    "ImpactPath",
    "ImpactResult",
    "Newton",
    "PathKind",
    "Sequential",
    "SetValued",
    "Simultaneous",
    "SingleContact",
    "TwoBody",
]
