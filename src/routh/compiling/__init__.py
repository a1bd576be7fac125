"""The one place that compiles: scalar Python to machine code, and the same source for NVIDIA GPUs.

A function marked `kernel` can be called from everywhere. Called by another kernel it becomes part of it.
Called from Python it is compiled together with all that it calls, once for this machine, and kept on disk.
Kernels must not raise. What may stand in one: docs/theory/kernels.md. With ``ROUTH_INTERPRET=1`` in the
environment nothing is compiled: kernels are plain Python, in which a debugger can stop, and an index that is
out of bounds is an error. Importing this module loads no LLVM; marking a kernel does.

A kernel is scalar: loops over numbers and arrays. So the kinds of its arguments tell those of everything in
it, and its syntax tree can be written down as LLVM's text in one go. There is one translator; its doors use
public API only. In this order they are read:

1. The translator, from source to text: ``values`` (what an expression stands for), ``writer`` (the words for
   numbers), ``function`` (through the syntax tree), ``program`` (functions together). ``rows``: names for the
   rows of an array.
2. ``native``, the CPU's door: text to an object file by llvmlite, linked and called. ``arguments``: what a
   call needs of its arguments; `bound` looks at them once, for many calls. ``cache``: object files on disk.
   ``clock``: who waits for it.
3. ``threads``: what a thread of a GPU may do besides. The GPU's door is the feature ``routh.gpu``, which
   makes PTX of the same text.
4. ``elementary``: logarithms and exponentials, so that all machines give equal bits. ``copies``: functions
   with all that they call as other kernels, or as plain Python to look inside.
"""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from routh.base.interrupts import while_listening
from routh.compiling.clock import announced_to, compile_seconds
from routh.compiling.copies import Interpreted, interpreted, rebuilt
from routh.compiling.foreign import Foreign, Plain

__all__ = [
    "Patient",
    "announced_to",
    "apart",
    "bound",
    "c_function",
    "compile_seconds",
    "compiled",
    "distinct",
    "inlined",
    "interpreted",
    "kernel",
    "vectors",
]

TO_LOAD, TO_COMPILE = 0.005, 0.1  # s of plain Python after which a `Patient` kernel is loaded, or compiled
Function = TypeVar("Function", bound=Plain)


def kernel(function: Function) -> Function:
    """Compile a scalar function for the CPU; other kernels and entries of GPU kernels may call it too.

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
    return _marked(function, distinct=True)


def vectors(function: Function) -> Function:
    """A `distinct` kernel with long loops, which become vectors, as do all in the programs that call it.

    That takes LLVM longer: it is worth it where rows are long, and most of the time goes there.
    """
    return _marked(function, distinct=True, vectors=True)


def apart(function: Function) -> Function:
    """A large `kernel` that stays out of its callers on the CPU: what is compiled as one takes longer."""
    return _marked(function, apart=True)


def compiled(function: Plain, instead: tuple[tuple[Plain, Plain], ...] = (), **marks: Foreign) -> Foreign:
    """A kernel or plain function of routh, and all of routh that it calls, as kernels of their own.

    ``instead``: pairs of a function and the one that is called in its place. ``marks`` for all of them:
    ``fastmath``, LLVM's words for what may be done to sums and products, and ``forceinline``.
    """
    made: dict[Plain, Foreign] = {}
    for original, other in instead:
        made[getattr(original, "py_func", original)] = rebuilt(
            other, functools.partial(_marked, **marks), made
        )
    return rebuilt(function, functools.partial(_marked, **marks), made)


def c_function(function: Plain, elements: Sequence[str]) -> Foreign:
    """A plain function of arrays with these elements, as a function of C: their addresses, then their length.

    Keep what is returned alive while its ``.address`` is in use.
    """
    from routh.compiling.native import Kernel

    return Kernel(function).c_function(elements)


def bound(function: Foreign, *arguments: Foreign) -> Callable[[], Foreign]:
    """The call of a kernel with these arguments, for many calls of a few microseconds each.

    Numbers stay as they are now, and arrays where they are now: what is written into them counts. What the
    kernel returns is dropped.
    """
    call: Callable[[], Foreign] = function.bound(*arguments)
    return call


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
            with np.errstate(all="ignore"):
                self._plain(*arguments)
        except (ArithmeticError, ValueError):  # where Python raises, compiled code goes on with inf or NaN
            self._kernel(*arguments)
        self._spent += time.process_time() - began

    def _is_worth_it(self, arguments: Foreign) -> bool:
        if self._spent < TO_LOAD:
            return False
        if self._spent > TO_COMPILE or self._kernel.is_ready(*arguments):
            self._spent = math.inf  # to ask again would cost more than a small problem does
            return True
        return False


def _marked(function: Foreign, **marks: Foreign) -> Foreign:
    """A kernel; ``marks`` stay with the function, for copies of it, too."""
    function.__dict__.update(marks)
    return _kernel_class()(function)


@functools.cache
def _kernel_class() -> Foreign:
    """`routh.compiling.native.Kernel`, or what interprets; loaded to its end: half of it cannot be mended."""
    if os.environ.get("ROUTH_INTERPRET", "0") not in ("", "0"):
        return Interpreted
    return while_listening(_native_kernel)


def _native_kernel() -> Foreign:
    from routh.compiling.native import Kernel

    return Kernel
