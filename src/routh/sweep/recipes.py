"""Functions as data: an importable function by its name, with arguments that JSON can hold.

A study must mean the same in every process on every machine and after a restart, so what it calls is written
down, not pickled: ``module:function``, keyword arguments, and a digest of the file that defines it. Importing
and calling what a file names would run whatever its author wanted, so of the names in a folder only routh's
own (`OWN`) are ever called; others have to be given again by the caller.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from routh.base.status import InputError
from routh.base.text import for_terminal
from routh.base.validation import Options

#: What a study may call because its folder says so: routh's own sources of problems and measures, by name.
OWN = frozenset(
    {
        "routh.systems:impact",
        "routh.models.robots.landing:landing_problem",
        "routh.robust.feet:touchdown_problem",
        "routh.sweep.measures:measure_ambiguities",
        "routh.sweep.measures:measure_extremes",
        "routh.sweep.measures:measure_tipping",
        "routh.sweep.measures:measure_modes",
        "routh.sweep.measures:measure_widths",
        "routh.sweep.measures:measure_audits",
        "routh.sweep.measures:measure_own",
    }
)
#: Of these, arguments that name a further function.
_CALLED = {"routh.sweep.measures:measure_audits": "answer", "routh.sweep.measures:measure_own": "function"}


@dataclass(frozen=True)
class Recipe:
    """An importable function and the arguments that it is always called with."""

    function: str  # "module:qualified.name"
    arguments: dict[str, object] = field(default_factory=dict)  # what JSON can hold
    files: tuple[str, ...] = ()  # data that the function reads: their contents belong to the study

    def resolve(self) -> Callable[..., object]:
        """The function itself."""
        return _resolve(self.function)

    def functions(self) -> frozenset[str]:
        """The names of all that is called by it."""
        inner = _CALLED.get(self.function)
        return frozenset(
            {self.function} if inner is None else {self.function, str(self.arguments.get(inner))}
        )

    def as_data(self) -> Options:
        """The recipe as JSON holds it, with a digest of the source and of the files."""
        return {**vars(self), "files": list(self.files), "digest": digest(self)}

    @staticmethod
    def from_data(data: Options) -> Recipe:
        """The recipe that `as_data` wrote; nothing is imported or called. TypeError where it is not one."""
        function, arguments, files = data["function"], data["arguments"], data["files"]
        texts = isinstance(files, list) and all(isinstance(text, str) for text in (function, *files))
        if not (texts and isinstance(arguments, dict)):
            raise TypeError("a recipe: wanted a function by name, arguments and files")
        return Recipe(function, dict(arguments), tuple(files))


def recipe(function: Callable[..., object] | str | Recipe, /, **arguments: object) -> Recipe:
    """A recipe from a function that other processes can import, or from its name ``module:function``.

    Lambdas, methods of objects, functions inside functions and functions of a notebook or script cannot be
    imported by a worker, so they are refused: put the function into a module.
    """
    if isinstance(function, Recipe):
        return Recipe(function.function, {**function.arguments, **arguments}, function.files)
    name = name_of(function)
    try:
        written = json.loads(json.dumps(arguments, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(
            "arguments", wrong=f"of {name}: {error}", wanted="numbers, texts, lists, dictionaries"
        ) from None
    return Recipe(name, written)


def digest(item: Recipe) -> str:
    """A digest of the source file of a recipe's function and of the files it reads, 16 hexadecimal digits.

    routh's own functions are covered by its version.
    """
    total = hashlib.sha256()
    if not item.function.startswith("routh."):
        source = inspect.getsourcefile(inspect.unwrap(item.resolve()))
        if source is not None:
            total.update(Path(source).read_bytes())
    for path in item.files:
        if not Path(path).is_file():
            raise InputError(
                "files", wrong=f"{for_terminal(path)} is not a file", wanted="the file that the study reads"
            )
        total.update(Path(path).read_bytes())
    return total.hexdigest()[:16]


def name_of(function: Callable[..., object] | str) -> str:
    """``module:function`` of a function, or such a name itself; ValueError where it cannot be imported."""
    if isinstance(function, str):
        _resolve(function)
        return function
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module is None or name is None:
        raise InputError("function", got=repr(function), wanted="a function of a module")
    if module == "__main__" or "<" in name:
        raise InputError(
            "function",
            wrong=f"{name} lives in {module!r} where no other process can import it",
            wanted="a function at the top of a module",
        )
    text = f"{module}:{name}"
    if _resolve(text) is not function:
        raise InputError(
            "function", wrong=f"{text} is another object than the one given", wanted="one to import"
        )
    return text


@lru_cache(maxsize=64)
def _resolve(name: str) -> Callable[..., object]:
    module, found, path = name.partition(":")
    if not found:
        raise InputError("function", got=repr(name), wanted="'module:function'")
    try:
        value: object = importlib.import_module(module)
        for part in path.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        raise InputError(
            "function", wrong=f"{name!r} cannot be imported ({error}); path: {sys.path[:3]} ..."
        ) from None
    if not callable(value):
        raise InputError("function", wrong=f"{name!r} is {type(value).__name__}", wanted="a function")
    return value
