"""Kernels as plain Python, all the way down: to look inside, and to compare compiled code with.

`faithful` copies compute with NumPy's numbers instead of Python's: integers have 64 bits and wrap around, and
division by zero and roots of negative numbers give what they give in compiled code instead of an error.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Iterator

import numpy as np

from routh.compiling.copying import rebuilt
from routh.compiling.elementary import INSTEAD
from routh.compiling.foreign import Foreign, Plain

LOWEST, HIGHEST = -(2**63), 2**63 - 1


class Interpreted:
    """A kernel that is run by Python itself; an index out of bounds is an error."""

    def __init__(self, function: Plain) -> None:
        self.py_func = function
        functools.update_wrapper(self, function)

    @functools.cached_property
    def _plain(self) -> Foreign:
        return faithful(self)

    def __call__(self, *arguments: Foreign) -> Foreign:
        """Call it."""
        with np.errstate(all="ignore"):
            return self._plain(*typed(arguments, int))

    def is_ready(self, *arguments: Foreign) -> bool:
        """True: nothing is compiled."""
        return True


def plain(kernel: Foreign, made: dict[Foreign, Foreign]) -> Foreign:
    """A kernel as plain Python, all the way down; ``made`` has what is called in place of others."""
    return rebuilt(kernel, _with_own_functions, made)


def _with_own_functions(function: Foreign) -> Foreign:
    """The same function, in which ``math.log`` is the one that it is in compiled code."""
    if function.__globals__.get("math") is math:
        function.__globals__["math"] = MATH
    return function


def faithful(kernel: Foreign) -> Foreign:
    """A kernel as plain Python that computes what compiled code does; call it where NumPy does not warn."""
    return rebuilt(kernel, _with_numbers_of_machines, {})


def _with_numbers_of_machines(function: Foreign) -> Foreign:
    """The same function with NumPy's floats for its own, and functions that give what compiled code gives."""
    names = {name: typed(one) if type(one) is float else one for name, one in function.__globals__.items()}
    names |= {name: value for name, value in _BUILTIN.items() if name not in names}
    if names.get("math") is math:
        names["math"] = _MATH
    code = function.__code__.replace(co_consts=typed(function.__code__.co_consts))
    defaults = typed(function.__defaults__)
    return types.FunctionType(code, names, function.__name__, defaults, function.__closure__)


def typed(value: Foreign, *kinds: type) -> Foreign:
    """With NumPy's floats for Python's, and NumPy's numbers for these ``kinds``, in tuples too."""
    if type(value) in (float, *kinds):
        return np.float64(value) if type(value) is float else np.int64(value)
    if isinstance(value, tuple):
        parts = (typed(one, *kinds) for one in value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _whole(value: Foreign) -> np.int64:
    """``int``: cut towards zero; what is too large becomes the largest, NaN becomes 0."""
    if isinstance(value, float):
        value = 0 if math.isnan(value) else int(min(max(value, float(LOWEST)), 2.0**63))
        value = min(value, HIGHEST)
    return np.int64(value)


def _range(*bounds: Foreign) -> Iterator[np.int64]:
    return map(np.int64, range(*map(int, bounds)))


def _forgiving(name: str, function: Callable[..., Foreign]) -> Callable[..., Foreign]:
    """A function of math that gives NaN or infinity instead of an error."""

    def call(*arguments: Foreign) -> Foreign:
        arguments = tuple(int(one) if isinstance(one, np.integer) else one for one in arguments)
        try:
            return typed(function(*arguments))
        except OverflowError:
            return _whole(arguments[0]) if name in ("ceil", "floor") else np.float64(math.inf)
        except ValueError:
            return _whole(0.0) if name in ("ceil", "floor") else np.float64(math.nan)

    return call


#: the module math as kernels mean it
MATH = types.SimpleNamespace(
    **{name: INSTEAD.get(one, one) if callable(one) else one for name, one in vars(math).items()}
)
_MATH = types.SimpleNamespace(
    **{name: _forgiving(name, one) if callable(one) else one for name, one in vars(MATH).items()}
)
_BUILTIN = {"int": _whole, "float": np.float64, "range": _range, "len": lambda value: np.int64(len(value))}
