"""Auditing: is a simulator's or a measured answer possible, and how ambiguous are many impacts?"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routh.auditing.membership import Audit, Broken, audit, best_impulse, broken_laws
    from routh.auditing.scans import Scan, scan

__all__ = ["Audit", "Broken", "Scan", "audit", "best_impulse", "broken_laws", "scan"]


if not TYPE_CHECKING:  # comparing with the classical laws needs none of these

    def __getattr__(name: str) -> object:
        if name in __all__:
            module = "scans" if name in ("Scan", "scan") else "membership"
            return getattr(importlib.import_module(f"routh.auditing.{module}"), name)
        raise AttributeError(f"module 'routh.auditing' has no attribute {name!r}")
