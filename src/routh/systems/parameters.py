"""The parameters of the systems: what each means and its unit (``parameters.toml``), and its default."""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import dataclass
from pathlib import Path

from routh.systems.base import builder_of


@dataclass(frozen=True)
class Parameter:
    """One parameter of a system, as `routh.systems.get` takes it by keyword."""

    name: str
    default: object  # None: computed from the others
    unit: str  # "" for a number without unit
    meaning: str


def parameters(name: str) -> list[Parameter]:
    """The parameters of the system called ``name``, in the order of its function."""
    known = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    told = {**known, **known.get(name, {})}  # what a system means otherwise stands below its name
    given = inspect.signature(builder_of(name)).parameters.items()
    return [Parameter(key, one.default, *told.get(key, ("", ""))) for key, one in given]
