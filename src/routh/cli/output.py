"""Output of the commands: tables and JSON to stdout, progress to stderr and only for people."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from routh.base.status import MissingExtraError
from routh.base.text import for_rich
from routh.cli.exits import forget_output, unread
from routh.cli.options import Json, Quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_WIDE = 1000  # letters in a line of a table where nobody watches
PATIENCE = 2.0  # s before anything says that it is still at work
LINE_EVERY = 10.0  # s between two lines that say so where there is no terminal


class _Console(Console):
    """Prints what it is given: no emoji for ``:name:``, no colours of its own for numbers."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, emoji=False, **options)

    def on_broken_pipe(self) -> None:
        """Nobody reads on (``| head -1``): say no more, and finish what was begun, such as the picture."""
        self.quiet = True
        if not self.stderr:
            forget_output()


@dataclass(frozen=True)
class Output:
    """What the user wants to see."""

    json: Json = False
    quiet: Quiet = False
    console: Console = field(default_factory=_Console)
    errors: Console = field(default_factory=lambda: _Console(stderr=True))

    def show(self, *things: RenderableType) -> None:
        """Tables and other results, for people."""
        if not self.json:
            for thing in things:
                whole = (
                    isinstance(thing, Table) and not self.console.is_terminal
                )  # numbers are not cut in a pipe
                wide = self.console.options.update(max_width=_WIDE)
                width = self.console.width
                if whole:
                    self.console.width = max(Measurement.get(self.console, wide, thing).maximum, width)
                self.console.print(thing)
                if whole:
                    self.console.width = width

    def answer(self, lines: Sequence[str]) -> None:
        """The answer, before anything else: one line each however long, so that ``| head -1`` has it all."""
        if not self.json:
            first, *rest = map(for_rich, lines)
            self.console.print(f"[bold]{first}[/bold]", *rest, sep="\n", soft_wrap=True)

    def say(self, text: str = "") -> None:
        """Explanations, which ``--quiet`` leaves out."""
        if not self.json and not self.quiet:
            self.console.print(text)

    def emit(self, rows: object = None, **data: object) -> None:
        """The result for machines, where that is what they want: by name, or as a list of ``rows``."""
        if self.json:
            with unread():
                print(json.dumps(plain(data if rows is None else rows), allow_nan=False))

    def picture(self, place: Path | None, draw: Callable[[], Figure]) -> str | None:
        """Save the figure that ``draw`` makes, where there is a place; its path as text.

        None, with a word about it, where Matplotlib is missing.
        """
        if place is None:
            return None
        from routh.viz import style

        try:
            with self.busy("drawing the picture"):
                style.save(draw(), place)
        except MissingExtraError as error:
            self.say(f"\n[yellow]no picture file:[/yellow] {for_rich(error)}")
            return None
        self.say(f"\npicture: [bold]{for_rich(place)}[/bold]")
        return str(place)

    @property
    def watched(self) -> bool:
        """Whether there is a person to watch a progress bar."""
        return not self.quiet and self.errors.is_terminal

    @contextmanager
    def _bar(self, *columns: ProgressColumn, text: str = "", total: int | None = None) -> Iterator[Progress]:
        """A bar with one task, seen once it takes more than two seconds."""
        progress = Progress(*columns, console=self.errors, transient=True)
        progress.add_task(text, total=total)
        timer = threading.Timer(PATIENCE, progress.start)
        timer.daemon = True
        timer.start()
        try:
            yield progress
        finally:
            timer.cancel()
            timer.join()  # it may be starting just now
            progress.stop()

    @contextmanager
    def _lines(self, told: Callable[[], str]) -> Iterator[None]:
        """Write a line every ten seconds where nobody watches a bar, as in a log file, unless ``--quiet``."""
        if self.quiet:
            yield
            return
        began, done = time.monotonic(), threading.Event()

        def tell() -> None:
            while not done.wait(LINE_EVERY):
                self.errors.print(f"{told()}: {time.monotonic() - began:.0f} s", markup=False, soft_wrap=True)

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """What takes long: a spinner with the time, or lines."""
        from routh.compiling import announced_to  # loads NumPy, which no list needs

        if not self.watched:
            now = [text]
            with self._lines(lambda: now[0]), announced_to(lambda told: now.__setitem__(0, told or text)):
                yield
            return
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        with (
            self._bar(*columns, text=text) as progress,
            announced_to(lambda told: progress.update(progress.task_ids[0], description=told or text)),
        ):
            yield

    @contextmanager
    def counting(self, total: int) -> Iterator[Callable[[str], None]]:
        """A bar over ``total`` things; yields a function to call with the name of the next one."""
        from routh.compiling import announced_to

        begun, name = count(), ["starting"]
        if not self.watched:
            now: list[str | None] = [None]
            compiled = announced_to(lambda told: now.__setitem__(0, told))
            with self._lines(lambda: now[0] or name[0]), compiled:
                yield lambda text: name.__setitem__(0, f"{text} ({next(begun)}/{total})")
            return
        columns = SpinnerColumn(), BarColumn(bar_width=30), MofNCompleteColumn(), TimeElapsedColumn()
        with self._bar(*columns, TextColumn("{task.description}"), total=total) as progress:
            task = progress.task_ids[0]

            def advance(text: str) -> None:
                name[0] = text
                progress.update(task, completed=next(begun), description=text)

            with announced_to(lambda told: progress.update(task, description=told or name[0])):
                yield advance


def plain_table(*columns: str, title: str | None = None, title_style: str | None = None) -> Table:
    """A table without lines, of columns by their headings.

    In front of one, in this order, ``>`` means numbers, to the right, ``*`` names, which stand out, and ``|``
    that it stays on one line; behind the latter there may be any text.
    """
    look = {"box": None, "pad_edge": False, "header_style": "bold", "title_justify": "left"}
    table = Table(title=title, title_style=title_style, **look)  # type: ignore[arg-type]
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.startswith(">") else "left"
        named = column.removeprefix(">")
        colour = "cyan" if named.startswith("*") else None
        name = named.removeprefix("*")
        table.add_column(name.removeprefix("|"), justify=justify, style=colour, no_wrap=name.startswith("|"))
    return table


def plain(data: object) -> object:
    """Numbers, lists and dictionaries that JSON knows; what is not a finite number becomes null."""
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(value) for value in data]
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def notes_shown(notes: str) -> list[Text]:
    """What was said before, with its colours, as it is printed later."""
    return [Text.from_ansi(notes)] if notes else []
