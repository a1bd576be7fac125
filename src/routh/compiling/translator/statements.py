"""Statements of kernels in LLVM's language: variables, branches, loops."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from routh.compiling.foreign import Foreign
from routh.compiling.translator.expressions import Again, Expressions, refused, result_type
from routh.compiling.translator.values import (
    NOTHING,
    Group,
    Kind,
    Number,
    UntranslatableError,
    Value,
    common_kind,
    described,
    kind_of,
    of_words,
    types_of,
    words_of,
)
from routh.compiling.translator.writer import ONE, ZERO, Block

RESULT = "return"  # under which the kind of a function's result is known: no variable's name


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
        enclosed = {name: cell.cell_contents for name, cell in cells}
        self._around = vars(builtins) | function.__globals__ | enclosed

    def write_body(self, node: ast.FunctionDef, arguments: Sequence[Value]) -> None:
        """Write the whole function."""
        start = self.new_block()
        self.begin(start)
        for given, value in zip(node.args.args, arguments, strict=True):
            self._bind(given.arg, value)
        self._suite(node.body)
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
            places = zip(types_of(kind), self._rooms[name], strict=True)
            return of_words(kind, iter([self.write(f"load {one}, ptr {room}") for one, room in places]))
        if name in self.knowledge.local:
            if name not in self.knowledge.roomy:
                self.knowledge.roomy.add(name)
                raise Again
            raise UntranslatableError(f"{name} is read before it is set")
        if name not in self._around:
            raise UntranslatableError(f"{name} is not known")
        return self.meant(self._around[name])

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
            raise Again
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
            if self.block.ended:
                return
            write = getattr(self, "_" + type(statement).__name__.lower(), self._refused)
            try:
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
        parts = value.parts if isinstance(value, Group) else ()
        if isinstance(target, ast.Name):
            self._bind(target.id, value)
        elif isinstance(target, ast.Tuple) and len(target.elts) == len(parts):
            for one, part in zip(target.elts, parts, strict=True):
                self._put(one, part)
        elif isinstance(target, ast.Subscript) and isinstance(value, Number):
            self.store(*self.element(target), value)
        else:
            raise UntranslatableError(f"{ast.unparse(target)} cannot be set to {described(kind_of(value))}")

    def _augassign(self, statement: ast.AugAssign) -> None:
        op, target = statement.op, statement.target
        if isinstance(target, ast.Subscript):
            array, address = self.element(target)
            old = self.load(array, address)
            self.store(array, address, self.operation(op, old, self.number_of(statement.value)))
        else:
            before = self.expression(target)
            if not isinstance(before, Number) or not isinstance(target, ast.Name):
                raise refused(statement)
            self._bind(target.id, self.operation(op, before, self.number_of(statement.value)))

    def _if(self, statement: ast.If) -> None:
        known = self.settled(statement.test)
        if known is not None:
            self._suite(statement.body if known else statement.orelse)
            return
        yes, after = self.new_block(), self.new_block()
        no = self.new_block() if statement.orelse else after
        self.test(statement.test, yes, no)
        self._branch(yes, statement.body, after)
        if statement.orelse:
            self._branch(no, statement.orelse, after)
        self.go_on(after)

    def _branch(self, block: Block, suite: Sequence[ast.stmt], after: Block) -> None:
        """A region that begins here and ends there."""
        self.go_on(block)
        with self._inside():
            self._suite(suite)
        self.jump(after)

    def _while(self, statement: ast.While) -> None:
        if statement.orelse:
            raise UntranslatableError("else after a loop")
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
        if isinstance(statement.iter, ast.Tuple) and not statement.orelse:
            self._each(statement, statement.iter.elts)
            return
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
        values = [self.expression(one) for one in things]
        after = self.new_block()
        for value in values:
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
        call = statement.iter
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not is_range or not isinstance(statement.target, ast.Name):
            raise UntranslatableError(f"a loop over {ast.unparse(call)}")
        assert isinstance(call, ast.Call)
        given = [self.number_of(one) for one in call.args]
        if any(one.kind not in "ibw" for one in given) or not 1 <= len(given) <= 3:
            raise refused(call)
        given = [self.number(one, "i") for one in given]
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
        whole, words = result_type(kind), list(words_of(self.convert(value, kind)))
        if len(words) > 1:
            made = "undef"
            for k, (one, word) in enumerate(words):
                made = self.write(f"insertvalue {whole} {made}, {one} {word}, {k}")
            words = [(whole, made)]
        self.end(" ".join(("ret", *words[0])) if words else "ret void")
