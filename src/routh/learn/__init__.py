"""Learning with every outcome: simulated impacts get outcomes drawn from the set of possible ones.

`hook` needs MuJoCo only; what wraps environments needs Gymnasium, and is loaded when it is used.
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
