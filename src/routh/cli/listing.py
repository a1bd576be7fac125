"""``routh list``: all systems; ``routh list NAME``: the parameters of one."""

from __future__ import annotations

from routh.cli.output import Output, plain_table
from routh.systems.catalogue import CATALOGUE


def show_systems(output: Output) -> None:
    """A table of all systems."""
    rows = [_line(name) for name in CATALOGUE]
    table = plain_table()
    table.add_column("name", style="cyan", no_wrap=True)
    table.add_column("kind")
    table.add_column("contacts", justify="right")
    table.add_column("what happens")
    for row in rows:
        contacts = "" if row["contacts"] is None else str(row["contacts"])
        table.add_row(str(row["name"]), str(row["kind"]), contacts, str(row["summary"]))
    output.show(table)
    output.say("\nTry: [bold]routh run rocking-block[/bold], or [bold]routh list rocking-block[/bold]")
    output.emit(rows)


def show_system(name: str, output: Output) -> None:
    """A system's parameters with their units, defaults and meanings."""
    from routh.systems.parameters import parameters

    found = parameters(name)  # refuses a name that is none
    entry = CATALOGUE[name]
    output.show(f"[bold cyan]{name}[/bold cyan]  {entry.summary}")
    output.say(f"[dim]{entry.source} · {entry.kind}[/dim]\n")
    table = plain_table()
    table.add_column("parameter", style="cyan", no_wrap=True)
    table.add_column("default", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("what it is")
    for one in found:
        table.add_row(one.name, _value(one.default), one.unit, one.meaning)
    output.show(table)
    first = next(one for one in found if isinstance(one.default, float))
    output.say(f"\nTry: [bold]routh run {name} --set {first.name}={1.5 * float(str(first.default)):g}[/bold]")
    output.emit(
        {
            **_line(name),
            "parameters": [
                {"name": one.name, "default": one.default, "unit": one.unit, "meaning": one.meaning}
                for one in found
            ],
        }
    )


def _line(name: str) -> dict[str, object]:
    entry = CATALOGUE[name]
    kept = {"kind": entry.kind, "contacts": entry.contacts, "summary": entry.summary, "source": entry.source}
    return {"name": name, **kept}


def _value(default: object) -> str:
    if default is None:
        return "computed"
    if isinstance(default, float):
        return f"{default:.6g}"
    if isinstance(default, tuple):
        return f"[{', '.join(f'{x:g}' for x in default)}]".replace("[", "\\[")
    return str(default)
