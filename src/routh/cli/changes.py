"""``--set KEY=VALUE``: what a command changes of a system."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from routh import systems
from routh.base.status import InputError
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
            texts = [] if name is None else systems.parameters(name)
            if not any(one.name == key and isinstance(one.default, str) for one in texts):
                raise InputError(
                    "--set", got=repr(change), wanted="a number or a list of numbers after the ="
                ) from None
            found[key] = value
    return found
