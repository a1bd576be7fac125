"""Expressions of kernels in LLVM's language: names, elements, sums, tests."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable

from routh.compiling.foreign import Foreign
from routh.compiling.translator.calls import Calls
from routh.compiling.translator.values import (
    NOTHING,
    Array,
    Group,
    Number,
    Thing,
    UntranslatableError,
    Value,
    common_kind,
    described,
    kind_of,
    of_parts,
    parts_of,
    types_of,
)
from routh.compiling.translator.writing import ZERO, Block, constant


class Again(Exception):
    """A variable turned out to need room, or another kind: no error, the function is written once more."""


class Expressions(Calls, ABC):
    """Writes expressions; names are those of one function."""

    @abstractmethod
    def read(self, name: str) -> Value:
        """What a name of the function stands for."""

    def expression(self, node: ast.expr) -> Value:
        """Write an expression."""
        write: Callable[[Foreign], Value] | None = getattr(self, "_" + type(node).__name__.lower(), None)
        try:
            if write is None:
                raise UntranslatableError(f"a kernel may not contain {ast.unparse(node)}")
            return write(node)
        except UntranslatableError as error:
            self.locate(error, node)
            raise

    @abstractmethod
    def locate(self, error: UntranslatableError, node: ast.expr | ast.stmt) -> None:
        """Say where the refused thing stands, unless that is said already."""

    def number_of(self, node: ast.expr) -> Number:
        """Write an expression that is a number."""
        value = self.expression(node)
        if not isinstance(value, Number):
            raise UntranslatableError(f"{ast.unparse(node)} is no number")
        return value

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
        if isinstance(value, Group) and value.made is not None and node.attr in value.made._fields:
            part: Value = value.parts[value.made._fields.index(node.attr)]
            return part
        if isinstance(value, Array) and node.attr == "shape":
            return Group(value.shape)
        raise UntranslatableError(f"a kernel may not contain {ast.unparse(node)}")

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
        if not isinstance(value, Array):
            raise UntranslatableError(f"a kernel may not contain {ast.unparse(node)}")
        places = self.places(node.slice)
        if len(places) == len(value.shape) and all(isinstance(one, Number) for one in places):
            return self.load(value, self.address(value, places))
        return self._part(value, places)

    def places(self, node: ast.expr) -> list[Foreign]:
        """The indices of an element; slices as they are."""
        if isinstance(node, ast.Tuple):
            return [one for part in node.elts for one in self.places(part)]
        if isinstance(node, ast.Slice):
            return [node]
        value = self.expression(node)
        found = list(value.parts) if isinstance(value, Group) else [value]
        if not all(isinstance(one, Number) for one in found):
            raise UntranslatableError(f"{ast.unparse(node)} as an index")
        return found

    def _part(self, array: Array, places: list[Foreign]) -> Array:
        """A dense part of an array: indices, and after them at most one slice."""
        *numbers, last = places
        if not all(isinstance(one, Number) for one in numbers) or len(places) > len(array.shape):
            raise UntranslatableError("a part of an array that is not dense")
        if isinstance(last, Number):
            rest = None if array.strides is None else array.strides[len(places) :]
            return Array(array.element, self.address(array, places), array.shape[len(places) :], rest)
        if last.step is not None:
            raise UntranslatableError("a slice with steps")
        length = array.shape[len(numbers)]
        first = ZERO if last.lower is None else self._clamped(self.number_of(last.lower), length)
        end = length if last.upper is None else self._clamped(self.number_of(last.upper), length)
        extent = self.binary("Sub", end, first, fits=True)
        extent = self.choose(self.compare("Gt", extent, ZERO), extent, ZERO)
        inside = Number("i", first.name, first.known, True)
        rest = array.shape[len(numbers) + 1 :]
        return Array(
            array.element,
            self.address(array, [*numbers, inside]),
            (Number("i", extent.name, None, True), *rest),
            None if array.strides is None else array.strides[len(numbers) :],
        )

    def _clamped(self, place: Number, length: Number) -> Number:
        """The bound of a slice, between 0 and the length."""
        place = self._from_start(place, length)
        if not place.natural:
            place = self.choose(self.compare("Lt", place, ZERO), ZERO, place)
        return self.choose(self.compare("Lt", place, length), place, length)

    # sums and tests

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.number_of(node.left), self.number_of(node.right)
        return self.operation(type(node.op).__name__, left, right)

    def operation(self, op: str, left: Number, right: Number) -> Number:
        """A sum, a power and the like."""
        return self.power(left, right) if op == "Pow" else self.binary(op, left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            known = self.settled(node.operand)
            if known is not None:
                return constant("b", not known)
            test = self.truth(self.number_of(node.operand))
            return Number("b", self.write(f"xor i1 {test.name}, true"))
        if isinstance(node.op, ast.USub):
            return self.negative(self.number_of(node.operand))
        raise UntranslatableError(f"a kernel may not contain {ast.unparse(node)}")

    def settled(self, node: ast.expr) -> bool | None:
        """What a test says, where that is known already: tests for None, and of constants."""
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            left, right = self.expression(node.left), self.expression(node.comparators[0])
            if right != NOTHING:
                raise UntranslatableError(f"a kernel may not contain {ast.unparse(node)}")
            return (left == NOTHING) == isinstance(node.ops[0], ast.Is)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.settled(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            for part in node.values:
                known = self.settled(part)
                if known is None:
                    return None
                if known == stops:
                    return stops
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
                raise UntranslatableError(
                    f"{ast.unparse(node)} is no bool, in an and or an or that is a value"
                )
            self.fork(self.truth(number).name, yes, no)

    def _test_parts(self, node: ast.BoolOp, yes: Block, no: Block, *, of_bools: bool) -> None:
        """One part after the other, up to the first that decides; none after one that is known to."""
        stops = isinstance(node.op, ast.Or)
        decided, open_end = (yes, no) if stops else (no, yes)
        for part in node.values:
            known = self.settled(part)
            if known == stops:
                self.jump(decided)
                return
            if known is None:
                following = self.new_block()
                if stops:
                    self.test(part, yes, following, of_bools=of_bools)
                else:
                    self.test(part, following, no, of_bools=of_bools)
                self.begin(following)
        self.jump(open_end)

    def _test_chain(self, node: ast.Compare, yes: Block, no: Block) -> None:
        left = self.number_of(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.number_of(comparator)
            following = yes if comparator is node.comparators[-1] else self.new_block()
            self.fork(self.compare(type(op).__name__, left, right).name, following, no)
            if following is not yes:
                self.begin(following)
            left = right

    def _compare(self, node: ast.Compare) -> Value:
        known = self.settled(node)
        if known is not None:
            return constant("b", known)
        if len(node.ops) > 1:
            return self._decided(node)
        left, right = self.expression(node.left), self.expression(node.comparators[0])
        if isinstance(node.ops[0], ast.In) and isinstance(right, Group):
            return self._is_among(left, right)
        return self._ordered(type(node.ops[0]).__name__, left, right)

    def _ordered(self, op: str, left: Value, right: Value) -> Number:
        if isinstance(left, Number) and isinstance(right, Number):
            return self.compare(op, left, right)
        raise UntranslatableError(f"{op} of {described(kind_of(left))} and {described(kind_of(right))}")

    def _is_among(self, value: Value, group: Group) -> Number:
        found = constant("b", False)
        for part in group.parts:
            found = self.binary("BitOr", found, self._ordered("Eq", value, part))
        return found

    def _boolop(self, node: ast.BoolOp) -> Value:
        known = self.settled(node)
        return self._decided(node) if known is None else constant("b", known)

    def _decided(self, node: ast.expr) -> Number:
        """A test as a number."""
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
        kind = common_kind(kind_of(ends[0][0]), kind_of(ends[1][0]))
        sides = []
        for value, block in ends:
            self.block = block
            sides.append([(name, block.label) for _, name in parts_of(self.convert(value, kind))])
            self.jump(after)
        self.begin(after)
        names = []
        for one, given in zip(types_of(kind), zip(*sides, strict=True), strict=True):
            either = ", ".join(f"[ {name}, %{label} ]" for name, label in given)
            names.append(self.write(f"phi {one} {either}"))
        found = of_parts(kind, iter(names))
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
        arguments = [self.expression(one) for one in node.args]
        what = called.what
        if hasattr(what, "py_func"):
            return self.call_kernel(what, arguments)
        if getattr(what, "is_at_address", False):
            return self.call_address(*arguments)
        if isinstance(what, type) and hasattr(what, "_fields"):
            if len(arguments) != len(what._fields):
                raise UntranslatableError(f"a kernel may not contain {ast.unparse(node)}")
            return Group(tuple(arguments), what)
        if what is len:
            return self.length_of(arguments[0])
        numbers = [one for one in arguments if isinstance(one, Number)]
        if len(numbers) != len(arguments) or not numbers:
            raise UntranslatableError(f"a kernel may not contain {ast.unparse(node)}")
        return self.function_of(what, numbers)
