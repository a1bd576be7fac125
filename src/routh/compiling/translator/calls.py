"""Calls from kernels: of other kernels, and of the few functions of Python that kernels use."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from routh.compiling import elementary
from routh.compiling.foreign import Foreign
from routh.compiling.translator.values import (
    ELEMENTS,
    NOTHING,
    Array,
    Group,
    Number,
    Thing,
    UntranslatableError,
    Value,
    common_kind,
    kind_of,
    of_parts,
    parts_of,
    types_of,
)
from routh.compiling.translator.writing import ZERO, Writer, constant

# functions of floats that kernels use: LLVM's own, that of C, those that give integers, and routh's own
_INTRINSIC = (math.sqrt, math.sin, math.cos)
_OF_C = (math.atan2,)
_ROUNDED = (math.ceil, math.floor)
_OWN = {
    *elementary.INSTEAD.values(),
    elementary.log_of_sum,
    elementary.power_of_two,
    elementary.power_of_normal,
    elementary.front_of,
    elementary.whole_power,
}
_CASTS = {int: "i", np.int64: "i", float: "f", bool: "b", np.uint64: "u", np.uint32: "w"}


class Calls(Writer):
    """Writes calls, and what Python knows already."""

    program: Foreign  # where translated functions are: a `routh.compiling.translator.program.Program`

    def meant(self, what: Foreign) -> Value:
        """A value that Python knows already."""
        if isinstance(what, bool | np.bool_):
            return constant("b", what)
        if isinstance(what, np.uint64 | np.uint32):
            return constant("u" if isinstance(what, np.uint64) else "w", what)
        if isinstance(what, int | np.signedinteger):
            return constant("i", what)
        if isinstance(what, float):
            return constant("f", what)
        if isinstance(what, tuple):
            return Group(tuple(map(self.meant, what)), type(what) if hasattr(what, "_fields") else None)
        if isinstance(what, np.ndarray):
            return self._constant_array(what)
        return Thing(what)

    def _constant_array(self, what: np.ndarray) -> Array:
        element = what.dtype.name
        if element not in ("float64", "int64"):
            raise UntranslatableError(f"an array of {element}")
        memory, kind, _ = ELEMENTS[element]
        numbers = ", ".join(f"{memory} {constant(kind, one).name}" for one in what.ravel())
        name = self.program.constant_array(f"[{what.size} x {memory}] [{numbers}]")
        return Array(element, name, tuple(constant("i", length) for length in what.shape))

    def call_kernel(self, what: Foreign, arguments: list[Value]) -> Value:
        """A call of another kernel."""
        defaults = what.py_func.__defaults__ or ()
        missing = what.py_func.__code__.co_argcount - len(arguments)
        if not 0 <= missing <= len(defaults):
            raise UntranslatableError(
                f"{what.py_func.__name__}: got {len(arguments)} arguments; "
                f"wanted {what.py_func.__code__.co_argcount}"
            )
        arguments += map(self.meant, defaults[len(defaults) - missing :])
        name, result = self.program.function(what, tuple(map(kind_of, arguments)))
        given = ", ".join(f"{one} {part}" for value in arguments for one, part in parts_of(value))
        kinds = types_of(result)
        words = f"call {result_type(kinds)} @{name}({given})"
        if not kinds:
            self.block.lines.append(words)
            return of_parts(result, iter(()))
        made = self.write(words)
        if len(kinds) == 1:
            return of_parts(result, iter((made,)))
        whole = result_type(kinds)
        names = [self.write(f"extractvalue {whole} {made}, {k}") for k in range(len(kinds))]
        return of_parts(result, iter(names))

    def call_address(self, address: Value, *arguments: Value) -> Value:
        """A call of a C function by its address, with the addresses of arrays, and numbers."""
        if not isinstance(address, Number):
            raise UntranslatableError("an address that is no number")
        pointer = self.write(f"inttoptr i64 {address.name} to ptr")
        given = ", ".join("{} {}".format(*next(parts_of(one))) for one in arguments)
        self.block.lines.append(f"call void {pointer}({given})")
        return NOTHING

    def length_of(self, value: Value) -> Number:
        """How many elements an array or a tuple has."""
        if isinstance(value, Array):
            return value.shape[0]
        if isinstance(value, Group):
            return constant("i", len(value.parts))
        raise UntranslatableError("the length of a number")

    def function_of(self, what: Foreign, numbers: list[Number]) -> Value:
        """Python's own functions, and those of its module math."""
        first = numbers[0]
        if what in _CASTS and len(numbers) == 1:
            return self.number(first, _CASTS[what])
        if what is abs:
            return self._size(first)
        if (what is max or what is min) and len(numbers) > 1:
            return self._extreme("Gt" if what is max else "Lt", numbers)
        own = elementary.INSTEAD.get(what, what)
        if own in _OWN:
            return self.call_kernel(SimpleNamespace(py_func=own), self._as_declared(own, numbers))
        if what is elementary.float_of:
            return Number("f", self.write(f"bitcast i64 {self.number(first, 'u').name} to double"))
        floats = [("double", self.number(one, "f").name) for one in numbers]
        if what is elementary.bits_of:
            return Number("u", self.write(f"bitcast double {floats[0][1]} to i64"))
        if what in _OF_C:
            return Number("f", self.call(what.__name__, "double", floats))
        if what in _INTRINSIC or what in _ROUNDED:
            found = Number("f", self.call(f"llvm.{what.__name__}.f64", "double", floats))
            return self.number(found, "i") if what in _ROUNDED else found
        if what is math.isfinite:
            size = self.call("llvm.fabs.f64", "double", floats)
            return Number("b", self.write(f"fcmp olt double {size}, {constant('f', math.inf).name}"))
        if what is math.isnan:
            return Number("b", self.write(f"fcmp uno double {floats[0][1]}, {floats[0][1]}"))
        raise UntranslatableError(f"a kernel may not call {getattr(what, '__name__', what)}")

    def _as_declared(self, own: Foreign, numbers: list[Number]) -> list[Value]:
        """Arguments of the kinds that the function says: whole numbers where it wants them, else floats."""
        declared = list(own.__annotations__.values())[:-1]
        if len(declared) != len(numbers):
            raise UntranslatableError(f"{own.__name__}: got {len(numbers)} arguments; wanted {len(declared)}")
        return [
            self.number(one, "i" if kind == "int" else "f")
            for one, kind in zip(numbers, declared, strict=True)
        ]

    def power(self, base: Number, exponent: Number) -> Number:
        """A power: by squares, where the exponent is known in a few products."""
        if exponent.kind == "f" or base.kind not in "fi":
            raise UntranslatableError("a power that is no integer: wanted math.pow")
        if exponent.known is None:
            if base.kind != "f":
                raise UntranslatableError("an integer to a power that is not known")
            found = self.function_of(elementary.whole_power, [base, exponent])
            assert isinstance(found, Number)
            return found
        if not 0 <= exponent.known <= 64:
            raise UntranslatableError(f"to the power of {exponent.known}")
        left, product, square = exponent.known, constant(base.kind, 1), base
        while left:
            if left & 1:
                product = square if product.known == 1 else self.binary("Mult", product, square)
            left >>= 1
            square = self.binary("Mult", square, square) if left else square
        return product

    def _size(self, value: Number) -> Number:
        if value.kind == "f":
            return Number("f", self.call("llvm.fabs.f64", "double", [("double", value.name)]))
        if value.natural or value.kind != "i":
            return value
        found = self.choose(self.compare("Lt", value, ZERO), self.negative(value), value)
        return Number("i", found.name, None, True)

    def _extreme(self, op: str, numbers: list[Number]) -> Number:
        """Python's ``max`` or ``min``: the first one, but where a later one is beyond it; NaN never is."""
        kind = numbers[0].kind
        for one in numbers[1:]:
            kind = common_kind(kind, one.kind)
        found = self.number(numbers[0], kind)
        for one in numbers[1:]:
            value = self.number(one, kind)
            chosen = self.choose(self.compare(op, value, found), value, found)
            natural = value.natural or found.natural if op == "Gt" else chosen.natural
            found = Number(kind, chosen.name, None, natural)
        return found


def result_type(kinds: list[str]) -> str:
    """The type of a function's result with these parts."""
    if not kinds:
        return "void"
    return kinds[0] if len(kinds) == 1 else "{ " + ", ".join(kinds) + " }"
