"""The papers' systems by name, as data. The modules imported here register their systems."""

# in the order of names()
# isort: off
from routh.systems import hp23
from routh.systems import hp19, billiards, motions
from routh.systems import two_body, d19

# isort: on
from routh.systems.base import PaperSettings, System, get, names, problem_of, register

__all__ = [
    "PaperSettings",
    "System",
    "billiards",
    "d19",
    "get",
    "hp19",
    "hp23",
    "motions",
    "names",
    "problem_of",
    "register",
    "two_body",
]
