"""How a command ends: errors in one line, closed pipes in silence, Ctrl-C within a second."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from contextlib import suppress

from routh.cli.exits import Exit, output_is_forgotten, what_is_kept

INTERRUPTED = int(Exit.INTERRUPTED)
PATIENCE = 0.6  # s between Ctrl-C and the end, where compiled code keeps Python from hearing it
_ALONE = threading.Event()  # in a process that does nothing else
_TOLD = threading.Event()  # that it was interrupted


def main() -> None:
    """Run the command line; errors are one line, not a traceback."""
    unread = output_is_forgotten()
    try:
        _print_anything()
        from routh.cli.app import app

        app(prog_name="routh")
    except KeyboardInterrupt:
        _say_interrupted()
        sys.exit(INTERRUPTED)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            _say_interrupted()
        own = isinstance(stop.code, Exit)  # else it is Rich's way with ``--help | head``
        if stop.code == 1 and not own and not unread and output_is_forgotten():
            sys.exit(0)
        raise
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        _say(f"routh: error: {message}")
        sys.exit(int(Exit.BAD_INPUT))


def stop_promptly() -> None:
    """Make Ctrl-C end this process within a second even while compiled code runs.

    Python hears of a signal between two of its own instructions, which a compiled loop or the compiler can
    delay for long. A thread hears of it at once and waits a moment for a tidy end. Files are safe: they are
    written whole or not at all (`routh.storage`).
    """
    _ALONE.set()
    ears, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    sys.unraisablehook = _without_interrupts
    threading.Thread(target=_end_after_interrupt, args=(ears, os.getpid()), daemon=True).start()


def _without_interrupts(unraisable: sys.UnraisableHookArgs) -> None:
    """Ctrl-C that falls into a weak reference's callback is swallowed there; the thread ends the process."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _end_after_interrupt(ears: int, process: int) -> None:
    while os.read(ears, 1) != bytes([signal.SIGINT]):
        pass
    time.sleep(PATIENCE)
    if os.getpid() == process:
        told = f"{_interrupted()}\n".encode()
        if not _TOLD.is_set():
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, told)
        os._exit(INTERRUPTED)


def explain(error: Exception) -> str | None:
    """One line for an error that the user can mend; None for a fault of ours, which keeps its traceback."""
    from routh.status import RouthError
    from routh.text import for_terminal

    if isinstance(error, FileNotFoundError):
        found = f"there is no file {error.filename!s}"
    elif isinstance(error, OSError):
        found = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    elif isinstance(error, MemoryError):
        found = f"not enough memory ({error or 'none left'}); wanted fewer samples or a smaller problem"
    elif isinstance(error, (ValueError, RouthError)):
        found = str(error)
    else:
        return None
    as_options = re.sub(r"\((\w+)=\)", lambda name: f"(--{name[1].replace('_', '-')})", found)
    return for_terminal(as_options)


def _print_anything() -> None:
    """Characters that the terminal's encoding lacks become escapes, not errors."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _interrupted() -> str:
    kept = what_is_kept()
    return f"interrupted; {kept}" if kept else "interrupted"


def _say_interrupted() -> None:
    if _ALONE.is_set():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would end the sentence
    told = _interrupted()
    _TOLD.set()
    _say(told)


def _say(text: str) -> None:
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr)
