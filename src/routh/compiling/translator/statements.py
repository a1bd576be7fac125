"""Statements of kernels in LLVM's language: variables, branches, loops."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from routh.compiling.foreign import Foreign
from routh.compiling.translator.calls import result_type
from routh.compiling.translator.expressions import Again, Expressions
from routh.compiling.translator.values import (
    NOTHING,
    Array,
    Group,
    Kind,
    Number,
    UntranslatableError,
    Value,
    common_kind,
    described,
    kind_of,
    of_parts,
    parts_of,
    types_of,
)
from routh.compiling.translator.writing import ONE, ZERO, Block

RESULT = "return"  # under which the kind of a function's result is known: no variable's name


class Knowledge:
    """What is known of a function's variables; it grows while the function is written again and again."""

    def __init__(self, node: ast.FunctionDef) -> None:
        stored = [
            one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        ]
        counters = {id(one.target) for one in ast.walk(node) if isinstance(one, ast.For)}
        plainly = Counter(one.id for one in stored if id(one) not in counters)
        augmented = {
            one.target.id
            for one in ast.walk(node)
            if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)
        }
        in_loops = {one.id for one in stored if id(one) in counters}
        given = {one.arg for one in node.args.args}
        self.local = {one.id for one in stored} | given
        # variables that are set in more than one place need room; counters of loops do not
        self.roomy = {
            name for name, count in plainly.items() if count > 1 or name in in_loops or name in given
        }
        self.roomy |= augmented | (in_loops & given)
        self.kinds: dict[str, Kind] = {}


class Statements(Expressions):
    """Writes the body of one function."""

    def __init__(self, program: Foreign, function: Foreign, knowledge: Knowledge, fast: str) -> None:
        super().__init__(fast)
        self.program = program
        self.function = function
        self.knowledge = knowledge
        self._bound: dict[str, tuple[Value, tuple[int, ...]]] = {}  # and the region where it holds
        self._rooms: dict[str, list[str]] = {}
        self._region: tuple[int, ...] = ()
        self._regions = 0
        self._loops: list[tuple[Block, Block]] = []  # where to go on: continue, break
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._enclosed = {name: cell.cell_contents for name, cell in cells}

    def write_body(self, node: ast.FunctionDef, arguments: Sequence[Value]) -> None:
        """Write the whole function."""
        start = self.new_block()
        self.begin(start)
        for given, value in zip(node.args.args, arguments, strict=True):
            self.assign(given.arg, value)
        self.suite(node.body)
        if not self.block.ended:
            self._return_value(NOTHING)
        self.head.lines.append(f"br label %{start.label}")

    # names

    def read(self, name: str) -> Value:
        """What a name stands for: a variable, or what Python finds under it."""
        if name in self._bound:
            value, region = self._bound[name]
            if self._region[: len(region)] != region:
                self.knowledge.roomy.add(name)
                raise Again
            return value
        if name in self._rooms:
            kind = self.knowledge.kinds[name]
            names = [
                self.write(f"load {one}, ptr {room}")
                for one, room in zip(types_of(kind), self._rooms[name], strict=True)
            ]
            return of_parts(kind, iter(names))
        if name in self.knowledge.local:
            if name not in self.knowledge.roomy:
                self.knowledge.roomy.add(name)
                raise Again
            raise UntranslatableError(f"{name} is read before it is set")
        if name in self._enclosed:
            return self.meant(self._enclosed[name])
        if name in self.function.__globals__:
            return self.meant(self.function.__globals__[name])
        if not hasattr(builtins, name):
            raise UntranslatableError(f"{name} is not known")
        return self.meant(getattr(builtins, name))

    def assign(self, name: str, value: Value) -> None:
        """Set a variable."""
        if name not in self.knowledge.roomy:
            self._bound[name] = value, self._region
            return
        kind = self._widened(name, kind_of(value))
        if name not in self._rooms:
            self._rooms[name] = [self.room(one) for one in types_of(kind)]
        for (one, part), room in zip(parts_of(self.convert(value, kind)), self._rooms[name], strict=True):
            self.block.lines.append(f"store {one} {part}, ptr {room}")

    def _widened(self, name: str, kind: Kind) -> Kind:
        """The kind of a variable that is of this kind too."""
        known = self.knowledge.kinds
        wider = common_kind(known.setdefault(name, kind), kind)
        if wider != known[name]:
            known[name] = wider
            raise Again
        return wider

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """A region: what is bound in it holds in it only."""
        before = self._region
        self._regions += 1
        self._region = (*before, self._regions)
        yield
        self._region = before

    # statements

    def suite(self, statements: Sequence[ast.stmt]) -> None:
        """Statements one after the other; nothing comes after a jump."""
        for statement in statements:
            if self.block.ended:
                return
            write = getattr(self, "_" + type(statement).__name__.lower(), None)
            try:
                if write is None:
                    first = ast.unparse(statement).splitlines()[0]
                    raise UntranslatableError(f"a kernel may not contain {first}")
                write(statement)
            except UntranslatableError as error:
                self.locate(error, statement)
                raise

    def locate(self, error: UntranslatableError, node: ast.expr | ast.stmt) -> None:
        """Say where the refused thing stands, unless that is said already."""
        code = self.function.__code__
        error.place = error.place or f"{code.co_filename}:{node.lineno}: kernel {code.co_name}"

    def _pass(self, statement: ast.Pass) -> None:
        pass

    def _expr(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):
            self.expression(statement.value)

    def _assign(self, statement: ast.Assign) -> None:
        value = self.expression(statement.value)
        for target in statement.targets:
            self._put(target, value)

    def _annassign(self, statement: ast.AnnAssign) -> None:
        if statement.value is not None:
            self._put(statement.target, self.expression(statement.value))

    def _put(self, target: ast.expr, value: Value) -> None:
        """Set what is left of an equals sign."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif (
            isinstance(target, ast.Tuple)
            and isinstance(value, Group)
            and len(target.elts) == len(value.parts)
        ):
            for one, part in zip(target.elts, value.parts, strict=True):
                self._put(one, part)
        elif isinstance(target, ast.Subscript) and isinstance(value, Number):
            self.store(*self._element(target), value)
        else:
            raise UntranslatableError(f"{ast.unparse(target)} cannot be set to {described(kind_of(value))}")

    def _element(self, target: ast.Subscript) -> tuple[Array, str]:
        """The array and the address of one of its elements."""
        array = self.expression(target.value)
        if not isinstance(array, Array):
            raise UntranslatableError(f"a kernel may not contain {ast.unparse(target)}")
        places = self.places(target.slice)
        if len(places) != len(array.shape) or not all(isinstance(one, Number) for one in places):
            raise UntranslatableError(f"a kernel may not contain {ast.unparse(target)}")
        return array, self.address(array, places)

    def _augassign(self, statement: ast.AugAssign) -> None:
        op, target = type(statement.op).__name__, statement.target
        if isinstance(target, ast.Subscript):
            array, address = self._element(target)
            before = self.load(array, address)
            self.store(array, address, self.operation(op, before, self.number_of(statement.value)))
            return
        if not isinstance(target, ast.Name):
            raise UntranslatableError(f"{ast.unparse(target)} cannot be set")
        old = self.read(target.id)
        if not isinstance(old, Number):
            raise UntranslatableError(f"a kernel may not contain {ast.unparse(statement)}")
        self.assign(target.id, self.operation(op, old, self.number_of(statement.value)))

    def _if(self, statement: ast.If) -> None:
        known = self.settled(statement.test)
        if known is not None:
            self.suite(statement.body if known else statement.orelse)
            return
        yes, after = self.new_block(), self.new_block()
        no = self.new_block() if statement.orelse else after
        self.test(statement.test, yes, no)
        for block, suite in ((yes, statement.body), (no, statement.orelse)):
            if block is after:
                continue
            self.go_on(block)
            with self._inside():
                self.suite(suite)
            self.jump(after)
        self.go_on(after)

    def _while(self, statement: ast.While) -> None:
        if statement.orelse:
            raise UntranslatableError("else after a loop")
        head, body, after = self.new_block(), self.new_block(), self.new_block()
        self.jump(head)
        self.begin(head)
        with self._inside():
            self.test(statement.test, body, after)
            self.begin(body)
            self._turn(statement.body, head, after)
        self.jump(head)
        self.go_on(after)

    def _turn(self, body: Sequence[ast.stmt], head: Block, after: Block) -> None:
        self._loops.append((head, after))
        self.suite(body)
        self._loops.pop()

    def _for(self, statement: ast.For) -> None:
        if isinstance(statement.iter, ast.Tuple) and not statement.orelse:
            self._each(statement)
            return
        first, end, step = self._range(statement)
        head, body, latch, after = (self.new_block() for _ in range(4))
        done = self.new_block() if statement.orelse else after
        before = self.block.label
        self.jump(head)
        self.begin(head)
        self._names += 1
        following = f"%n{self._names}"
        place = self.write(f"phi i64 [ {first.name}, %{before} ], [ {following}, %{latch.label} ]")
        up = step.known is None or step.known > 0
        test = self.compare("Lt" if up else "Gt", Number("i", place), end)
        self.fork(test.name, body, done)
        self.begin(body)
        assert isinstance(statement.target, ast.Name)
        name = statement.target.id
        with self._inside():
            self.assign(name, Number("i", place, None, first.natural and up))
            self._turn(statement.body, latch, after)
        self.jump(latch)
        self._forget(statement.target)
        self.begin(latch)
        self.block.lines.append(f"{following} = add nsw i64 {place}, {step.name}")
        self.jump(head)
        if statement.orelse:
            self.go_on(done)
            with self._inside():
                self.suite(statement.orelse)
            self.jump(after)
        self.go_on(after)

    def _each(self, statement: ast.For) -> None:
        """A loop over a few things: written for each of them."""
        values = [self.expression(one) for one in statement.iter.elts]  # type: ignore[attr-defined]
        after = self.new_block()
        for value in values:
            following = self.new_block()
            with self._inside():
                self._put(statement.target, value)
                self._turn(statement.body, following, after)
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
        call = statement.iter
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not plain or not isinstance(statement.target, ast.Name):
            raise UntranslatableError(f"a loop over {ast.unparse(call)}")
        assert isinstance(call, ast.Call)
        given = [self.number_of(one) for one in call.args]
        if any(one.kind not in "ibw" for one in given):
            raise UntranslatableError(f"a kernel may not contain {ast.unparse(call)}")
        given = [self.number(one, "i") for one in given]
        if not 1 <= len(given) <= 3:
            raise UntranslatableError(f"a kernel may not contain {ast.unparse(call)}")
        first, end, step = {1: (ZERO, *given, ONE), 2: (*given, ONE), 3: tuple(given)}[len(given)]
        if step.known is None and step.natural:
            return first, end, self.choose(self.compare("Gt", step, ZERO), step, ONE)
        if not step.known:
            raise UntranslatableError("a loop in steps that are not known")
        return first, end, step

    def _continue(self, statement: ast.Continue) -> None:
        self.jump(self._loops[-1][0])

    def _break(self, statement: ast.Break) -> None:
        self.jump(self._loops[-1][1])

    def _return(self, statement: ast.Return) -> None:
        self._return_value(NOTHING if statement.value is None else self.expression(statement.value))

    def _return_value(self, value: Value) -> None:
        kind = self._widened(RESULT, kind_of(value))
        kinds = types_of(kind)
        names = [part for _, part in parts_of(self.convert(value, kind))]
        if not kinds:
            self.end("ret void")
        elif len(kinds) == 1:
            self.end(f"ret {kinds[0]} {names[0]}")
        else:
            whole, made = result_type(kinds), "undef"
            for k, (one, name) in enumerate(zip(kinds, names, strict=True)):
                made = self.write(f"insertvalue {whole} {made}, {one} {name}, {k}")
            self.end(f"ret {whole} {made}")
