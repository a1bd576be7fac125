"""A test kit for engines: scenes of impacts, what is known of each, and a report card.

An engine is a function, from an `ImpactScene` to the velocities after its impact. `examine` asks it for every
scene and checks energy, friction, restitution, membership in the set of outcomes, and whether the answer
depends on the order of contacts or on the phase of the step. `named` has adapters for engines that are
installed.
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
