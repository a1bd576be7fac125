"""Public names of packages, resolved on first use from the stub (``.pyi``) that type checkers read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path


def door(package: str, file: str) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package; call it as ``door(__name__, __file__)``."""
    names = public_names(file)
    return sorted(names), resolving(package, names), lambda: sorted(names)


def public_names(file: str) -> dict[str, str]:
    """Name -> module that it is imported from in the stub beside ``__init__.py``, which is ``file``."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


def resolving(package: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package; what its place in the stub does not define is a module there."""

    def resolve(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if names[name] == package:
            return import_module(f"{package}.{name}")
        home = import_module(names[name])
        return getattr(home, name) if hasattr(home, name) else import_module(f"{names[name]}.{name}")

    return resolve
