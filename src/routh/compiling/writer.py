"""Numbers in LLVM's language: the words for sums, comparisons, conversions and elements of arrays.

Nothing is optimised here but what is shorter at once: sums of constants, and indices that cannot be negative.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Sequence

from routh.compiling.foreign import Foreign
from routh.compiling.values import (
    ELEMENTS,
    NUMBERS,
    Array,
    Group,
    Kind,
    Number,
    UntranslatableError,
    Value,
    described,
    kind_of,
    wider,
)

_FLOAT = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}
_BITWISE = {"BitAnd": "and", "BitOr": "or", "BitXor": "xor"}
_WHOLE = {"Add": "add", "Sub": "sub", "Mult": "mul", **_BITWISE}
_OF_CONSTANTS = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul}
ORDER = {"Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge", "Eq": "eq", "NotEq": "ne"}
_BITS = {"b": 1, "w": 32, "i": 64, "u": 64}


def constant(kind: str, value: Foreign) -> Number:
    """A number that is known."""
    if kind == "f":
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return Number(kind, f"0x{bits:016X}", float(value))
    value = int(value)
    if kind == "i":
        value = (value + 2**63) % 2**64 - 2**63
    return Number(kind, ("true" if value else "false") if kind == "b" else str(value), value, value >= 0)


ZERO, ONE = constant("i", 0), constant("i", 1)


class Block:
    """Lines without a jump, and where they lead."""

    __slots__ = ("ended", "label", "lines", "reached")

    def __init__(self, label: str) -> None:
        self.label = label
        self.lines: list[str] = []
        self.ended = False
        self.reached = False  # from a block before


class Writer:
    """Writes the body of one function."""

    def __init__(self, fast: str) -> None:
        self.fast = fast  # words that let floating-point numbers be reordered
        self.used: set[str] = set()  # declarations of what is called
        self.head = Block("head")
        self.block = self.head
        self.blocks = [self.head]
        self._names = 0

    # blocks

    def new_block(self) -> Block:
        """A block that is not yet part of the function."""
        self._names += 1
        return Block(f"b{self._names}")

    def begin(self, block: Block) -> None:
        """Write on in this block."""
        self.blocks.append(block)
        self.block = block

    def go_on(self, block: Block) -> None:
        """Write on in this block, where anything leads there."""
        self.begin(block)
        if not block.reached:
            self.end("unreachable")

    def end(self, line: str) -> None:
        """The last line of a block."""
        self.block.lines.append(line)
        self.block.ended = True

    def jump(self, block: Block, words: str = "") -> None:
        """Go on there, where the block has not ended."""
        if not self.block.ended:
            self.end(f"br label %{block.label}{words}")
            block.reached = True

    def fork(self, test: Number, yes: Block, no: Block) -> None:
        """Go on in one of two blocks."""
        if test.known is not None:
            self.jump(yes if test.known else no)
            return
        self.end(f"br i1 {test.name}, label %{yes.label}, label %{no.label}")
        yes.reached = no.reached = True

    # words

    def new_name(self) -> str:
        """A name that nothing has yet."""
        self._names += 1
        return f"%v{self._names}"

    def write(self, words: str) -> str:
        """A line whose result gets a name."""
        name = self.new_name()
        self.block.lines.append(f"{name} = {words}")
        return name

    def room(self, kind: str) -> str:
        """The address of room for a number."""
        name = self.new_name()
        self.head.lines.insert(0, f"{name} = alloca {kind}")
        return name

    def call(self, function: str, result: str, *names: str, kind: str = "double") -> str:
        """A call of a function of C or of LLVM with arguments of one kind."""
        self.used.add(f"declare {result} @{function}({', '.join(kind for _ in names)})")
        given = ", ".join(f"{kind} {name}" for name in names)
        return self.write(f"call {self.fast if result == 'double' else ''}{result} @{function}({given})")

    # numbers

    def convert(self, value: Value, kind: Kind) -> Value:
        """A value as one of another kind."""
        if kind_of(value) == kind:
            return value
        if isinstance(value, Group) and kind[0] == "group":
            return Group(tuple(map(self.convert, value.parts, kind[2])), value.made)
        if not isinstance(value, Number) or not isinstance(kind, str):
            raise UntranslatableError(f"{described(kind_of(value))} as {described(kind)}")
        return self.number(value, kind)

    def number(self, value: Number, kind: str) -> Number:
        """A number as one of another kind; a float too large for an integer is the largest, NaN is 0."""
        if value.kind == kind:
            return value
        if kind == "b":
            return self.truth(value)
        if value.known is not None and kind in "fi" and value.kind in "ib":
            return constant(kind, value.known)
        if value.kind == "f":
            if kind == "w":
                raise UntranslatableError("a float as an integer of 32 bits")
            sign = "s" if kind == "i" else "u"
            return Number(kind, self.call(f"llvm.fpto{sign}i.sat.i64.f64", "i64", value.name))
        natural = kind == "i" and (value.natural or value.kind in "bw")
        if kind == "f":
            word = "sitofp" if value.kind == "i" else "uitofp"
        elif _BITS[value.kind] == _BITS[kind]:
            return Number(kind, value.name, value.known, natural)
        else:
            word = "zext" if _BITS[value.kind] < _BITS[kind] else "trunc"
        made = self.write(f"{word} {NUMBERS[value.kind]} {value.name} to {NUMBERS[kind]}")
        return Number(kind, made, None, natural)

    def truth(self, value: Number) -> Number:
        """Whether a number is not zero."""
        if value.kind == "b":
            return value
        if value.known is not None:
            return constant("b", bool(value.known))
        if value.kind == "f":
            return Number("b", self.write(f"fcmp {self.fast}une double {value.name}, 0.0"))
        return Number("b", self.write(f"icmp ne {NUMBERS[value.kind]} {value.name}, 0"))

    def compare(self, op: str, left: Number, right: Number) -> Number:
        """A comparison; NaN is unequal to everything, and in no order."""
        kind, order = self._common(left, right), ORDER[op]
        left, right = self.number(left, kind), self.number(right, kind)
        if kind == "f":
            words = f"fcmp {self.fast}{'u' if order == 'ne' else 'o'}{order} double"
        else:
            sign = "" if op in ("Eq", "NotEq") else ("s" if kind == "i" else "u")
            words = f"icmp {sign}{order} {NUMBERS[kind]}"
        return Number("b", self.write(f"{words} {left.name}, {right.name}"))

    def _common(self, left: Number, right: Number) -> str:
        """The kind in which two numbers meet."""
        kinds = {left.kind, right.kind}
        if kinds == {"u", "i"} and left.known is None and right.known is None:
            raise UntranslatableError("signed and unsigned integers together")
        return "u" if kinds == {"w"} else wider("i", *kinds)

    def binary(self, op: str, left: Number, right: Number, *, fits: bool = False) -> Number:
        """A sum, product, quotient or the like; integers wrap around, unless they are known to fit."""
        if op in _BITWISE and left.kind == right.kind == "b":
            return Number("b", self.write(f"{_WHOLE[op]} i1 {left.name}, {right.name}"))
        kind = "f" if op == "Div" else self._common(left, right)
        left, right = self.number(left, kind), self.number(right, kind)
        if kind == "f":
            if op not in _FLOAT:
                raise UntranslatableError(f"{op} of floats; wanted integers")
            return Number("f", self.write(f"{_FLOAT[op]} {self.fast}double {left.name}, {right.name}"))
        if left.known is not None and right.known is not None and kind == "i" and op in _OF_CONSTANTS:
            return constant("i", _OF_CONSTANTS[op](left.known, right.known))
        natural = kind == "i" and left.natural and right.natural
        if op in _WHOLE:
            sign = "nsw " if fits and kind == "i" and op in _FLOAT else ""
            name = self.write(f"{_WHOLE[op]} {sign}i64 {left.name}, {right.name}")
            return Number(kind, name, None, natural and op != "Sub")
        if op in ("RShift", "LShift"):
            word = "shl" if op == "LShift" else ("ashr" if kind == "i" else "lshr")
            if right.known is None:
                right = Number(kind, self.write(f"and i64 {right.name}, 63"))
            elif not 0 <= right.known < 64:
                raise UntranslatableError(f"a shift by {right.known}; wanted 0 to 63")
            name = self.write(f"{word} i64 {left.name}, {right.name}")
            return Number(kind, name, None, natural and op == "RShift")
        if op in ("FloorDiv", "Mod"):
            return self._whole_quotient(op, kind, left, right)
        raise UntranslatableError(f"a kernel may not contain {op}")

    def _whole_quotient(self, op: str, kind: str, left: Number, right: Number) -> Number:
        """Python's ``//`` and ``%`` of integers, which round down; by zero, zero."""
        sign, natural = ("s" if kind == "i" else "u"), left.natural and right.natural
        divisor, special = right.name, []  # quotients and rests by divisors that the machine cannot take
        if not right.known:
            special.append((self.write(f"icmp eq i64 {divisor}, 0"), "0"))
        if kind == "i" and not natural and right.known in (None, 0, -1):  # the lowest by -1 does not fit
            special.append((self.write(f"icmp eq i64 {divisor}, -1"), self.write(f"sub i64 0, {left.name}")))
        for test, _ in special:
            divisor = self.write(f"select i1 {test}, i64 1, i64 {divisor}")
        quotient = self.write(f"{sign}div i64 {left.name}, {divisor}")
        rest = self.write(f"sub i64 {left.name}, {self.write(f'mul i64 {quotient}, {divisor}')}")
        if kind == "i" and not natural:
            turned = self.write(f"icmp slt i64 {self.write(f'xor i64 {rest}, {divisor}')}, 0")
            below = self.write(f"and i1 {turned}, {self.write(f'icmp ne i64 {rest}, 0')}")
            quotient = self.write(f"sub i64 {quotient}, {self.write(f'zext i1 {below} to i64')}")
            rest = self.write(f"add i64 {rest}, {self.write(f'select i1 {below}, i64 {divisor}, i64 0')}")
        name = quotient if op == "FloorDiv" else rest
        for test, found in special:
            name = self.write(f"select i1 {test}, i64 {found if op == 'FloorDiv' else '0'}, i64 {name}")
        return Number(kind, name, None, natural)

    def negative(self, value: Number) -> Number:
        """Negate a number."""
        if value.known is not None and value.kind in "fi":
            return constant(value.kind, -value.known)
        if value.kind == "f":
            return Number("f", self.write(f"fneg double {value.name}"))
        return self.binary("Sub", ZERO, self.number(value, "i"))

    def choose(self, test: Number, yes: Number, no: Number) -> Number:
        """One of two numbers of one kind."""
        kind = NUMBERS[yes.kind]
        name = self.write(f"select i1 {test.name}, {kind} {yes.name}, {kind} {no.name}")
        return Number(yes.kind, name, None, yes.natural and no.natural)

    # arrays

    def address(self, array: Array, places: Sequence[Number]) -> str:
        """The address of an element, or of the first one of a part of the array."""
        offset = ZERO
        if array.strides is not None:
            for place, length, stride in zip(places, array.shape, array.strides, strict=False):
                step = self.binary("Mult", self.from_start(place, length), stride, fits=True)
                offset = self.binary("Add", offset, step, fits=True)
            return self.write(f"getelementptr i8, ptr {array.address}, i64 {offset.name}")
        for axis, length in enumerate(array.shape):
            if offset.known != 0:
                offset = self.binary("Mult", offset, length, fits=True)
            if axis < len(places):
                place = self.from_start(places[axis], length)
                offset = place if offset.known == 0 else self.binary("Add", offset, place, fits=True)
        if offset.known == 0:
            return array.address
        element = ELEMENTS[array.element][0]
        return self.write(f"getelementptr {element}, ptr {array.address}, i64 {offset.name}")

    def from_start(self, place: Number, length: Number) -> Number:
        """An index; negative ones count from the end."""
        if place.kind == "f":
            raise UntranslatableError("an index that is no integer")
        signed, place = place.kind == "i", self.number(place, "i")
        if place.natural or not signed:
            return place
        turned = self.binary("Add", place, length, fits=True)
        if place.known is not None:
            return turned
        return self.choose(self.compare("Lt", place, ZERO), turned, place)

    def load(self, element: Array) -> Number:
        """An element: an array without axes."""
        memory, kind, word = ELEMENTS[element.element]
        name = self.write(f"load {memory}, ptr {element.address}")
        return Number(kind, self.write(f"{word} {memory} {name} to {NUMBERS[kind]}") if word else name)

    def as_element(self, array: Array, value: Number) -> str:
        """A number as it lies in an array's memory, after its type there."""
        memory, kind, word = ELEMENTS[array.element]
        name = self.number(value, kind).name
        if word:
            name = self.write(f"{'zext' if word == 'trunc' else 'trunc'} {NUMBERS[kind]} {name} to {memory}")
        return f"{memory} {name}"

    def store(self, element: Array, value: Number) -> None:
        """Set an element."""
        self.block.lines.append(f"store {self.as_element(element, value)}, ptr {element.address}")
