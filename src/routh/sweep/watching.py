"""Progress of a run on a terminal or in a notebook: rate, time left, failures by status."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

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
    if wanted is False or (wanted is None and not _watched()):
        yield lambda state: None
        return
    if _in_notebook():
        yield _notebook_line(dashboard)
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        console=Console(stderr=True),
    )
    if dashboard:
        bar.console.print(f"Dask's dashboard: {dashboard}", highlight=False)
    with bar:
        task = bar.add_task("points", total=None, pace="")
        yield lambda state: bar.update(task, total=state.total, completed=state.done, pace=sentence(state))


def _notebook_line(dashboard: str | None) -> Callable[[Progress], None]:
    """A bar that the cell shows and updates in place; needs no widgets."""
    from IPython.display import HTML, display

    def page(state: Progress | None) -> HTML:
        known = state or Progress(total=0)
        link = f' <a href="{for_html(dashboard)}">dashboard</a>' if dashboard else ""
        return HTML(
            f'<progress max="{max(known.total, 1)}" value="{known.done}"></progress> '
            f"{known.done}/{known.total} points {for_html(sentence(known))}{link}"
        )

    shown = display(page(None), display_id=True)
    return lambda state: shown.update(page(state))


def sentence(state: Progress) -> str:
    """Rate, time left, and what did not go well."""
    left = "" if math.isinf(state.left) else f", {_clock(state.left)} left"
    odd = [f"{count} {name}" for name, count in sorted(state.statuses.items()) if name != "SOLVED"]
    return f"{state.rate:.0f}/s{left}" + (f" ({', '.join(odd)})" if odd else "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _watched() -> bool:
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
