"""Impact laws: each turns an `ImpactProblem` into one outcome, all by one base class.

`LAWS` has every law by the name that commands take, `named` makes one. Restitution is the problem's.
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
