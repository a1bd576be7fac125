"""Engines by the name that a command line gives: one of the kit's, or ``module:function``."""

from __future__ import annotations

from importlib import import_module

from routh.base.status import InputError
from routh.testkit.card import Card
from routh.testkit.checks import examine
from routh.testkit.names import ENGINES, named
from routh.testkit.scene import After


def engine_named(name: str) -> After:
    """An engine of `routh.testkit.ENGINES`, or what stands at ``module:function``."""
    module, colon, function = name.partition(":")
    if not colon:
        return named(name)
    try:
        after = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError("engine", got=f"{name!r}, which cannot be imported ({error})") from None
    if not callable(after):
        raise InputError("engine", got=f"{name!r}, a {type(after).__name__}", wanted="a function of a scene")
    return after


def card_of(name: str, n: int = 2048, seed: int = 0) -> Card:
    """The report card of an engine by its name."""
    title = ENGINES[name].title if name in ENGINES else name
    return examine(engine_named(name), name=title, n=n, seed=seed)
