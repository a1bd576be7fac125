"""The command ``routh reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from routh.cli import options
from routh.cli.output import Output


def reproduce(
    output: Output,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the figures, the numbers and the report.")
    ] = Path("results"),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Only this exhibit, or all of a paper (hp23); repeatable, see --list.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Fewer samples, without the slowest cases: minutes, not half an hour."),
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Recompute what the folder already holds.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the exhibits and exit.")] = False,
    said: Annotated[
        bool,
        typer.Option(
            "--statements",
            help="Compute the verdict on every statement of the papers (--only hp23: of one paper) and exit; "
            "with --list, tell those of record.",
        ),
    ] = False,
    slow: Annotated[
        bool, typer.Option("--slow", help="With --statements: the slow ones too, whose verdicts are dated.")
    ] = False,
    seed: options.Seed = 0,
    device: options.Device = "cpu",
) -> int:
    """Reproduce the papers' figures and tables, and compare every published number with ours.

    Writes one picture per figure and [bold]report.html[/bold], a single page with the pictures inside: for
    each published number the paper's, ours, the difference and why. What the folder already holds, computed
    by the same version with the same settings, is kept: an interrupted run resumes where it stopped.

    [bold]Examples:[/bold]

      routh reproduce --quick --out results
      routh reproduce --only hp23-table-3 --only hp23-fig-12
    """
    from routh.reproduce import Settings
    from routh.reproduce.reporting import list_exhibits, list_statements, reproduce_all

    if said:
        return list_statements(only or [], not listing, slow, output)
    if listing:
        return list_exhibits(output)
    options.output_folder(out)
    return reproduce_all(out, only or [], Settings(quick=quick, seed=seed, device=device), fresh, output)
