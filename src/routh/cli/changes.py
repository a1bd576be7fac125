"""``--set KEY=VALUE``: what a command changes of a system."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from routh import systems
from routh.base.status import InputError
from routh.base.text import quantity
from routh.base.validation import Options


def parse_changes(changes: Sequence[str], name: str | None = None) -> Options:
    """``KEY=VALUE`` pairs as keyword arguments: numbers, or lists such as [1, 0.5].

    Text is for the parameters of the system ``name`` that are text.
    """
    found: Options = {}
    for change in changes:
        key, equals, value = (part.strip() for part in change.partition("="))
        if not equals or not key:
            raise InputError("--set", got=repr(change), wanted="KEY=VALUE, for example mu=0.2")
        key = key.replace("-", "_")
        try:
            found[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            known = [] if name is None else systems.parameters(name)
            of = next((one for one in known if one.name == key), None)
            if of is not None and isinstance(of.default, str):
                found[key] = value
            elif of is not None and of.unit == "rad":
                found[key] = _angle(change, value)
            else:
                raise InputError(
                    "--set", got=repr(change), wanted="a number or a list of numbers after the ="
                ) from None
    return found


def _angle(change: str, value: str) -> float:
    try:
        return quantity(value)
    except ValueError:
        raise InputError("--set", got=repr(change), wanted="radians, or degrees such as 20deg") from None
