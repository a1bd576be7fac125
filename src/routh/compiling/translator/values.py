"""What a kernel's expressions stand for while it is translated, and the numbers that they become.

Kinds of numbers: "f" float64, "i" int64, "u" uint64, "w" uint32, "b" bool. A `Group` (a tuple, named or not)
and an `Array` are known by their parts, so that neither is ever put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from routh.compiling.foreign import Foreign
from routh.status import RouthError

Kind: TypeAlias = Foreign  # of a number: a letter; of everything else: a tuple that begins with a word

NUMBERS = {"f": "double", "i": "i64", "u": "i64", "w": "i32", "b": "i1"}
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
_COMMON = {
    frozenset("bi"): "i",
    frozenset("bf"): "f",
    frozenset("if"): "f",
    frozenset("uf"): "f",
    frozenset("wf"): "f",
    frozenset("wu"): "u",
    frozenset("wi"): "i",
}


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


def kind_of(value: Value) -> Kind:
    """The kind of a value; two values of one kind have the same parts."""
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


def is_strided(kind: Kind) -> bool:
    """Whether an array of this kind need not be dense."""
    return len(kind) > 3


def parts_of(value: Value) -> Iterator[tuple[str, str]]:
    """Types in LLVM's language, and names, of the numbers and addresses that a value consists of."""
    if isinstance(value, Number):
        yield NUMBERS[value.kind], value.name
    elif isinstance(value, Array):
        yield "ptr", value.address
        for number in (*value.shape, *(value.strides or ())):
            yield "i64", number.name
    elif isinstance(value, Group):
        for part in value.parts:
            yield from parts_of(part)


def types_of(kind: Kind) -> list[str]:
    """The types of the parts of values of this kind."""
    if isinstance(kind, str):
        return [NUMBERS[kind]]
    if kind[0] == "array":
        return ["ptr"] + (2 if is_strided(kind) else 1) * kind[2] * ["i64"]
    return [one for part in kind[2] for one in types_of(part)] if kind[0] == "group" else []


def of_parts(kind: Kind, names: Iterator[str]) -> Value:
    """The value of a kind whose parts have these names."""
    if isinstance(kind, str):
        return Number(kind, next(names))
    if kind[0] == "array":
        address = next(names)
        shape = tuple(Number("i", next(names), None, True) for _ in range(kind[2]))
        strides = tuple(Number("i", next(names)) for _ in range(kind[2])) if is_strided(kind) else None
        return Array(kind[1], address, shape, strides)
    if kind[0] == "group":
        return Group(tuple(of_parts(part, names) for part in kind[2]), kind[1])
    return Thing(kind[1])


def common_kind(one: Kind, other: Kind) -> Kind:
    """The kind for a variable that is now one, now the other."""
    if one == other:
        return one
    if isinstance(one, str) and isinstance(other, str) and frozenset((one, other)) in _COMMON:
        return _COMMON[frozenset((one, other))]
    if one[0] == other[0] == "group" and one[1] is other[1] and len(one[2]) == len(other[2]):
        return "group", one[1], tuple(map(common_kind, one[2], other[2]))
    raise UntranslatableError(f"one variable for {described(one)} and for {described(other)}")


_WORDS = {"f": "a float", "i": "an integer", "u": "a uint64", "w": "a uint32", "b": "a bool"}


def described(kind: Kind) -> str:
    """A kind in words."""
    if isinstance(kind, str):
        return _WORDS[kind]
    if kind[0] == "array":
        return f"{'a strided' if is_strided(kind) else 'an'} array of {kind[1]} with {kind[2]} axes"
    if kind[0] == "group":
        return "a tuple" if kind[1] is None else f"a {kind[1].__name__}"
    return repr(kind[1])
