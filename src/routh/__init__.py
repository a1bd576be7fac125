"""routh: every outcome that a rigid-body impact can have.

Public names are resolved on first use, so importing the package compiles nothing and loads no numba.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

#: public name -> module that defines it
_PUBLIC = {
    "ImpactBatch": "routh.batch",
    "ImpactProblem": "routh.problem",
    "Outcomes": "routh.sampling",
    "State": "routh.models",
    "Status": "routh.status",
    "approximate": "routh.sampling",
    "coverage": "routh.exact.coverage",
    "exact_set": "routh.exact.build",
    "fill": "routh.sampling.filling",
    "outer_bound": "routh.bounds",
    "audit": "routh.auditing",
    "scan": "routh.auditing",
    "sample": "routh.sampling",
    "snap": "routh.exact.rational",
    "sample_batch": "routh.sampling.batch",
    "simulate": "routh.sim",
    "simulate_many": "routh.sim",
}
_SUBMODULES = frozenset(
    {
        "auditing",
        "bounds",
        "constraints",
        "exact",
        "laws",
        "lcp",
        "models",
        "pointedness",
        "sampling",
        "sim",
        "step",
        "systems",
        "termination",
        "two_body",
    }
)

__all__ = ["__version__", *sorted(_PUBLIC), *sorted(_SUBMODULES)]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"routh.{name}")
    raise AttributeError(f"module 'routh' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
