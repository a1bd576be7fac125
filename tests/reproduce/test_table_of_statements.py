"""The table of what the papers say: whole, and everything that it names is there."""

import json
import re
import sys
from pathlib import Path

import pytest

from routh.cli import run_command as main
from routh.reproduce.runner import PAPERS, Verdict, load, statements

ROOT = Path(__file__).parents[2]
ALL = [(paper, one) for paper, said in statements().items() for one in said]


@pytest.mark.parametrize("paper", PAPERS)
def test_what_shows_a_verdict_is_there(paper):
    pytest.importorskip("matplotlib")
    exhibits = {entry.name for entry in load()}
    for one in statements()[paper]:
        if "::" not in one.by:
            assert one.by in exhibits, one
            continue
        file, name = one.by.split("::")
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(), re.MULTILINE), one


def test_what_does_not_plainly_work_says_why():
    assert len(ALL) > 100
    assert all(one.because for _, one in ALL if one.verdict is not Verdict.WORKS)
    assert len({(paper, one.where, one.says) for paper, one in ALL}) == len(ALL)


def test_every_exhibit_of_a_figure_or_table_of_a_paper_is_cited():
    pytest.importorskip("matplotlib")
    cited = {one.by for _, one in ALL}
    papers = [entry.name for entry in load() if entry.name.startswith(("hp23", "hp19", "jw17", "d19"))]
    elsewhere = {"hp23-fig-10", "hp23-fig-11", "hp23-fig-13", "hp23-disks"}  # tests show their sentences
    assert set(papers) - cited <= elsewhere


def test_the_command_lists_them_and_nothing_else(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["routh", "reproduce", "--statements", "--json"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    listed = json.loads(capsys.readouterr().out)
    assert len(listed) == len(ALL)
    assert {one["verdict"] for one in listed} == {str(verdict) for verdict in Verdict}
