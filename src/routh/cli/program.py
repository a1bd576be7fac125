"""The program, and how a command is added to it.

A parameter of a command that is a dataclass stands for one option per field: commands that share a group of
options declare it once, ``landed: Landed``, and get it whole. Fields that are not declared as options (by
``Annotated``) keep their defaults; fields that are groups themselves are taken apart.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import wraps
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar, cast, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info

from routh.base import features
from routh.base.status import InputError
from routh.cli.exits import IN_SHORT, Exit, know_flags, until_nobody_reads

if TYPE_CHECKING:
    from routh.compiling.foreign import Foreign

Given = ParamSpec("Given")
Result = TypeVar("Result")
GUIDE = """Every outcome that a rigid-body impact can have.

When a body hits the ground in several places at once, mechanics does not say which contact pushes first, and
the outcome depends on it. routh samples every order and every overlap, and shows the set of outcomes.

[bold]Start here:[/bold]

  routh list                   the systems that come with routh; routh list NAME: its parameters
  routh run rocking-block      sample one: a table and a picture
  routh impact problem.npz     the same for your own matrices
  routh impact robot.xml --down 1.0      a robot's landing
  routh tip robot.xml --down 1.5 --sideways 0.8   can it touch down like this, or might it tip over?
  routh land robot.xml --down 1.5 --sideways 0.8   how likely is that, and where does it come to rest?
  routh simulate robot.xml --down 1.0    what happens after that
"""


def _guide() -> str:
    """The first page of the help: the core's commands, and a line of each feature that has one."""
    lines = [f"  {call:<27}  {what}\n" for call, what in features.entries("start").items()]
    return GUIDE + "".join(lines)


class _FlagsWithoutType:
    """Help in which a flag has no type, for it takes no value; ``--help`` is a flag, too."""

    def get_params(self, ctx: object) -> list[object]:  # click's types, or a copy of them within typer
        params: list[object] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                vars(param)["metavar"] = ""
        return params


#: What people type instead of an option: what to type, to a command that has it.
OTHER_WORDS = {
    "--drop": ("--down", "is a speed: type --down 1.5 (m/s), or --height 0.3 for metres of free fall"),
    "--speed": ("--sideways", "in which direction? Type --sideways 0.8 or --down 1.5 (m/s)"),
}


class _Command(_FlagsWithoutType, TyperCommand):  # type: ignore[misc]
    """A command whose flags show no type in the help, and that knows what people type instead.

    Its errors spell options as they were typed.
    """

    def parse_args(self, ctx: Foreign, args: list[str]) -> list[str]:
        own = {word for param in self.params for word in param.opts}
        for arg in args[: args.index("--") if "--" in args else None]:
            word = arg.partition("=")[0]
            meant, advice = OTHER_WORDS.get(word, ("", ""))
            if word not in own and meant in own:
                raise InputError(word, wrong=advice)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Foreign) -> Foreign:
        flags = {one.name: one.opts[0] for one in self.params if one.opts[0].startswith("--")}
        know_flags(flags, [name for name in flags if ctx.get_parameter_source(name).name == "COMMANDLINE"])
        return super().invoke(ctx)


class _Group(_FlagsWithoutType, TyperGroup):  # type: ignore[misc]
    """All commands; those of features come last, and are imported when they are asked for."""

    def list_commands(self, ctx: Foreign) -> list[str]:
        return [*dict.fromkeys([*super().list_commands(ctx), *features.entries("commands")])]

    def get_command(self, ctx: Foreign, name: str) -> Foreign:
        place = features.entries("commands").get(name)
        if place is not None and name not in self.commands:
            command(name)(cast("Callable[..., int]", features.resolve(place)))
            info = app.registered_commands[-1]
            self.commands[name] = get_command_from_info(
                info, pretty_exceptions_short=False, rich_markup_mode="rich"
            )
        return super().get_command(ctx, name)


def with_groups(function: Callable[..., Result]) -> Callable[..., Result]:
    """The same function with a keyword per option, as the parser wants it."""
    found = {option.name: option for option in _options(function)}

    @wraps(function)
    def called(**given: object) -> Result:
        return _call(function, given)

    called.__signature__ = inspect.Signature(list(found.values()))  # type: ignore[attr-defined]
    called.__annotations__ = {name: option.annotation for name, option in found.items()}
    return called


def _options(called: Callable[..., object]) -> Iterator[inspect.Parameter]:
    """One parameter for each option of a function, or of a group: its constructor is a function, too."""
    for one, group in _parameters(called):
        if group is None:
            yield one
        else:
            yield from _options(group)


def _call(called: Callable[..., Result], given: Mapping[str, object]) -> Result:
    """What a function or a group makes of the values that the parser found."""
    values = {
        one.name: given[one.name] if group is None else _call(group, given)
        for one, group in _parameters(called)
    }
    return called(**values)


def _parameters(called: Callable[..., object]) -> Iterator[tuple[inspect.Parameter, type | None]]:
    """The parameters with their types, and which of them are groups; of a group only options and groups."""
    kinds, keyword = get_type_hints(called, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    for one in inspect.signature(called).parameters.values():
        kind, group = kinds[one.name], is_dataclass(kinds[one.name])
        if group or get_origin(kind) is Annotated or not is_dataclass(called):
            yield one.replace(annotation=kind, kind=keyword), kind if group else None


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

        app.command(name, cls=_Command, help=unwrapped(function.__doc__ or ""), epilog=IN_SHORT)(guarded)
        return function

    return add


app = typer.Typer(
    name="routh",
    cls=_Group,
    help=unwrapped(_guide()),
    epilog=IN_SHORT,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
