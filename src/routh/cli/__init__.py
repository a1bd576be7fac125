"""The command line: parse, call, print."""

from routh.cli.ending import main as run_command
from routh.cli.ending import stop_promptly

__all__ = ["main"]


def main() -> None:
    """The program ``routh``."""
    stop_promptly()
    run_command()
