"""The systems that come with routh: one line each of ``catalogue.toml``. Importing this loads no model.

A new system is a file whose function carries ``@register(name)``, and a line there. Features have catalogues
of their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from routh.base import features

Kind = Literal["impact", "motion"]


class Entry(NamedTuple):
    """What `routh list` says of a system, and where it is made."""

    module: str
    kind: Kind
    source: str
    summary: str
    contacts: int | None = None  # of its impact; None where it has none
    sampling: Mapping[str, float] = {}  # the other fields of `routh.systems.base.PaperSettings`


_FILES = [Path(__file__).with_suffix(".toml"), *features.files("systems", "catalogue")]
#: in the order of `routh.systems.names`: those of the core, then those of features
CATALOGUE: dict[str, Entry] = {
    name: Entry(**entry)
    for file in _FILES
    for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items()
}
