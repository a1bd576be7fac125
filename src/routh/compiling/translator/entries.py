"""Entries of GPU kernels in LLVM's language: the number of a thread, its own arrays, sums of several threads.

`OnGpu` writes them for NVIDIA's GPUs. `Simulated` writes the same for the CPU, where one thread follows the
other, its number lies in memory and its own arrays begin full of NaN, so that whoever reads what nobody has
written is found out.
"""

from __future__ import annotations

import math
from types import CodeType

import numpy as np

from routh.compiling import threads
from routh.compiling.foreign import Foreign
from routh.compiling.translator.program import Program
from routh.compiling.translator.statements import Statements
from routh.compiling.translator.values import (
    ELEMENTS,
    NUMBERS,
    Array,
    Group,
    Number,
    Thing,
    UntranslatableError,
    Value,
    natural,
)

PLACE = "@routh.place"  # where the simulator keeps the number of the thread, and how many there are


class OnGpu(Statements):
    """Statements of functions that run on a GPU."""

    def call_of(self, what: Foreign, arguments: list[Value]) -> Value | None:
        """A call, also of what only entries call."""
        if getattr(what, "__module__", "") != threads.__name__:
            return super().call_of(what, arguments)
        found: Value = getattr(self, f"_{what.__name__}")(*arguments)
        return found

    def _thread_number(self) -> Number:
        first = self.binary("Mult", self._special("ctaid"), self._special("ntid"), fits=True)
        return self.binary("Add", first, self._special("tid"), fits=True)

    def _thread_count(self) -> Number:
        return self.binary("Mult", self._special("ntid"), self._special("nctaid"), fits=True)

    def _special(self, name: str) -> Number:
        found = self.call(f"llvm.nvvm.read.ptx.sreg.{name}.x", "i32")
        return natural(self.write(f"zext i32 {found} to i64"))

    def _own_array(self, shape: Value, kind: Value) -> Array:
        lengths = shape.parts if isinstance(shape, Group) else (shape,)
        if not isinstance(kind, Thing) or any(getattr(one, "known", None) is None for one in lengths):
            raise UntranslatableError("an array of a thread whose shape is not known")
        element = np.dtype(kind.what).name
        memory = f"[{max(math.prod(one.known for one in lengths), 1)} x {ELEMENTS[element][0]}]"
        address = self.room(f"{memory}, align 16")
        self.spoil(address, memory)
        return Array(element, address, tuple(lengths))

    def spoil(self, address: str, memory: str) -> None:
        """Fill memory of a thread with what nobody must read; on a GPU it holds anything."""

    def _add_atomically(self, array: Value, place: Value, number: Value) -> Number:
        if not (isinstance(array, Array) and isinstance(place, Number) and isinstance(number, Number)):
            raise UntranslatableError("add_atomically wants an array, an index and a number")
        memory, kind, word = ELEMENTS[array.element]
        if memory not in ("i32", "i64"):
            raise UntranslatableError(f"add_atomically to {array.element}; wanted int32 or int64")
        added = self.as_element(array, number)
        old = self.write(f"atomicrmw add ptr {self.address(array, [place])}, {added} monotonic")
        return Number(kind, self.write(f"{word} {memory} {old} to {NUMBERS[kind]}") if word else old)

    def _any_in_warp(self, flag: Number) -> Number:
        self.used.add("declare i1 @llvm.nvvm.vote.any.sync(i32, i1)")
        test = self.truth(flag).name
        return Number("b", self.write(f"call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 {test})"))


class Simulated(OnGpu):
    """The same for the CPU."""

    def _thread_number(self) -> Number:
        return self._load_place(0)

    def _thread_count(self) -> Number:
        return self._load_place(1)

    def _any_in_warp(self, flag: Number) -> Number:
        return self.truth(flag)  # no thread runs beside another

    def _load_place(self, which: int) -> Number:
        at = self.write(f"getelementptr i64, ptr {PLACE}, i64 {which}")
        return natural(self.write(f"load i64, ptr {at}"))

    def spoil(self, address: str, memory: str) -> None:
        """All bits set: NaN, -1, True."""
        self.used.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        size = f"ptrtoint (ptr getelementptr ({memory}, ptr null, i64 1) to i64)"
        self.block.lines.append(f"call void @llvm.memset.p0.i64(ptr {address}, i8 -1, i64 {size}, i1 false)")


class GpuProgram(Program):
    """An entry and all that it calls; on a GPU all but ``called`` becomes one function.

    ``unrolled``: NVIDIA's compiler may unroll loops.
    """

    statements: Foreign = OnGpu

    def __init__(self, called: tuple[CodeType, ...] = (), *, unrolled: bool = True) -> None:
        super().__init__()
        self._called = called
        if not unrolled:
            self.again = ", !llvm.loop !0"

    def text(self) -> str:
        """The whole program."""
        return f'{super().text()}\n!0 = distinct !{{!0, !1}}\n!1 = !{{!"llvm.loop.unroll.disable"}}'

    def _attributes(self, plain: Foreign, lines: int) -> str:
        return "noinline " if plain.__code__ in self._called else "alwaysinline "


class SimulatedProgram(Program):
    """The same for the CPU."""

    statements: Foreign = Simulated

    def text(self) -> str:
        """The whole program."""
        return f"{PLACE} = internal global [2 x i64] zeroinitializer\n{super().text()}"
