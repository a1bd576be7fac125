"""Copies of functions with all that they call: as kernels, for a GPU, or as plain Python to look inside.

`interpreted` copies are Python's own. `faithful` ones compute with NumPy's numbers: integers have 64 bits and
wrap around, and division by zero and roots of negative numbers give what they give in compiled code instead
of an error.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import math
import textwrap
import types
from collections.abc import Callable, Iterator

import numpy as np

from routh.compiling.elementary import INSTEAD, whole_power
from routh.compiling.foreign import Foreign, Plain

LOWEST, HIGHEST = -(2**63), 2**63 - 1
_OWN = "routh.compiling."
_POWER = "__power__"  # the name by which copies call `_power`


def rebuilt(function: Foreign, make: Callable[[Foreign], Foreign], made: dict[Foreign, Foreign]) -> Foreign:
    """A copy of a function by ``make``, whose callees are copies too; ``made`` has those that exist.

    Callees are the kernels, and plain functions of routh, among the names that a function uses; those of the
    compiler, such as `elementary`, mean to the translator what they are.
    """

    def copied(value: Foreign) -> Foreign:
        plain = getattr(value, "py_func", value)
        module = getattr(plain, "__module__", None) or ""
        follows = plain is not value or (module.startswith("routh.") and not module.startswith(_OWN))
        return rebuilt(value, make, made) if follows and isinstance(plain, types.FunctionType) else value

    plain: Foreign = getattr(function, "py_func", function)
    if plain not in made:
        names = dict(plain.__globals__)
        names |= {name: copied(names[name]) for name in _globals_of(plain) if name in names}
        inside = [(cell, copied(cell.cell_contents)) for cell in plain.__closure__ or ()]
        cells = [cell if one is cell.cell_contents else types.CellType(one) for cell, one in inside]
        copy = types.FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, tuple(cells))
        made[plain] = make(functools.update_wrapper(copy, plain))
    return made[plain]


def _globals_of(function: Plain) -> set[str]:
    """Names that it looks up around it; ``co_names`` has those of attributes besides."""
    steps = dis.get_instructions(function)
    return {step.argval for step in steps if step.opname == "LOAD_GLOBAL"}


class Interpreted:
    """A kernel that is run by Python itself; an index out of bounds is an error."""

    def __init__(self, function: Plain) -> None:
        self.py_func = function
        functools.update_wrapper(self, function)

    @functools.cached_property
    def _plain(self) -> Foreign:
        return faithful(self)

    def __call__(self, *arguments: Foreign) -> Foreign:
        """Call the function as plain Python on NumPy's numbers."""
        with np.errstate(all="ignore"):
            return self._plain(*typed(arguments, int))

    def bound(self, *arguments: Foreign) -> Callable[[], Foreign]:
        """The call with these arguments."""
        return functools.partial(self, *arguments)

    def is_ready(self, *arguments: Foreign) -> bool:
        """Always true: nothing is compiled."""
        return True


def interpreted(function: Plain, instead: tuple[tuple[Plain, Plain], ...] = ()) -> Foreign:
    """A kernel as plain Python, all the way down; ``instead``: pairs of a kernel and what is in its place."""

    def with_own_functions(function: Foreign) -> Foreign:
        with_powers(function)
        if function.__globals__.get("math") is math:
            function.__globals__["math"] = _MATH
        return function

    return rebuilt(
        function, with_own_functions, {getattr(one, "py_func", one): other for one, other in instead}
    )


def faithful(kernel: Foreign) -> Foreign:
    """A kernel as plain Python that computes what compiled code does; call it where NumPy does not warn."""

    def with_numbers_of_machines(function: Foreign) -> Foreign:
        with_powers(function)
        around = function.__globals__.items()
        names = _BUILTIN | {name: typed(one) if type(one) is float else one for name, one in around}
        if names.get("math") is math:
            names["math"] = _FORGIVING_MATH
        code = function.__code__.replace(co_consts=typed(function.__code__.co_consts))
        defaults = typed(function.__defaults__)
        return types.FunctionType(code, names, function.__name__, defaults, function.__closure__)

    return rebuilt(kernel, with_numbers_of_machines, {})


def with_powers(function: Foreign) -> None:
    """Let ``x ** k`` be the products of compiled code: the C library's pow differs in last bits."""
    if not any(step.argrepr == "**" for step in dis.get_instructions(function)):
        return
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    (body,) = tree.body
    body.decorator_list = []  # type: ignore[attr-defined]
    around = ast.parse(f"def around({', '.join(function.__code__.co_freevars)}): pass")
    around.body[0].body = [_Powers().visit(body)]  # type: ignore[attr-defined]
    ast.increment_lineno(tree, first - 1)
    made = compile(ast.fix_missing_locations(around), function.__code__.co_filename, "exec")
    for _ in range(2):
        made = next(one for one in made.co_consts if isinstance(one, types.CodeType))
    function.__code__ = made
    function.__globals__[_POWER] = _power


class _Powers(ast.NodeTransformer):
    """Every ``x ** k`` as a call."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Translate powers inside of it first."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        call = ast.Call(ast.Name(_POWER, ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node)


def _power(x: Foreign, k: Foreign) -> Foreign:
    return type(x)(whole_power(x, int(k))) if isinstance(x, float) else x**k


def typed(value: Foreign, *kinds: type) -> Foreign:
    """The value with NumPy's floats for Python's, and NumPy's numbers for these ``kinds``, in tuples too."""
    if type(value) in (float, *kinds):
        return np.float64(value) if type(value) is float else np.int64(value)
    if isinstance(value, tuple):
        parts = (typed(one, *kinds) for one in value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _whole(value: Foreign) -> np.int64:
    """``int``: cut towards zero; what is too large becomes the largest, NaN becomes 0."""
    if isinstance(value, float):
        value = 0 if math.isnan(value) else min(int(min(max(value, LOWEST), HIGHEST)), HIGHEST)
    return np.int64(value)


def _range(*bounds: Foreign) -> Iterator[np.int64]:
    return map(np.int64, range(*map(int, bounds)))


def _forgiving(name: str, function: Callable[..., Foreign]) -> Callable[..., Foreign]:
    """A function of math that gives NaN or infinity instead of an error."""

    def call(*arguments: Foreign) -> Foreign:
        arguments = tuple(int(one) if isinstance(one, np.integer) else one for one in arguments)
        try:
            return typed(function(*arguments))
        except (OverflowError, ValueError) as error:
            if name in ("ceil", "floor"):
                return _whole(arguments[0])
            return np.float64(math.inf if isinstance(error, OverflowError) else math.nan)

    return call


_OF_MATH = {name: INSTEAD.get(one, one) for name, one in vars(math).items() if callable(one)}
#: the module math as kernels mean it
_MATH = types.SimpleNamespace(**(vars(math) | _OF_MATH))
_FORGIVING_MATH = types.SimpleNamespace(
    **(vars(math) | {name: _forgiving(name, one) for name, one in _OF_MATH.items()})
)
_BUILTIN = {"int": _whole, "float": np.float64, "range": _range, "len": lambda value: np.int64(len(value))}
