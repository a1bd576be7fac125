"""A user's own function for relative rates, called from compiled code by its address."""

from __future__ import annotations

import ctypes
import sys
from types import FunctionType

import numpy as np

from routh.base.status import InputError
from routh.compiling import c_function
from routh.compiling.foreign import Foreign

_ELEMENTS = ("float64", "bool", "float64")
_C: Foreign = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class _At:
    """A function of C at an address; ``held`` keeps it alive."""

    def __init__(self, address: int, held: Foreign) -> None:
        self.address, self.held = address, held


def rates_function(function: Foreign) -> Foreign:
    """The C function of ``function(uniforms, approaching, out) -> None``, compiled like any kernel.

    Or one that is a C function already, ``void(double *uniforms, bool *approaching, double *out, int64_t n)``
    of ctypes or cffi, or anything with its ``address`` (numba's ``cfunc``). Keep what is returned alive while
    its ``.address`` is in use.
    """
    if isinstance(getattr(function, "address", None), int):
        return function
    if isinstance(function, _C.__base__):
        return _At(ctypes.cast(function, ctypes.c_void_p).value or 0, function)
    if type(function).__module__ == "_cffi_backend":
        return _At(int(sys.modules["_cffi_backend"].FFI().cast("intptr_t", function)), function)
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType) or plain.__code__.co_argcount != 3:
        raise InputError(
            "rates",
            got=repr(function),
            wanted=("a function (uniforms, approaching, out), or a C function of ctypes, cffi or numba"),
        )
    try:
        return c_function(plain, _ELEMENTS)
    except TypeError as error:
        raise InputError(
            "rates", wrong=f"cannot be compiled for arrays of float, bool, float: {error}"
        ) from None


def call_rates(address: int, uniforms: np.ndarray, approaching: np.ndarray, out: np.ndarray, n: int) -> None:
    """Call the function at ``address`` with three arrays, of which it sees the first ``n`` entries."""
    _C(address)(uniforms.ctypes.data, approaching.ctypes.data, out.ctypes.data, n)


call_rates.is_at_address = True  # type: ignore[attr-defined]  # compiled kernels call it as C does
