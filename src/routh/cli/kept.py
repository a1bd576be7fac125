"""What an interrupted command has kept, in words.

The thread that ends the process may have to tell it while an import is under way: nothing is imported then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress

from routh.text import for_terminal

GO_ON = "the same command goes on from there"
NAMED = 3  # files; of more the number is told
_tellers: list[Callable[[], str]] = []


def when_interrupted(tell: Callable[[], str]) -> None:
    """Let ``tell`` say what this command has kept, in one clause; without it the files written are named."""
    _tellers.append(tell)


def what_is_kept() -> str:
    """One clause, or nothing where that cannot be told."""
    with suppress(Exception):
        return for_terminal(_tellers[-1]() if _tellers else _files())
    return ""


def _files() -> str:
    storage = sys.modules.get("routh.storage")
    written: list[object] = getattr(storage, "written_files", list)()
    if not written:
        return "no result was written"
    if len(written) > NAMED:
        few = len(written) < getattr(storage, "REMEMBERED", 0)
        return f"kept: {'' if few else 'at least '}{len(written)} files, the last of them {written[-1]}"
    return f"kept: {', '.join(map(str, written))}"
