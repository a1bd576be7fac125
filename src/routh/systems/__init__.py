"""The papers' systems by name, as data. Importing this loads none of them."""

from routh.systems.base import (
    PaperSettings,
    Parameter,
    System,
    get,
    impact,
    names,
    parameters,
    problem_of,
    register,
)
from routh.systems.catalogue import CATALOGUE, Entry

__all__ = [
    "CATALOGUE",
    "Entry",
    "PaperSettings",
    "Parameter",
    "System",
    "get",
    "impact",
    "names",
    "parameters",
    "problem_of",
    "register",
]
