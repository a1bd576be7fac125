"""The one place that compiles: scalar Python to machine code, and the same source for NVIDIA GPUs.

A function marked `kernel` can be called from everywhere. Called by another kernel it becomes part of it.
Called from Python it is compiled together with all that it calls, once for this machine, and kept on disk.
Kernels must not raise. What may stand in one: docs/theory/kernels.md. With ``ROUTH_INTERPRET=1`` in the
environment nothing is compiled: kernels are plain Python, in which a debugger can stop, and an index that is
out of bounds is an error. Importing this module loads no LLVM; marking a kernel does.
"""

from __future__ import annotations

import functools
import math
import os
import re
import time
import types
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TypeVar

from routh.compiling.clock import announced_to, compile_seconds
from routh.compiling.copying import rebuilt
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.listening import while_listening
from routh.status import MissingExtraError, RouthError, optional

__all__ = [
    "NoGPUError",
    "Patient",
    "announced_to",
    "apart",
    "c_function",
    "compile_seconds",
    "compiled",
    "cuda_kernel",
    "distinct",
    "find_cuda",
    "finite",
    "fused",
    "inlined",
    "interpreted",
    "is_ready",
    "is_simulated",
    "kernel",
    "on_device",
    "seldom",
    "written_out",
]

TO_LOAD, TO_COMPILE = 0.005, 0.1  # s of plain Python after which a `Patient` kernel is loaded, or compiled
_MANGLED = "_ZN5routh"  # how names of this package begin in compiled modules
_ROLLED: set[str] = set()  # names of the functions that make kernels without unrolled loops
_WRITTEN_OUT: set[str] = set()  # of those whose loops are unrolled even there, as compiled modules have them
_SHORT: set[str] = set()  # of those that make kernels where not even these are
_AS_IT_IS, _IN_FULL = "!90001", "!90002"  # marks of loops in compiled modules
_LABEL, _TARGET = re.compile(r'"?([\w.$-]+)"?:'), re.compile(r'label %"?([\w.$-]+)"?')
# an index from the end of an axis, as numba-cuda writes it: its test, its sum with the length, and the choice
_NEGATIVE = re.compile(
    r"(%\S+) = icmp slt i64 (\S+), 0\n(\s+%\S+ = add i64 \2, \S+\n\s+)"
    r"(%\S+) = select\s+i1 \1, i64 %\S+, i64 \2\n"
)
_NOT_CLEARED: set[str] = set()  # of those whose threads do not fill their own arrays with zeros
_CLEARED = re.compile(r'^ *store \[\d+ x \w+\] zeroinitializer, .*%"_cudapy_lmem.*\n', re.MULTILINE)
Function = TypeVar("Function", bound=Plain)


class NoGPUError(RouthError, RuntimeError):
    """``device="cuda"`` on a machine without a GPU that numba-cuda can use."""


def kernel(function: Function) -> Function:
    """Compile a scalar function for the CPU; other kernels and CUDA kernels may call it too.

    Nothing is reordered and products and sums are not fused, so equal inputs give equal bits, compiled and
    interpreted. ``function.py_func`` is the plain Python function.
    """
    return _marked(function)


def inlined(function: Function) -> Function:
    """A `kernel` that becomes part of its callers, where sizes known when they are compiled unroll loops."""
    return _marked(function, forceinline=True)


def distinct(function: Function) -> Function:
    """A `kernel` that is called with arrays of which none overlaps another that it writes to.

    So what it has read need not be read again.
    """
    function.__dict__["distinct"] = True
    return _marked(function)


def apart(function: Function) -> Function:
    """A large `kernel` that stays out of its callers on the CPU: what is compiled as one takes longer."""
    function.__dict__["apart"] = True
    return _marked(function)


def seldom(function: Function) -> Function:
    """A `kernel` that is hardly ever called: it stays out of its callers, whose usual way is then short."""
    function.__dict__["seldom"] = True
    return _marked(function)


def written_out(function: Function) -> Function:
    """A `kernel` whose loops are unrolled for GPUs, where their length is known when it is compiled."""
    module, name = function.__module__.split(".")[-1], function.__name__
    _WRITTEN_OUT.add(f"{len(module)}{module}{len(name)}{name}")
    return _marked(function)


def finite(function: Function) -> Function:
    """An `inlined` kernel for which it does not matter which of two numbers ``max`` takes if one is NaN."""
    function.__dict__["finite"] = True
    return _marked(function, forceinline=True)


def fused(function: Function) -> Function:
    """A `finite` kernel whose products and sums may become one operation each.

    Its last bits then depend on the machine, and differ from those of plain Python: it is for numbers that
    only decide, by comparisons that allow for rounding.
    """
    function.__dict__["finite"] = True
    return _marked(function, forceinline=True, fastmath={"contract"})


def compiled(function: Plain, instead: tuple[tuple[Plain, Plain], ...] = (), **options: Foreign) -> Foreign:
    """A plain function of routh, and every plain function of routh that it calls, as kernels.

    ``instead``: pairs of a function and the kernel in its place; ``options`` for all of them: ``fastmath``,
    LLVM's words for what may be done to sums and products, and ``forceinline``.
    """
    return rebuilt(function, lambda copy: _marked(copy, **options), dict(instead))


def interpreted(function: Plain, instead: tuple[tuple[Plain, Plain], ...] = ()) -> Foreign:
    """A kernel as plain Python, all the way down; ``instead``: pairs of a kernel and what is in its place."""
    from routh.compiling.interpreting import plain

    return plain(function, {getattr(original, "py_func", original): other for original, other in instead})


def c_function(function: Plain, elements: Sequence[str]) -> Foreign:
    """A plain function of arrays with these elements, as a function of C: their addresses, then their length.

    Keep what is returned alive while its ``.address`` is in use.
    """
    return import_module("routh.compiling.native").Kernel(function).c_function(elements)


def is_ready(function: Foreign, *arguments: Foreign) -> bool:
    """Whether a call of a kernel with these arguments would not compile."""
    return bool(function.is_ready(*arguments))


class Patient:
    """A kernel for few calls: plain Python until those have cost more than loading or compiling it would.

    Equal bits either way. So a process that prepares one problem neither compiles nor loads anything for it.
    ``plain`` does the same as the kernel, where there is something better than its plain Python.
    """

    def __init__(self, function: Foreign, plain: Plain | None = None) -> None:
        self._kernel = function
        self._plain = interpreted(function) if plain is None else plain
        self._spent = 0.0  # s; infinite once the kernel has been taken

    def __call__(self, *arguments: Foreign) -> None:
        """Call it; what it returns is dropped."""
        if self._is_worth_it(arguments):
            self._kernel(*arguments)
            return
        began = time.process_time()
        try:
            self._plain(*arguments)
        except (ArithmeticError, ValueError):  # where Python raises, compiled code goes on with inf or NaN
            self._kernel(*arguments)
        self._spent += time.process_time() - began

    def _is_worth_it(self, arguments: Foreign) -> bool:
        if self._spent < TO_LOAD:
            return False
        if self._spent > TO_COMPILE or is_ready(self._kernel, *arguments):
            self._spent = math.inf  # to ask again would cost more than a small problem does
            return True
        return False


@functools.cache
def on_device(function: Plain, instead: tuple[tuple[Plain, Plain], ...] = ()) -> Foreign:
    """A kernel or plain function, and all that it calls, as a function for CUDA kernels to call.

    NVIDIA's compiler copies it to every place of call. ``instead``: pairs of a function and what is called in
    its place.
    """
    cuda = find_cuda()
    jit = cuda.jit(device=True)
    made: dict[Plain, Foreign] = {}
    for original, other in instead:
        getattr(other, "py_func", other).__globals__["cuda"] = cuda  # as `cuda_kernel` does
        made[getattr(original, "py_func", original)] = rebuilt(other, jit, made)
    return rebuilt(function, jit, made)


def cuda_kernel(
    function: Plain,
    *,
    fused: bool = False,
    rolled: bool = False,
    cleared: bool = True,
    long: bool = True,
    **options: Foreign,
) -> Foreign:
    """A plain function of routh as a CUDA kernel, to be launched; ``options`` are numba-cuda's.

    Its module's global ``cuda`` becomes numba.cuda: numba's simulator looks for it there. Unless ``fused``,
    products and sums are kept apart, as on the CPU, so that both take the same branches at ties. With
    ``rolled`` no loop is unrolled, and no index may be negative: where threads go different ways through much
    code, fetching it takes longer than running it. Loops of `written_out` kernels are, if it may be ``long``.
    Unless ``cleared``, a thread's own arrays hold anything at first: numba would have every thread of every
    launch fill all of them with zeros.
    """
    cuda = function.__globals__["cuda"] = find_cuda()
    if is_simulated():
        return cuda.jit(function)
    from routh.compiling.gpu_cache import announce, keep_on_disk

    settings = tuple(f"{key}={value}" for key, value in sorted(options.items()))
    settings += f"fused={fused}", f"rolled={rolled}", f"cleared={cleared}", f"long={long}"
    if not long:  # this name is all that compiled modules say of it
        function.__qualname__ = "short_" + function.__qualname__
    # with lto products and sums would be fused again at link time
    made = cuda.jit(function, **(options if fused else {"lto": False, **options}))
    keep_on_disk(made, function, settings)
    announce(made, function.__qualname__.split(".")[0])
    if fused:
        return _Launched(made)
    _do_not_fuse()
    name = function.__qualname__.split(".")[0]
    if rolled:
        _ROLLED.add(name)
    if not long:
        _SHORT.add(name)
    if not cleared:
        _NOT_CLEARED.add(name)
    return _Launched(made)


class _Launched:
    """A CUDA kernel whose small launches do not warn: few samples are the user's wish."""

    def __init__(self, made: Foreign) -> None:
        self._made = made
        self._ready: dict[tuple[Foreign, ...], Foreign] = {}

    def __getitem__(self, shape: tuple[Foreign, ...]) -> Foreign:
        if shape not in self._ready:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*Grid size")
                self._ready[shape] = self._made[shape]
        return self._ready[shape]


@functools.cache
def _do_not_fuse() -> None:
    """Let NVIDIA's compiler leave products and sums of routh's kernels apart; numba-cuda has no option."""
    from numba.cuda.cudadrv import nvvm

    compile_ir = nvvm.compile_ir

    def compile_unfused(modules: Foreign, **options: Foreign) -> Foreign:
        sources = [modules] if isinstance(modules, str) else modules
        ours = any(_MANGLED in source for source in sources)
        if any(f"{len(name)}{name}" in source for name in _ROLLED for source in sources):
            long = not any(f"{len(name)}{name}" in source for name in _SHORT for source in sources)
            modules = sources = [_rolled(source, long=long) for source in sources]
        if any(f"{len(name)}{name}" in source for name in _NOT_CLEARED for source in sources):
            modules = [_CLEARED.sub("", source) for source in sources]
        return compile_ir(modules, **({**options, "fma": False} if ours else options))

    nvvm.compile_ir = compile_unfused


def _rolled(source: str, *, long: bool = True) -> str:
    """LLVM's text of a module in which loops are unrolled where they must be and only there.

    Every branch back says so.
    No index of these kernels is negative, so what numba writes at every index in case it is goes too.
    """
    source = _NEGATIVE.sub(r"\3\4 = add i64 \2, 0\n", source)
    lines: list[str] = []
    above: set[str] = set()
    kind = _AS_IT_IS
    for line in source.splitlines():
        if line.startswith("define"):
            above = set()
            kind = _IN_FULL if long and any(name in line for name in _WRITTEN_OUT) else _AS_IT_IS
        elif label := _LABEL.match(line):
            above.add(label[1])
        elif line.lstrip().startswith("br ") and not above.isdisjoint(_TARGET.findall(line)):
            line += f", !llvm.loop {kind}"
        lines.append(line)
    for kind, how in ((_AS_IT_IS, "disable"), (_IN_FULL, "full")):
        lines += [f"{kind} = distinct !{{{kind}, {kind}0}}", f'{kind}0 = !{{!"llvm.loop.unroll.{how}"}}']
    return "\n".join([*lines, ""])


def find_cuda() -> types.ModuleType:
    """The module numba.cuda, ready to compile; raises MissingExtraError or `NoGPUError`."""
    import numpy as np

    cuda = optional("numba.cuda", "cuda", "numba-cuda")
    if not cuda.is_available():
        raise NoGPUError(
            "device: got 'cuda'; wanted a machine with an NVIDIA GPU, its driver and numba-cuda "
            "(pip install 'routh[cuda]'), or device='cpu'"
        )
    if not _has_numba_cuda():
        raise MissingExtraError("numba-cuda", "cuda")
    if not hasattr(np, "row_stack") and not is_simulated():  # dropped by 2.5; numba-cuda looks it up
        found = f"numba-cuda {version('numba-cuda')} does not work with NumPy {np.__version__}"
        raise NoGPUError(
            f"device: got 'cuda'; {found}, which has no row_stack; wanted "
            "NumPy below 2.5 (pip install 'numpy<2.5'), or device='cpu'"
        )
    return cuda


def is_simulated() -> bool:
    """Whether CUDA kernels run in a simulator, as plain Python."""
    from numba import config

    return bool(config.ENABLE_CUDASIM)


@functools.cache
def _has_numba_cuda() -> bool:
    """Whether numba.cuda is that of numba-cuda, or a simulator: numba's own finds GPUs and is not enough."""
    return is_simulated() or find_spec("numba_cuda") is not None


def _marked(function: Foreign, **options: Foreign) -> Foreign:
    return _kernel_class()(function, **options)


@functools.cache
def _kernel_class() -> Foreign:
    """`routh.compiling.native.Kernel`, or what interprets; loaded to its end: half of it cannot be mended."""
    if os.environ.get("ROUTH_INTERPRET", "0") not in ("", "0"):
        return import_module("routh.compiling.interpreting").Interpreted
    return while_listening(lambda: import_module("routh.compiling.native")).Kernel
