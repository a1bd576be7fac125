"""Learning with every outcome: simulated impacts get outcomes drawn from the set of possible ones.

`hook` needs MuJoCo only; what wraps environments needs Gymnasium, and is loaded when it is used.
"""

from __future__ import annotations

from routh.lazily import public_names, resolving

_PUBLIC = public_names(__file__)  # wrappers need Gymnasium, `hook` does not
__all__ = sorted(_PUBLIC)
__getattr__ = resolving("routh.learn", _PUBLIC)
