"""`routh precompile`: every family's call runs, and the command says what it did."""

import pytest
from typer.testing import CliRunner

from routh.cli import precompile
from routh.cli.app import app


@pytest.mark.parametrize("family", precompile.FAMILIES, ids=lambda family: family.name)
def test_every_family_has_a_call_that_works(family):
    assert family.call() is not None


def test_the_command_names_each_family(monkeypatch):
    done = []
    families = (precompile.Family("first", lambda: done.append(1)), precompile.Family("second", lambda: 0))
    monkeypatch.setattr(precompile, "FAMILIES", families)
    result = CliRunner().invoke(app, ["precompile"])
    assert result.exit_code == 0
    assert done == [1]
    assert "first" in result.output
    assert "on disk already" in result.output
