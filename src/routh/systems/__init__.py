"""The papers' systems by name, as data. Importing a module of this package registers its systems."""

from routh.systems.base import PaperSettings, System, get, names, register

__all__ = ["PaperSettings", "System", "get", "names", "register"]
