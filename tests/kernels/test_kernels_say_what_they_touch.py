"""Under the docstring of each kernel that takes a bag of data (a named tuple) stands what it touches there.

``# reads a, b; writes c; hands on d`` names fields, with the name of their bag where there are several. What
is given away whole, a bag or a part of a new bag, is handed on: who takes it has a line of its own. An array
that is given to another function counts as that function uses it. Who asks for an array's size reads it.
``python tests/kernels/test_kernels_say_what_they_touch.py`` writes all lines.
"""

import ast
import functools
import re
import textwrap
from collections import defaultdict
from pathlib import Path

import pytest

import routh

PACKAGE = Path(routh.__file__).parent
MARKS = {"apart", "distinct", "inlined", "kernel", "vectors"}
READERS = {"abs", "bool", "float", "int", "len", "max", "min", "range"}  # and all of math and NumPy
SCALARS = {"bool", "float", "int", "np.uint64"}
LINE = re.compile(r" *# (reads|writes|hands on) ")
MORE = "#   "  # begins the further lines of a long one


@functools.cache
def names_of(path):
    """What the names of a file stand for: definitions; (file, name) of what is imported."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.setdefault(node.name, node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, node)
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("routh"):
            there = PACKAGE.parent / node.module.replace(".", "/")
            for alias in node.names:
                sub = there / f"{alias.name}.py"
                file = sub if sub.exists() else there.with_suffix(".py")
                file = file if file.exists() else there / "__init__.py"
                found[alias.asname or alias.name] = (file, None if file == sub else alias.name)
    return found


def meant(path, node):
    """The file and the definition that an expression names, as far as it names one."""
    if isinstance(node, ast.Name):
        one = names_of(path).get(node.id)
        if isinstance(one, tuple):
            return (one[0], None) if one[1] is None else meant(one[0], ast.Name(one[1]))
        return path, one
    if isinstance(node, ast.Attribute):
        there, one = meant(path, node.value)
        if one is None and there != path:
            return meant(there, ast.Name(node.attr))
    return path, None


@functools.cache
def fields_of(path, node):
    """The fields of a class of named tuples, each with its own fields, or None; of other things None."""
    if isinstance(node, ast.BinOp):  # ... | None
        return fields_of(path, node.left)
    there, kind = meant(path, node)
    if isinstance(kind, ast.Assign):
        return fields_of(there, kind.value)
    if not isinstance(kind, ast.ClassDef):
        return None
    bases = [{} if ast.unparse(base) == "NamedTuple" else fields_of(there, base) for base in kind.bases]
    if None in bases or not bases:
        return None
    fields = {name: one for base in bases for name, one in base.items()}
    for line in kind.body:
        if isinstance(line, ast.AnnAssign):
            fields[line.target.id] = fields_of(there, line.annotation)
        elif isinstance(line, ast.Assign) and "rows(" in ast.unparse(line.value):
            fields |= {name.id: None for name in line.targets[0].elts}
    return fields


class Uses(ast.NodeVisitor):
    """What a function does with the fields of its arguments: paths such as ("work", "rate")."""

    def __init__(self, path, node):
        self.path, self.parameters = path, [one.arg for one in node.args.args]
        notes = {one.arg: one.annotation or ast.Constant(None) for one in node.args.args}
        self.kinds = {name: fields_of(path, note) for name, note in notes.items()}
        some = [name for name, note in notes.items() if ast.unparse(note) == "Any"]  # bags of several classes
        self.kinds |= {name: defaultdict(lambda: None) for name in some}
        self.same = {name: {(name,)} for name in self.parameters}  # names, and the paths that they stand for
        self.reads, self.writes, self.hands = set(), set(), set()
        before = None
        while before != (before := str(sorted(map(str, self.same.items())))):  # until all names are known
            for line in ast.walk(node):
                self.learn(line)
        for line in node.body:
            self.visit(line)
        numbers = [name for name, note in notes.items() if ast.unparse(note) in SCALARS]
        self.writes -= {(name,) for name in numbers}  # which functions of C get by value

    def kind(self, path):
        """The fields of a bag, None of an array or a number."""
        kind = self.kinds.get(path[0])
        for name in path[1:]:
            kind = None if kind is None else kind[name]
        return kind

    def paths(self, node):
        """What an expression stands for a part of."""
        match node:
            case ast.Name(id=name):
                return self.same.get(name, set())
            case ast.Subscript(value=value):
                return self.paths(value)
            case ast.IfExp(body=one, orelse=other):
                return self.paths(one) | self.paths(other)
            case ast.Attribute(value=value, attr=name):
                return {self.part(path, name) for path in self.paths(value)}
        return set()

    def part(self, path, name):
        return path if self.kind(path) is None else (*path, name)

    def learn(self, line):
        """Names for the same thing."""
        pairs = []
        if isinstance(line, ast.Assign):
            pairs = [(target, line.value) for target in line.targets]
        elif isinstance(line, ast.For) and isinstance(line.iter, ast.Tuple):
            pairs = [(line.target, one) for one in line.iter.elts]
        for target, value in pairs:
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for one, other in zip(target.elts, value.elts, strict=True) if both else [(target, value)]:
                if isinstance(one, ast.Name):
                    self.same[one.id] = self.same.get(one.id, set()) | self.paths(other)

    def visit(self, node):
        """Statements and expressions; what is only given another name is not used yet."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.store(target)
                values = value.elts if isinstance(value, ast.Tuple) else [value]
                named = all(isinstance(one, ast.Name) for target in targets for one in parts(target))
                for one in values:
                    self.indices(one) if named and self.paths(one) else self.visit(one)
            case ast.AugAssign(target=target, value=value):
                self.visit(target)
                self.store(target)
                self.visit(value)
            case ast.Name() | ast.Attribute() | ast.Subscript() | ast.IfExp() if self.paths(node):
                self.indices(node)
                self.reads |= {path for path in self.paths(node) if self.kind(path) is None}
            case ast.Call(func=function, args=arguments):
                self.call(function, arguments)
            case _:
                self.generic_visit(node)

    def indices(self, node):
        """What stands in an expression besides what it is a part of."""
        match node:
            case ast.Subscript(value=value, slice=places):
                self.indices(value)
                self.visit(places)
            case ast.Attribute(value=value):
                self.indices(value)
            case ast.IfExp(test=test, body=one, orelse=other):
                self.visit(test)
                self.indices(one)
                self.indices(other)

    def store(self, target):
        for one in parts(target):
            if isinstance(one, ast.Subscript):
                self.indices(one)
                self.writes |= self.paths(one)

    def call(self, function, arguments):
        """Arrays are used as the function uses them; one of C may do anything to them."""
        local = isinstance(function, ast.Name) and function.id in self.same
        there, definition = (self.path, None) if local else meant(self.path, function)
        if isinstance(definition, ast.Assign) and isinstance(definition.value, ast.Call):  # compiled(...)
            there, definition = meant(there, definition.value.args[0])
        known = uses(there, definition) if isinstance(definition, ast.FunctionDef) else None
        builds = isinstance(definition, ast.ClassDef)
        text = ast.unparse(function)
        harmless = text in READERS or text.startswith(("math.", "np."))
        for number, argument in enumerate(arguments):
            found = self.paths(argument)
            if not found:
                self.visit(argument)
                continue
            self.indices(argument)
            for path in found:
                if builds or self.kind(path) is not None:
                    self.hands |= {path}
                elif known is None:
                    self.reads |= {path}
                    self.writes |= set() if harmless else {path}
                else:
                    own = (known.parameters[number],)
                    self.reads |= {path} if own in known.reads else set()
                    self.writes |= {path} if own in known.writes else set()
                    self.hands |= {path} if own in known.hands else set()


def parts(target):
    return target.elts if isinstance(target, ast.Tuple) else [target]


@functools.cache
def uses(path, node):
    return Uses(path, node)


def said_of(path, node):
    """What a kernel has to say, one part for each verb."""
    used = uses(path, node)
    bags = [name for name in used.parameters if used.kinds[name] is not None]
    said = []
    for verb, places in (("reads", used.reads), ("writes", used.writes), ("hands on", used.hands)):
        inside = [place for place in places if place[0] in bags]
        names = [".".join(place[len(bags) == 1 and len(place) > 1 :]) for place in inside]
        said += [f"{verb} {', '.join(sorted(names))}"] if names else []
    return said


def lines_of(path, node):
    """The same as a comment: one line, or each verb on its own."""
    said, space = said_of(path, node), " " * node.body[0].col_offset
    whole = [f"{space}# {'; '.join(said)}"] if said else []
    if all(len(line) <= 110 for line in whole):
        return whole
    begins = {"initial_indent": f"{space}# ", "subsequent_indent": space + MORE}
    return [line for part in said for line in textwrap.wrap(part, 110, **begins)]


def kernels_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and MARKS & {ast.unparse(one) for one in node.decorator_list}:
            yield node


def lines_below(lines, node):
    """The comment below a docstring, and the number of lines above it."""
    first = end = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
    while LINE.match(lines[end]) or (end > first and lines[end].strip().startswith(MORE)):
        end += 1
    return lines[first:end], first


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if any(kernels_of(path))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_kernels_say_what_they_touch(path):
    lines = path.read_text().splitlines()
    for node in kernels_of(path):
        assert lines_below(lines, node)[0] == lines_of(path, node), f"{path.name}: {node.name}"


EXAMPLE = """
class Inside(NamedTuple):
    depth: Array

class Bag(NamedTuple):
    a: Array
    b: Array
    c: Array
    inside: Inside | None

class Named(Bag):
    row, other = rows("a", 2)

@kernel
def fill(source: Array, target: Array) -> None:
    target[0] = source[0]

@kernel
def looks(bag: Named, n: int) -> float:
    b, inside = bag.b, bag.inside
    for line in (bag.row, bag.other):
        line[n] += 1.0
    if inside is not None:
        fill(b, inside.depth[n])
    return looks_on(bag, n)

@kernel
def looks_on(bag: Bag, one: Inside) -> float:
    unused, c = bag.a, bag.c[0]
    build(Inside(bag.b), one)
    return len(bag.a) + c
"""


def test_an_example(tmp_path):
    file = tmp_path / "example.py"
    file.write_text(EXAMPLE)
    _, looks, looks_on = kernels_of(file)
    assert (
        "; ".join(said_of(file, looks))
        == "reads b, other, row; writes inside.depth, other, row; hands on bag"
    )
    assert "; ".join(said_of(file, looks_on)) == "reads bag.a, bag.c; hands on bag.b, one"


def write(path):
    lines = path.read_text().splitlines()
    for node in sorted(kernels_of(path), key=lambda node: -node.lineno):
        old, first = lines_below(lines, node)
        lines[first : first + len(old)] = lines_of(path, node)
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for file in FILES:
        write(file)
