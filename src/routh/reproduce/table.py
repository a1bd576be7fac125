"""Every statement of the papers with a verdict, what shows it and, where it is not plain, why: as data.

One file a paper, ``said/hp23.toml`` and the others, holds its statements. ``by`` names what shows a verdict:
an exhibit of ``routh reproduce`` or a test of this repository, each of which a test of the table looks up.
"""

from __future__ import annotations

import enum
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PAPERS = ("HP23", "HP19", "JW17", "D19")


class Verdict(enum.StrEnum):
    """What became of a statement."""

    WORKS = "works"  # true of the implementation, as far as its check goes
    REFUTED = "refuted"  # a witness contradicts it
    IMPOSSIBLE = "impossible"  # a proof contradicts it
    OPEN = "open"  # neither came out; what was tried is said


@dataclass(frozen=True)
class Statement:
    """One thing that a paper says."""

    where: str  # in the paper: a theorem, a figure, a section
    says: str
    verdict: Verdict
    by: str  # an exhibit's name, or "tests/file.py::test_name"
    because: str = ""  # the witness, the proof or what was tried; a remark where it works


@cache
def statements() -> dict[str, tuple[Statement, ...]]:
    """All statements, paper by paper."""
    found = {}
    for paper in PAPERS:
        data = tomllib.loads((files("routh.reproduce") / "said" / f"{paper.lower()}.toml").read_text("utf-8"))
        found[paper] = tuple(Statement(**{**one, "verdict": Verdict(one["verdict"])}) for one in data["said"])
    return found


def counted(said: Iterable[Statement]) -> str:
    """How many of each verdict, as words."""
    count = Counter(one.verdict for one in said)
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in Verdict if count[verdict])
