"""Functions as data: an importable function by its name, with arguments that JSON can hold.

A study must mean the same in every process on every machine and after a restart, so what it calls is written
down, not pickled: ``module:function``, keyword arguments, and a digest of the file that defines it.
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

from routh.validation import Options


@dataclass(frozen=True)
class Recipe:
    """An importable function and the arguments that it is always called with."""

    function: str  # "module:qualified.name"
    arguments: dict[str, object] = field(default_factory=dict)  # what JSON can hold
    files: tuple[str, ...] = ()  # data that the function reads: their contents belong to the study

    def resolve(self) -> Callable[..., object]:
        """The function itself."""
        return _resolve(self.function)

    def as_data(self) -> Options:
        """As JSON holds it, with a digest of the source and of the files."""
        return {**vars(self), "files": list(self.files), "digest": digest(self)}

    @staticmethod
    def from_data(data: Options) -> Recipe:
        """The recipe that `as_data` wrote."""
        return Recipe(data["function"], dict(data["arguments"]), tuple(data["files"]))


def recipe(function: Callable[..., object] | str | Recipe, /, **arguments: object) -> Recipe:
    """A recipe from a function that other processes can import, or from its name ``module:function``.

    Lambdas, methods of objects, functions inside functions and functions of a notebook or script cannot be
    imported by a worker, so they are refused: put the function into a module.
    """
    if isinstance(function, Recipe):
        return Recipe(function.function, {**function.arguments, **arguments}, function.files)
    name = function if isinstance(function, str) else _name_of(function)
    _resolve(name)
    try:
        written = json.loads(json.dumps(arguments, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"arguments: of {name}: {error}; wanted numbers, texts, lists, dictionaries"
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
        total.update(Path(path).read_bytes())
    return total.hexdigest()[:16]


def _name_of(function: Callable[..., object]) -> str:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module is None or name is None:
        raise ValueError(f"function: got {function!r}; wanted a function of a module")
    if module == "__main__" or "<" in name:
        raise ValueError(
            f"function: {name} lives in {module!r} where no other process can import it; wanted a function "
            "at the top of a module"
        )
    text = f"{module}:{name}"
    if _resolve(text) is not function:
        raise ValueError(f"function: {text} is another object than the one given; wanted one to import")
    return text


@lru_cache(maxsize=64)
def _resolve(name: str) -> Callable[..., object]:
    module, found, path = name.partition(":")
    if not found:
        raise ValueError(f"function: got {name!r}; wanted 'module:function'")
    try:
        value: object = importlib.import_module(module)
        for part in path.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"function: {name!r} cannot be imported ({error}); path: {sys.path[:3]} ..."
        ) from None
    if not callable(value):
        raise ValueError(f"function: {name!r} is {type(value).__name__}; wanted a function")
    return value
