"""Output that nobody reads any more (``routh list | head``) is no error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


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
