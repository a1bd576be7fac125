"""How arguments come from Python: through its buffer protocol and its numbers, nothing that only NumPy knows.

`pack` is a kernel that Python calls with a tuple and the address of a `CallRoom`. It goes through the tuple,
and the tuples in it, and writes down what everything is (*keys*: the address of its type; of a tuple the
length, too; of an array the letter of its elements, the axes and whether it is dense) and what a kernel needs
of it (*words*: a number, or the address of an array, its lengths and, unless it is dense, its strides). Keys
tell which code is meant: nothing is looked at one by one in Python, which would take longer than many a
kernel. Everything that it calls is in Python's stable ABI (3.11 and later), ``Py_buffer`` too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from routh.compiling.elementary import bits_of
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.values import (
    ELEMENTS,
    CFunction,
    Kind,
    array_kind,
    kind_of_number,
    memory_at,
)

MOST = 1024  # words or keys of one call
DEEPEST = 64  # tuples in tuples
# a room: how many words and keys there are, the types of 1.0 and of None, the words, the keys, a Py_buffer,
# and of each tuple that has been begun its address and how many of its parts are done
WORDS, KEYS, FLOAT, NONE, FIRST = 0, 1, 2, 3, 4
VIEW = FIRST + 2 * MOST
TUPLES = VIEW + 12
IS_INTEGER, IS_TUPLE = 1 << 24, 1 << 26  # Py_TPFLAGS_LONG_SUBCLASS, Py_TPFLAGS_TUPLE_SUBCLASS
STRIDES_AND_FORMAT = 0x18 | 0x04  # PyBUF_STRIDES | PyBUF_FORMAT
INT = 0xFFFFFFFF  # bits of C's int
_LETTERS: Foreign = {"f": "d", "i": "q", "u": "Q", "w": "I", "b": "?"}  # of results, to memoryview

PyObject_Type, Py_DecRef = CFunction("PyObject_Type"), CFunction("Py_DecRef")
PyType_GetFlags, PyErr_Occurred = CFunction("PyType_GetFlags"), CFunction("PyErr_Occurred")
PyLong_AsLongLong, PyFloat_AsDouble = CFunction("PyLong_AsLongLong"), CFunction("PyFloat_AsDouble", "f")
PyTuple_Size, PyTuple_GetItem = CFunction("PyTuple_Size"), CFunction("PyTuple_GetItem")
PyObject_GetBuffer, PyBuffer_Release = CFunction("PyObject_GetBuffer"), CFunction("PyBuffer_Release")
PyBuffer_IsContiguous = CFunction("PyBuffer_IsContiguous")


def kernel(function: Plain) -> Foreign:
    """A function that `pack` calls: no more than a mark, since calling a kernel takes `pack`."""
    return SimpleNamespace(py_func=function)


def pack(value: int, place: int) -> int:
    """Write words and keys of what is at the address ``value`` into the room at ``place``.

    How many bytes of keys there are; -1: too many, or words.
    """
    room = memory_at(place, np.int64)
    room[WORDS], room[KEYS], depth = 0, 0, 0
    while True:
        kind = PyObject_Type(value)
        Py_DecRef(kind)  # the value has another reference
        append(room, KEYS, kind)
        flags = PyType_GetFlags(kind)
        if kind == room[FLOAT]:
            append(room, WORDS, int(bits_of(PyFloat_AsDouble(value))))
        elif flags & IS_INTEGER:
            append(room, WORDS, PyLong_AsLongLong(value))
        elif flags & IS_TUPLE:
            if depth == DEEPEST:
                return -1
            append(room, KEYS, PyTuple_Size(value))
            room[TUPLES + 2 * depth], room[TUPLES + 2 * depth + 1] = value, 0
            depth += 1
        elif kind != room[NONE]:
            append_buffer(room, value, place + 8 * VIEW)
        last = TUPLES + 2 * depth - 2
        while depth > 0 and room[last + 1] == PyTuple_Size(room[last]):
            depth -= 1
            last -= 2
        if depth == 0 or PyErr_Occurred() != 0:
            return 8 * room[KEYS] if room[WORDS] <= MOST and room[KEYS] <= MOST else -1
        value = PyTuple_GetItem(room[last], room[last + 1])
        room[last + 1] += 1


@kernel
def append(room: Foreign, which: int, word: int) -> None:
    """One of the words or keys; what there is no room for is counted only."""
    count = room[which]
    room[which] = count + 1
    if count < MOST:
        room[FIRST + which * MOST + count] = word


@kernel
def append_buffer(room: Foreign, value: int, place: int) -> None:
    """An array, or a number of NumPy; its ``Py_buffer`` is put at ``place``."""
    if PyObject_GetBuffer(value, place, STRIDES_AND_FORMAT) & INT != 0:
        return
    view, letters = memory_at(place, np.int64), memory_at(memory_at(place, np.int64)[5], np.int8)
    data, item, axes = view[0], view[3], int(memory_at(place, np.int32)[9])
    lengths, steps = memory_at(view[6], np.int64), memory_at(view[7], np.int64)
    is_strided = PyBuffer_IsContiguous(place, 67) & INT == 0  # not in the order of C
    bits = 0  # of all addresses of elements
    if axes > 0:
        append(room, WORDS, data)
        bits = data
        for k in range(axes):
            append(room, WORDS, lengths[k])
        if is_strided:
            for k in range(axes):
                append(room, WORDS, steps[k])
                bits |= steps[k]
    elif item == 8:
        append(room, WORDS, memory_at(data, np.int64)[0])
    elif item == 4:
        append(room, WORDS, memory_at(data, np.int32)[0])
    else:
        append(room, WORDS, memory_at(data, np.int8)[0])
    is_odd = bits & (item - 1) != 0
    letter = (letters[0] & 255) + ((letters[1] & 255) << 8)  # and the zero after it
    append(room, KEYS, letter + (axes << 16) + (is_strided << 32) + (is_odd << 33))
    PyBuffer_Release(place)


class CallRoom:
    """Memory for the words and keys of one call; its results are written over the keys."""

    def __init__(self) -> None:
        self.memory = (ctypes.c_int64 * (TUPLES + 2 * DEEPEST))(0, 0, id(float), id(type(None)))
        self.address = ctypes.addressof(self.memory)
        self.words = self.address + 8 * FIRST
        self.results = self.words + 8 * MOST
        self.keys = memoryview(self.memory).cast("B")[8 * (FIRST + MOST) : 8 * VIEW]
        self.found = {kind: self.keys.cast(letter) for kind, letter in _LETTERS.items()}


def kind_of_argument(name: str, value: Foreign) -> Kind:
    """The kind of an argument, to the translator; ``name`` is for the error."""
    if value is None:
        return "thing", None
    if isinstance(value, tuple):
        made = type(value) if hasattr(value, "_fields") else None
        names = zip(getattr(value, "_fields", range(len(value))), value, strict=True)
        return "group", made, tuple(kind_of_argument(f"{name}.{field}", one) for field, one in names)
    found, what = kind_of_number(value), type(value).__name__
    if isinstance(value, np.ndarray):
        element, what = value.dtype.name, f"an array of {value.dtype}"
        if element in ELEMENTS and value.ndim > 0 and value.flags.aligned and value.dtype.isnative:
            return array_kind(element, value.ndim, strided=not value.flags.c_contiguous)
    if found is None:
        arrays = ", ".join(ELEMENTS)
        raise TypeError(
            f"{name}: got {what}; wanted a number, None, an array of {arrays}, or a tuple of these"
        )
    return found


def types_in(value: Foreign) -> Iterator[type]:
    """The types of everything in an argument."""
    yield type(value)
    if isinstance(value, tuple):
        for one in value:
            yield from types_in(one)
