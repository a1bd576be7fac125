"""Exhibits: the published figures and tables, each drawn and compared by one registered function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from routh.base.status import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Row:
    """One published number beside ours."""

    quantity: str
    paper: float | str | None  # None: the paper gives no number
    ours: float | str
    why: str = ""  # where they differ: the reason


def rounded(value: float, digits: int) -> float:
    """A number with so many digits, as a table tells it."""
    return float(f"{value:.{digits}g}")


@dataclass(frozen=True)
class Exhibit:
    """What one exhibit produced in this run."""

    figures: dict[str, Figure] = field(default_factory=dict)  # file stem -> figure
    rows: tuple[Row, ...] = ()
    text: str = ""  # a paragraph for the report


@dataclass(frozen=True)
class Settings:
    """How an exhibit is to be computed."""

    quick: bool = False
    seed: int = 0
    device: str = "cpu"


@dataclass(frozen=True)
class Entry:
    """A registered exhibit."""

    name: str  # e.g. "hp23-fig-9", used by `routh reproduce --only`
    title: str
    source: str  # e.g. "HP23 Fig. 9"
    make: Callable[[Settings], Exhibit] = field(repr=False)


_ENTRIES: dict[str, Entry] = {}


def exhibit(
    name: str, *, title: str, source: str
) -> Callable[[Callable[[Settings], Exhibit]], Callable[[Settings], Exhibit]]:
    """Register a function from `Settings` to `Exhibit`."""

    def add(make: Callable[[Settings], Exhibit]) -> Callable[[Settings], Exhibit]:
        if name in _ENTRIES:
            raise InputError("name", wrong=f"exhibit {name!r} is registered already")
        _ENTRIES[name] = Entry(name, title, source, make)
        return make

    return add


def entries() -> list[Entry]:
    """All exhibits, in the order of registration."""
    return list(_ENTRIES.values())
