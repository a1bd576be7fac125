"""Impact laws: each turns an `ImpactProblem` into one outcome, all by one base class."""

from routh.laws.base import ImpactLaw as ImpactLaw
from routh.laws.base import ImpactResult as ImpactResult
from routh.laws.lzb import LZB as LZB
from routh.laws.newton import Newton as Newton
from routh.laws.sequential import Sequential as Sequential
from routh.laws.set_valued import SetValued as SetValued
from routh.laws.simultaneous import Simultaneous as Simultaneous
from routh.laws.single_contact import SingleContact as SingleContact
from routh.laws.two_body import TwoBody as TwoBody
from routh.paths import ImpactPath as ImpactPath
from routh.paths import PathKind as PathKind

__all__ = sorted(name for name, value in vars().items() if isinstance(value, type))
