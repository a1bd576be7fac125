"""Names for the rows of an array of a named tuple: `work.rate` for `work.values[2]`, also in kernels.

A thread's scratch has dozens of vectors. As fields of their own each would be one more array that every call
of a kernel hands on; as rows of one array they are one, and a row's place is known when code is written::

    class Arrays(NamedTuple):
        values: Array  # (3, n)

    class Scratch(Arrays):
        __slots__ = ()
        speed, rate = rows("values", 2)
        (total,) = rows("values", 1, after=2)
"""

from __future__ import annotations

import numpy as np

from routh.compiling.foreign import Foreign


class FieldRow:
    """One row of the array in a field."""

    def __init__(self, field: str, number: int) -> None:
        self.field, self.number = field, number

    def __get__(self, instance: Foreign, owner: Foreign) -> np.ndarray:
        found: np.ndarray = getattr(instance, self.field)[self.number]
        return found


def rows(field: str, count: int, *, after: int = 0) -> tuple[FieldRow, ...]:
    """Consecutive rows of a field, ``count`` of them from number ``after`` on."""
    return tuple(FieldRow(field, after + k) for k in range(count))


def row_named(kind: Foreign, name: str) -> FieldRow | None:
    """The row of a class of named tuples that has this name."""
    found = next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)
    return found if isinstance(found, FieldRow) else None


def named_parts(kind: Foreign) -> list[Foreign]:
    """All that code may name of a class of named tuples: its fields; of its rows name, field and number."""
    found = {name: row_named(kind, name) for name in dir(kind)}
    rows = [[name, row.field, row.number] for name, row in found.items() if row is not None]
    return [*kind._fields, *rows]
