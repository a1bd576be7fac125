"""What a kernel's expressions stand for while it is translated, and the numbers that they become.

Kinds of numbers: "f" float64, "i" int64, "u" uint64, "w" uint32, "b" bool. A `Group` (a tuple, named or not)
and an `Array` are known by their words, so that neither is ever put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import TypeAlias

import numpy as np

from routh.base.status import RouthError
from routh.compiling.foreign import Foreign

Kind: TypeAlias = Foreign  # of a number: a letter; of everything else: a tuple that begins with a word

NUMBERS = {"f": "double", "i": "i64", "u": "i64", "w": "i32", "b": "i1"}
_WIDTHS = "bwiuf"  # of two kinds the one that stands later has room for both
_DESCRIBED = {"f": "a float", "i": "an integer", "u": "a uint64", "w": "a uint32", "b": "a bool"}
# elements of arrays: as they lie in memory, the kind that is made of them, and how
ELEMENTS = {
    "float64": ("double", "f", ""),
    "int64": ("i64", "i", ""),
    "int32": ("i32", "i", "sext"),
    "int16": ("i16", "i", "sext"),
    "int8": ("i8", "i", "sext"),
    "uint64": ("i64", "u", ""),
    "uint32": ("i32", "w", ""),
    "bool": ("i8", "b", "trunc"),
}
_OF_PYTHON: dict[str, tuple[type, ...]] = {
    "b": (bool, np.bool_), "u": (np.uint64,), "w": (np.uint32,), "i": (int, np.signedinteger), "f": (float,),
}  # fmt: skip


@dataclass(frozen=True)
class CFunction:
    """A function of C that `pack` calls by its name, with integers; ``result``: its kind."""

    name: str
    result: str = "i"

    def __call__(self, *arguments: int) -> Foreign:
        """Refuse the call: the function exists in compiled code only."""
        raise RuntimeError("called outside of a kernel")


def memory_at(address: int, kind: type[np.generic]) -> Foreign:
    """Memory as an array without an end; its elements are whole numbers. Only in compiled code."""
    raise RuntimeError("called outside of a kernel")


class UntranslatableError(RouthError, TypeError):
    """Something that a kernel may not contain; ``place`` is where: file, line and function."""

    place = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.args[0]}" if self.place else str(self.args[0])


@dataclass(frozen=True, slots=True)
class Number:
    """A number: its kind, its name in the program, its value where that is known, whether it is >= 0."""

    kind: str
    name: str
    known: Foreign = None
    natural: bool = False


def natural(name: str) -> Number:
    """An integer that is not negative."""
    return Number("i", name, None, True)


@dataclass(frozen=True, slots=True)
class Array:
    """An array: the type of its elements (a key of `ELEMENTS`), the address of the first, and the shape.

    ``strides``: bytes from one element to the next along each axis; None where the array is dense (C order).
    """

    element: str
    address: str
    shape: tuple[Number, ...]
    strides: tuple[Number, ...] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple; ``made`` is the class of a named one."""

    parts: tuple[Foreign, ...]
    made: Foreign = None


@dataclass(frozen=True, slots=True)
class Thing:
    """What is known when kernels are translated and is no number: a function, class or module, or None."""

    what: Foreign


Value: TypeAlias = Number | Array | Group | Thing
NOTHING = Thing(None)


def defaults_after(plain: Foreign, given: int) -> tuple[Foreign, ...]:
    """The defaults of those arguments of a function that come after so many."""
    defaults, wanted = plain.__defaults__ or (), plain.__code__.co_argcount
    if not 0 <= wanted - given <= len(defaults):
        raise UntranslatableError(f"{plain.__name__}: got {given} arguments; wanted {wanted}")
    return tuple(defaults[len(defaults) - (wanted - given) :])


def kind_of_number(value: Foreign) -> str | None:
    """The kind of a number of Python or NumPy; None of everything else."""
    return next((kind for kind, types in _OF_PYTHON.items() if isinstance(value, types)), None)


def kind_of(value: Value) -> Kind:
    """The kind of a value; two values of one kind have the same words."""
    if isinstance(value, Number):
        return value.kind
    if isinstance(value, Array):
        return array_kind(value.element, len(value.shape), strided=value.strides is not None)
    if isinstance(value, Group):
        return "group", value.made, tuple(map(kind_of, value.parts))
    return "thing", value.what


def array_kind(element: str, axes: int, *, strided: bool = False) -> Kind:
    """The kind of an array with so many axes."""
    return ("array", element, axes, "strided") if strided else ("array", element, axes)


def words_of(value: Value) -> Iterator[tuple[str, str]]:
    """Types in LLVM's language, and names, of the numbers and addresses that a value consists of."""
    if isinstance(value, Number):
        yield NUMBERS[value.kind], value.name
    elif isinstance(value, Array):
        yield "ptr", value.address
        for number in (*value.shape, *(value.strides or ())):
            yield "i64", number.name
    elif isinstance(value, Group):
        for part in value.parts:
            yield from words_of(part)


def types_of(*kinds: Kind) -> list[str]:
    """The types of the words of values of these kinds."""
    return [one for kind in kinds for one, _ in words_of(of_words(kind, repeat("")))]


def of_words(kind: Kind, names: Iterator[str]) -> Value:
    """The value of a kind whose words have these names."""
    if isinstance(kind, str):
        return Number(kind, next(names))
    if kind[0] == "array":
        address = next(names)
        shape = tuple(natural(next(names)) for _ in range(kind[2]))
        strides = tuple(Number("i", next(names)) for _ in range(kind[2])) if kind[3:] else None
        return Array(kind[1], address, shape, strides)
    if kind[0] == "group":
        return Group(tuple(of_words(part, names) for part in kind[2]), kind[1])
    return Thing(kind[1])


def wider(*kinds: str) -> str:
    """The kind that has room for numbers of all of these kinds."""
    return max(kinds, key=_WIDTHS.index)


def common_kind(one: Kind, other: Kind) -> Kind:
    """The kind for a variable that is now one, now the other."""
    if one == other:
        return one
    if isinstance(one, str) and isinstance(other, str) and {one, other} != {"i", "u"}:
        return wider(one, other)
    if one[0] == other[0] == "group" and one[1] is other[1] and len(one[2]) == len(other[2]):
        return "group", one[1], tuple(map(common_kind, one[2], other[2]))
    raise UntranslatableError(f"one variable for {described(one)} and for {described(other)}")


def result_type(kind: Kind) -> str:
    """The type of a function's result of this kind."""
    types = types_of(kind)
    return "{ " + ", ".join(types) + " }" if len(types) > 1 else "".join(types) or "void"


def described(kind: Kind) -> str:
    """A kind in words."""
    if isinstance(kind, str):
        return _DESCRIBED[kind]
    if kind[0] == "array":
        return f"{'a strided' if kind[3:] else 'an'} array of {kind[1]} with {kind[2]} axes"
    if kind[0] == "group":
        return "a tuple" if kind[1] is None else f"a {kind[1].__name__}"
    return repr(kind[1])
