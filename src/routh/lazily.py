"""Public names of packages: from the stub (``.pyi``) that type checkers read, on first use, or at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType


def public_names(file: str) -> dict[str, str]:
    """Name -> module that it is imported from in the stub beside ``__init__.py``, which is ``file``."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    found = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in found for alias in node.names}


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


def exported(names: Mapping[str, object]) -> list[str]:
    """The ``__all__`` of a package that imports its public names itself; ``names`` are its `vars`."""
    return sorted(
        name for name, value in names.items() if name[0] != "_" and not isinstance(value, ModuleType)
    )
