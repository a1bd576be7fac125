"""`routh precompile`: every family's call runs, and the command says what it did."""

from typer.testing import CliRunner

from routh.cli import precompile
from routh.cli.app import app


def test_the_spatial_problem_approaches_at_two_contacts():
    problem = precompile._spatial()
    assert (problem.Jn @ problem.v < 0.0).all()
    assert problem.nc == 2


def test_the_command_names_each_family(monkeypatch):
    done = []
    families = {"first": lambda: done.append(1), "second": lambda: 0}
    monkeypatch.setattr(precompile, "FAMILIES", families)
    result = CliRunner().invoke(app, ["precompile"])
    assert result.exit_code == 0
    assert done == [1]
    assert "first" in result.output
    assert "on disk already" in result.output
