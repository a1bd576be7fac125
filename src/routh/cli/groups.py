"""Options in groups: a parameter of a command that is a dataclass stands for one option per field.

Commands that share a group declare it once, ``landed: Landed``, and get it whole. Fields that are not
declared as options (by ``Annotated``) keep their defaults; fields that are groups themselves are taken apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import wraps
from typing import Annotated, ParamSpec, TypeVar, get_origin, get_type_hints

Given = ParamSpec("Given")
Result = TypeVar("Result")


def with_groups(function: Callable[Given, Result]) -> Callable[..., Result]:
    """The same function with a keyword per option, as the parser wants it."""
    kinds = get_type_hints(function, include_extras=True)
    parameters: dict[str, inspect.Parameter] = {}
    for one in inspect.signature(function).parameters.values():
        found = (
            _options(kinds[one.name])
            if is_dataclass(kinds[one.name])
            else [one.replace(annotation=kinds[one.name])]
        )
        parameters |= {option.name: option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in found}

    @wraps(function)
    def called(**given: object) -> Result:
        gathered = {
            name: _made(kinds[name], given) if is_dataclass(kind) else given[name]
            for name, kind in kinds.items()
            if name != "return"
        }
        return function(**gathered)  # type: ignore[arg-type, call-arg]

    called.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    called.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return called


def _options(group: type) -> list[inspect.Parameter]:
    """One parameter for each option of a group."""
    found = []
    for field, kind in _fields(group):
        if is_dataclass(kind):
            found += _options(kind)
        elif _is_option(kind):
            keyword = inspect.Parameter.KEYWORD_ONLY
            found.append(inspect.Parameter(field.name, keyword, default=field.default, annotation=kind))
    return found


def _made(group: type, given: Mapping[str, object]) -> object:
    """The group with the values that the parser found."""
    values: dict[str, object] = {}
    for field, kind in _fields(group):
        if is_dataclass(kind):
            values[field.name] = _made(kind, given)
        elif _is_option(kind):
            values[field.name] = given[field.name]
    return group(**values)


def _fields(group: type) -> list[tuple[Field[object], type]]:
    kinds = get_type_hints(group, include_extras=True)
    return [(field, kinds[field.name]) for field in fields(group)]


def _is_option(kind: object) -> bool:
    return get_origin(kind) is Annotated
