"""Auditing: is a simulator's or a measured answer possible, and how ambiguous are many impacts?"""

from routh.auditing.membership import Audit, Broken, audit, best_impulse, broken_laws
from routh.auditing.scans import Scan, scan

__all__ = ["Audit", "Broken", "Scan", "audit", "best_impulse", "broken_laws", "scan"]
