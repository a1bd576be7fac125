"""A kernel and all that it calls, as one program in LLVM's language.

The source is translated in one go: a kernel is plain loops over numbers and arrays, so the kinds of its
arguments tell those of everything in it. What a kernel may not contain raises `UntranslatableError`, which
says where it stands.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections import Counter
from functools import lru_cache
from itertools import count
from types import CodeType
from typing import TypeAlias

from routh.compiling.foreign import Foreign, Plain
from routh.compiling.function import RESULT, Function, Knowledge, WriteAgain
from routh.compiling.values import Kind, UntranslatableError, of_words, result_type, types_of

SHORT = 120  # lines: below this a function belongs in its callers, which is worth 5 % for some
_CALLS = re.compile(r"call [^@\n]+@([\w.]+)\(")
_SUITES = ("body", "orelse", "handlers", "finalbody", "cases")  # where statements have others
_Made: TypeAlias = tuple[str, Kind, list[int]]  # name, result, places of the words that are wanted


class Program:
    """Functions that are translated so far, each once for each kind of arguments.

    ``prelude``: text that it begins with, where it is an entry of a GPU kernel. ``again``: LLVM's words for
    the way back to the head of a loop. ``called``: all other functions become part of their callers, None:
    LLVM decides, where no mark says it.
    """

    def __init__(
        self, prelude: str = "", again: str = "", called: tuple[CodeType, ...] | None = None
    ) -> None:
        self.prelude, self.again, self._called = prelude, again, called
        self._made: dict[tuple[Plain, tuple[Kind, ...]], _Made] = {}
        self._texts: list[tuple[str, str, str, str]] = []  # of a function: name, head, word, body
        self._declared: set[str] = set()
        self._arrays: dict[str, str] = {}
        self._open: set[Plain] = set()
        self.vectors = False  # whether a function is marked so

    def text(self) -> str:
        """The whole program."""
        lines = [self.prelude]
        lines += [f"{name} = private unnamed_addr constant {text}" for text, name in self._arrays.items()]
        lines += sorted(self._declared)
        calls = Counter(called for *_, body in self._texts for called in _CALLS.findall(body))
        for name, head, word, body in self._texts:
            if word == "inlinehint" and calls[name] == 1:  # at once, so that LLVM does not work on it twice
                word = "alwaysinline"
            lines.append(f"{head} {word} nounwind {{\n{body}\n}}")
        return "\n".join(lines)

    def constant_array(self, text: str) -> str:
        """The name of an array of constants."""
        return self._arrays.setdefault(text, f"@routh.array.{len(self._arrays)}")

    def function(self, kernel: Foreign, kinds: tuple[Kind, ...]) -> tuple[str, Kind]:
        """The name of a kernel for arguments of these kinds, and the kind of its result."""
        return self.called(kernel, kinds, whole=True)[:2]

    def called(self, kernel: Foreign, kinds: tuple[Kind, ...], *, whole: bool = False) -> _Made:
        """The same for another kernel's call, with the places of those words that it wants; all: ``whole``.

        Of the many arrays that kernels hand on, most of them use a few.
        """
        plain: Foreign = kernel.py_func
        if (plain, kinds) not in self._made:
            if plain in self._open:
                raise UntranslatableError(f"{plain.__name__} calls itself")
            self._open.add(plain)
            self._made[plain, kinds] = self._translate(plain, kinds, whole)
            self._open.remove(plain)
        return self._made[plain, kinds]

    def _translate(self, plain: Foreign, kinds: tuple[Kind, ...], whole: bool) -> _Made:
        node, marks, types = source_of(plain.__code__), plain.__dict__, types_of(*kinds)
        if len(node.args.args) != len(kinds) or node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
            raise UntranslatableError(
                f"{plain.__name__}: got {len(kinds)} arguments; wanted {ast.unparse(node.args)}, by position"
            )
        self.vectors |= marks.get("vectors", False)
        written, result = self._written(plain, node, kinds)
        self._declared |= written.used
        body = "\n".join(f"{block.label}:\n" + "\n".join(block.lines) for block in written.blocks)
        used = set(re.findall(r"%a\d+", body))
        wanted = [k for k in range(len(types)) if whole or f"%a{k}" in used]
        name = f"routh.{plain.__module__}.{plain.__name__}.{len(self._made) + len(self._texts)}"
        pointer = "ptr noalias" if marks.get("distinct") else "ptr"
        given = ", ".join(f"{pointer if types[k] == 'ptr' else types[k]} %a{k}" for k in wanted)
        if self._called is not None:
            word = "noinline" if plain.__code__ in self._called else "alwaysinline"
        elif marks.get("apart") or marks.get("forceinline"):
            word = "noinline" if marks.get("apart") else "alwaysinline"
        else:
            word = "inlinehint" if sum(len(block.lines) for block in written.blocks) < SHORT else ""
        self._texts.append((name, f"define internal {result_type(result)} @{name}({given})", word, body))
        return name, result, wanted

    def _written(
        self, plain: Foreign, node: ast.FunctionDef, kinds: tuple[Kind, ...]
    ) -> tuple[Function, Kind]:
        """A function with its body, and the kind of its result."""
        knowledge, code = Knowledge(node), plain.__code__
        while True:  # each time more variables have room, or kinds are wider: that comes to an end
            names = (f"%a{k}" for k in count())
            function = Function(self, plain, knowledge)
            try:
                function.write_body(node, [of_words(kind, names) for kind in kinds])
                return function, knowledge.kinds[RESULT]
            except WriteAgain:
                continue
            except UntranslatableError as error:  # of a kernel that is called, it says where already
                error.place = error.place or f"{code.co_filename}:{function.line}: kernel {code.co_name}"
                raise


@lru_cache(maxsize=256)
def _functions_of(path: str) -> dict[tuple[int, str], tuple[ast.FunctionDef, CodeType]]:
    """The functions of a file by the line where they begin, decorators included, and their name.

    As they are written, and as Python compiles them.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:  # no Python, such as a page that a function was read from
        return {}
    codes = {}
    waiting = [compile(tree, path, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        codes[code.co_firstlineno, code.co_name] = code
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
    found: dict[tuple[int, str], tuple[ast.FunctionDef, CodeType]] = {}
    statements: list[Foreign] = [*tree.body]
    for one in statements:  # which grows; to look at expressions, too, would take as long as to read them
        for field in _SUITES:
            statements += getattr(one, field, ())
        if isinstance(one, ast.FunctionDef):
            place = min([one.lineno, *(mark.lineno for mark in one.decorator_list)]), one.name
            if place in codes:
                found[place] = one, codes[place]
    return found


def source_of(code: CodeType) -> ast.FunctionDef:
    """The source of a function; raises `UntranslatableError` where it is not that of this code (any more)."""
    path, place = code.co_filename, (code.co_firstlineno, code.co_name)
    for attempt in range(2):
        node, compiled = _functions_of(path).get(place, (None, None))
        if node is not None and compiled is not None and _does(compiled) == _does(code):
            return node
        if attempt == 0:  # it may have been read before it was written
            linecache.checkcache(path)
            _functions_of.cache_clear()
    if code.co_name == "<lambda>":
        error = UntranslatableError("has no name; wanted a function with def")
    elif linecache.getlines(path):
        error = UntranslatableError("the source has changed since it was imported")
    else:
        error = UntranslatableError("the source is not there; wanted a function in a file or a notebook")
    error.place = f"{path}:{code.co_firstlineno}: kernel {code.co_name}"
    raise error


def _does(code: CodeType) -> tuple[Foreign, ...]:
    """What a function does, without the lines that it stands in."""
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_consts
