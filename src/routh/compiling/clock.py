"""How long this process has compiled, and who wants to know that it does. Loads no LLVM."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

LOG = logging.getLogger("routh.compiling")
ANNOUNCEMENT = "compiling, once for this machine"
#: called with the announcement when compiling begins, and with None when it has ended
Listener = Callable[[str | None], None]


@dataclass
class _Clock:
    seconds: float = 0.0
    depth: int = 0
    listeners: list[Listener] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)  # one function at a time


_CLOCK = _Clock()


def compile_seconds() -> float:
    """Seconds (wall clock) that this process has compiled so far; loading from disk is not counted."""
    return _CLOCK.seconds


@contextmanager
def announced_to(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` while something is compiled: the announcement, then None when it is done."""
    _CLOCK.listeners.append(listener)
    try:
        yield
    finally:
        _CLOCK.listeners.remove(listener)


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Entered by the compiler: announces the outermost function and measures its time."""
    with _CLOCK.lock:
        _CLOCK.depth += 1
        began = time.perf_counter()
        if _CLOCK.depth == 1:
            LOG.info("%s: %s", ANNOUNCEMENT, name)
            _tell(ANNOUNCEMENT)
        try:
            yield
        finally:
            _CLOCK.depth -= 1
            if _CLOCK.depth == 0:
                _CLOCK.seconds += time.perf_counter() - began
                _tell(None)


def _tell(text: str | None) -> None:
    for listener in list(_CLOCK.listeners):
        listener(text)
