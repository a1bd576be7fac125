# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.bounds.energy import EnergyBound as EnergyBound
from routh.bounds.energy import OuterBound as OuterBound
from routh.bounds.outer import outer_bound as outer_bound
