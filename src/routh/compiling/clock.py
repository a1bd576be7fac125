"""While something compiles: how long, who wants to know, and Ctrl-C. Loads no LLVM.

LLVM works for seconds without a word from Python, and the first words after it are those of a callback from
C, where a KeyboardInterrupt is printed and forgotten: so it works beside, and an interrupt is heard at once,
in notebooks too.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWorking
from contextlib import contextmanager, suppress
from typing import TypeVar

LOG = logging.getLogger("routh.compiling")
ANNOUNCEMENT = "compiling, once for this machine"
BETWEEN_LOOKS = 0.05  # s
Result = TypeVar("Result")
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
def compiling(name: str) -> Iterator[None]:
    """Entered by the compiler: announces a function and measures its time."""
    with _ONE_AT_A_TIME:
        began = time.perf_counter()
        LOG.info("%s: %s", ANNOUNCEMENT, name)
        _tell(ANNOUNCEMENT)
        try:
            yield
        finally:
            _SPENT.append(time.perf_counter() - began)
            _tell(None)


def _tell(text: str | None) -> None:
    for listener in list(_LISTENERS):
        listener(text)


def while_listening(work: Callable[[], Result]) -> Result:
    """What ``work()`` returns or raises. In the main thread it is done by another, which ends it if need be.

    After an interrupt the work goes on by itself and its result is dropped; the process waits for it at its
    end, since a library cannot be left in the middle.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done: Future[Result] = Future()

    def worker() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=worker, name="routh-compiling").start()
    while True:
        with suppress(StillWorking):
            return done.result(timeout=BETWEEN_LOOKS)
