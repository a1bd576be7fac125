"""Scans: the ambiguity of many impacts, along a motion or over a grid of landing states.

In order: grids of named parameters, the scan of one, and `growth`, how the set of outcomes grows as more
contacts of a robot count as simultaneous.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from routh.base.progress import counted_through
from routh.base.results import Column, Drawable, Tabular
from routh.base.status import InputError, StateError, Status
from routh.base.storage import Stored
from routh.base.text import for_terminal, quantity
from routh.base.validation import Array, Options, deadline_of, integer, real_array
from routh.models.robot import RobotProblem
from routh.models.simultaneity import redundancy
from routh.problem.impact import ImpactProblem
from routh.sampling.ambiguity import measure_ambiguity
from routh.sampling.outcomes import Outcomes, check_arrays
from routh.sampling.sampler import sample

if TYPE_CHECKING:
    import pandas

_FORM = "wanted NAME=START:STOP:COUNT or NAME=VALUE,VALUE,...; angles in rad, or such as 20deg"
_GRIDS = {"score": "f", "contacts": "i", "share_solved": "f", "explained": "f", "status": "i"}


@dataclass(frozen=True, eq=False)
class Grid:
    """The product of named axes. Point k is the k-th in C order: the last axis runs fastest."""

    axes: dict[str, Array]  # name -> values, (length,) each

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(len(values) for values in self.axes.values())

    def __len__(self) -> int:
        return math.prod(self.shape)

    def point(self, row: int) -> dict[str, float]:
        """The parameters of point ``row``."""
        place = np.unravel_index(row, self.shape)
        return {name: float(values[k]) for (name, values), k in zip(self.axes.items(), place, strict=True)}


def grid(over: Mapping[str, Sequence[float] | Array]) -> Grid:
    """A grid from name -> values; every axis has at least one value, and all are finite."""
    if not isinstance(over, Mapping) or not over:
        raise InputError("over", got=repr(over), wanted="a dictionary of at least one name and its values")
    axes = {}
    for name, values in over.items():
        if not str(name).isidentifier():
            raise InputError("over", got=f"the name {name!r}", wanted="one that can be an argument's name")
        array = real_array(f"over[{name!r}]", values, [(), (None,)], "a list of numbers").reshape(-1)
        if not len(array):
            raise InputError(f"over[{name!r}]", got="no values", wanted="at least one")
        axes[str(name)] = array
    return Grid(axes)


def axis_from_text(text: str) -> tuple[str, Array]:
    """``roll=-0.3:0.3:41`` (equally spaced, both ends included) or ``mu=0.1,0.3,1`` as name and values."""
    name, found, values = text.partition("=")
    name = name.strip()
    if not found or not name.isidentifier():
        raise InputError("over", got=f"{text!r}; {_FORM}")
    try:
        if ":" in values:
            start, stop, count = values.split(":")
            number = int(count)
            ends = quantity(start), quantity(stop)
            if number < 1 or not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
                raise ValueError
            array = np.linspace(*ends, number)
        else:
            array = np.array([quantity(value) for value in values.split(",")])
    except ValueError:
        raise InputError("over", got=f"{text!r}; {_FORM}") from None
    return name, real_array(f"over[{name!r}]", array, [(None,)], "finite numbers")


def grid_from_text(texts: Sequence[str]) -> Grid:
    """A grid from one text an axis; a name may occur once."""
    axes: dict[str, Array] = {}
    for text in texts:
        name, values = axis_from_text(text)
        if name in axes:
            raise InputError("over", got=f"{name!r} twice", wanted="each axis once")
        axes[name] = values
    return grid(axes)


@dataclass(frozen=True, eq=False)
class Scan(Drawable, Tabular, Stored):
    """Scores on a grid; NaN where there was no impact."""

    axes: dict[str, Array]  # name -> values, in the order of the grid's axes
    score: Array  # grid: diameter over speed before, in the kinetic-energy norm
    contacts: np.ndarray  # grid, int: contacts of the impact
    share_solved: Array  # grid: share of the samples that are solved
    explained: Array  # grid: share of the variance along the most uncertain direction
    #: grid, int8 of `routh.Status`: SOLVED where the impact was sampled, else NO_CONTACT, NO_IMPACT,
    #: REFUSED (a state that cannot be) or OUT_OF_TIME
    status: np.ndarray
    measure: str = "ambiguity"  # what the score is
    _kind: ClassVar = "scan"

    def __repr__(self) -> str:
        axes = " x ".join(f"{for_terminal(name)} ({len(values)})" for name, values in self.axes.items())
        impacts = int(np.count_nonzero(np.isfinite(self.score)))
        largest = f", largest score {np.nanmax(self.score):.3g}" if impacts else ""
        return f"Scan({axes}, impacts={impacts}{largest})"

    def _sentences(self) -> list[str]:
        worst = self.worst(1)
        if not worst:
            return ["No impact at any point."]
        where = ", ".join(f"{name} = {worst[0][name]:.4g}" for name in self.axes)
        share = " of the speed before" if self.measure == "ambiguity" else ""
        name = "Ambiguity" if share else self.measure
        return [f"{name} up to {worst[0]['score']:.2f}{share}, at {where}."]

    def _facts(self) -> list[tuple[object, ...]]:
        rows = [{name: f"{value:.4g}" for name, value in row.items()} for row in self.worst()]
        return [tuple(rows[0]), *(tuple(row.values()) for row in rows)] if rows else []

    def _coordinates(self) -> dict[str, object]:
        return dict(self.axes)

    def _columns(self) -> dict[str, Column]:
        over, diameter = tuple(self.axes), "diameter of the outcomes over the speed before"
        meaning = diameter if self.measure == "ambiguity" else self.measure
        return {
            "score": Column(over, self.score, "1", meaning),
            "contacts": Column(over, self.contacts, "1", "number of contacts"),
            "share_solved": Column(over, self.share_solved, "1", "share of the samples that are solved"),
            "explained": Column(over, self.explained, "1", "share of the variance along one direction"),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """One row a point of the grid."""
        found: pandas.DataFrame = self.to_xarray().to_dataframe().reset_index()
        return found

    def parts(self) -> tuple[Options, dict[str, np.ndarray]]:
        """What a file keeps: the names of the axes, their values and the grids."""
        axes = {f"axis_{k}": values for k, values in enumerate(self.axes.values())}
        grids = {name: getattr(self, name) for name in _GRIDS}
        return {"axes": list(self.axes), "measure": self.measure}, {**axes, **grids}

    @classmethod
    def of_parts(cls, told: Options, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `parts`; the grids must have the shape that the axes say."""
        axes = {str(name): arrays[f"axis_{k}"] for k, name in enumerate(told["axes"])}
        shape = tuple(len(values) for values in axes.values())
        grids = {name: arrays[name] for name in _GRIDS}
        check_arrays(grids, {name: (shape, kind) for name, kind in _GRIDS.items()})
        return cls(axes, **grids, measure=str(told.get("measure", "ambiguity")))

    def worst(self, count: int = 5) -> list[dict[str, float]]:
        """The most ambiguous states, each with its coordinates, score and number of contacts."""
        flat = np.where(np.isnan(self.score), -np.inf, self.score).ravel()
        points = Grid(self.axes)
        return [
            {**points.point(i), "score": float(flat[i]), "contacts": float(self.contacts.flat[i])}
            for i in np.argsort(-flat, kind="stable")[:count]
            if np.isfinite(flat[i])
        ]


def scan(
    problem_at: Callable[..., ImpactProblem | None],
    axes: Mapping[str, Sequence[float] | Array],
    *,
    n: int = 256,
    seed: int = 0,
    friction: str = "cone",
    rates: str = "mixed",
    measure: Callable[[Outcomes], float] | None = None,
    budget: float | None = None,
) -> Scan:
    """The ambiguity of the impacts at every point of a grid. Notebooks show a bar while it takes long.

    Parameters
    ----------
    problem_at : called with one keyword per axis; returns the problem there, or None where nothing is hit;
        a `routh.base.status.StateError` says that the state there cannot be.
    axes : name -> values. A motion is one axis ("t"); a grid of landing states has two or more.
    n, seed, friction, rates : of `routh.sample` at each point.
    measure : a number for the outcomes of a point, instead of their ambiguity, as
        `routh.robust.feet.tipping_ratio` is.
    budget : seconds; points that are not reached by then have Status.OUT_OF_TIME, the others are the same.
    """
    deadline = deadline_of(budget)
    integer("n", n, at_least=1)
    grid = Grid({name: np.asarray(values, dtype=np.float64) for name, values in axes.items()})
    score, solved, explained = (np.full(grid.shape, np.nan) for _ in range(3))
    contacts = np.zeros(grid.shape, dtype=int)
    status = np.full(grid.shape, Status.OUT_OF_TIME, dtype=np.int8)
    for row in counted_through(range(len(grid)), "points"):
        if time.monotonic() >= deadline:
            break
        try:
            problem = problem_at(**grid.point(row))
        except StateError:
            status.flat[row] = Status.REFUSED
            continue
        if problem is None:
            status.flat[row] = Status.NO_CONTACT
            continue
        contacts.flat[row] = problem.nc
        if not np.any(problem.approaching):
            status.flat[row] = Status.NO_IMPACT
            continue
        outcomes = sample(problem, n, seed=seed, friction=friction, rates=rates)
        found = measure_ambiguity(outcomes)
        solved.flat[row] = ended = float(outcomes.solved.mean())
        if ended > 0.0:
            score.flat[row] = found.score if measure is None else measure(outcomes)
            explained.flat[row] = found.explained
        status.flat[row] = Status.SOLVED
    named = "ambiguity" if measure is None else getattr(measure, "__name__", "measure")
    return Scan(grid.axes, score, contacts, solved, explained, status, named)


@dataclass(frozen=True)
class GrowthRow:
    """The set of outcomes for one choice of what is simultaneous."""

    threshold: float  # gap (m) or window (s)
    contacts: tuple[str, ...]
    redundant: int
    ambiguity: float  # diameter over speed before, both in the kinetic-energy norm
    energy: tuple[float, float]  # smallest and largest kinetic energy after, J
    share_solved: float  # share of the samples


def growth(
    problem: RobotProblem,
    *,
    gaps: Sequence[float] | None = None,
    windows: Sequence[float] | None = None,
    n: int = 1024,
    seed: int = 0,
    friction: str = "cone",
) -> list[GrowthRow]:
    """How the set of outcomes grows as more contacts count as simultaneous.

    Parameters
    ----------
    problem : made with the largest gap or window of interest; each row takes a part of its contacts.
    gaps : increasing thresholds of distance, m; by default every distinct distance.
    windows : increasing windows of time, s, in place of ``gaps``.
    n, seed, friction : of `routh.sample`.
    """
    if gaps is not None and windows is not None:
        raise InputError("gaps", got="gaps and windows", wanted="one of the two")
    values = problem.time_to_contact if windows is not None else problem.dist
    given = windows if windows is not None else gaps
    thresholds = (
        np.unique(values[np.isfinite(values)]) if given is None else np.asarray(given, dtype=np.float64)
    )
    rows: list[GrowthRow] = []
    for threshold in thresholds:
        kept = [name for name, value in zip(problem.names, values, strict=True) if value <= threshold]
        if rows and tuple(kept) == rows[-1].contacts:
            rows.append(replace(rows[-1], threshold=float(threshold)))
        elif kept:
            part = problem.subset(kept)
            outcomes = sample(part, n, seed=seed, friction=friction)
            energies = outcomes.kinetic_energy[outcomes.solved]
            rows.append(
                GrowthRow(
                    float(threshold),
                    part.names,
                    len(redundancy(part)),
                    measure_ambiguity(outcomes).score,
                    (float(energies.min(initial=np.inf)), float(energies.max(initial=-np.inf))),
                    float(outcomes.solved.mean()),
                )
            )
    return rows
