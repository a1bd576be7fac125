"""Impact laws: each turns an `ImpactProblem` into one outcome, all by one base class.

`LAWS` has every law by the name that commands take, `named` makes one. Restitution is the problem's.
"""

from collections.abc import Callable as _Callable
from functools import partial as _partial

from routh.laws.base import ImpactLaw as ImpactLaw
from routh.laws.base import ImpactResult as ImpactResult
from routh.laws.chatterjee_ruina import ChatterjeeRuina as ChatterjeeRuina
from routh.laws.energetic import Energetic as Energetic
from routh.laws.lzb import LZB as LZB
from routh.laws.moreau import Moreau as Moreau
from routh.laws.poisson import Poisson as Poisson
from routh.laws.sequential import Sequential as Sequential
from routh.laws.set_valued import SetValued as SetValued
from routh.laws.simultaneous import Simultaneous as Simultaneous
from routh.laws.single_contact import Newton as Newton
from routh.laws.single_contact import SingleContact as SingleContact
from routh.laws.two_body import TwoBody as TwoBody
from routh.results import ImpactPath as ImpactPath
from routh.results import PathKind as PathKind
from routh.validation import choice as _choice

#: Every law by its name; call it for the law with its default options.
LAWS: dict[str, _Callable[..., ImpactLaw]] = {
    "set-valued": SetValued,
    "simultaneous": Simultaneous,
    "sequential": Sequential,
    "moreau": Moreau,
    "moreau-convex": _partial(Moreau, associated=True),
    "poisson": Poisson,
    "energetic": Energetic,
    "chatterjee-ruina": ChatterjeeRuina,
    "lzb": LZB,
    "newton": Newton,
    "two-body": TwoBody,
    "single-contact": SingleContact,
}


def named(name: str, *, friction: str = "cone") -> ImpactLaw:
    """The law of a name in `LAWS`, with its default options; ``friction`` for those that know both kinds."""
    make = LAWS[_choice("law", name, tuple(LAWS))]
    return make(friction=friction) if hasattr(make(), "friction") else make()


_public = sorted(name for name, value in vars().items() if isinstance(value, type) and name[0] != "_")
__all__ = ["LAWS", *_public, "named"]
