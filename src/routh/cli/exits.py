"""How a command ends: exit codes, errors and warnings in one line, closed pipes in silence, prompt Ctrl-C."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import IntEnum

from routh.base import interrupts
from routh.base.status import InputError, RouthError
from routh.base.text import for_terminal

GO_ON = "the same command resumes from there"
NAMED = 3  # files that an interrupted command names; of more the number is told
_ALONE = threading.Event()  # in a process that does nothing else
_TOLD = threading.Event()  # that it was interrupted
_flags: dict[str, str] = {}  # of the command that runs
_typed: dict[str, str] = {}  # those of them that were typed
_tellers: list[Callable[[], str]] = []


class Exit(IntEnum):
    """What a command ends with; docs/guide/command_line.md says what each means of which command."""

    DONE = 0
    WITHOUT_RESULT = 1
    BAD_INPUT = 2
    NOTHING_APPROACHES = 3
    NO_GO = 4
    TOO_FEW_SOLVED = 5
    UNDECIDED = 6
    TILTED = 7
    INTERRUPTED = 130


_MEANINGS = {
    Exit.DONE: "done",
    Exit.WITHOUT_RESULT: "ran but without the result asked for",
    Exit.BAD_INPUT: "bad input",
    Exit.NOTHING_APPROACHES: "nothing approaches",
    Exit.NO_GO: "no-go: it can tip",
    Exit.TOO_FEW_SOLVED: "partial: fewer than 99 % of the samples are solved",
    Exit.UNDECIDED: "undecided: too near the limit",
    Exit.TILTED: "tilted: later impacts decide",
    Exit.INTERRUPTED: "interrupted",
}
#: One sentence for the end of every help.
IN_SHORT = f"Exit codes: {', '.join(f'{code:d} {meaning}' for code, meaning in _MEANINGS.items())}."


def explain(error: Exception) -> str | None:
    """One line for an error that the user can mend; None for a fault of ours, which keeps its traceback."""
    if isinstance(error, FileNotFoundError):
        found = f"there is no file {error.filename!s}"
    elif isinstance(error, OSError):
        found = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    elif isinstance(error, MemoryError):
        found = f"not enough memory ({error or 'none left'}); wanted fewer samples or a smaller problem"
    elif isinstance(error, InputError):
        found = error.sentence(_typed.get(error.field), _flags)
    elif isinstance(error, (ValueError, RouthError)):
        found = str(error)
    else:
        return None
    return for_terminal(found)


def know_flags(flags: Mapping[str, str], typed: Collection[str]) -> None:
    """The flags of the command that runs by the names of its options, and which of them were typed."""
    _flags.clear()
    _flags.update(flags)
    _typed.clear()
    _typed.update({name: flags[name] for name in flags if name in typed})
    if "samples" in _typed:
        _typed["n"] = flags["samples"]  # what Python calls how many


def warn_in_one_line() -> None:
    """Show warnings as errors are shown: a sentence, without the place in routh's source that noticed it."""
    warnings.showwarning = lambda message, *_, **__: say(f"routh: warning: {for_terminal(message)}")


def stop_promptly() -> None:
    """Make Ctrl-C end this process within a second even while compiled code runs."""
    _ALONE.set()
    interrupts.end_promptly(lambda: "" if _TOLD.is_set() else f"{_interrupted()}\n", int(Exit.INTERRUPTED))


def _interrupted() -> str:
    kept = what_is_kept()
    return f"interrupted; {kept}" if kept else "interrupted"


def say_interrupted() -> None:
    """One line on standard error, with what was kept."""
    if _ALONE.is_set():
        interrupts.ignore()  # a second Ctrl-C would end the sentence
    told = _interrupted()
    _TOLD.set()
    say(told)


def say(text: str) -> None:
    """A line on standard error, if anybody can read it."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr)


def when_interrupted(tell: Callable[[], str]) -> None:
    """Let ``tell`` say what this command has kept, in one clause; without it the files written are named."""
    _tellers.append(tell)


def what_is_kept() -> str:
    """One clause, or nothing where that cannot be told.

    The thread that ends the process may ask while an import is under way: nothing is imported then.
    """
    with suppress(Exception):
        return for_terminal(_tellers[-1]() if _tellers else _files())
    return ""


def _files() -> str:
    storage = sys.modules.get("routh.base.storage")
    written: list[object] = getattr(storage, "written_files", list)()
    if not written:
        return "no result was written"
    if len(written) > NAMED:
        few = len(written) < getattr(storage, "REMEMBERED", 0)
        return f"kept: {'' if few else 'at least '}{len(written)} files, the last of them {written[-1]}"
    return f"kept: {', '.join(map(str, written))}"


@contextmanager
def until_nobody_reads() -> Iterator[None]:
    """Run a command; that whoever reads its output has gone (``| head``) changes not even its exit code."""
    import typer

    try:
        yield
    except BrokenPipeError:
        forget_output()
        raise typer.Exit(0) from None
    finally:
        with unread():
            sys.stdout.flush()


@contextmanager
def unread() -> Iterator[None]:
    """Print: where nobody reads it, neither this nor what follows goes anywhere, and the work goes on."""
    try:
        yield
    except BrokenPipeError:
        forget_output()


def open_closed_streams() -> None:
    """What is printed where there is no output at all (``>&-``) goes nowhere, not into the next file."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def forget_output() -> None:
    """Send what is still to be printed nowhere: nobody reads it, and Python would complain at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output_is_forgotten() -> bool:
    """Whether what is printed goes nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(os.devnull))
    return False
