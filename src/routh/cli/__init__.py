"""The command line: parse, call, print."""

from routh.cli.app import main

__all__ = ["main"]
