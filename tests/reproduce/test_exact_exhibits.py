"""The exhibits of exact sets and the command that prints one."""

import json
import sys

import pytest

from routh.cli import run_command as main
from routh.reproduce import exact as exhibits
from routh.reproduce.base import Settings, entries

pytest.importorskip("ppl")
pytest.importorskip("matplotlib")


def test_the_rocking_blocks_exhibit_confirms_everything():
    assert exhibits.SYSTEMS
    entry = next(e for e in entries() if e.name == "exact-rocking-block")
    found = entry.make(Settings(quick=True))
    rows = {row.quantity: row.ours for row in found.rows}
    assert rows["status"] == "SOLVED"
    assert rows["vertices proved by the checker"] == "3 of 3"
    assert rows["outer set proved invariant"] == "yes"
    assert rows["simultaneous and sequential outcomes inside"] == "yes"
    assert len(found.figures["exact-rocking-block"].axes) == 1  # both normal velocities say it all


def test_compliant_outcomes_lie_in_the_set():
    entry = next(e for e in entries() if e.name == "exact-compliant")
    (row,) = entry.make(Settings(quick=True)).rows
    assert float(row.ours) < 1e-4


def test_the_command_prints_vertices_as_fractions(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = ["routh", "run", "rimless-wheel", "--exact", "--json", "--no-picture"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    data = json.loads(capsys.readouterr().out)
    assert data["status"] == "SOLVED"
    assert len(data["pieces"]) == 2
    assert any("/" in x for piece in data["pieces"] for vertex in piece["vertices"] for x in vertex)
