"""A kernel and all that it calls, as one program in LLVM's language.

Numba translates any Python function, from its bytecode on and in many steps; for kernels, which are plain
loops over numbers and arrays, that takes most of the time of a first call. Here their source is translated
in one go. What is not known here raises `UntranslatableError`, and numba does it.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache

from routh.compiling.calls import result_type
from routh.compiling.expressions import Again
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.statements import RESULT, Knowledge, Statements
from routh.compiling.values import Kind, UntranslatableError, of_parts, types_of

MOST_ATTEMPTS = 50  # at one function; each knows more than the one before
SHORT = 120  # lines: below this LLVM is asked to put a function into its callers, which is worth 5 % for some


class Program:
    """Functions that are translated so far, each once for each kind of arguments."""

    def __init__(self) -> None:
        self._made: dict[tuple[Plain, tuple[Kind, ...]], tuple[str, Kind]] = {}
        self._texts: list[str] = []
        self._declared: set[str] = set()
        self._arrays: dict[str, str] = {}
        self._open: set[Plain] = set()

    def text(self) -> str:
        """The whole program."""
        arrays = [f"{name} = private unnamed_addr constant {text}" for text, name in self._arrays.items()]
        return "\n".join([*arrays, *sorted(self._declared), *self._texts])

    def constant_array(self, text: str) -> str:
        """The name of an array of constants."""
        return self._arrays.setdefault(text, f"@routh.array.{len(self._arrays)}")

    def function(self, kernel: Foreign, kinds: tuple[Kind, ...]) -> tuple[str, Kind]:
        """The name of a kernel for arguments of these kinds, and the kind of its result."""
        plain: Foreign = kernel.py_func
        if (plain, kinds) not in self._made:
            if plain in self._open:
                raise UntranslatableError(f"{plain.__name__} calls itself")
            self._open.add(plain)
            self._made[plain, kinds] = self._translate(kernel, kinds)
            self._open.remove(plain)
        return self._made[plain, kinds]

    def _translate(self, kernel: Foreign, kinds: tuple[Kind, ...]) -> tuple[str, Kind]:
        plain, options = kernel.py_func, kernel.options
        node = source_of(plain.__code__.co_filename, plain.__code__.co_firstlineno, plain.__name__)
        if len(node.args.args) != len(kinds) or node.args.vararg or node.args.kwonlyargs:
            raise UntranslatableError(f"arguments of {plain.__name__}")
        fast = options["fastmath"]
        fast = "fast " if fast is True else "".join(f"{word} " for word in sorted(fast or ()))
        knowledge = Knowledge(node)
        parts = [f"%a{k}" for k in range(sum(len(types_of(kind)) for kind in kinds))]
        for _ in range(MOST_ATTEMPTS):
            names = iter(parts)
            writer = Statements(self, plain, knowledge, fast)
            try:
                writer.write_body(node, [of_parts(kind, names) for kind in kinds])
            except Again:
                continue
            break
        else:
            raise UntranslatableError(plain.__name__)
        self._declared |= writer.used
        given = [one for kind in kinds for one in types_of(kind)]
        name = f"routh.{plain.__module__}.{plain.__name__}.{len(self._made) + len(self._texts)}"
        pointer = "ptr noalias" if getattr(plain, "distinct", False) else "ptr"
        listed = ", ".join(
            f"{pointer if one == 'ptr' else one} {part}" for one, part in zip(given, parts, strict=True)
        )
        word = "inlinehint " if sum(len(block.lines) for block in writer.blocks) < SHORT else ""
        word = "alwaysinline " if options.get("forceinline") else word
        word = "noinline " if getattr(plain, "apart", False) else word
        word = "noinline cold " if getattr(plain, "seldom", False) else word
        body = "\n".join(f"{block.label}:\n" + "\n".join(block.lines) for block in writer.blocks)
        result = result_type(types_of(knowledge.kinds[RESULT]))
        self._texts.append(f"define internal {result} @{name}({listed}) {word}nounwind {{\n{body}\n}}")
        return name, knowledge.kinds[RESULT]


@lru_cache(maxsize=256)
def _functions_of(path: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """The functions of a file by the line where they begin, decorators included, and their name."""
    tree = ast.parse("".join(linecache.getlines(path)))
    return {
        (min([one.lineno, *(mark.lineno for mark in one.decorator_list)]), one.name): one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef)
    }


def source_of(path: str, line: int, name: str) -> ast.FunctionDef:
    """The source of a function."""
    found = _functions_of(path).get((line, name))
    if found is None:
        raise UntranslatableError(f"the source of {name} is not there")
    return found
