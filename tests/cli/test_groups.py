"""Options in groups: declared once, the same in every command that has the group."""

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from routh.cli.app import app
from routh.cli.program import with_groups

Speed = Annotated[float, typer.Option(help="How fast.")]
Names = Annotated[list[str] | None, typer.Option("--name")]


@dataclass(frozen=True)
class Inner:
    names: Names = None


@dataclass(frozen=True)
class Group:
    speed: Speed = 1.0
    inner: Inner = field(default_factory=Inner)
    hidden: str = "kept"


def command(file: str, group: Group, loud: bool = False) -> tuple[str, Group, bool]:
    """A command."""
    return file, group, loud


def test_a_group_is_taken_apart_and_put_together():
    flat = with_groups(command)
    assert list(inspect.signature(flat).parameters) == ["file", "speed", "names", "loud"]
    found = flat(file="a", speed=2.0, names=["x", "y"], loud=True)
    assert found == ("a", Group(2.0, Inner(["x", "y"])), True)
    assert flat(file="a", speed=1.0, names=None, loud=False)[1] == Group()


def test_the_parser_understands_groups():
    program, seen = typer.Typer(), []

    def remember(file: str, group: Group) -> None:
        seen.append((file, group))

    program.command()(with_groups(remember))
    assert CliRunner().invoke(program, ["a", "--speed", "3", "--name", "x"]).exit_code == 0
    assert CliRunner().invoke(program, ["a"]).exit_code == 0
    assert seen == [("a", Group(3.0, Inner(["x"]))), ("a", Group())]


@pytest.mark.parametrize("name", [one.name for one in app.registered_commands])
def test_shared_options_are_declared_once(name):
    """The same word means the same in every command: one help text, one default, but where it is told."""
    told = {"--out", "--samples", "--friction", "--duration", "--pace", "--law"}
    found = {
        (option, parameter.help, str(parameter.default))
        for one in typer.main.get_command(app).commands.values()
        for parameter in one.params
        for option in parameter.opts
        if option.startswith("--") and option not in told
    }
    words = [option for option, _, _ in found]
    mine = {option for one in typer.main.get_command(app).commands[name].params for option in one.opts}
    assert [word for word in words if words.count(word) > 1 and word in mine] == []


def test_flags_are_shown_without_a_type():
    shown = CliRunner().invoke(app, ["impact", "--help"], terminal_width=200).output
    (line,) = (line for line in shown.splitlines() if "--no-picture" in line)
    assert "Write no picture file." in line
    for words in (["impact", "--help"], ["--help"]):  # also --help and --version themselves
        assert "bool" not in CliRunner().invoke(app, words, terminal_width=200).output
