"""The papers' systems by name, as data. The modules imported here register their systems."""

from routh.systems import hp23
from routh.systems.base import PaperSettings, System, get, names, register

__all__ = ["PaperSettings", "System", "get", "hp23", "names", "register"]
