"""What notebooks show of calls that take a while. Terminals have the bars of `routh.cli` and of sweeps."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from routh.base.text import for_html

Thing = TypeVar("Thing")
PATIENCE = 1.0  # s: shorter calls show nothing
_EVERY = 0.2  # s between two pictures of a bar


class ShownHtml(Protocol):
    """What a cell shows and can change later: IPython's display handle."""

    def update(self, obj: object) -> None:
        """Show something else in its place."""


def in_notebook() -> bool:
    """Whether this process computes the cells of a notebook."""
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None


def show(html: str) -> ShownHtml:
    """Show HTML in the cell that runs now; needs no widgets."""
    from IPython.display import HTML, display

    handle: ShownHtml = display(HTML(html), display_id=True)
    return handle


def change(shown: ShownHtml, html: str) -> None:
    """Show other HTML in its place."""
    from IPython.display import HTML

    shown.update(HTML(html))


def bar(done: int, total: int, what: str, more: str = "") -> str:
    """A progress bar as HTML: so many of ``total``; ``more`` is put behind as it is."""
    drawn = f'<progress max="{max(total, 1)}" value="{done}"></progress>'
    return f"{drawn} {done}/{total} {for_html(what)}{' ' if more else ''}{more}"


@contextmanager
def counted(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar in a notebook, once it takes more than a second; elsewhere nothing.

    Yields a function to call with how many are done.
    """
    if not in_notebook():
        yield lambda done: None
        return
    began = last = time.monotonic()
    shown: ShownHtml | None = None

    def tell(done: int) -> None:
        nonlocal shown, last
        now = time.monotonic()
        if now - began < PATIENCE or (now - last < _EVERY and done < total):
            return
        last = now
        page = bar(done, total, what, f"{now - began:.0f} s")
        if shown is None:
            shown = show(page)
        else:
            change(shown, page)

    yield tell


def counted_through(things: Sequence[Thing], what: str) -> Iterator[Thing]:
    """The things one by one, with the bar of `counted`."""
    with counted(len(things), what) as tell:
        for done, thing in enumerate(things, start=1):
            yield thing
            tell(done)
