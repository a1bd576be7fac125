"""``routh list``: all systems; ``routh list NAME``: the parameters of one."""

from __future__ import annotations

from dataclasses import asdict

from routh.cli.output import Output, plain_table
from routh.systems.catalogue import CATALOGUE


def show_systems(output: Output) -> int:
    """A table of all systems; the exit code."""
    table = plain_table("*|name", "kind", ">contacts", "what happens")
    for name, entry in CATALOGUE.items():
        contacts = "" if entry.contacts is None else str(entry.contacts)
        table.add_row(name, entry.kind, contacts, entry.summary)
    output.show(table)
    output.say("\nTry: [bold]routh run rocking-block[/bold], or [bold]routh list rocking-block[/bold]")
    output.emit([_line(name) for name in CATALOGUE])
    return 0


def show_system(name: str, output: Output) -> int:
    """A system's parameters with their units, defaults and meanings; the exit code."""
    from routh.systems.base import parameters

    found = parameters(name)  # refuses a name that is none
    entry = CATALOGUE[name]
    output.show(f"[bold cyan]{name}[/bold cyan]  {entry.summary}")
    output.say(f"[dim]{entry.source} · {entry.kind}[/dim]\n")
    table = plain_table("*|parameter", ">|default", "|unit", "what it is")
    for one in found:
        table.add_row(one.name, _value(one.default), one.unit, one.meaning)
    output.show(table)
    first = next(one for one in found if isinstance(one.default, float))
    output.say(f"\nTry: [bold]routh run {name} --set {first.name}={1.5 * float(str(first.default)):g}[/bold]")
    output.emit(**_line(name), parameters=[asdict(one) for one in found])
    return 0


def _line(name: str) -> dict[str, object]:
    told = CATALOGUE[name]._asdict()
    return {"name": name, **{key: told[key] for key in ("kind", "contacts", "summary", "source")}}


def _value(default: object) -> str:
    if default is None:
        return "computed"
    if isinstance(default, float):
        return f"{default:.6g}"
    if isinstance(default, tuple):
        return f"[{', '.join(f'{x:g}' for x in default)}]".replace("[", "\\[")
    return str(default)
