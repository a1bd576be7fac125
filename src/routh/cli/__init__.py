"""The command line: parse, call, print."""

import atexit
import gc

from routh.cli.ending import main as run_command
from routh.cli.ending import stop_promptly
from routh.cli.exits import open_closed_streams

__all__ = ["main"]


def main() -> None:
    """The program ``routh``."""
    open_closed_streams()
    stop_promptly()
    gc.set_threshold(50_000, 20, 20)  # imports make many objects and no garbage
    atexit.register(gc.freeze)  # else the interpreter searches them all for garbage before it ends: 0.3 s
    run_command()
