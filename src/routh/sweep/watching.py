"""Progress of a run on a terminal or in a notebook: rate, time left, failures by status."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from routh.progress import bar, change, in_notebook, show
from routh.sweep.driver import Progress
from routh.text import for_html


@contextmanager
def watcher(
    wanted: bool | Callable[[Progress], None] | None, dashboard: str | None = None
) -> Iterator[Callable[[Progress], None]]:
    """A function to call with the state of the run."""
    if callable(wanted):
        yield wanted
        return
    if wanted is False or (wanted is None and not sys.stderr.isatty() and not in_notebook()):
        yield lambda state: None
        return
    if in_notebook():
        yield _notebook_line(dashboard)
        return
    drawn = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        console=Console(stderr=True),
    )
    if dashboard:
        drawn.console.print(f"Dask's dashboard: {dashboard}", highlight=False)
    with drawn:
        task = drawn.add_task("points", total=None, pace="")
        yield lambda state: drawn.update(task, total=state.total, completed=state.done, pace=sentence(state))


def _notebook_line(dashboard: str | None) -> Callable[[Progress], None]:
    """A bar that the cell shows and updates in place."""

    def page(state: Progress) -> str:
        link = f' <a href="{for_html(dashboard)}">dashboard</a>' if dashboard else ""
        return bar(state.done, state.total, "points", for_html(sentence(state)) + link)

    shown = show(page(Progress(total=0)))
    return lambda state: change(shown, page(state))


def sentence(state: Progress) -> str:
    """Rate, time left, and what did not go well."""
    left = "" if math.isinf(state.left) else f", {_clock(state.left)} left"
    odd = [f"{count} {name}" for name, count in sorted(state.statuses.items()) if name != "SOLVED"]
    return f"{state.rate:.0f}/s{left}" + (f" ({', '.join(odd)})" if odd else "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
