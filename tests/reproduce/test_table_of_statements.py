"""The table of what the papers say: whole, everything that it names is there, computed it says the same."""

import json
import sys

import pytest

from routh.cli import run_command as main
from routh.reproduce.runner import load
from routh.reproduce.verdicts import PAPERS, Finding, Statement, StatementVerdict, run, statements

ALL = [(paper, one) for paper, said in statements().items() for one in said]
QUICK = sorted({one.check for _, one in ALL if one.check and not one.ran})


@pytest.mark.parametrize("check", QUICK)
def test_a_computed_verdict_is_the_one_of_record(check):
    """Of every statement with a quick check; a package that is missing skips it."""
    paper, one = next((paper, one) for paper, one in ALL if one.check == check)
    checked = run(paper, one)
    if checked.finding is None:
        pytest.skip(checked.why_not)
    recorded = {other.verdict for _, other in ALL if other.check == check}
    assert recorded == {checked.finding.verdict}, dict(checked.finding.numbers)
    assert checked.finding.numbers
    json.dumps(dict(checked.finding.numbers), default=lambda number: number.item(), allow_nan=False)


@pytest.mark.slow
def test_the_disks_only_come_to_rest():
    (one,) = [one for _, one in ALL if one.check == "hp23_steps.disks_simultaneous"]
    assert run("HP23", one, slow=True).finding.verdict is one.verdict


def test_what_is_not_computed_is_proved_and_says_where():
    for _, one in ALL:
        assert bool(one.check) != (one.verdict is StatementVerdict.PROVED), one
        assert one.proof or one.verdict not in (StatementVerdict.PROVED, StatementVerdict.IMPOSSIBLE), one
        assert one.rests_on, one


@pytest.mark.parametrize("paper", PAPERS)
def test_what_shows_a_statement_is_there(paper):
    pytest.importorskip("matplotlib")
    exhibits = {entry.name for entry in load()}
    for one in statements()[paper]:
        assert not one.see or one.see in exhibits, one
        assert not one.check or one.function.__doc__, one


def test_what_does_not_plainly_work_says_why():
    assert len(ALL) > 150
    assert all(
        one.because for _, one in ALL if one.verdict not in (StatementVerdict.WORKS, StatementVerdict.PROVED)
    )
    assert len({(paper, one.where, one.says) for paper, one in ALL}) == len(ALL)


def test_every_exhibit_of_a_figure_or_table_of_a_paper_is_cited():
    pytest.importorskip("matplotlib")
    cited = {one.see for _, one in ALL}
    papers = {entry.name for entry in load() if entry.name.startswith(("hp23", "hp19", "jw17", "d19"))}
    assert papers <= cited


def listed(monkeypatch, capsys, *more):
    monkeypatch.setattr(sys, "argv", ["routh", "reproduce", "--statements", "--json", *more])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code, json.loads(capsys.readouterr().out)


def test_the_command_lists_them_and_nothing_else(monkeypatch, capsys):
    code, found = listed(monkeypatch, capsys, "--list")
    assert not code
    assert len(found) == len(ALL)
    assert {one["verdict"] for one in found} == {str(verdict) for verdict in StatementVerdict}
    assert all(one["computed"] is None for one in found)


def test_the_command_computes_them_and_fails_where_one_differs(monkeypatch, capsys):
    right = Statement("(1)", "all is well", StatementVerdict.WORKS, check="jw17.two_balls")
    wrong = Statement("(2)", "all is ill", StatementVerdict.REFUTED, check="jw17.two_balls", because="so")
    dated = Statement(
        "(3)", "it is long", StatementVerdict.OPEN, check="jw17.two_balls", because="so", ran="2026-11-19"
    )
    for said, status in (((right, dated), 0), ((right, wrong), 1)):
        monkeypatch.setattr("routh.reproduce.reporting.statements", lambda said=said: {"JW17": said})
        code, found = listed(monkeypatch, capsys, "--only", "jw17")
        assert (code or 0) == status
        assert found[0]["computed"]["verdict"] == "works"
        assert 0.0 < found[0]["computed"]["numbers"]["largest difference (1/kg)"] < 1e-12
    assert run("JW17", dated).finding is None
    assert "2026-11-19" in run("JW17", dated).why_not
    assert isinstance(run("JW17", dated, slow=True).finding, Finding)
