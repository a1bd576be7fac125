"""Copies of functions with all that they call: as kernels, as plain Python, or for a GPU."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable

from routh.compiling.foreign import Foreign


def rebuilt(function: Foreign, make: Callable[[Foreign], Foreign], made: dict[Foreign, Foreign]) -> Foreign:
    """A copy of a function by ``make``, whose callees are copies too; ``made`` has those that exist.

    Callees are the kernels, and plain functions of routh, among the names that a function uses.
    """
    plain: Foreign = getattr(function, "py_func", function)
    if plain not in made:
        names = dict(plain.__globals__)
        for name in plain.__code__.co_names:
            if _is_callee(names.get(name)):
                names[name] = rebuilt(names[name], make, made)
        cells = tuple(_cell(cell, make, made) for cell in plain.__closure__ or ())
        copy = types.FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, cells or None)
        made[plain] = make(functools.update_wrapper(copy, plain))
    return made[plain]


def _cell(cell: Foreign, make: Callable[[Foreign], Foreign], made: dict[Foreign, Foreign]) -> Foreign:
    value = cell.cell_contents
    return types.CellType(rebuilt(value, make, made)) if _is_callee(value) else cell


def _is_callee(value: Foreign) -> bool:
    plain = getattr(value, "py_func", value)
    if not isinstance(plain, types.FunctionType):
        return False
    return plain is not value or (plain.__module__ or "").startswith("routh.")
