"""Learning with every outcome: simulated impacts get outcomes drawn from the set of possible ones.

`hook` needs MuJoCo only; what wraps environments needs Gymnasium, and is loaded when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from routh.learn.hooking import Hook, hook
from routh.learn.records import Impact
from routh.learn.schedules import linear
from routh.learn.settings import MODES, Settings

if TYPE_CHECKING:
    from routh.learn.adversary import AdversarialOutcomes
    from routh.learn.parameters import ParameterRandomization
    from routh.learn.vector import OutcomeVectorEnv, make_vec
    from routh.learn.wrapper import OutcomeRandomization

__all__ = [
    "MODES",
    "AdversarialOutcomes",
    "Hook",
    "Impact",
    "OutcomeRandomization",
    "OutcomeVectorEnv",
    "ParameterRandomization",
    "Settings",
    "hook",
    "linear",
    "make_vec",
]

_WITH_GYMNASIUM = {
    "AdversarialOutcomes": "adversary",
    "OutcomeRandomization": "wrapper",
    "OutcomeVectorEnv": "vector",
    "ParameterRandomization": "parameters",
    "make_vec": "vector",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _WITH_GYMNASIUM:
            return getattr(import_module(f"routh.learn.{_WITH_GYMNASIUM[name]}"), name)
        raise AttributeError(f"module 'routh.learn' has no attribute {name!r}")
