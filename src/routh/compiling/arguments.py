"""How arguments come from Python: through its buffer protocol and its numbers, nothing that only NumPy knows.

`PACKER` is a function in LLVM's language that Python calls with a tuple and the address of a `Room`. It goes
through the tuple, and the tuples in it, and writes down what everything is (*keys*: the address of its type;
of a tuple the length, too; of an array the letter of its elements, the axes and whether it is dense) and what
a kernel needs of it (*words*: a number, or the address of an array, its lengths and, unless it is dense, its
strides). Keys tell which code is meant: nothing is looked at one by one in Python, which would take longer
than many a kernel. Everything that it calls is in Python's stable ABI (3.11 and later), ``Py_buffer`` too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from routh.compiling.foreign import Foreign
from routh.compiling.translator.values import ELEMENTS, Kind, array_kind

MOST = 1024  # words or keys of one call

PACKER = f"""
%view = type {{ ptr, ptr, i64, i64, i32, i32, ptr, ptr, ptr, ptr, ptr }}
declare ptr @PyObject_Type(ptr)
declare void @Py_DecRef(ptr)
declare i64 @PyType_GetFlags(ptr)
declare double @PyFloat_AsDouble(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i32 @PyObject_GetBuffer(ptr, ptr, i32)
declare void @PyBuffer_Release(ptr)
declare i32 @PyBuffer_IsContiguous(ptr, i8)
declare ptr @PyErr_Occurred()

; room: how many words and keys there are, the types of 1.0 and of None, {MOST} words, {MOST} keys
define internal void @append(ptr %room, i64 %which, i64 %word) {{
  %counter = getelementptr i64, ptr %room, i64 %which
  %count = load i64, ptr %counter
  %more = add i64 %count, 1
  store i64 %more, ptr %counter
  %full = icmp uge i64 %count, {MOST}
  br i1 %full, label %end, label %write
write:
  %first = mul i64 %which, {MOST}
  %place = add i64 %first, %count
  %after = add i64 %place, 4
  %address = getelementptr i64, ptr %room, i64 %after
  store i64 %word, ptr %address
  br label %end
end:
  ret void
}}

define internal void @value(ptr %value, ptr %room) {{
head:
  %view = alloca %view
  %type = call ptr @PyObject_Type(ptr %value)
  call void @Py_DecRef(ptr %type)  ; the value has another reference
  %name = ptrtoint ptr %type to i64
  call void @append(ptr %room, i64 1, i64 %name)
  %float.at = getelementptr i64, ptr %room, i64 2
  %float = load i64, ptr %float.at
  %is.float = icmp eq i64 %name, %float
  br i1 %is.float, label %real, label %not.real
real:
  %number = call double @PyFloat_AsDouble(ptr %value)
  %bits = bitcast double %number to i64
  call void @append(ptr %room, i64 0, i64 %bits)
  ret void
not.real:
  %none.at = getelementptr i64, ptr %room, i64 3
  %none = load i64, ptr %none.at
  %is.none = icmp eq i64 %name, %none
  br i1 %is.none, label %nothing, label %something
nothing:
  ret void
something:
  %flags = call i64 @PyType_GetFlags(ptr %type)
  %long = and i64 %flags, 16777216  ; Py_TPFLAGS_LONG_SUBCLASS
  %is.long = icmp ne i64 %long, 0
  br i1 %is.long, label %whole, label %not.whole
whole:
  %integer = call i64 @PyLong_AsLongLong(ptr %value)
  call void @append(ptr %room, i64 0, i64 %integer)
  ret void
not.whole:
  %tuple = and i64 %flags, 67108864  ; Py_TPFLAGS_TUPLE_SUBCLASS
  %is.tuple = icmp ne i64 %tuple, 0
  br i1 %is.tuple, label %parts, label %buffer
parts:
  %size = call i64 @PyTuple_Size(ptr %value)
  call void @append(ptr %room, i64 1, i64 %size)
  br label %next
next:
  %k = phi i64 [ 0, %parts ], [ %k.next, %part ]
  %is.left = icmp slt i64 %k, %size
  br i1 %is.left, label %part, label %nothing
part:
  %one = call ptr @PyTuple_GetItem(ptr %value, i64 %k)
  call void @value(ptr %one, ptr %room)
  %k.next = add i64 %k, 1
  %error = call ptr @PyErr_Occurred()
  %is.good = icmp eq ptr %error, null
  br i1 %is.good, label %next, label %nothing
buffer:
  %failed = call i32 @PyObject_GetBuffer(ptr %value, ptr %view, i32 28)  ; PyBUF_STRIDES | PyBUF_FORMAT
  %is.none.there = icmp ne i32 %failed, 0
  br i1 %is.none.there, label %nothing, label %there
there:
  %data = load ptr, ptr %view
  %item.at = getelementptr %view, ptr %view, i64 0, i32 3
  %item = load i64, ptr %item.at
  %axes.at = getelementptr %view, ptr %view, i64 0, i32 5
  %axes32 = load i32, ptr %axes.at
  %axes = zext i32 %axes32 to i64
  %format.at = getelementptr %view, ptr %view, i64 0, i32 6
  %format = load ptr, ptr %format.at
  %letter16 = load i16, ptr %format, align 1  ; the letter, and the zero after it
  %letter = zext i16 %letter16 to i64
  %shape.at = getelementptr %view, ptr %view, i64 0, i32 7
  %shape = load ptr, ptr %shape.at
  %strides.at = getelementptr %view, ptr %view, i64 0, i32 8
  %strides = load ptr, ptr %strides.at
  %dense = call i32 @PyBuffer_IsContiguous(ptr %view, i8 67)  ; in the order of C
  %is.strided = icmp eq i32 %dense, 0
  %is.scalar = icmp eq i64 %axes, 0
  br i1 %is.scalar, label %scalar, label %array
scalar:
  %is.wide = icmp eq i64 %item, 8
  br i1 %is.wide, label %wide, label %narrow
wide:
  %eight = load i64, ptr %data, align 1
  br label %scalar.word
narrow:
  %is.half = icmp eq i64 %item, 4
  br i1 %is.half, label %half, label %byte
half:
  %four = load i32, ptr %data, align 1
  %from.four = sext i32 %four to i64
  br label %scalar.word
byte:
  %single = load i8, ptr %data
  %from.one = sext i8 %single to i64
  br label %scalar.word
scalar.word:
  %word = phi i64 [ %eight, %wide ], [ %from.four, %half ], [ %from.one, %byte ]
  call void @append(ptr %room, i64 0, i64 %word)
  br label %told
array:
  %start = ptrtoint ptr %data to i64
  call void @append(ptr %room, i64 0, i64 %start)
  br label %lengths
lengths:
  %a = phi i64 [ 0, %array ], [ %a.next, %length ]
  %more.lengths = icmp slt i64 %a, %axes
  br i1 %more.lengths, label %length, label %after.lengths
length:
  %length.at = getelementptr i64, ptr %shape, i64 %a
  %length.word = load i64, ptr %length.at
  call void @append(ptr %room, i64 0, i64 %length.word)
  %a.next = add i64 %a, 1
  br label %lengths
after.lengths:
  br i1 %is.strided, label %steps, label %told
steps:
  %b = phi i64 [ 0, %after.lengths ], [ %b.next, %step ]
  %odd = phi i64 [ %start, %after.lengths ], [ %odd.next, %step ]
  %more.steps = icmp slt i64 %b, %axes
  br i1 %more.steps, label %step, label %told
step:
  %step.at = getelementptr i64, ptr %strides, i64 %b
  %step.word = load i64, ptr %step.at
  call void @append(ptr %room, i64 0, i64 %step.word)
  %odd.next = or i64 %odd, %step.word
  %b.next = add i64 %b, 1
  br label %steps
told:
  %places = phi i64 [ 0, %scalar.word ], [ %start, %after.lengths ], [ %odd, %steps ]
  %below = sub i64 %item, 1
  %rest = and i64 %places, %below
  %is.odd = icmp ne i64 %rest, 0
  %odd.word = select i1 %is.odd, i64 2, i64 0
  %strided.word = zext i1 %is.strided to i64
  %marks = or i64 %odd.word, %strided.word
  %high = shl i64 %marks, 32
  %middle = shl i64 %axes, 16
  %with.axes = or i64 %letter, %middle
  %told.word = or i64 %with.axes, %high
  call void @append(ptr %room, i64 1, i64 %told.word)
  call void @PyBuffer_Release(ptr %view)
  ret void
}}

; how many bytes of keys there are; -1: too many, or words
define i64 @routh.pack(ptr %value, ptr %room) {{
  store i64 0, ptr %room
  %keys.at = getelementptr i64, ptr %room, i64 1
  store i64 0, ptr %keys.at
  call void @value(ptr %value, ptr %room)
  %words = load i64, ptr %room
  %keys = load i64, ptr %keys.at
  %a = icmp ule i64 %words, {MOST}
  %b = icmp ule i64 %keys, {MOST}
  %fits = and i1 %a, %b
  %bytes = mul i64 %keys, 8
  %found = select i1 %fits, i64 %bytes, i64 -1
  ret i64 %found
}}
"""


class Room:
    """Memory for the words and keys of one call; its results are written over the keys."""

    def __init__(self) -> None:
        self._memory = (ctypes.c_int64 * (4 + 2 * MOST))(0, 0, id(float), id(type(None)))
        self.address = ctypes.addressof(self._memory)
        self.words = self.address + 8 * 4
        self.results = self.words + 8 * MOST
        self.keys = memoryview(self._memory).cast("B")[8 * (4 + MOST) :]


_NUMBERS = {float: "f", np.float64: "f", bool: "b", np.bool_: "b", int: "i", np.uint64: "u", np.uint32: "w"}


def kind_of_argument(name: str, value: Foreign) -> Kind:
    """The kind of an argument, to the translator; ``name`` is for the error."""
    for known, letter in _NUMBERS.items():
        if type(value) is known:
            return letter
    if isinstance(value, int | np.signedinteger):
        return "i"
    if value is None:
        return "thing", None
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        parts = [kind_of_argument(f"{name}.{field}", one) for field, one in zip(names, value, strict=True)]
        return "group", type(value) if hasattr(value, "_fields") else None, tuple(parts)
    if isinstance(value, np.ndarray) and _is_usable(value):
        return array_kind(value.dtype.name, value.ndim, strided=not value.flags.c_contiguous)
    what = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
    raise TypeError(
        f"{name}: got {what}; wanted a number, None, an array of {', '.join(ELEMENTS)}, or a tuple of these"
    )


def _is_usable(array: np.ndarray) -> bool:
    known = array.dtype.name in ELEMENTS and array.dtype.isnative
    return known and array.ndim > 0 and bool(array.flags.aligned)


def types_in(value: Foreign) -> list[type]:
    """The types of everything in an argument."""
    return list(_types(value))


def _types(value: Foreign) -> Iterator[type]:
    yield type(value)
    if isinstance(value, tuple):
        for one in value:
            yield from _types(one)
