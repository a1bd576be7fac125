"""The manifest of a study: what is computed, with which versions, checked whenever the study goes on."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import numpy as np

import routh
from routh.auditing.grids import Grid, grid
from routh.sweep.files import read_json, write_once
from routh.sweep.measures import Columns, Measure, MeasureData
from routh.sweep.recipe import Recipe, RecipeData

FORMAT = 1
NAME = "manifest.json"
_TOLD = 6  # differences that an error message lists


class Versions(TypedDict):
    """What results depend on besides the plan."""

    routh: str
    numpy: str
    machine: str


class PlanData(Versions):
    """A plan as JSON holds it, with the versions that decide the bits of a result."""

    format: int
    problems: RecipeData
    over: dict[str, list[float]]
    measures: list[MeasureData]
    seed: int


@dataclass(frozen=True, eq=False)
class Plan:
    """What a study computes: a problem at each point of a grid, and measures of it."""

    problems: Recipe
    grid: Grid
    measures: tuple[Measure, ...]
    seed: int

    @property
    def columns(self) -> dict[str, tuple[int, ...]]:
        """Every column, and the shape of one point's value in it."""
        return {name: shape for measure in self.measures for name, shape in measure.columns.items()}

    def empty(self, count: int) -> Columns:
        """The columns of so many points in which nothing is known."""
        return {name: np.full((count, *shape), np.nan) for name, shape in self.columns.items()}

    def as_data(self) -> PlanData:
        """As JSON holds it, with the versions that decide the bits of a result."""
        return {
            "format": FORMAT,
            **fingerprint(),
            "problems": self.problems.as_data(),
            "over": {name: values.tolist() for name, values in self.grid.axes.items()},
            "measures": [measure.as_data() for measure in self.measures],
            "seed": self.seed,
        }

    @staticmethod
    def from_data(data: PlanData) -> Plan:
        """The plan that `as_data` wrote."""
        return Plan(
            Recipe.from_data(data["problems"]),
            grid(data["over"]),
            tuple(Measure.from_data(item) for item in data["measures"]),
            int(data["seed"]),
        )


def fingerprint() -> Versions:
    """What results depend on besides the plan: versions, and the kind of machine."""
    return {"routh": routh.__version__, "numpy": np.__version__, "machine": platform.machine()}


def identity(data: PlanData) -> str:
    """A digest of a manifest; names of chunks are made from it."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def write_manifest(folder: Path, data: PlanData) -> None:
    """Make the folder and its manifest, or check that the one that is there says the same."""
    folder.mkdir(parents=True, exist_ok=True)
    if not write_once(folder / NAME, json.dumps(data, indent=1).encode()):
        check_same(folder, data)


def read_manifest(folder: Path) -> PlanData:
    """The manifest of a folder; refuses a folder without one, or of another format."""
    data = read_json(folder / NAME)
    if not isinstance(data, dict):
        raise ValueError(f"folder: {folder} holds no study ({NAME} is missing or unreadable)")
    if data.get("format") != FORMAT:
        raise ValueError(f"folder: {folder} has format {data.get('format')}; this version reads {FORMAT}")
    return cast("PlanData", data)


def check_same(folder: Path, wanted: PlanData) -> None:
    """Refuse to go on where the folder's manifest and ``wanted`` differ; the error lists where."""
    differences = list(_differences(read_manifest(folder), wanted, ""))
    if differences:
        more = f" and {len(differences) - _TOLD} more" if len(differences) > _TOLD else ""
        raise ValueError(
            f"folder: {folder} holds another study; "
            + "; ".join(
                f"{where}: {there!r} there, {here!r} here" for where, there, here in differences[:_TOLD]
            )
            + more
        )


def _differences(there: object, here: object, where: str) -> Iterator[tuple[str, object, object]]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            yield from _differences(there.get(key), here.get(key), f"{where}.{key}" if where else str(key))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for k, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from _differences(one, other, f"{where}[{k}]")
    elif there != here:
        yield where, _short(there), _short(here)


def _short(value: object) -> object:
    return f"{len(value)} values" if isinstance(value, list) else value
