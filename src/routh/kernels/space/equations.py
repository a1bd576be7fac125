"""Linear equations of rates that are not given: of contacts held, sticking, or beginning to slip."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from routh.compiling import kernel
from routh.kernels.space.workspace import (
    CHANNELS,
    COL0,
    COL1,
    COL2,
    GRAM,
    HELD,
    LIST,
    MOVES,
    MU,
    PIVOT,
    RATE0,
    RIGHT,
    ROLE,
    ROW0,
    ROW1,
    ROW2,
    SIZE,
    SLIDE,
    UNIT0,
    UNIT1,
    WHOSE,
    ZERO,
    SpaceWork,
    named,
)
from routh.validation import Array

DEPENDENT = 1e-11  # pivots below this share of the largest: contacts that repeat each other
FIRST, SECOND, THIRD = named(3)


class Equations(Protocol):
    """Where equations are solved: `SpaceWork`, or what has the same rows of its arrays."""

    @property
    def values(self) -> Array:
        """See `SpaceWork`."""

    @property
    def marks(self) -> np.ndarray:
        """See `SpaceWork`."""


@kernel
def set_unknown(work: SpaceWork, e: int, i: int, row: int, part: float) -> None:
    """Unknown e: a rate of contact i along coordinate ``row`` (0 to 2), for which that coordinate rests."""
    values = work.values
    work.marks[WHOSE, e] = i
    for k in range(3):
        values[ROW0 + k, e] = values[COL0 + k, e] = 1.0 if k == row else 0.0
    if row == 0 and part != 0.0:  # friction of a held contact that slides grows with its normal rate
        first = CHANNELS * i
        values[COL1, e] = part * work.series[first + UNIT0, 0]
        values[COL2, e] = part * work.series[first + UNIT1, 0]


@kernel
def list_unknown(work: SpaceWork, m: int) -> int:
    """The unknown rates: normal ones of held contacts, friction of sticking ones; how many."""
    values, marks = work.values, work.marks
    size = 0
    for a in range(m):
        i = marks[LIST, a]
        if marks[ROLE, i] == HELD:
            set_unknown(work, size, i, FIRST, -values[MU, i] if marks[MOVES, i] == SLIDE else 0.0)
            size += 1
        if marks[MOVES, i] == ZERO:
            set_unknown(work, size, i, SECOND, 0.0)
            set_unknown(work, size + 1, i, THIRD, 0.0)
            size += 2
    return size


@kernel
def list_turns(work: SpaceWork, m: int, size: int) -> int:
    """Further unknowns from power 1 on: how contacts that begin to slip turn; how many there are now."""
    values, marks, series = work.values, work.marks, work.series
    for a in range(m):
        i = marks[LIST, a]
        first = CHANNELS * i
        if marks[MOVES, i] == SLIDE and series[first + SIZE, 0] == 0.0:
            marks[WHOSE, size] = i
            across0, across1 = -series[first + UNIT1, 0], series[first + UNIT0, 0]
            friction = -values[MU, i] * series[first + RATE0, 0]
            values[ROW0, size], values[ROW1, size], values[ROW2, size] = 0.0, across0, across1
            values[COL0, size], values[COL1, size] = 0.0, friction * across0
            values[COL2, size] = friction * across1
            size += 1
    return size


@kernel
def fill_matrix(work: SpaceWork, nc: int, size: int, turns: int, k: int) -> None:
    """The equations of the unknowns at power k beside the unit matrix; from ``turns`` on those that turn."""
    values, marks, first = work.values, work.marks, GRAM + 3 * nc
    for e in range(size):
        i = marks[WHOSE, e]
        for f in range(size):
            at = 3 * marks[WHOSE, f]
            value = 0.0
            for part in range(3):
                factor, g = values[ROW0 + part, e], GRAM + 3 * i + part
                if factor != 0.0:
                    value += factor * (
                        values[g, at] * values[COL0, f]
                        + values[g, at + 1] * values[COL1, f]
                        + values[g, at + 2] * values[COL2, f]
                    )
            values[first + e, f] = value
            values[first + 3 * nc + e, f] = 1.0 if e == f else 0.0
        if e >= turns:
            values[first + e, e] -= (k + 1) * work.series[CHANNELS * i + SIZE, 1]


@kernel
def swap(values: Array, row: int, other: int, begin: int, end: int) -> None:
    """Exchange two rows, from one column to another."""
    for column in range(begin, end):
        values[row, column], values[other, column] = values[other, column], values[row, column]


@kernel
def invert(work: Equations, first: int, beside: int, size: int) -> float:
    """Gauss and Jordan with row pivoting; PIVOT: unknowns' rows of the inverse, -1: the pivot vanishes.

    Returns the least of the other pivots as a share of the largest entry.

    The matrix begins at row ``first``, a unit matrix ``beside`` rows behind it.
    """
    values, marks = work.values, work.marks
    largest = 0.0
    for row in range(size):
        for column in range(size):
            largest = max(largest, abs(values[first + row, column]))
    rank, least = first, largest
    for column in range(size):
        pivot = rank
        for row in range(rank + 1, first + size):
            if abs(values[row, column]) > abs(values[pivot, column]):
                pivot = row
        marks[PIVOT, column] = -1
        if rank == first + size or not abs(values[pivot, column]) > DEPENDENT * largest:
            continue
        if pivot != rank:
            swap(values, rank, pivot, column, size)
            swap(values, rank + beside, pivot + beside, 0, size)
        least = min(least, abs(values[rank, column]))
        scale = 1.0 / values[rank, column]
        for other in range(column, size):
            values[rank, other] *= scale
        for other in range(size):
            values[rank + beside, other] *= scale
        for row in range(first, first + size):
            factor = values[row, column]
            if row != rank and factor != 0.0:
                for other in range(column, size):
                    values[row, other] -= factor * values[rank, other]
                for other in range(size):
                    values[row + beside, other] -= factor * values[rank + beside, other]
        marks[PIVOT, column] = rank + beside
        rank += 1
    return least / largest if largest > 0.0 else 1.0


@kernel
def unknown_value(work: Equations, size: int, e: int) -> float:
    """Unknown e for the right-hand sides RIGHT, after `invert`."""
    row, value = work.marks[PIVOT, e], 0.0
    if row >= 0:
        for f in range(size):
            value += work.values[row, f] * work.values[RIGHT, f]
    return value
