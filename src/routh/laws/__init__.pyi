# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.laws.base import ImpactLaw as ImpactLaw
from routh.laws.base import ImpactResult as ImpactResult
from routh.laws.chatterjee_ruina import ChatterjeeRuina as ChatterjeeRuina
from routh.laws.energetic import Energetic as Energetic
from routh.laws.lzb import LZB as LZB
from routh.laws.moreau import Moreau as Moreau
from routh.laws.names import LAWS as LAWS
from routh.laws.names import named as named
from routh.laws.poisson import Poisson as Poisson
from routh.laws.sequential import Sequential as Sequential
from routh.laws.set_valued import SetValued as SetValued
from routh.laws.simultaneous import Simultaneous as Simultaneous
from routh.laws.single_contact import Newton as Newton
from routh.laws.single_contact import SingleContact as SingleContact
