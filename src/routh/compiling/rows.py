"""Names for the rows of an array of a named tuple: `work.rate` for `work.values[2]`, also in kernels.

A thread's scratch has dozens of vectors. As fields of their own each would be one more array that every call
of a kernel hands on; as rows of one array they are one, and a row's place is known when code is written::

    class Arrays(NamedTuple):
        values: Array  # (3, n)

    class Scratch(Arrays):
        __slots__ = ()
        speed, rate = rows("values", 2)
        (total,) = rows("values", 1)

They are counted in the order in which they stand in the class: no two names of a class share a row.
"""

from __future__ import annotations

import numpy as np

from routh.compiling.foreign import Foreign


class FieldRow:
    """One row of the array in a field."""

    number: int  # known once the class is made

    def __init__(self, field: str) -> None:
        self.field = field

    def __set_name__(self, owner: Foreign, name: str) -> None:
        """Python calls this once for every name in a class, in their order."""
        self.number = count_rows(owner, self.field)

    def __get__(self, instance: Foreign, owner: Foreign) -> np.ndarray:
        row: np.ndarray = getattr(instance, self.field)[self.number]
        return row


def rows(field: str, count: int) -> tuple[FieldRow, ...]:
    """The next rows of a field, so many."""
    return tuple(FieldRow(field) for _ in range(count))


def count_rows(kind: Foreign, field: str) -> int:
    """How many rows of a field have names in a class of named tuples."""
    named = (one for part in kind.__mro__ for one in vars(part).values() if isinstance(one, FieldRow))
    return sum(one.field == field and hasattr(one, "number") for one in named)


def row_named(kind: Foreign, name: str) -> FieldRow | None:
    """The row of a class of named tuples that has this name."""
    found = next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)
    return found if isinstance(found, FieldRow) else None


def named_parts(kind: Foreign) -> list[Foreign]:
    """All that code may name of a class of named tuples: its fields; of its rows name, field and number."""
    found = {name: row_named(kind, name) for name in dir(kind)}
    rows = [[name, row.field, row.number] for name, row in found.items() if row is not None]
    return [*kind._fields, *rows]
