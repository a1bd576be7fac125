"""The manifest of a study: what is computed, with which versions, checked whenever the study goes on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np

import routh
from routh.auditing.scans import Grid, grid
from routh.base.status import InputError
from routh.base.storage import write_bytes
from routh.base.text import for_terminal, listed
from routh.base.validation import Options, integer
from routh.sweep.measures import Columns, Measure
from routh.sweep.recipes import Recipe

FORMAT = 1
NAME = "manifest.json"
_TOLD = 6  # differences that an error message lists


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """What a study computes: a problem at each point of a grid, and measures of it."""

    problems: Recipe
    grid: Grid
    measures: tuple[Measure, ...]
    seed: int

    @property
    def columns(self) -> dict[str, tuple[int, ...]]:
        """Every column, and the shape of one point's value in it."""
        return {name: shape for measure in self.measures for name, shape in measure.columns.items()}

    def functions(self) -> frozenset[str]:
        """The names of all functions that it calls."""
        return self.problems.functions().union(*(measure.recipe.functions() for measure in self.measures))

    def empty(self, count: int) -> Columns:
        """The columns of so many points in which nothing is known."""
        return {name: np.full((count, *shape), np.nan) for name, shape in self.columns.items()}

    def as_data(self) -> Options:
        """The plan as JSON holds it, with the versions that decide the bits of a result."""
        return {
            "format": FORMAT,
            **fingerprint(),
            "problems": self.problems.as_data(),
            "over": {name: values.tolist() for name, values in self.grid.axes.items()},
            "measures": [measure.as_data() for measure in self.measures],
            "seed": self.seed,
        }

    @staticmethod
    def from_data(data: Options) -> StudyPlan:
        """The plan that `as_data` wrote; ValueError where it is none. Nothing is imported or called."""
        try:
            return StudyPlan(
                Recipe.from_data(data["problems"]),
                grid(data["over"]),
                tuple(Measure.from_data(item) for item in data["measures"]),
                integer("seed", data["seed"], at_least=0),
            )
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise InputError(NAME, wrong=f"is not whole ({for_terminal(error)})") from None


def fingerprint() -> dict[str, str]:
    """What results depend on besides the plan: versions, and the kind of machine."""
    return {"routh": routh.__version__, "numpy": np.__version__, "machine": platform.machine()}


def identity(data: Options) -> str:
    """A digest of a manifest; names of chunks are made from it."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path) -> Options:
    """The manifest of a folder; refuses a folder without one, or of another format."""
    data = read_json(folder / NAME)
    if not isinstance(data, dict):
        raise InputError("folder", wrong=f"{folder} holds no study ({NAME} is missing or unreadable)")
    if data.get("format") != FORMAT:
        wrong = for_terminal(f"{folder} has format {data.get('format')}")
        raise InputError("folder", wrong=wrong, wanted=FORMAT)
    return data


def check_same(folder: Path, wanted: Options) -> None:
    """Refuse to go on where the folder's manifest and ``wanted`` differ; the error lists where."""
    differences = list(_differences(read_manifest(folder), wanted, ""))
    if differences:
        told = [f"{where}: {there!r} there, {here!r} here" for where, there, here in differences]
        listing = listed(told, _TOLD, "; ")
        raise InputError("folder", wrong=for_terminal(f"{folder} holds another study; {listing}"))


def _differences(there: object, here: object, where: str) -> Iterator[tuple[str, object, object]]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            yield from _differences(there.get(key), here.get(key), f"{where}.{key}" if where else str(key))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for k, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from _differences(one, other, f"{where}[{k}]")
    elif there != here:
        short = [f"{len(value)} values" if isinstance(value, list) else value for value in (there, here)]
        yield where, short[0], short[1]


def write_once(path: Path, content: bytes) -> bool:
    """Make a file unless it exists; False where another driver was first."""
    if path.exists():
        return False
    beside = write_bytes(path.with_name(f".{path.name}.{uuid4().hex}"), content)
    try:
        os.link(beside, path)
    except FileExistsError:
        return False
    except OSError:  # no links here: the last of two drivers wins, with equal content or a refusal
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return True


def read_json(path: Path) -> object:
    """What a JSON file holds; None where it is missing or broken."""
    try:
        regular = path.is_file()  # a device may never end
        return json.loads(path.read_text(encoding="utf-8")) if regular else None
    except (OSError, ValueError, RecursionError):
        return None
