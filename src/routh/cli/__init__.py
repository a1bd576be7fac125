"""The command line: parse, call, print."""

import atexit
import gc
import sys

from routh.cli import exits

__all__ = ["main"]


def main() -> None:
    """The program ``routh``."""
    exits.open_closed_streams()
    exits.stop_promptly()
    exits.warn_in_one_line()
    gc.set_threshold(50_000, 20, 20)  # imports make many objects and no garbage
    atexit.register(gc.freeze)  # else the interpreter searches them all for garbage before it ends: 0.3 s
    run_command()


def run_command() -> None:
    """Run the command line; errors are one line, not a traceback."""
    unread = exits.output_is_forgotten()
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # what a terminal's encoding lacks becomes escapes, not errors
                stream.reconfigure(errors="backslashreplace")
        from routh.cli.app import app

        app(prog_name="routh")
    except KeyboardInterrupt:
        exits.say_interrupted()
        sys.exit(int(exits.Exit.INTERRUPTED))
    except SystemExit as stop:
        if stop.code == exits.Exit.INTERRUPTED:
            exits.say_interrupted()
        own = isinstance(stop.code, exits.Exit)  # else it is Rich's way with ``--help | head``
        if stop.code == 1 and not own and not unread and exits.output_is_forgotten():
            sys.exit(0)
        raise
    except Exception as error:
        message = exits.explain(error)
        if message is None:
            raise
        exits.say(f"routh: error: {message}")
        sys.exit(int(exits.Exit.BAD_INPUT))
