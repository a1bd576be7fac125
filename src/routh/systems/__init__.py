"""The papers' systems by name, as data."""

import importlib

from routh.systems.base import PaperSettings, System, get, impact, names, problem_of, register

#: modules that register systems, in the order of names()
_MODULES = ("hp23", "hp19", "billiards", "motions", "two_body", "d19")
for _name in _MODULES:
    importlib.import_module(f"routh.systems.{_name}")

__all__ = ["PaperSettings", "System", "get", "impact", "names", "problem_of", "register"]
