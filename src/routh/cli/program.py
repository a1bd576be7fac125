"""The program, and how a command is added to it.

A parameter of a command that is a dataclass stands for one option per field: commands that share a group of
options declare it once, ``landed: Landed``, and get it whole. Fields that are not declared as options (by
``Annotated``) keep their defaults; fields that are groups themselves are taken apart.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import wraps
from inspect import cleandoc
from typing import Annotated, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from routh.cli.exits import IN_SHORT, Exit, until_nobody_reads

Given = ParamSpec("Given")
Result = TypeVar("Result")
GUIDE = """Every outcome that a rigid-body impact can have.

When a body hits the ground in several places at once, mechanics does not say which contact pushes first, and
the outcome depends on it. routh samples every order and every overlap, and shows the set of outcomes.

[bold]Start here:[/bold]

  routh list                   the systems that come with routh; routh list NAME: its parameters
  routh run rocking-block      sample one: a table and a picture
  routh impact problem.npz     the same for your own matrices
  routh impact robot.xml --drop 1.0      a robot's landing
  routh tip robot.xml --drop 1.5 --speed 0.8   can it touch down like this, or might it tip over?
  routh simulate robot.xml --drop 1.0    what happens after that
  routh view robot.xml         drag it around in a browser
  routh reproduce --quick      the papers' figures, with a report
"""


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

    parameters = {name: _without_type(one) for name, one in parameters.items()}
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


def _without_type(one: inspect.Parameter) -> inspect.Parameter:
    """The parameter; the help of a flag has no type, for it takes no value."""
    kind = one.annotation
    if _is_option(kind) and get_args(kind)[0] is bool:
        for told in kind.__metadata__:
            if isinstance(told, OptionInfo):
                told.metavar = ""
    return one


def unwrapped(text: str) -> str:
    """Join the lines of paragraphs, which the terminal wraps itself; indented lines stay as they are."""
    return re.sub(r"(?m)^(?! )(.+)\n(?=\S)", r"\1 ", cleandoc(text))


def command(name: str) -> Callable[[Callable[Given, int]], Callable[Given, int]]:
    """A command whose help is its docstring, and whose result is the exit code."""

    def add(function: Callable[Given, int]) -> Callable[Given, int]:
        flat = with_groups(function)

        @wraps(flat)
        def guarded(**named: object) -> None:
            with until_nobody_reads():
                raise typer.Exit(Exit(flat(**named)))

        app.command(name, help=unwrapped(function.__doc__ or ""), epilog=IN_SHORT)(guarded)
        return function

    return add


app = typer.Typer(
    name="routh",
    help=unwrapped(GUIDE),
    epilog=IN_SHORT,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
