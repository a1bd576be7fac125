"""Expressions of kernels in LLVM's language: names, elements, sums, tests, calls."""

from __future__ import annotations

import ast
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np

from routh.compiling import elementary
from routh.compiling.foreign import Foreign
from routh.compiling.rows import row_named
from routh.compiling.translator.values import (
    ELEMENTS,
    NOTHING,
    NUMBERS,
    Array,
    CFunction,
    Group,
    Number,
    Thing,
    UntranslatableError,
    Value,
    common_kind,
    defaults_after,
    described,
    kind_of,
    kind_of_number,
    memory_at,
    natural,
    of_words,
    types_of,
    words_of,
)
from routh.compiling.translator.writer import ZERO, Block, Writer, constant

_CASTS = {int: "i", np.int64: "i", float: "f", bool: "b", np.uint64: "u", np.uint32: "w"}
_INTRINSIC = (math.sqrt, math.sin, math.cos, math.ceil, math.floor)  # functions of LLVM
_OF_C = (math.atan2,)


class Again(Exception):
    """A variable turned out to need room, or another kind: no error, the function is written once more."""


class Expressions(Writer, ABC):
    """Writes expressions; names are those of one function."""

    program: Foreign  # where translated functions are: a `routh.compiling.translator.program.Program`

    @abstractmethod
    def read(self, name: str) -> Value:
        """What a name of the function stands for."""

    @abstractmethod
    def locate(self, error: UntranslatableError, node: ast.expr | ast.stmt) -> None:
        """Say where the refused thing stands, unless that is said already."""

    def expression(self, node: ast.expr) -> Value:
        """Write an expression."""
        write: Callable[[Foreign], Value] = getattr(self, "_" + type(node).__name__.lower(), self._refused)
        try:
            known = self.settled(node) if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp) else None
            return write(node) if known is None else constant("b", known)
        except UntranslatableError as error:
            self.locate(error, node)
            raise

    def _refused(self, node: ast.expr | ast.stmt) -> Value:
        raise refused(node)

    def number_of(self, node: ast.expr) -> Number:
        """Write an expression that is a number."""
        value = self.expression(node)
        if not isinstance(value, Number):
            raise UntranslatableError(f"{ast.unparse(node)} is no number")
        return value

    # what is known

    def meant(self, what: Foreign) -> Value:
        """A value that Python knows already."""
        kind = kind_of_number(what)
        if kind is not None:
            return constant(kind, what)
        if isinstance(what, tuple):
            return Group(tuple(map(self.meant, what)), type(what) if hasattr(what, "_fields") else None)
        if not isinstance(what, np.ndarray):
            return Thing(what)
        element = what.dtype.name
        if element not in ("float64", "int64"):
            raise UntranslatableError(f"an array of {element}")
        memory, kind, _ = ELEMENTS[element]
        numbers = ", ".join(f"{memory} {constant(kind, one).name}" for one in what.ravel())
        name = self.program.constant_array(f"[{what.size} x {memory}] [{numbers}]")
        return Array(element, name, tuple(constant("i", length) for length in what.shape))

    def _constant(self, node: ast.Constant) -> Value:
        return self.meant(node.value)

    def _name(self, node: ast.Name) -> Value:
        return self.read(node.id)

    def _tuple(self, node: ast.Tuple) -> Value:
        return Group(tuple(map(self.expression, node.elts)))

    def _attribute(self, node: ast.Attribute) -> Value:
        value = self.expression(node.value)
        if isinstance(value, Thing) and value.what is not None:
            if not hasattr(value.what, node.attr):
                raise UntranslatableError(f"{ast.unparse(node)} is not known")
            return self.meant(getattr(value.what, node.attr))
        if isinstance(value, Group) and value.made is not None:
            row = row_named(value.made, node.attr)
            field = node.attr if row is None else row.field
            if field in value.made._fields:
                part: Value = value.parts[value.made._fields.index(field)]
                if row is not None and isinstance(part, Array):
                    return self._part(part, [constant("i", row.number)])
                return part
        if isinstance(value, Array) and node.attr == "shape":
            return Group(value.shape)
        raise refused(node)

    # elements

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.expression(node.value)
        if isinstance(value, Group):
            place = self.number_of(node.slice)
            if place.known is None:
                raise UntranslatableError(f"{ast.unparse(node)}: a place in a tuple that is not known")
            if not -len(value.parts) <= place.known < len(value.parts):
                raise UntranslatableError(f"{ast.unparse(node)}: the tuple has {len(value.parts)} parts")
            part: Value = value.parts[place.known]
            return part
        array, places, is_element = self._indexed(node, value)
        return self.load(array, self.address(array, places)) if is_element else self._part(array, places)

    def element(self, node: ast.Subscript) -> tuple[Array, str]:
        """The array and the address of one of its elements."""
        array, places, is_element = self._indexed(node, self.expression(node.value))
        if not is_element:
            raise refused(node)
        return array, self.address(array, places)

    def _indexed(self, node: ast.Subscript, array: Value) -> tuple[Array, list[Foreign], bool]:
        """An array, its indices, and whether they tell one element."""
        if not isinstance(array, Array):
            raise refused(node)
        places = self._places(node.slice)
        return array, places, len(places) == len(array.shape) and isinstance(places[-1], Number)

    def _places(self, node: ast.expr) -> list[Foreign]:
        """The indices of an element; a slice, which stands last, as it is."""
        if isinstance(node, ast.Tuple):
            found = [one for part in node.elts for one in self._places(part)]
        elif isinstance(node, ast.Slice):
            return [node]
        else:
            value = self.expression(node)
            found = list(value.parts) if isinstance(value, Group) else [value]
            if not all(isinstance(one, Number) for one in found):
                raise UntranslatableError(f"{ast.unparse(node)} as an index")
        if not all(isinstance(one, Number) for one in found[:-1]):
            raise UntranslatableError("a part of an array that is not dense")
        return found

    def _part(self, array: Array, places: list[Foreign]) -> Array:
        """A dense part of an array: indices, and after them at most one slice."""
        *numbers, last = places
        if len(places) > len(array.shape):
            raise UntranslatableError("more indices than an array has axes")
        if isinstance(last, Number):
            steps = None if array.strides is None else array.strides[len(places) :]
            return Array(array.element, self.address(array, places), array.shape[len(places) :], steps)
        if last.step is not None:
            raise UntranslatableError("a slice with steps")
        length, *rest = array.shape[len(numbers) :]
        first = ZERO if last.lower is None else self._clamped(self.number_of(last.lower), length)
        end = length if last.upper is None else self._clamped(self.number_of(last.upper), length)
        extent = self.binary("Sub", end, first, fits=True)
        extent = self.choose(self.compare("Gt", extent, ZERO), extent, ZERO)
        return Array(
            array.element,
            self.address(array, [*numbers, Number("i", first.name, first.known, True)]),
            (natural(extent.name), *rest),
            None if array.strides is None else array.strides[len(numbers) :],
        )

    def _clamped(self, place: Number, length: Number) -> Number:
        """The bound of a slice, between 0 and the length."""
        place = self.from_start(place, length)
        if not place.natural:
            place = self.choose(self.compare("Lt", place, ZERO), ZERO, place)
        return self.choose(self.compare("Lt", place, length), place, length)

    # sums and tests

    def _binop(self, node: ast.BinOp) -> Value:
        return self.operation(node.op, self.number_of(node.left), self.number_of(node.right))

    def operation(self, op: ast.operator, left: Number, right: Number) -> Number:
        """A sum, a power and the like."""
        if isinstance(op, ast.Pow):
            return self._power(left, right)
        return self.binary(type(op).__name__, left, right)

    def _power(self, base: Number, exponent: Number) -> Number:
        """A power by squares: of an exponent that is known in a few products."""
        if exponent.kind == "f" or base.kind not in "fi":
            raise UntranslatableError("a power that is no integer: wanted math.pow")
        if exponent.known is None:
            if base.kind != "f":
                raise UntranslatableError("an integer to a power that is not known")
            found = self._own_function(elementary.whole_power, [base, exponent])
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

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            test = self.truth(self.number_of(node.operand))
            return Number("b", self.write(f"xor i1 {test.name}, true"))
        if isinstance(node.op, ast.USub):
            return self.negative(self.number_of(node.operand))
        raise refused(node)

    def settled(self, node: ast.expr) -> bool | None:
        """What a test says, where that is known already: tests for None, and of constants."""
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            left, right = self.expression(node.left), self.expression(node.comparators[0])
            if right != NOTHING:
                raise refused(node)
            return (left == NOTHING) == isinstance(node.ops[0], ast.Is)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.settled(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            for part in node.values:
                known = self.settled(part)
                if known is None or known == stops:
                    return known
            return not stops
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.Name):
            value = self.read(node.id)
            if isinstance(value, Number) and value.known is not None:
                return bool(value.known)
        return None

    def test(self, node: ast.expr, yes: Block, no: Block, *, of_bools: bool = False) -> None:
        """Go on where a test says; ``of_bools``: it is a value, too, and so must not be of other numbers."""
        known = self.settled(node)
        if known is not None:
            self.jump(yes if known else no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.test(node.operand, no, yes)
        elif isinstance(node, ast.BoolOp):
            self._test_parts(node, yes, no, of_bools=of_bools)
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            self._test_chain(node, yes, no)
        else:
            number = self.number_of(node)
            if of_bools and number.kind != "b":
                text = ast.unparse(node)
                raise UntranslatableError(f"{text} is no bool, in an and or an or that is a value")
            self.fork(self.truth(number), yes, no)

    def _test_parts(self, node: ast.BoolOp, yes: Block, no: Block, *, of_bools: bool) -> None:
        """One part after the other, up to the first that decides; none after one that is known to."""
        stops = isinstance(node.op, ast.Or)
        for part in node.values:
            known = self.settled(part)
            if known == stops:
                self.jump(yes if stops else no)
                return
            if known is None:
                following = self.new_block()
                ways = (yes, following) if stops else (following, no)
                self.test(part, *ways, of_bools=of_bools)
                self.begin(following)
        self.jump(no if stops else yes)

    def _test_chain(self, node: ast.Compare, yes: Block, no: Block) -> None:
        left = self.number_of(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.number_of(comparator)
            following = yes if comparator is node.comparators[-1] else self.new_block()
            self.fork(self.compare(type(op).__name__, left, right), following, no)
            if following is not yes:
                self.begin(following)
            left = right

    def _compare(self, node: ast.Compare) -> Value:
        if len(node.ops) > 1:
            return self._boolop(node)
        op, left = type(node.ops[0]).__name__, self.expression(node.left)
        right = self.expression(node.comparators[0])
        if op == "In" and isinstance(right, Group):
            found = constant("b", False)
            for part in right.parts:
                found = self.binary("BitOr", found, self._ordered("Eq", left, part))
            return found
        return self._ordered(op, left, right)

    def _ordered(self, op: str, left: Value, right: Value) -> Number:
        if isinstance(left, Number) and isinstance(right, Number):
            return self.compare(op, left, right)
        raise UntranslatableError(f"{op} of {described(kind_of(left))} and {described(kind_of(right))}")

    def _boolop(self, node: ast.BoolOp | ast.Compare) -> Number:
        """A test of several parts as a number."""
        yes, no, after = self.new_block(), self.new_block(), self.new_block()
        self.test(node, yes, no, of_bools=True)
        for block in (yes, no):
            self.begin(block)
            self.jump(after)
        self.begin(after)
        return Number("b", self.write(f"phi i1 [ true, %{yes.label} ], [ false, %{no.label} ]"))

    def _ifexp(self, node: ast.IfExp) -> Value:
        known = self.settled(node.test)
        if known is not None:
            return self.expression(node.body if known else node.orelse)
        yes, no, after = self.new_block(), self.new_block(), self.new_block()
        self.test(node.test, yes, no)
        ends = []
        for block, side in ((yes, node.body), (no, node.orelse)):
            self.begin(block)
            ends.append((self.expression(side), self.block))
        kind = common_kind(*(kind_of(value) for value, _ in ends))
        sides = []
        for value, block in ends:
            self.block = block
            sides.append([f"[ {name}, %{block.label} ]" for _, name in words_of(self.convert(value, kind))])
            self.jump(after)
        self.begin(after)
        given = zip(types_of(kind), *sides, strict=True)
        found = of_words(kind, iter([self.write(f"phi {one} {', '.join(ways)}") for one, *ways in given]))
        if isinstance(found, Number) and all(isinstance(one, Number) and one.natural for one, _ in ends):
            return Number(found.kind, found.name, None, True)
        return found

    # calls

    def _call(self, node: ast.Call) -> Value:
        called = self.expression(node.func)
        if not isinstance(called, Thing):
            raise UntranslatableError(f"{ast.unparse(node.func)} is no function")
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise UntranslatableError(f"{ast.unparse(node)}: arguments are given one by one, by position")
        found = self.call_of(called.what, [self.expression(one) for one in node.args])
        if found is None:
            raise refused(node)
        return found

    def call_of(self, what: Foreign, arguments: list[Value]) -> Value | None:
        """A call of something; None where a kernel may not call it so."""
        if hasattr(what, "py_func"):
            return self._call_kernel(what, arguments)
        if getattr(what, "is_at_address", False):
            return self._call_address(*arguments)
        if isinstance(what, type) and hasattr(what, "_fields"):
            return Group(tuple(arguments), what) if len(arguments) == len(what._fields) else None
        if what is len and isinstance(arguments[0], Array):
            return arguments[0].shape[0]
        if what is len and isinstance(arguments[0], Group):
            return constant("i", len(arguments[0].parts))
        if what is memory_at and isinstance(arguments[0], Number) and isinstance(arguments[1], Thing):
            pointer = self.write(f"inttoptr i64 {arguments[0].name} to ptr")
            return Array(np.dtype(arguments[1].what).name, pointer, (constant("i", 2**62),))
        numbers = [one for one in arguments if isinstance(one, Number)]
        if isinstance(what, CFunction):
            words = [self.number(one, "i").name for one in numbers]
            return Number(what.result, self.call(what.name, NUMBERS[what.result], *words, kind="i64"))
        if len(numbers) != len(arguments) or not numbers:
            return None
        return self._function_of(what, numbers)

    def _call_kernel(self, kernel: Foreign, arguments: Sequence[Value]) -> Value:
        arguments = [*arguments, *map(self.meant, defaults_after(kernel.py_func, len(arguments)))]
        name, result = self.program.function(kernel, tuple(map(kind_of, arguments)))
        given = ", ".join(f"{one} {word}" for value in arguments for one, word in words_of(value))
        whole, count = result_type(result), len(types_of(result))
        words = f"call {whole} @{name}({given})"
        if count == 0:
            self.block.lines.append(words)
            return of_words(result, iter(()))
        made = [self.write(words)]
        if count > 1:
            made = [self.write(f"extractvalue {whole} {made[0]}, {k}") for k in range(count)]
        return of_words(result, iter(made))

    def _call_address(self, address: Value, *arguments: Value) -> Value:
        """A call of a C function by its address, with the addresses of arrays, and numbers."""
        if not isinstance(address, Number):
            raise UntranslatableError("an address that is no number")
        pointer = self.write(f"inttoptr i64 {address.name} to ptr")
        given = ", ".join("{} {}".format(*next(words_of(one))) for one in arguments)
        self.block.lines.append(f"call void {pointer}({given})")
        return NOTHING

    def _function_of(self, what: Foreign, numbers: list[Number]) -> Value:
        """Python's own functions, and those of its module math."""
        first = numbers[0]
        if what in _CASTS and len(numbers) == 1:
            return self.number(first, _CASTS[what])
        if what is abs:
            return self._size(first)
        if (what is max or what is min) and len(numbers) > 1:
            return self._extreme("Gt" if what is max else "Lt", numbers)
        if what is elementary.float_of:
            return Number("f", self.write(f"bitcast i64 {self.number(first, 'u').name} to double"))
        if what is elementary.bits_of:
            return Number("u", self.write(f"bitcast double {self.number(first, 'f').name} to i64"))
        own = elementary.INSTEAD.get(what, what)
        if getattr(own, "__module__", "") == elementary.__name__:
            return self._own_function(own, numbers)
        floats = [self.number(one, "f").name for one in numbers]
        if what in _OF_C:
            return Number("f", self.call(what.__name__, "double", *floats))
        if what in _INTRINSIC:
            found = Number("f", self.call(f"llvm.{what.__name__}.f64", "double", *floats))
            return self.number(found, "i") if what in (math.ceil, math.floor) else found
        if what is math.isfinite:
            size = self.call("llvm.fabs.f64", "double", *floats)
            return Number("b", self.write(f"fcmp olt double {size}, {constant('f', math.inf).name}"))
        if what is math.isnan:
            return Number("b", self.write(f"fcmp uno double {floats[0]}, {floats[0]}"))
        raise UntranslatableError(f"a kernel may not call {getattr(what, '__name__', what)}")

    def _own_function(self, own: Foreign, numbers: list[Number]) -> Value:
        """A function of `routh.compiling.elementary`, with whole numbers where it says int, else floats."""
        defaults_after(own, len(numbers))  # it has none
        kinds = ["i" if kind == "int" else "f" for kind in own.__annotations__.values()]
        return self._call_kernel(SimpleNamespace(py_func=own), [*map(self.number, numbers, kinds)])

    def _size(self, value: Number) -> Number:
        if value.kind == "f":
            return Number("f", self.call("llvm.fabs.f64", "double", value.name))
        if value.natural or value.kind != "i":
            return value
        return natural(self.choose(self.compare("Lt", value, ZERO), self.negative(value), value).name)

    def _extreme(self, op: str, numbers: list[Number]) -> Number:
        """Python's ``max`` or ``min``: the first one, but where a later one is beyond it; NaN never is."""
        kind = numbers[0].kind
        for one in numbers[1:]:
            kind = common_kind(kind, one.kind)
        found = self.number(numbers[0], kind)
        for one in numbers[1:]:
            value = self.number(one, kind)
            chosen = self.choose(self.compare(op, value, found), value, found)
            is_natural = value.natural or found.natural if op == "Gt" else chosen.natural
            found = Number(kind, chosen.name, None, is_natural)
        return found


def refused(node: ast.expr | ast.stmt) -> UntranslatableError:
    """What a kernel may not contain."""
    return UntranslatableError(f"a kernel may not contain {ast.unparse(node).splitlines()[0]}")


def result_type(kind: Foreign) -> str:
    """The type of a function's result of this kind."""
    kinds = types_of(kind)
    if len(kinds) < 2:
        return kinds[0] if kinds else "void"
    return "{ " + ", ".join(kinds) + " }"
