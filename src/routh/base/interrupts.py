"""Ctrl-C: how it is heard within a second wherever this process is.

Python hears of a signal in its main thread only, between two of its own instructions. What would keep that
thread from its instructions is dealt with in one of four ways:

- A library that works for seconds without a word, as LLVM does, is called by another thread
  (`while_listening`). The first words after it may be those of a callback from C, where a KeyboardInterrupt
  is printed and forgotten.
- Compiled loops run in slices on other threads (`routh.kernels.common.slices`), for which the main one waits
  in short turns (`wait_for`).
- Processes beside this one (`routh.base.processes`) do not hear it at all (`ignore`): a terminal sends it to
  all of them, and the first one ends the others.
- The command line, whose process does nothing else, ends it even while compiled code runs (`end_promptly`).

What was under way is dropped, which spoils no file: files are written whole or not at all
(`routh.base.storage`). What a command has kept by then it says itself (`routh.cli.exits`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

_TURN = 0.05  # s between two looks at whether somebody wants the work to end
_PATIENCE = 0.6  # s between Ctrl-C and the end of a command, where compiled code keeps Python from hearing it
Result = TypeVar("Result")


def wait_for(futures: Sequence[Future[Result]]) -> None:
    """Wait until all of the futures are done; an interrupt is raised at once."""
    while wait(futures, timeout=_TURN).not_done:
        pass


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

    threading.Thread(target=worker, name="routh-listening").start()
    wait_for([done])
    return done.result()


def ignore() -> None:
    """Ignore interrupts in this process from now on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def end_promptly(last_words: Callable[[], str], code: int) -> None:
    """End this process with ``code`` soon after Ctrl-C, whatever it does then; for programs, not libraries.

    A thread hears of it at once and waits a moment for a tidy end.
    """
    ears, mouth = os.pipe()
    if hasattr(os, "set_blocking"):  # Windows has it from Python 3.12 on
        os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    sys.unraisablehook = _without_interrupts
    process = os.getpid()

    def end() -> None:
        while os.read(ears, 1) != bytes([signal.SIGINT]):
            pass
        time.sleep(_PATIENCE)
        if os.getpid() == process:  # and not a fork of it
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, last_words().encode())
            os._exit(code)

    threading.Thread(target=end, daemon=True).start()


def _without_interrupts(unraisable: sys.UnraisableHookArgs) -> None:
    """Ctrl-C that falls into a weak reference's callback is swallowed there; the thread ends the process."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
