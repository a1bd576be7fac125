"""Exhibits: found, chosen, kept, resumed, and reported."""

import json
import re

import pytest

from routh.base.status import MissingExtraError
from routh.reproduce import runner
from routh.reproduce.base import Entry, Exhibit, Row, Settings
from routh.reproduce.runner import cells, choose, difference, fingerprint, load, write_report
from routh.viz import style


class Counter:
    """An exhibit that counts how often it is made."""

    def __init__(self, name, error=None):
        self.calls, self.error = 0, error
        self.entry = Entry(name, f"Title of <{name}>", "HP23 Fig. 0", self.make)

    def make(self, settings):
        self.calls += 1
        if self.error is not None:
            raise self.error
        with style.context():
            fig, axes = style.figure()
            axes[0].plot([0, 1])
        rows = (
            Row("half & half", 0.5, 0.25, "it <is> less"),
            Row("count", None, 3),
            Row("word", "yes", "yes"),
        )
        return Exhibit({self.entry.name: fig}, rows, "First paragraph.\n\nSecond.")


def run(*arguments, **settings):
    return list(runner.run(*arguments, **settings))


@pytest.fixture
def good():
    return Counter("good")


def test_every_exhibit_of_the_papers_is_registered():
    names = [entry.name for entry in load()]
    figures = [1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14]
    wanted = [f"hp23-fig-{i}" for i in figures] + ["hp23-table-3", "hp19-fig-3", "hp19-fig-4"]
    assert [name for name in names if name in wanted] == wanted  # all there, in order
    assert len(set(names)) == len(names)


def test_only_takes_names_and_papers():
    found = load()
    assert [entry.name for entry in choose(found, ["hp23-fig-1"])] == ["hp23-fig-1"]
    assert all(entry.name.startswith("hp19-") for entry in choose(found, ["hp19"]))
    assert len(choose(found, [])) == len(found)
    with pytest.raises(ValueError, match=r"got 'hp23-fig-111'\. Did you mean 'hp23-fig-11'"):
        choose(found, ["hp23-fig-111"])


def test_what_is_there_is_kept_unless_settings_change(good, tmp_path):
    first = run([good.entry], tmp_path, Settings())
    again = run([good.entry], tmp_path, Settings())
    assert good.calls == 1
    assert (first[0].reused, again[0].reused) == (False, True)
    assert again[0].rows == first[0].rows
    run([good.entry], tmp_path, Settings(seed=1))
    assert good.calls == 2
    run([good.entry], tmp_path, Settings(seed=1), fresh=True)
    assert good.calls == 3


def test_a_missing_picture_or_a_broken_file_is_made_again(good, tmp_path):
    run([good.entry], tmp_path, Settings())
    (tmp_path / "figures" / "good.png").unlink()
    run([good.entry], tmp_path, Settings())
    assert good.calls == 2
    (tmp_path / "data" / "good.json").write_text("{")
    run([good.entry], tmp_path, Settings())
    assert good.calls == 3


def test_one_failure_does_not_stop_the_others(good, tmp_path):
    bad = Counter("bad", RuntimeError("it broke"))
    lacking = Counter("lacking", MissingExtraError("ppl", "exact"))
    results = run([bad.entry, lacking.entry, good.entry], tmp_path, Settings())
    assert [result.status for result in results] == ["failed", "skipped", "done"]
    assert "it broke" in results[0].error
    run([bad.entry, lacking.entry], tmp_path, Settings())
    assert (bad.calls, lacking.calls) == (2, 2)  # tried again


def test_the_report_is_one_page_with_everything_inside(good, tmp_path):
    bad = Counter("bad", RuntimeError("it <broke>"))
    results = run([good.entry, bad.entry], tmp_path, Settings(quick=True))
    page = write_report(
        tmp_path / "report.html", results, tmp_path / "figures", Settings(quick=True)
    ).read_text()
    assert page.count('src="data:image/png;base64,') == 1
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)  # nothing from outside
    assert "Title of &lt;good&gt;" in page
    assert "half &amp; half" in page
    assert "it &lt;broke&gt;" in page
    assert "-0.25 (-50 %)" in page
    assert "<p>Second.</p>" in page
    assert "Every statement, with its verdict" in page
    assert "no stacks above 20 spheres" in page  # what quick leaves out
    data = json.loads((tmp_path / "data" / "good.json").read_text())
    assert data["rows"][0] == {"quantity": "half & half", "paper": 0.5, "ours": 0.25, "why": "it <is> less"}


@pytest.mark.parametrize(
    ("paper", "ours", "text"),
    [
        (None, 1.0, "–"),
        (2.0, 2.0, "0"),
        (2.0, 2.5, "+0.5 (+25 %)"),
        (0.0, 0.5, "+0.5"),
        ("yes", "yes", "same"),
        ("yes", "no", ""),
        (1.0, float("nan"), "not a number"),
        (2.0, 2.00000000004, "same"),  # rounding of a computation, no difference
    ],
)
def test_differences(paper, ours, text):
    assert difference(Row("x", paper, ours)) == text


@pytest.mark.parametrize(
    ("paper", "ours", "texts"),
    [
        (99.9992, 99.9992, ("99.9992", "99.9992", "0")),
        (100.0, 99.9992, ("100", "99.9992", "-0.0008 (-0.0008 %)")),
        (None, 0.999992, ("–", "0.999992", "–")),
        (0.0930, 0.093017512, ("0.093", "0.09302", "as printed")),
        (0.0930, 0.0936, ("0.093", "0.0936", "+0.0006 (+0.645 %)")),
        (0.205539, 0.205541, ("0.205539", "0.205541", "+2e-06 (+0.000973 %)")),
        (2.0, 2.00000000004, ("2", "2", "same")),
        (8, 65536, ("8", "65536", "+6.6e+04 (+8.19e+05 %)")),
        ("contained", 1.23456789e-5, ("contained", "1.235e-05", "")),
    ],
)
def test_numbers_have_the_digits_that_tell(paper, ours, texts):
    """99.9992 % read as 100 beside the paper's 100."""
    assert cells(Row("x", paper, ours)) == texts


def test_the_fingerprint_knows_the_settings():
    assert fingerprint(Settings()) == fingerprint(Settings())
    assert fingerprint(Settings()) != fingerprint(Settings(quick=True))


@pytest.mark.parametrize("name", ["hp23-fig-1", "hp23-fig-2", "hp23-fig-3", "hp23-fig-6"])
def test_figures_without_sampling(name, tmp_path):
    (entry,) = choose(load(), [name])
    (result,) = run([entry], tmp_path, Settings(quick=True))
    assert result.status == "done", result.error
    assert all(row.paper == row.ours for row in result.rows)
