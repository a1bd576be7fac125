"""The program, and how a command is added to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import ParamSpec

import typer

from routh.cli.exits import Exit, in_short
from routh.cli.groups import with_groups
from routh.cli.pipes import until_nobody_reads

GUIDE = """Every outcome that a rigid-body impact can have.

When a body hits at several places at once, mechanics does not say which contact pushes first, and the outcome
depends on it. routh samples every order and every overlap, and shows the set of outcomes.

[bold]Start here:[/bold]

  routh list                   the systems that come with routh; routh list NAME: its parameters
  routh run rocking-block      sample one: a table and a picture
  routh impact problem.npz     the same for your own matrices
  routh impact robot.xml --drop 1.0      a robot's landing
  routh tip robot.xml --drop 1.5 --speed 0.8   may it come down like that, or can it turn over?
  routh simulate robot.xml --drop 1.0    and what happens after it
  routh view robot.xml         drag its state in a browser
  routh reproduce --quick      the papers' figures, with a report
"""
Given = ParamSpec("Given")


def unwrapped(text: str) -> str:
    """Join the lines of paragraphs, which the terminal wraps itself; indented lines stay as they are."""
    joined: list[str] = []
    for line in cleandoc(text).splitlines():
        runs_on = (
            joined and joined[-1] and line and not line.startswith(" ") and not joined[-1].startswith(" ")
        )
        if runs_on:
            joined[-1] += " " + line
        else:
            joined.append(line)
    return "\n".join(joined)


def command(name: str) -> Callable[[Callable[Given, int]], Callable[Given, int]]:
    """A command whose help is its docstring, and whose result is the exit code."""

    def add(function: Callable[Given, int]) -> Callable[Given, int]:
        flat = with_groups(function)

        @wraps(flat)
        def guarded(**named: object) -> None:
            with until_nobody_reads():
                raise typer.Exit(Exit(flat(**named)))

        app.command(name, help=unwrapped(function.__doc__ or ""), epilog=in_short())(guarded)
        return function

    return add


app = typer.Typer(
    name="routh",
    help=unwrapped(GUIDE),
    epilog=in_short(),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
