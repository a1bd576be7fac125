"""Parameters from measured impacts: those whose sets of outcomes foretell the measured velocities best.

In the order of reading: `impacts` (what was measured), `bodies` (tossed bodies as a function of what they
are like), `scores` (how well a set foretells a velocity), `fit` (where the score is least, and how surely),
`identify` (the front door). The public names stand in `routh.robust` as well.
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
