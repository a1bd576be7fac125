"""``routh list``."""

from __future__ import annotations

from rich.table import Table

from routh.cli.output import Output
from routh.systems.catalogue import CATALOGUE


def show_systems(output: Output) -> None:
    """A table of all systems."""
    rows = [
        {
            "name": name,
            "kind": entry.kind,
            "contacts": entry.contacts,
            "summary": entry.summary,
            "source": entry.source,
        }
        for name, entry in CATALOGUE.items()
    ]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", style="cyan", no_wrap=True)
    table.add_column("kind")
    table.add_column("contacts", justify="right")
    table.add_column("what happens")
    for row in rows:
        contacts = "" if row["contacts"] is None else str(row["contacts"])
        table.add_row(str(row["name"]), str(row["kind"]), contacts, str(row["summary"]))
    output.show(table)
    output.say("\nTry: [bold]routh run rocking-block[/bold]")
    output.emit(rows)
