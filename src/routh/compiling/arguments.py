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
from collections.abc import Callable, Iterator

import numpy as np

from routh.compiling.foreign import Foreign
from routh.compiling.translator.values import ELEMENTS, Kind, array_kind, kind_of_number

MOST = 1024  # words or keys of one call

_VIEW = {"data": 0, "item": 3, "ndim": 5, "format": 6, "shape": 7, "strides": 8}
_TYPES = {"item": "i64", "ndim": "i32"}
_FIELDS = "\n".join(
    f"  %{name}.at = getelementptr %view, ptr %view, i64 0, i32 {place}\n"
    f"  %{name} = load {_TYPES.get(name, 'ptr')}, ptr %{name}.at"
    for name, place in _VIEW.items()
)
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
declare i64 @llvm.umin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

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

; appends words; all their bits together
define internal i64 @append.all(ptr %room, ptr %words, i64 %count) {{
head:
  br label %next
next:
  %k = phi i64 [ 0, %head ], [ %k.next, %one ]
  %bits = phi i64 [ 0, %head ], [ %bits.next, %one ]
  %is.left = icmp slt i64 %k, %count
  br i1 %is.left, label %one, label %end
one:
  %at = getelementptr i64, ptr %words, i64 %k
  %word = load i64, ptr %at
  call void @append(ptr %room, i64 0, i64 %word)
  %bits.next = or i64 %bits, %word
  %k.next = add i64 %k, 1
  br label %next
end:
  ret i64 %bits
}}

define internal void @value(ptr %value, ptr %room) {{
head:
  %view = alloca %view
  %number.at = alloca i64
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
  %is.there = icmp eq i32 %failed, 0
  br i1 %is.there, label %there, label %nothing
there:
{_FIELDS}
  %axes = zext i32 %ndim to i64
  %letter16 = load i16, ptr %format, align 1  ; the letter, and the zero after it
  %letter = zext i16 %letter16 to i64
  %dense = call i32 @PyBuffer_IsContiguous(ptr %view, i8 67)  ; in the order of C
  %is.strided = icmp eq i32 %dense, 0
  %is.scalar = icmp eq i64 %axes, 0
  br i1 %is.scalar, label %scalar, label %array
scalar:
  %bytes = call i64 @llvm.umin.i64(i64 %item, i64 8)
  call void @llvm.memcpy.p0.p0.i64(ptr %number.at, ptr %data, i64 %bytes, i1 false)
  %raw = load i64, ptr %number.at
  %used = shl i64 %bytes, 3
  %unused = sub i64 64, %used
  %high = shl i64 %raw, %unused
  %word = ashr i64 %high, %unused  ; with its sign
  call void @append(ptr %room, i64 0, i64 %word)
  br label %told
array:
  %start = ptrtoint ptr %data to i64
  call void @append(ptr %room, i64 0, i64 %start)
  call i64 @append.all(ptr %room, ptr %shape, i64 %axes)
  br i1 %is.strided, label %steps, label %told
steps:
  %all = call i64 @append.all(ptr %room, ptr %strides, i64 %axes)
  %start.and.steps = or i64 %start, %all
  br label %told
told:
  %places = phi i64 [ 0, %scalar ], [ %start, %array ], [ %start.and.steps, %steps ]
  %below = sub i64 %item, 1
  %rest = and i64 %places, %below
  %is.odd = icmp ne i64 %rest, 0
  %odd.mark = select i1 %is.odd, i64 8589934592, i64 0
  %strided.mark = select i1 %is.strided, i64 4294967296, i64 0
  %axes.mark = shl i64 %axes, 16
  %with.axes = or i64 %letter, %axes.mark
  %with.strided = or i64 %with.axes, %strided.mark
  %with.odd = or i64 %with.strided, %odd.mark
  call void @append(ptr %room, i64 1, i64 %with.odd)
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


def kind_of_argument(name: str, value: Foreign, kind_of_array: Callable[[Foreign], Kind | None]) -> Kind:
    """The kind of an argument, to the translator; ``name`` is for the error."""
    found = kind_of_array(value) or kind_of_number(value)
    if found is not None:
        return found
    if value is None:
        return "thing", None
    if isinstance(value, tuple):
        made = type(value) if hasattr(value, "_fields") else None
        names = zip(getattr(value, "_fields", range(len(value))), value, strict=True)
        parts = (kind_of_argument(f"{name}.{field}", one, kind_of_array) for field, one in names)
        return "group", made, tuple(parts)
    what = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
    raise TypeError(
        f"{name}: got {what}; wanted a number, None, an array of {', '.join(ELEMENTS)}, or a tuple of these"
    )


def kind_of_array(value: Foreign) -> Kind | None:
    """The kind of an array of the host that a kernel can use."""
    if isinstance(value, np.ndarray) and value.ndim > 0 and value.flags.aligned and value.dtype.isnative:
        kind = array_kind(value.dtype.name, value.ndim, strided=not value.flags.c_contiguous)
        return kind if value.dtype.name in ELEMENTS else None
    return None


def types_in(value: Foreign) -> Iterator[type]:
    """The types of everything in an argument."""
    yield type(value)
    if isinstance(value, tuple):
        for one in value:
            yield from types_in(one)
