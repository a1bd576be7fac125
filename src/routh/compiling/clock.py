"""Clock of the compiler: how long it took, and who wants to know. Loads no LLVM."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOG = logging.getLogger("routh.compiling")
ANNOUNCEMENTS = {True: "compiling, once for this machine", False: "compiling, for this process only"}
#: called with the announcement when compiling begins, and with None when it has ended
Listener = Callable[[str | None], None]
_LISTENERS: list[Listener] = []
_ONE_AT_A_TIME = threading.RLock()
_SPENT: list[float] = []  # s, of each function that was compiled


def compile_seconds() -> float:
    """Seconds (wall clock) that this process has compiled so far; loading from disk is not counted."""
    return math.fsum(_SPENT)


@contextmanager
def announced_to(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` while something is compiled: the announcement, then None when it is done."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


@contextmanager
def compiling(name: str, *, kept: bool) -> Iterator[None]:
    """Announce a function that is compiled and measure its time. ``kept``: for later processes."""
    announcement = ANNOUNCEMENTS[kept]
    with _ONE_AT_A_TIME:
        began = time.perf_counter()
        LOG.info("%s: %s", announcement, name)
        _tell(announcement)
        try:
            yield
        finally:
            _SPENT.append(time.perf_counter() - began)
            _tell(None)


def _tell(text: str | None) -> None:
    for listener in list(_LISTENERS):
        listener(text)
