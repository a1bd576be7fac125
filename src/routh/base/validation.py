"""Checks of user input. A refusal names the field, what came and what was wanted; a NaN fails them all."""

from __future__ import annotations

import math
import numbers
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routh.base.status import InputError, no_such

Array = NDArray[np.float64]
Anything = TypeVar("Anything", bound=np.ndarray)
Options: TypeAlias = dict[str, Any]  # keywords of a function that knows their types
DenseOrSparse: TypeAlias = Any  # a NumPy array or a SciPy sparse matrix, and SciPy has no types

_FEW = 64
_NO_MATTER = 2**26  # bytes that are asked for without a look at what is free


def real_array(
    field: str,
    value: ArrayLike,
    shapes: Sequence[tuple[int | None, ...]],
    wanted: str = "",
    *,
    finite: bool = True,
) -> Array:
    """A fresh float64 C-order copy of ``value`` whose shape matches one of ``shapes`` (None: any length).

    ``wanted`` describes the accepted shapes in words for the error message, by default the first of them;
    ``finite=False`` leaves NaN and infinity to the caller's own check.
    """
    wanted = wanted or f"shape {shapes[0]}"
    if type(value) is not np.ndarray:
        _refuse_masked(field, value)
    try:
        raw = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputError(field, wrong=f"cannot be read as an array ({error})", wanted=wanted) from None
    if raw.dtype.kind not in "iuf":
        raise InputError(field, got=_describe_type(value, raw), wanted=f"real numbers, {wanted}")
    if raw.shape not in shapes and not any(_matches(raw.shape, shape) for shape in shapes):
        raise InputError(field, got=f"shape {raw.shape}", wanted=wanted)
    array = np.array(raw, dtype=np.float64, order="C")
    if finite and not _all_finite(array):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(field, got=f"{array[where]} at index {where}", wanted="finite numbers")
    return array


def _refuse_masked(field: str, value: ArrayLike) -> None:
    """What a mask hides would be taken for numbers."""
    for part in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise InputError(field, got="an array with masked values", wanted="an array that has them all")


def frozen(array: Anything) -> Anything:
    """The array itself, which nobody can write to from now on."""
    array.setflags(write=False)
    return array


def _all_finite(array: Array) -> bool:
    if array.size <= _FEW:  # a loop in Python is faster than two passes of NumPy
        return all(map(math.isfinite, array.ravel().tolist()))
    return bool(np.isfinite(array).all())


def real(
    field: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> float:
    """A finite float within the given bounds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.floating, np.integer)):
        raise InputError(field, got=f"{value!r} ({type(value).__name__})", wanted="a real number")
    number = float(value)
    # written so that NaN fails
    good = math.isfinite(number) and (above is None or number > above)
    good = good and (at_least is None or number >= at_least) and (at_most is None or number <= at_most)
    if not good:
        bounds = _bounds_text(above, at_least, at_most)
        raise InputError(field, got=number, wanted=f"a finite number{bounds}")
    return number


def integer(field: str, value: object, *, at_least: int, at_most: int | None = None) -> int:
    """An integer within the given bounds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Integral, np.integer)):
        raise InputError(field, got=f"{value!r} ({type(value).__name__})", wanted="an integer")
    number = int(value)
    if number < at_least or (at_most is not None and number > at_most):
        raise InputError(field, got=number, wanted=f"an integer{_bounds_text(None, at_least, at_most)}")
    return number


def count_that_fits(field: str, value: object, bytes_each: int) -> int:
    """A positive number of results whose arrays alone, ``bytes_each`` for one, fit into the free memory."""
    number = integer(field, value, at_least=1)
    if number * bytes_each > _NO_MATTER and number * bytes_each > (memory := free_memory()):
        raise InputError(
            field,
            got=(
                f"{number}, whose results need {number * bytes_each / 1e9:.3g} GB; "
                f"this machine has {memory / 1e9:.3g} GB free, wanted at most "
                f"{memory // bytes_each}"
            ),
        )
    return number


def free_memory() -> int:
    """Bytes that this process can still get without pushing others out; all there are where nobody says."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":") for line in file)
        return 1024 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    if not hasattr(os, "sysconf"):  # Windows: nothing is refused for its size
        return sys.maxsize
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def deadline_of(budget: float | None) -> float:
    """Time by which a call with ``budget=`` (s, None: no limit) has to end, of `time.monotonic`."""
    return math.inf if budget is None else time.monotonic() + real("budget", budget, above=0.0)


def seconds_left(deadline: float) -> float | None:
    """What is left until then, as a ``budget=`` for a further call: never below a microsecond."""
    return None if deadline == math.inf else max(deadline - time.monotonic(), 1e-6)


def choice(field: str, value: object, options: Sequence[str]) -> str:
    """One of the listed words."""
    if value not in options:
        raise no_such(field, value, options)
    return str(value)


def per_contact(field: str, value: ArrayLike, nc: int) -> Array:
    """A scalar or (nc,) array as a finite (nc,) array."""
    array = real_array(field, value, [(), (nc,)], f"a number or shape ({nc},), one per contact")
    return array if array.ndim else np.full(nc, array)


def _matches(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(w is None or s == w for s, w in zip(shape, wanted, strict=True))


def _describe_type(value: object, raw: np.ndarray) -> str:
    if value is None or isinstance(value, str):
        return repr(value)
    return f"{type(value).__name__} of dtype {raw.dtype}"


def _bounds_text(above: float | None, at_least: float | None, at_most: float | None) -> str:
    bounds = ((">", above), (">=", at_least), ("<=", at_most))
    parts = [f"{sign} {bound:g}" for sign, bound in bounds if bound is not None]
    return " " + " and ".join(parts) if parts else ""
