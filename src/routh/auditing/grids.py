"""Grids of parameters: named axes, and the points that they span in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from routh.validation import Array, real_array

_FORM = "wanted NAME=START:STOP:COUNT or NAME=VALUE,VALUE,..."


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
        raise ValueError(f"over: got {over!r}; wanted a dictionary of at least one name and its values")
    axes = {}
    for name, values in over.items():
        if not str(name).isidentifier():
            raise ValueError(f"over: got the name {name!r}; wanted one that can be an argument's name")
        array = real_array(f"over[{name!r}]", values, [(), (None,)], "a list of numbers").reshape(-1)
        if not len(array):
            raise ValueError(f"over[{name!r}]: got no values; wanted at least one")
        axes[str(name)] = array
    return Grid(axes)


def axis_from_text(text: str) -> tuple[str, Array]:
    """``roll=-0.3:0.3:41`` (equally spaced, both ends included) or ``mu=0.1,0.3,1`` as name and values."""
    name, found, values = text.partition("=")
    name = name.strip()
    if not found or not name.isidentifier():
        raise ValueError(f"over: got {text!r}; {_FORM}")
    try:
        if ":" in values:
            start, stop, count = values.split(":")
            number = int(count)
            ends = float(start), float(stop)
            if number < 1 or not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
                raise ValueError
            array = np.linspace(*ends, number)
        else:
            array = np.array([float(value) for value in values.split(",")])
    except ValueError:
        raise ValueError(f"over: got {text!r}; {_FORM}") from None
    return name, real_array(f"over[{name!r}]", array, [(None,)], "finite numbers")


def grid_from_text(texts: Sequence[str]) -> Grid:
    """A grid from one text an axis; a name may occur once."""
    axes: dict[str, Array] = {}
    for text in texts:
        name, values = axis_from_text(text)
        if name in axes:
            raise ValueError(f"over: got {name!r} twice; wanted each axis once")
        axes[name] = values
    return grid(axes)
