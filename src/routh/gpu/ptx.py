"""The GPU's door: the programs of the CPU as PTX by LLVM's own backend, launched by NVIDIA's driver.

Nothing is fused or reordered unless a mark says so, so that samples have the CPU's bits. All functions, but
those that `gpu_kernel` is told to call, become part of the entry, and LLVM unrolls no loop: threads of a warp
go different ways, and fetching code takes longer than running it. The driver makes machine code of PTX, and
keeps that by itself; it may unroll loops, where the kernel does not say otherwise.

In a simulator (`routh.gpu.driver`) the same entries are code of the CPU, for one thread after the
other: its number lies in memory, and its own arrays begin full of NaN, so that whoever reads what nobody has
written is found out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ClassVar

import llvmlite.binding as llvm
import numpy as np

from routh.compiling import native
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.program import Program
from routh.compiling.values import NOTHING, Kind, UntranslatableError, kind_of, types_of
from routh.gpu.device import DeviceArray
from routh.gpu.driver import gpu

TRIPLE = "nvptx64-nvidia-cuda"
#: chips that LLVM knows; what is newer runs the code of the last one
CHIPS = (60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90)
EFFORT, LARGE = 2, 8000  # of LLVM, of 3; lines of a program from which on the first level is enough
# what a program may ask of LLVM for a GPU: asked for anything else, LLVM ends the process
_KNOWN = (
    "llvm.nvvm.read.ptx.sreg.", "llvm.nvvm.vote.any.sync", "llvm.sqrt.f64", "llvm.fabs.f64",
    "llvm.floor.f64", "llvm.ceil.f64", "llvm.fptosi.sat.i64.f64", "llvm.fptoui.sat.i64.f64",
)  # fmt: skip
# what entries call, see `routh.compiling.threads`; and a mark for loops that are not unrolled
_ON_GPU = """
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define internal i64 @routh.product(i32 %one, i32 %other) alwaysinline {
%a = zext i32 %one to i64
%b = zext i32 %other to i64
%product = mul nsw i64 %a, %b
ret i64 %product
}
define internal i64 @routh.thread_number() alwaysinline {
%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
%threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
%first = call i64 @routh.product(i32 %block, i32 %threads)
%thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
%more = zext i32 %thread to i64
%number = add nsw i64 %first, %more
ret i64 %number
}
define internal i64 @routh.thread_count() alwaysinline {
%threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
%blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
%count = call i64 @routh.product(i32 %threads, i32 %blocks)
ret i64 %count
}
define internal i1 @routh.any_in_warp(i1 %flag) alwaysinline convergent {
%any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %flag)
ret i1 %any
}
define internal void @routh.spoil(ptr %array, i64 %size) alwaysinline {
ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
"""
_SIMULATED = """
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@routh.place = internal global ptr null
define internal i64 @routh.thread_number() alwaysinline {
%place = load ptr, ptr @routh.place
%number = load i64, ptr %place
ret i64 %number
}
define internal i64 @routh.thread_count() alwaysinline {
%place = load ptr, ptr @routh.place
%second = getelementptr i64, ptr %place, i64 1
%count = load i64, ptr %second
ret i64 %count
}
define internal i1 @routh.any_in_warp(i1 %flag) alwaysinline {
ret i1 %flag
}
define internal void @routh.spoil(ptr %array, i64 %size) alwaysinline {
call void @llvm.memset.p0.i64(ptr %array, i8 -1, i64 %size, i1 false)
ret void
}
"""


def gpu_kernel(entry: Plain, **settings: Foreign) -> Foreign:
    """A function that each thread of a launch runs once: ``made[blocks, threads](*arguments)``.

    ``registers``: most of a thread; with fewer, more threads run at a time. ``called``: kernels that stay
    functions of their own, while all others become part of the entry; those that are large and called from
    several places, which would take NVIDIA's compiler long. ``unrolled``: it may unroll loops, which makes
    small kernels faster and large ones slower. See `routh.compiling.threads`.
    """
    return GpuKernel(entry, **settings)


class GpuKernel(native.Kernel):
    """``kernel[blocks, threads](*arguments)`` launches an entry: a function that each thread runs once."""

    all: ClassVar[list[GpuKernel]] = []  # of the process, for tests that compile every one

    def __init__(
        self,
        entry: Plain,
        *,
        registers: int | None = None,
        called: tuple[Foreign, ...] = (),
        unrolled: bool = True,
    ) -> None:
        super().__init__(entry)
        self.name = entry.__qualname__.split(".")[0].strip("_")
        self.registers, self.unrolled = registers, unrolled
        functions: list[Foreign] = [getattr(one, "py_func", one) for one in called]
        self.called = tuple(one.__code__ for one in functions)  # of copies, too
        self.launched: list[tuple[tuple[Kind, ...], int]] = []  # kinds of arguments, and threads of a block
        GpuKernel.all.append(self)

    def __getitem__(self, shape: tuple[int, int]) -> Callable[..., None]:
        return functools.partial(self.launch, *shape)

    def launch(self, blocks: int, threads: int, *arguments: Foreign) -> None:
        """Run blocks of threads."""
        room = native.CallRoom()
        code = self.packed(_as_numpy_sees(arguments), room, threads)
        gpu().launch(code, blocks, threads, room)

    def made(self, kinds: tuple[Kind, ...], threads: int = 0) -> Foreign:
        """The code for arguments of these kinds and so many threads of a block, as the driver wants it."""
        self.launched.append((kinds, threads))
        if gpu().simulated:
            return native.linked(self, kinds, simulated, Program(_SIMULATED)).run
        chip = max(one for one in CHIPS if one <= max(gpu().capability, CHIPS[0]))
        names = [code.co_qualname for code in self.called]
        key = self.key(kinds, chip, threads, self.registers, names, self.unrolled)
        make = lambda: (kind_of(NOTHING), self.ptx(kinds, chip, threads).encode())  # noqa: E731
        return gpu().load(native.kept_or_made(self.name, key, make)[1])

    def ptx(self, kinds: tuple[Kind, ...], chip: int, threads: int) -> str:
        """The program for arguments of these kinds, in NVIDIA's language."""
        program = Program(_ON_GPU, "" if self.unrolled else ", !llvm.loop !0", self.called)
        name, _ = program.function(self, kinds)
        text = program.text()
        for line in text.splitlines():
            if line.startswith("declare") and not any(f"@{one}" in line for one in _KNOWN):
                what = line.partition("@")[2].partition("(")[0]
                raise UntranslatableError(f"{self.name}: calls {what}, which a GPU does not have")
        limit = f' "nvvm.maxnreg"="{self.registers}"' if self.registers else ""
        words = ", ".join(f"{one} %w{k}" for k, one in enumerate(types_of(*kinds)))
        door = f'define ptx_kernel void @entry({words}) "nvvm.maxntid"="{threads}"{limit} {{'
        body = "\n".join([text, door, f"call void @{name}({words})", "ret void\n}"])
        machine = _machine(chip)
        effort = EFFORT if body.count("\n") <= LARGE else 1
        return str(machine.emit_assembly(native.optimised(body, machine, effort)))


def simulated(symbol: str, name: str, kinds: tuple[Kind, ...], result: Kind) -> str:
    """The door of a simulated thread: its number, and how many there are, lie where results would."""
    return native.door(symbol, name, kinds, result, "store ptr %out, ptr @routh.place")


@functools.cache
def _machine(chip: int) -> Foreign:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=f"sm_{chip}", opt=EFFORT)


def _as_numpy_sees(value: Foreign) -> Foreign:
    """Arguments with NumPy's arrays for those of the GPU, in tuples too."""
    if isinstance(value, tuple):
        parts = map(_as_numpy_sees, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, np.ndarray):
        raise TypeError(f"a GPU kernel: got an array of the host, {value.shape}; wanted one of the GPU")
    return value.view if isinstance(value, DeviceArray) else value
