"""The papers' systems by name, as data. Importing this loads none of them."""

from routh.systems.base import PaperSettings, System, get, impact, names, problem_of, register
from routh.systems.catalogue import CATALOGUE, Entry

__all__ = [
    "CATALOGUE",
    "Entry",
    "PaperSettings",
    "System",
    "get",
    "impact",
    "names",
    "problem_of",
    "register",
]
