"""``routh run NAME --exact``: the set itself instead of samples of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

from routh import systems
from routh.auditing.comparison import compare
from routh.cli.exits import Exit
from routh.cli.output import Output
from routh.cli.run import parse_changes
from routh.exact.build import exact_set
from routh.exact.result import ExactSet
from routh.sampling.filling import fill
from routh.status import Status
from routh.text import for_rich
from routh.viz import style
from routh.viz.velocity import velocity_figure

SECONDS = 60.0


def run_exact(
    name: str, changes: list[str], place: Path | None, output: Output, budget: float | None = None
) -> int:
    """Compute a system's exact set, print its vertices and draw it; the exit code."""
    system = systems.get(name, **parse_changes(changes, name))
    with output.busy("computing the exact set"):
        exact = exact_set(system.rational, budget=SECONDS if budget is None else budget)
    answer = exact.answer()
    output.answer(answer.lines())
    output.show("", f"[bold cyan]{system.name}[/bold cyan]  {system.summary}")
    output.say(f"[dim]{system.paper.source} · {exact.status.name} in {1e3 * exact.seconds:.1f} ms[/dim]\n")
    output.show(_table(exact))
    output.say(
        f"{len(exact.inner)} inner and {len(exact.outer)} outer pieces ({exact.outer_from}); "
        f"gap {exact.gap:.1e} of the speed before"
    )
    drawn = exact.rational.nt == 1 and len(exact.inner) > 0
    written = output.picture(place if drawn else None, lambda: _figure(exact))
    output.emit(ambiguity=answer.as_data(), **_as_data(exact), system=name, picture=written)
    return Exit.DONE if exact.status is not Status.INCOMPLETE else Exit.WITHOUT_RESULT


def _table(exact: ExactSet) -> Table:
    """Contact velocities at the vertices of every inner piece."""
    table = Table(title="vertices of the set: contact velocities, m/s", title_justify="left")
    table.add_column("piece", justify="right")
    parts = ("normal", "tangent") if exact.rational.nt == 1 else ("normal", "tangent 1", "tangent 2")
    for name in exact.rational.names:
        for part in parts:
            table.add_column(f"{for_rich(name)} {part}", justify="right")
    for index, piece in enumerate(exact.inner, start=1):
        for velocity in exact.problem.contact_velocity(piece.points):
            table.add_row(str(index), *(f"{x:.6f}" for x in np.round(velocity.ravel(), 9) + 0.0))
    return table


def _figure(exact: ExactSet) -> style.Figure:
    """The set over samples that fill it."""
    shown = compare(fill(exact.problem, max_samples=1024).outcomes, ways=False)
    return velocity_figure(shown, exact=exact, view="ends")


def _as_data(exact: ExactSet) -> dict[str, object]:
    return {
        "status": exact.status.name,
        "gap": exact.gap if exact.gap < float("inf") else None,
        "eta": exact.eta,
        "seconds": exact.seconds,
        "pieces": [
            {"dimension": piece.dimension, "vertices": [[str(x) for x in v] for v in piece.vertices]}
            for piece in exact.inner
        ],
    }
