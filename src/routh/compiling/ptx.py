"""The GPU's door: the programs of the CPU as PTX by LLVM's own backend, launched by NVIDIA's driver.

Nothing is fused or reordered unless a mark says so, so that samples have the CPU's bits. All functions, but
those that `gpu_kernel` is told to call, become part of the entry, and LLVM unrolls no loop: threads of a warp
go different ways, and fetching code takes longer than running it. The driver makes machine code of PTX, and
keeps that by itself; it may unroll loops, where the kernel does not say otherwise.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import ClassVar

import llvmlite.binding as llvm
import numpy as np

from routh.compiling import cache as disk
from routh.compiling import native
from routh.compiling.arguments import kind_of_argument
from routh.compiling.clock import compiling
from routh.compiling.device import DeviceArray
from routh.compiling.driver import gpu
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.translator.entries import PLACE, GpuProgram, SimulatedProgram
from routh.compiling.translator.values import Kind, UntranslatableError, array_kind
from routh.interrupts import while_listening

TRIPLE = "nvptx64-nvidia-cuda"
#: chips that LLVM knows; what is newer runs the code of the last one
CHIPS = (60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90)
EFFORT = 2  # of LLVM, of 3
# what a program may ask of LLVM for a GPU: asked for anything else, LLVM ends the process
_KNOWN = (
    "llvm.nvvm.read.ptx.sreg.", "llvm.nvvm.vote.any.sync", "llvm.sqrt.f64", "llvm.fabs.f64",
    "llvm.floor.f64", "llvm.ceil.f64", "llvm.fptosi.sat.i64.f64", "llvm.fptoui.sat.i64.f64",
)  # fmt: skip


class GpuKernel:
    """``kernel[blocks, threads](*arguments)`` launches an entry: a function that each thread runs once."""

    made: ClassVar[list[GpuKernel]] = []  # all of the process, for tests that compile every one

    def __init__(
        self,
        entry: Plain,
        *,
        registers: int | None = None,
        called: tuple[Foreign, ...] = (),
        unrolled: bool = True,
    ) -> None:
        self.py_func: Foreign = entry
        self.name = entry.__qualname__.split(".")[0].strip("_")
        self.registers, self.unrolled = registers, unrolled
        functions: list[Foreign] = [getattr(one, "py_func", one) for one in called]
        self.called = tuple(one.__code__ for one in functions)  # of copies, too
        self._made: dict[tuple[Foreign, ...], Foreign] = {}
        self.__doc__ = entry.__doc__
        GpuKernel.made.append(self)

    def __getitem__(self, shape: tuple[int, int]) -> Callable[..., None]:
        return functools.partial(self.launch, *shape)

    def launch(self, blocks: int, threads: int, *arguments: Foreign) -> None:
        """Run blocks of threads."""
        kinds = tuple(kind_of_argument("a GPU kernel", one, _kind_of_array) for one in arguments)
        if (kinds, threads) not in self._made:
            self._made[kinds, threads] = while_listening(lambda: self._load(kinds, threads))
        words: list[int] = []
        for one in arguments:
            _pack(one, words)
        gpu().launch(self._made[kinds, threads], blocks, threads, (ctypes.c_int64 * len(words))(*words))

    def _load(self, kinds: tuple[Kind, ...], threads: int) -> Foreign:
        if gpu().simulated:
            key = native.key_of(disk.digest_of(self), kinds, "simulated")
            code = self._kept(key, lambda: native.emitted(self.simulation(kinds, key)))
            return gpu().load(native.link(code, f"routh.{key}"))
        chip = max(one for one in CHIPS if one <= max(gpu().capability, CHIPS[0]))
        called = [code.co_qualname for code in self.called]
        settings = chip, threads, self.registers, called, self.unrolled
        key = native.key_of(disk.digest_of(self), kinds, *settings)
        return gpu().load(self._kept(key, lambda: self.ptx(kinds, chip, threads).encode()).decode())

    def _kept(self, key: str, make: Callable[[], bytes]) -> bytes:
        def announced() -> bytes:
            with compiling(self.name):
                return make()

        return native.kept_or_made(self.name, key, announced)

    def ptx(self, kinds: tuple[Kind, ...], chip: int, threads: int) -> str:
        """The program for arguments of these kinds, in NVIDIA's language."""
        program = GpuProgram(self.called, unrolled=self.unrolled)
        name, _ = program.function(self, kinds)
        text = program.text()
        for line in text.splitlines():
            if line.startswith("declare") and not any(f"@{one}" in line for one in _KNOWN):
                what = line.partition("@")[2].partition("(")[0]
                raise UntranslatableError(f"{self.name}: calls {what}, which a GPU does not have")
        limit = f' "nvvm.maxnreg"="{self.registers}"' if self.registers else ""
        words, lines, given = native.words_as_arguments(kinds)
        listed = ", ".join(f"{kind} %w{k}" for k, kind in enumerate(words))
        door = f'define ptx_kernel void @entry({listed}) "nvvm.maxntid"="{threads}"{limit} {{'
        body = "\n".join([text, door, *lines, f"call void @{name}({given})", "ret void\n}"])
        machine = _machine(chip)
        return str(machine.emit_assembly(native.optimised(body, machine, EFFORT, vectors=False)))

    def simulation(self, kinds: tuple[Kind, ...], key: str) -> str:
        """The program for the CPU: a function of the words of the arguments and the number of threads."""
        program = SimulatedProgram()
        name, _ = program.function(self, kinds)
        lines, given = native.loaded_arguments(kinds)
        load = "\n".join(lines)
        return f"""{program.text()}
define void @"routh.{key}"(ptr %in, i64 %threads) {{
head:
{load}
%count = getelementptr i64, ptr {PLACE}, i64 1
store i64 %threads, ptr %count
br label %next
next:
%t = phi i64 [ 0, %head ], [ %following, %run ]
%more = icmp slt i64 %t, %threads
br i1 %more, label %run, label %end
run:
store i64 %t, ptr {PLACE}
call void @{name}({given})
%following = add i64 %t, 1
br label %next
end:
ret void
}}"""


@functools.cache
def _machine(chip: int) -> Foreign:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=f"sm_{chip}", opt=EFFORT)


def _kind_of_array(value: Foreign) -> Kind | None:
    """The kind of an array of the GPU."""
    if isinstance(value, DeviceArray):
        return array_kind(value.dtype.name, value.ndim, strided=value.strides is not None)
    if isinstance(value, np.ndarray):
        raise TypeError(f"a GPU kernel: got an array of the host, {value.shape}; wanted one of the GPU")
    return None


def _pack(value: Foreign, words: list[int]) -> None:
    """A word for each number, address, length and stride."""
    if isinstance(value, DeviceArray):
        words.append(value.address)
        words.extend(value.shape)
        words.extend(value.strides or ())
    elif isinstance(value, tuple):
        for one in value:
            _pack(one, words)
    elif isinstance(value, float):
        words.append(struct.unpack("<q", struct.pack("<d", value))[0])
    elif value is not None:
        number = int(value)
        words.append(number - 2**64 if number >= 2**63 else number)
