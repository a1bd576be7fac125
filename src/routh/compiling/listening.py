"""Work that Python cannot interrupt, done beside: Ctrl-C is heard at once, in notebooks too. Loads no LLVM.

LLVM works for seconds without a word from Python, and the first words after it are those of a callback from
C, where a KeyboardInterrupt is printed and forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWorking
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")
TURN = 0.05  # s between two looks


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
            return done.result(timeout=TURN)
