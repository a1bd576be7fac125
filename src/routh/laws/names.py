"""Every law by the name that commands take: `LAWS` and `named`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from routh.base import features
from routh.base.validation import choice
from routh.laws.base import ImpactLaw

_OWN = {
    "set-valued": "routh.laws.set_valued:SetValued",
    "simultaneous": "routh.laws.simultaneous:Simultaneous",
    "sequential": "routh.laws.sequential:Sequential",
    "moreau": "routh.laws.moreau:Moreau",
    "moreau-convex": "routh.laws.moreau:convex_moreau",
    "poisson": "routh.laws.poisson:Poisson",
    "energetic": "routh.laws.energetic:Energetic",
    "chatterjee-ruina": "routh.laws.chatterjee_ruina:ChatterjeeRuina",
    "lzb": "routh.laws.lzb:LZB",
    "newton": "routh.laws.single_contact:Newton",
    "single-contact": "routh.laws.single_contact:SingleContact",
}


class Laws(Mapping[str, Callable[..., ImpactLaw]]):
    """Laws by name, those of features last; a law is imported when it is asked for."""

    def __init__(self) -> None:
        self._places = _OWN | features.entries("laws")

    def __getitem__(self, name: str) -> Callable[..., ImpactLaw]:
        return cast("Callable[..., ImpactLaw]", features.resolve(self._places[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


#: Every law by its name; call it for the law with its default options.
LAWS = Laws()


def named(name: str, *, friction: str = "cone") -> ImpactLaw:
    """The law of a name in `LAWS`, with its default options; ``friction`` for those that know both kinds."""
    make = LAWS[choice("law", name, tuple(LAWS))]
    return make(friction=friction) if hasattr(make(), "friction") else make()
