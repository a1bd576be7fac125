"""The one place that compiles: scalar Python for the CPU by numba, and the same source for NVIDIA GPUs.

A function marked `kernel` can be called from everywhere. Called by another kernel it becomes part of it.
Called from Python it is compiled together with all that it calls, once for this machine, and kept on disk.
Kernels must not raise. Importing this module loads no numba; marking a kernel does.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, TypeVar

from routh.compiling.clock import announced_to, compile_seconds
from routh.status import MissingExtraError, RouthError

__all__ = [
    "NoGPUError",
    "announced_to",
    "compile_seconds",
    "compiled",
    "find_cuda",
    "inlined",
    "interpreted",
    "is_ready",
    "kernel",
    "on_device",
]

Function = TypeVar("Function", bound=Callable[..., Any])


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


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """A plain function of routh, and every plain function of routh that it calls, as kernels.

    ``options`` are numba's, for all of them.
    """
    return _rebuilt(function, lambda copy: _marked(copy, **options), {})


def interpreted(function: Callable[..., Any]) -> Any:
    """A kernel as plain Python, all the way down."""
    return _rebuilt(function, lambda copy: copy, {})


def is_ready(function: Any, *arguments: Any) -> bool:
    """Whether a call of a kernel with these arguments would not compile."""
    return bool(function.is_ready(*arguments))


@cache
def on_device(function: Callable[..., Any]) -> Any:
    """A kernel or plain function, and all that it calls, as a function for CUDA kernels to call."""
    return _rebuilt(function, find_cuda().jit(device=True), {})


def find_cuda() -> Any:
    """The module numba.cuda, ready to compile; raises MissingExtraError or `NoGPUError`."""
    import numpy as np

    for old, new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(np, old):  # NumPy 2.5 dropped names that numba-cuda still looks up
            setattr(np, old, getattr(np, new))
    try:
        from numba import cuda
    except ImportError:
        raise MissingExtraError("numba-cuda", "cuda") from None
    if not cuda.is_available():
        raise NoGPUError(
            "device: got 'cuda'; wanted a machine with an NVIDIA GPU, its driver and numba-cuda "
            "(pip install 'routh[cuda]'), or device='cpu'"
        )
    return cuda


def _marked(function: Any, **options: Any) -> Any:
    from routh.compiling.numba_inside import Kernel  # loads numba

    return Kernel(function, **options)


def _rebuilt(function: Any, make: Callable[[Any], Any], made: dict[Any, Any]) -> Any:
    """A copy of a function by ``make``, whose callees are copies too; ``made`` has those that exist.

    Callees are the kernels and plain functions of routh among the names that a function uses.
    """
    plain = getattr(function, "py_func", function)
    if plain not in made:
        names = dict(plain.__globals__)
        for name in plain.__code__.co_names:
            if _is_callee(names.get(name)):
                names[name] = _rebuilt(names[name], make, made)
        copy = types.FunctionType(
            plain.__code__, names, plain.__name__, plain.__defaults__, plain.__closure__
        )
        made[plain] = make(update_wrapper(copy, plain))
    return made[plain]


def _is_callee(value: Any) -> bool:
    plain = getattr(value, "py_func", value)
    return isinstance(plain, types.FunctionType) and (plain.__module__ or "").startswith("routh.")
