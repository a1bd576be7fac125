"""``routh reproduce``: make the exhibits, write the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from routh.cli.exits import GO_ON, Exit, when_interrupted
from routh.cli.output import Output, plain_table
from routh.reproduce import Settings
from routh.reproduce.runner import Finished, cells, choose, counted, load, run, statements, write_report
from routh.text import for_rich
from routh.viz import style


def list_exhibits(output: Output) -> int:
    """A table of all exhibits; the exit code."""
    found = load()
    table = plain_table("*|name", "source", "what it shows")
    for entry in found:
        table.add_row(entry.name, entry.source, entry.title)
    output.show(table)
    output.emit([{"name": entry.name, "source": entry.source, "title": entry.title} for entry in found])
    return 0


def list_statements(output: Output) -> int:
    """Every statement of the papers with its verdict, and nothing else; the exit code."""
    found = statements()
    for paper, said in found.items():
        output.show(f"[bold]{paper}[/bold]: {counted(said)}")
        for one in said:
            where, says, by, because = map(for_rich, (one.where, one.says, one.by, one.because))
            output.show(
                f"[cyan]{where}[/cyan]: {says}: [bold]{one.verdict}[/bold]{because and '; ' + because}"
            )
            output.show(f"  [dim]{by}[/dim]")
    output.emit([{"paper": paper, **asdict(one)} for paper, said in found.items() for one in said])
    return 0


def reproduce_all(out: Path, only: Sequence[str], settings: Settings, fresh: bool, output: Output) -> int:
    """Make the chosen exhibits and the report; the exit code."""
    out.mkdir(parents=True, exist_ok=True)
    style.matplotlib()  # its absence is better said before an hour of work than after
    chosen = choose(load(), only)
    results: list[Finished] = []
    goes_on = GO_ON.replace("command", "command without --fresh") if fresh else GO_ON
    when_interrupted(
        lambda: f"{_done(results)} of {len(chosen)} exhibits were done, and are kept in {out}; {goes_on}"
    )
    with output.counting(len(chosen)) as advance:
        for result in run(chosen, out, settings, fresh=fresh, announce=advance):
            results.append(result)  # one by one: they are told of if the next is interrupted
    report = write_report(out / "report.html", results, out / "figures", settings)
    output.show(_table(results))
    for result in results:
        if result.status != "done":
            output.show(f"[yellow]{result.name} {result.status}:[/yellow] {for_rich(result.error)}")
    for paper, said in statements().items():
        output.say(f"{paper}: {counted(said)} (routh reproduce --statements)")
    output.say(f"\nreport: [bold]{for_rich(report)}[/bold]")
    output.emit(report=str(report), exhibits=[asdict(result) for result in results])
    return Exit.WITHOUT_RESULT if any(result.status == "failed" for result in results) else Exit.DONE


def _done(results: Sequence[Finished]) -> int:
    return sum(result.status == "done" for result in results)


def _table(results: Sequence[Finished]) -> Table:
    table = plain_table("exhibit and quantity")
    for column in ("paper", "ours", "difference"):
        table.add_column(column, justify="right", max_width=16)  # long words must not squeeze out the names
    for result in results:
        seconds = "kept" if result.reused else f"{result.seconds:.1f} s"
        table.add_row(f"[cyan]{result.name}[/cyan] [dim]{result.status}, {seconds}[/dim]", "", "", "")
        for row in result.rows:
            if row.paper is not None:
                table.add_row(*map(for_rich, (f"  {row.quantity}", *cells(row))))
    return table
