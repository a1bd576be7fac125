"""``routh reproduce``: make the exhibits, write the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from routh.base.status import InputError
from routh.base.text import for_rich
from routh.cli.exits import GO_ON, Exit, when_interrupted
from routh.cli.output import Output, plain_table
from routh.reproduce import Settings, verdicts
from routh.reproduce.runner import Finished, cells, choose, load, run, write_report
from routh.reproduce.verdicts import PAPERS, Checked, counted, statements
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


def list_statements(only: Sequence[str], run_them: bool, slow: bool, output: Output) -> int:
    """Every statement of the papers with its verdict, computed now or of record; the exit code.

    The papers in ``only``, all where it is empty. A verdict that is not the one of record fails the command.
    """
    papers = {paper.lower(): paper for paper in PAPERS}
    for name in only:
        if name.lower() not in papers:
            raise InputError("--only", got=f"{name!r}; with --statements wanted one of {', '.join(papers)}")
    wanted = [papers[name.lower()] for name in only] or list(PAPERS)
    said = [(paper, one) for paper in wanted for one in statements()[paper]]
    with output.counting(len(said)) as advance:
        found = []
        for paper, one in said:
            advance(one.where)
            found.append(verdicts.run(paper, one, slow=slow) if run_them else Checked(paper, one, None))
    for paper in wanted:
        mine = [checked for checked in found if checked.paper == paper]
        output.show(f"[bold]{paper}[/bold]: {counted(checked.statement for checked in mine)}")
        for checked in mine:
            output.show(*_told(checked))
    differ = [checked for checked in found if checked.differs]
    if run_them:
        ran = sum(checked.finding is not None for checked in found)
        output.say(
            f"\n{ran} of {len(found)} verdicts were computed now; {len(differ)} are not those of record"
        )
    output.emit([_as_data(checked) for checked in found])
    return Exit.WITHOUT_RESULT if differ else Exit.DONE


def _told(checked: Checked) -> list[str]:
    """A statement in lines: what it says and its verdict; what that rests on; the numbers."""
    one, finding = checked.statement, checked.finding
    verdict = one.verdict if finding is None else finding.verdict
    because = f"; {one.because}" if one.because else ""
    where, says, why, rests = map(for_rich, (one.where, one.says, because, one.rests_on))
    lines = [f"[cyan]{where}[/cyan]: {says}: [bold]{verdict}[/bold]{why}"]
    if checked.differs:
        lines.append(f"  [yellow]the verdict of record is: {one.verdict}[/yellow]")
    lines.append(f"  [dim]{rests}{for_rich(' · ' + one.check if one.check else '')}[/dim]")
    if finding is not None:
        numbers = (f"{name}: {_number(value)}" for name, value in finding.numbers.items())
        lines.append(f"  [dim]{for_rich(' · '.join(numbers))}[/dim]")
    elif checked.why_not:
        lines.append(f"  [dim]{for_rich(checked.why_not)}[/dim]")
    return lines


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _as_data(checked: Checked) -> dict[str, object]:
    finding = checked.finding
    computed = None if finding is None else {"verdict": finding.verdict, "numbers": dict(finding.numbers)}
    data = {**asdict(checked.statement), "rests_on": checked.statement.rests_on}
    return {"paper": checked.paper, **data, "computed": computed, "why_not": checked.why_not}


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
