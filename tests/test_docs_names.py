"""What pages name exists: functions and modules, commands with their options, scripts and tests."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
HOME = ROOT / "src" / "routh"
VARIABLES = {"batch", "problem"}  # of examples, and modules at once
ROOMS = "|".join({path.stem for path in HOME.iterdir() if path.suffix != ".typed"} - VARIABLES)
NAME = re.compile(rf"`((?:routh|{ROOMS})(?:\.(?!py\b)[A-Za-z]\w*)+)")
FILE = re.compile(r"\b((?:benchmarks|tests|examples|scripts|docs)/[\w/]+\.(?:py|ipynb|txt|json))")
COMMAND = re.compile(r"^(?:\$ )?(?:\S*bin/)?routh ([a-z]+)( .*)?$", flags=re.MULTILINE)
INLINE = re.compile(r"`routh ([a-z]+)( [^`]*)?`(?: `(--[^`]*)`)*")


def exists(name):
    """Whether a dotted name leads to something, through modules and their members."""
    parts = name.removeprefix("routh.").split(".")
    for length in range(len(parts), -1, -1):
        try:
            found = importlib.import_module(".".join(["routh", *parts[:length]]))
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("routh"):
                pytest.skip(f"needs {error.name}")
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def options():
    """Every command's options, as it takes them."""
    import typer

    from routh.cli.app import app

    group = typer.main.get_command(app)
    context = typer.Context(group)
    names = group.list_commands(context)
    found = {name: [*group.get_command(context, name).params] for name in names}
    return {
        name: {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}
        for name, parameters in found.items()
    }


def test_names_lead_somewhere():
    named = {(name, page.name) for page in PAGES for name in NAME.findall(page.read_text())}
    assert len(named) > 150
    assert not [(name, page) for name, page in sorted(named) if not exists(name)]
    assert not exists("routh.sampling.nothing")


def test_files_are_there():
    named = {(name, page.name) for page in PAGES for name in FILE.findall(page.read_text())}
    assert len(named) > 30
    assert not [(name, page) for name, page in sorted(named) if not (ROOT / name).exists()]


def test_commands_take_the_options_that_pages_give_them():
    known, wrong, seen = options(), [], 0
    for page in PAGES:
        text = page.read_text()
        calls = [(command, rest) for command, rest in COMMAND.findall(text)]
        calls += [(command, f"{rest} {more}") for command, rest, more in INLINE.findall(text)]
        for command, rest in calls:
            given = {word.split("=")[0] for word in shlex.split(rest, comments=True) if word.startswith("-")}
            given = {word for word in given if not re.match(r"-[\d.]", word)} - {"--help", "-h"}
            seen += len(given)
            if command not in known or not given <= known[command]:
                wrong.append((page.name, command, sorted(given - known.get(command, set()))))
    assert seen > 60
    assert not wrong
