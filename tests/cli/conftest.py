"""How tests call the command line."""

import sys

import pytest

from routh.cli.ending import main


@pytest.fixture
def routh_command(monkeypatch, capsys, tmp_path):
    """Run ``routh`` in this process as the entry point does, in a folder of its own: code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["routh", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return call
