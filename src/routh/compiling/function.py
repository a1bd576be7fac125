"""One function of a kernel in LLVM's language: its statements and expressions, along Python's syntax tree.

`Function._statement` and `Function.expression` list what a kernel may contain. Everything else is refused.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from routh.compiling import elementary, threads
from routh.compiling.foreign import Foreign
from routh.compiling.rows import row_named
from routh.compiling.values import (
    ELEMENTS,
    NOTHING,
    NUMBERS,
    Array,
    CFunction,
    Group,
    Kind,
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
    result_type,
    types_of,
    words_of,
)
from routh.compiling.writer import ONE, ORDER, ZERO, Block, Writer, constant

RESULT = "return"  # under which the kind of a function's result is known: no variable's name
_CASTS = {int: "i", np.int64: "i", float: "f", bool: "b", np.uint64: "u", np.uint32: "w"}
_INTRINSIC = (math.sqrt, math.sin, math.cos, math.ceil, math.floor)  # functions of LLVM


class WriteAgain(Exception):
    """A variable turned out to need room, or another kind: no error, the function is written once more."""


class Knowledge:
    """What is known of a function's variables; it grows while the function is written again and again."""

    def __init__(self, node: ast.FunctionDef) -> None:
        nodes = list(ast.walk(node))
        stored = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        counters = {id(one.target) for one in nodes if isinstance(one, ast.For)}
        places = Counter(one.id for one in stored if id(one) not in counters)
        places.update({one.id for one in stored if id(one) in counters})  # one counter may serve many loops
        places.update(one.arg for one in node.args.args)
        self.local = set(places)
        self.roomy = {name for name, count in places.items() if count > 1}  # set in several places
        self.kinds: dict[str, Kind] = {}


class Function(Writer):
    """Writes the body of one function."""

    def __init__(self, program: Foreign, plain: Foreign, knowledge: Knowledge) -> None:
        marks = plain.__dict__.get("fastmath", ())
        super().__init__("".join(f"{word} " for word in sorted(marks)))
        self.program = program  # where translated functions are: `routh.compiling.program.Program`
        self.knowledge = knowledge
        self.line = plain.__code__.co_firstlineno  # of the source, which is written now
        self._bound: dict[str, tuple[Value, tuple[int, ...]]] = {}  # and the region where it holds
        self._rooms: dict[str, list[str]] = {}
        self._region: tuple[int, ...] = ()
        self._regions = 0
        self._loops: list[tuple[Block, Block]] = []  # where to go on: continue, break
        cells = zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True)
        enclosed = {name: cell.cell_contents for name, cell in cells}
        self._around = vars(builtins) | plain.__globals__ | enclosed

    def write_body(self, node: ast.FunctionDef, arguments: Sequence[Value]) -> None:
        """Write the whole function."""
        start = self.new_block()
        self.begin(start)
        for given, value in zip(node.args.args, arguments, strict=True):
            self._bind(given.arg, value)
        self._suite(node.body)
        if not self.block.ended:
            self._return(NOTHING)
        self.head.lines.append(f"br label %{start.label}")

    # names

    def _read(self, name: str) -> Value:
        """What a name stands for: a variable, or what Python finds under it."""
        if name in self._bound:
            value, region = self._bound[name]
            if self._region[: len(region)] == region:
                return value
        elif name in self._rooms:
            kind = self.knowledge.kinds[name]
            places = zip(types_of(kind), self._rooms[name], strict=True)
            return of_words(kind, iter([self.write(f"load {one}, ptr {room}") for one, room in places]))
        elif name not in self.knowledge.local:
            if name not in self._around:
                raise UntranslatableError(f"{name} is not known")
            return self.meant(self._around[name])
        elif name in self.knowledge.roomy:
            raise UntranslatableError(f"{name} is read before it is set")
        self.knowledge.roomy.add(name)
        raise WriteAgain

    def _bind(self, name: str, value: Value) -> None:
        """Set a variable."""
        if name not in self.knowledge.roomy:
            self._bound[name] = value, self._region
            return
        kind = self._widened(name, kind_of(value))
        if name not in self._rooms:
            self._rooms[name] = [self.room(one) for one in types_of(kind)]
        for (one, word), room in zip(words_of(self.convert(value, kind)), self._rooms[name], strict=True):
            self.block.lines.append(f"store {one} {word}, ptr {room}")

    def _widened(self, name: str, kind: Kind) -> Kind:
        """The kind of a variable that is of this kind too."""
        known = self.knowledge.kinds
        wider = common_kind(known.setdefault(name, kind), kind)
        if wider != known[name]:
            known[name] = wider
            raise WriteAgain
        return wider

    @contextmanager
    def _inside(self, *loop: tuple[Block, Block]) -> Iterator[None]:
        """A region, which may be a loop's: what is bound in it holds in it only."""
        before = self._region
        self._regions += 1
        self._region = (*before, self._regions)
        self._loops += loop
        yield
        del self._loops[len(self._loops) - len(loop) :]
        self._region = before

    # statements

    def _suite(self, statements: Sequence[ast.stmt]) -> None:
        """Statements one after the other; nothing comes after a jump."""
        for statement in statements:
            if not self.block.ended:
                self.line = statement.lineno
                self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
                pass
            case ast.Expr(value=value):
                self.expression(value)
            case ast.Assign(targets=targets, value=value):
                found = self.expression(value)
                for target in targets:
                    self._put(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._put(target, self.expression(value))
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                element = self._element(target)
                self.store(element, self.operation(op, self.load(element), self.number_of(value)))
            case ast.AugAssign(target=target, op=op, value=value):
                self._put(target, self.operation(op, self.number_of(target), self.number_of(value)))
            case ast.If():
                self._if(statement)
            case ast.For(iter=ast.Tuple(elts=things), orelse=[]):
                self._each(statement, things)
            case ast.For():
                self._for(statement)
            case ast.While(orelse=[]):
                self._while(statement)
            case ast.While():
                raise UntranslatableError("else after a loop")
            case ast.Continue():
                self.jump(self._loops[-1][0])
            case ast.Break():
                self.jump(self._loops[-1][1])
            case ast.Return(value=value):
                self._return(NOTHING if value is None else self.expression(value))
            case _:
                raise refused(statement)

    def _put(self, target: ast.expr, value: Value) -> None:
        """Set what is left of an equals sign."""
        match target, value:
            case ast.Name(id=name), _:
                self._bind(name, value)
            case ast.Tuple(elts=targets), Group(parts=parts) if len(targets) == len(parts):
                for one, part in zip(targets, parts, strict=True):
                    self._put(one, part)
            case ast.Subscript(), Number():
                self.store(self._element(target), value)
            case _:
                text = ast.unparse(target)
                raise UntranslatableError(f"{text} cannot be set to {described(kind_of(value))}")

    def _if(self, statement: ast.If) -> None:
        yes, no = self.new_block(), self.new_block()
        self.test(statement.test, yes, no)
        branches = [(yes, statement.body), (no, statement.orelse)]
        reached = [branch for branch in branches if branch[0].reached]
        if len(reached) == 1:  # what the test says is known: there is no other way
            self.begin(reached[0][0])
            self._suite(reached[0][1])
            return
        after = self.new_block()
        for block, suite in reached:
            self._branch(block, suite, after)
        self.go_on(after)

    def _branch(self, block: Block, suite: Sequence[ast.stmt], after: Block) -> None:
        """A region that begins here and ends there."""
        self.go_on(block)
        with self._inside():
            self._suite(suite)
        self.jump(after)

    def _while(self, statement: ast.While) -> None:
        head, body, after = self.new_block(), self.new_block(), self.new_block()
        self.jump(head)
        self.begin(head)
        with self._inside((head, after)):
            self.test(statement.test, body, after)
            self.begin(body)
            self._suite(statement.body)
        self.jump(head, self.program.again)
        self.go_on(after)

    def _for(self, statement: ast.For) -> None:
        target, (first, end, step) = statement.target, self._range(statement)
        head, body, latch, after = (self.new_block() for _ in range(4))
        done = self.new_block() if statement.orelse else after
        before = self.block.label
        self.jump(head)
        self.begin(head)
        following = self.new_name()
        place = self.write(f"phi i64 [ {first.name}, %{before} ], [ {following}, %{latch.label} ]")
        up = step.known is None or step.known > 0
        self.fork(self.compare("Lt" if up else "Gt", Number("i", place), end), body, done)
        self.begin(body)
        with self._inside((latch, after)):
            self._put(target, Number("i", place, None, first.natural and up))
            self._suite(statement.body)
        self.jump(latch)
        self._forget(target)
        self.begin(latch)
        self.block.lines.append(f"{following} = add nsw i64 {place}, {step.name}")
        self.jump(head, self.program.again)
        if statement.orelse:
            self._branch(done, statement.orelse, after)
        self.go_on(after)

    def _each(self, statement: ast.For, things: Sequence[ast.expr]) -> None:
        """A loop over a few things: written for each of them."""
        after = self.new_block()
        for value in [self.expression(one) for one in things]:
            following = self.new_block()
            with self._inside((following, after)):
                self._put(statement.target, value)
                self._suite(statement.body)
            self.jump(following)
            self.begin(following)
        self._forget(statement.target)
        self.jump(after)
        self.go_on(after)

    def _forget(self, target: ast.expr) -> None:
        """What a loop's variable holds after the loop is not known here: reading it takes room."""
        if isinstance(target, ast.Name) and target.id in self._bound:
            self._bound[target.id] = self._bound[target.id][0], (-1,)

    def _range(self, statement: ast.For) -> tuple[Number, Number, Number]:
        """First, end and step of a loop; a step that is not known is a length or the like, and at least 1."""
        match statement:
            case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id="range"), args=[_, *_] as bounds)):
                given = [self.number_of(one) for one in bounds]
            case _:
                raise UntranslatableError(f"a loop over {ast.unparse(statement.iter)}")
        if any(one.kind not in "ibw" for one in given) or len(given) > 3:
            raise refused(statement.iter)
        given = [self.number(one, "i") for one in given]
        first, end, step = {1: (ZERO, *given, ONE), 2: (*given, ONE), 3: tuple(given)}[len(given)]
        if step.known is None and step.natural:
            return first, end, self.choose(self.compare("Gt", step, ZERO), step, ONE)
        if not step.known:
            raise UntranslatableError("a loop in steps that are not known")
        return first, end, step

    def _return(self, value: Value) -> None:
        kind = self._widened(RESULT, kind_of(value))
        whole, words = result_type(kind), list(words_of(self.convert(value, kind)))
        if len(words) > 1:
            made = "undef"
            for k, (one, word) in enumerate(words):
                made = self.write(f"insertvalue {whole} {made}, {one} {word}, {k}")
            words = [(whole, made)]
        self.end(" ".join(("ret", *words[0])) if words else "ret void")

    # expressions

    def expression(self, node: ast.expr) -> Value:
        """Write an expression."""
        self.line = node.lineno
        match node:
            case ast.Constant(value=value):
                return self.meant(value)
            case ast.Name(id=name):
                return self._read(name)
            case ast.Tuple(elts=parts):
                return Group(tuple(map(self.expression, parts)))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                found = self._indexed(node)
                return found if not isinstance(found, Array) or found.shape else self.load(found)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(op, self.number_of(left), self.number_of(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.negative(self.number_of(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(
                    node, type(op).__name__, self.expression(left), self.expression(right)
                )
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Compare():
                sides = [ast.copy_location(ast.Constant(known), node) for known in (True, False)]
                return self._choice(node, *sides, of_bools=True)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(test, body, orelse)
            case ast.Call(func=func, args=arguments, keywords=keywords):
                called = self.expression(func)
                if not isinstance(called, Thing):
                    raise UntranslatableError(f"{ast.unparse(func)} is no function")
                if keywords or any(isinstance(one, ast.Starred) for one in arguments):
                    raise UntranslatableError(
                        f"{ast.unparse(node)}: arguments are given one by one, by position"
                    )
                made = self._call_of(called.what, [self.expression(one) for one in arguments])
                if made is not None:
                    return made
        raise refused(node)

    def number_of(self, node: ast.expr) -> Number:
        """Write an expression that is a number."""
        value = self.expression(node)
        if not isinstance(value, Number):
            raise UntranslatableError(f"{ast.unparse(node)} is no number")
        return value

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

    def _attribute(self, node: ast.Attribute) -> Value:
        match self.expression(node.value):
            case Thing(what) if what is not None:
                if not hasattr(what, node.attr):
                    raise UntranslatableError(f"{ast.unparse(node)} is not known")
                return self.meant(getattr(what, node.attr))
            case Group(parts, made) if made is not None:
                row = row_named(made, node.attr)
                field = node.attr if row is None else row.field
                if field in made._fields:
                    part: Value = parts[made._fields.index(field)]
                    if row is not None and isinstance(part, Array):
                        return self._part(part, [constant("i", row.number)])
                    return part
            case Array(shape=shape) if node.attr == "shape":
                return Group(shape)
        raise refused(node)

    # elements

    def _indexed(self, node: ast.Subscript) -> Value:
        """A part of a tuple, or of an array: without axes where it is an element."""
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
            raise refused(node)
        places: list[Foreign] = []
        for one in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            found = one if isinstance(one, ast.Slice) else self.expression(one)
            places += found.parts if isinstance(found, Group) else [found]
        if any(isinstance(one, ast.Slice) for one in places[:-1]):
            raise UntranslatableError("a part of an array that is not dense")
        if len(places) > len(value.shape):
            raise UntranslatableError("more indices than an array has axes")
        if not all(isinstance(one, Number | ast.Slice) for one in places):
            raise UntranslatableError(f"{ast.unparse(node.slice)} as an index")
        return self._part(value, places)

    def _element(self, node: ast.expr) -> Array:
        """One element of an array."""
        found = self._indexed(node) if isinstance(node, ast.Subscript) else None
        if not isinstance(found, Array) or found.shape:
            raise refused(node)
        return found

    def _part(self, array: Array, places: list[Foreign]) -> Array:
        """A dense part of an array: indices, and after them at most one slice."""
        *numbers, last = places
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

    def operation(self, op: ast.operator, left: Number, right: Number) -> Number:
        """A sum and the like; a power by squares: of an exponent that is known in a few products."""
        if not isinstance(op, ast.Pow):
            return self.binary(type(op).__name__, left, right)
        if right.kind == "f" or left.kind not in "fi":
            raise UntranslatableError("a power that is no integer: wanted math.pow")
        if right.known is None:
            if left.kind != "f":
                raise UntranslatableError("an integer to a power that is not known")
            found = self._own_function(elementary.whole_power, [left, right])
            assert isinstance(found, Number)
            return found
        if not 0 <= right.known <= 64:
            raise UntranslatableError(f"to the power of {right.known}")
        more, product, square = right.known, constant(left.kind, 1), left
        while more:
            if more & 1:
                product = square if product.known == 1 else self.binary("Mult", product, square)
            more >>= 1
            square = self.binary("Mult", square, square) if more else square
        return product

    def test(self, node: ast.expr, yes: Block, no: Block, *, of_bools: bool = False) -> None:
        """Go on where a test says; what comes after a part that is known to decide is not looked at.

        ``of_bools``: it is a value, too, and so must not be of other numbers.
        """
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.test(operand, no, yes)
            case ast.BoolOp(op=op, values=[*parts, last]):
                for part in parts:
                    following = self.new_block()
                    ways = (yes, following) if isinstance(op, ast.Or) else (following, no)
                    self.test(part, *ways, of_bools=of_bools)
                    if not following.reached:
                        return
                    self.begin(following)
                self.test(last, yes, no, of_bools=of_bools)
            case ast.Compare(left=first, ops=[_, _, *_]):
                left = self.number_of(first)
                for order, comparator in zip(node.ops, node.comparators, strict=True):
                    right, following = self.number_of(comparator), self.new_block()
                    self.fork(self.compare(type(order).__name__, left, right), following, no)
                    self.begin(following)
                    left = right
                self.jump(yes)
            case _:
                number = self.number_of(node)
                if of_bools and number.kind != "b":
                    text = ast.unparse(node)
                    raise UntranslatableError(f"{text} is no bool, in an and or an or that is a value")
                self.fork(self.truth(number), yes, no)

    def _comparison(self, node: ast.expr, op: str, left: Value, right: Value) -> Number:
        match left, right:
            case _, Thing(None) if op in ("Is", "IsNot"):
                return constant("b", (left == NOTHING) == (op == "Is"))
            case Number(), Number() if op in ORDER:
                return self.compare(op, left, right)
            case _, Group(parts=parts) if op == "In":
                found = constant("b", False)
                for part in parts:
                    found = self.binary("BitOr", found, self._comparison(node, "Eq", left, part))
                return found
        raise refused(node)

    def _choice(self, test: ast.expr, one: ast.expr, other: ast.expr, *, of_bools: bool = False) -> Value:
        """One of two values, as a test says."""
        yes, no, after = self.new_block(), self.new_block(), self.new_block()
        self.test(test, yes, no, of_bools=of_bools)
        ends = []
        for block, side in ((yes, one), (no, other)):
            if block.reached:
                self.begin(block)
                ends.append((self.expression(side), self.block))
        if len(ends) == 1:
            return ends[0][0]
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

    def _call_of(self, what: Foreign, arguments: list[Value]) -> Value | None:
        """A call of something; None where a kernel may not call it so."""
        if hasattr(what, "py_func"):
            return self._call_kernel(what, arguments)
        match arguments:
            case [Number(name=address), *given] if getattr(what, "is_at_address", False):  # a function of C
                pointer = self.write(f"inttoptr i64 {address} to ptr")
                listed = ", ".join("{} {}".format(*next(words_of(one))) for one in given)
                self.block.lines.append(f"call void {pointer}({listed})")
                return NOTHING
            case _ if isinstance(what, type) and hasattr(what, "_fields"):
                return Group(tuple(arguments), what) if len(arguments) == len(what._fields) else None
            case [Array(shape=shape)] if what is len:
                return shape[0]
            case [Group(parts=parts)] if what is len:
                return constant("i", len(parts))
            case [Number(name=address), Thing(kind)] if what is memory_at:
                pointer = self.write(f"inttoptr i64 {address} to ptr")
                return Array(np.dtype(kind).name, pointer, (constant("i", 2**62),))
        numbers = [one for one in arguments if isinstance(one, Number)]
        if isinstance(what, CFunction):
            words = [self.number(one, "i").name for one in numbers]
            return Number(what.result, self.call(what.name, NUMBERS[what.result], *words, kind="i64"))
        if self.program.prelude and getattr(what, "__module__", "") == threads.__name__:
            return self._call_in_entry(what, arguments)
        if len(numbers) != len(arguments) or not numbers:
            return None
        return self._function_of(what, numbers)

    def _call_kernel(self, kernel: Foreign, arguments: Sequence[Value]) -> Value:
        arguments = [*arguments, *map(self.meant, defaults_after(kernel.py_func, len(arguments)))]
        name, result, wanted = self.program.called(kernel, tuple(map(kind_of, arguments)))
        listed = [f"{one} {word}" for value in arguments for one, word in words_of(value)]
        given = ", ".join(listed[k] for k in wanted)
        whole, count = result_type(result), len(types_of(result))
        words = f"call {whole} @{name}({given})"
        if count == 0:
            self.block.lines.append(words)
            return of_words(result, iter(()))
        made = [self.write(words)]
        if count > 1:
            made = [self.write(f"extractvalue {whole} {made[0]}, {k}") for k in range(count)]
        return of_words(result, iter(made))

    def _call_in_entry(self, what: Foreign, arguments: list[Value]) -> Value:
        """What only the entries of GPU kernels call: functions that the program begins with, and memory."""
        match arguments:
            case []:
                return natural(self.write(f"call i64 @routh.{what.__name__}()"))
            case [Number() as flag]:
                return Number("b", self.write(f"call i1 @routh.any_in_warp(i1 {self.truth(flag).name})"))
            case [Array() as array, Number() as place, Number() as number]:
                memory, kind, word = ELEMENTS[array.element]
                if memory not in ("i32", "i64"):
                    raise UntranslatableError(f"add_atomically to {array.element}; wanted int32 or int64")
                added, address = self.as_element(array, number), self.address(array, [place])
                old = self.write(f"atomicrmw add ptr {address}, {added} monotonic")
                return Number(kind, self.write(f"{word} {memory} {old} to {NUMBERS[kind]}") if word else old)
            case [Thing(made), Group(parts=layout), *more]:
                own = [self._call_in_entry(threads.own_array, list(one.parts)) for one in layout]
                return Group((*own, *more), made)
            case [shape, Thing(kind)]:
                lengths = shape.parts if isinstance(shape, Group) else (shape,)
                if all(getattr(one, "known", None) is not None for one in lengths):
                    dtype, count = np.dtype(kind), max(math.prod(one.known for one in lengths), 1)
                    address = self.room(f"[{count} x {ELEMENTS[dtype.name][0]}], align 16")
                    self.block.lines.append(
                        f"call void @routh.spoil(ptr {address}, i64 {count * dtype.itemsize})"
                    )
                    return Array(dtype.name, address, tuple(lengths))
                raise UntranslatableError("an array of a thread whose shape is not known")
        raise UntranslatableError(f"{what.__name__}: other arguments are wanted")

    def _function_of(self, what: Foreign, numbers: list[Number]) -> Value:
        """Python's own functions, and those of its module math."""
        first = numbers[0]
        if what in _CASTS and len(numbers) == 1:
            return self.number(first, _CASTS[what])
        if what is abs and first.kind != "f":
            if first.natural or first.kind != "i":
                return first
            return natural(self.choose(self.compare("Lt", first, ZERO), self.negative(first), first).name)
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
        if what is math.atan2:  # of C
            return Number("f", self.call("atan2", "double", *floats))
        if what in _INTRINSIC:
            found = Number("f", self.call(f"llvm.{what.__name__}.f64", "double", *floats))
            return self.number(found, "i") if what in (math.ceil, math.floor) else found
        if what is math.isnan:
            return Number("b", self.write(f"fcmp uno double {floats[0]}, {floats[0]}"))
        if what is not abs and what is not math.isfinite:
            raise UntranslatableError(f"a kernel may not call {getattr(what, '__name__', what)}")
        size = self.call("llvm.fabs.f64", "double", *floats)
        if what is abs:
            return Number("f", size)
        return Number("b", self.write(f"fcmp olt double {size}, {constant('f', math.inf).name}"))

    def _own_function(self, own: Foreign, numbers: list[Number]) -> Value:
        """A function of `routh.compiling.elementary`, with whole numbers where it says int, else floats."""
        defaults_after(own, len(numbers))  # it has none
        kinds = ["i" if kind == "int" else "f" for kind in own.__annotations__.values()]
        return self._call_kernel(SimpleNamespace(py_func=own), [*map(self.number, numbers, kinds)])

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
