"""Bars of long calls: seen in notebooks once a call takes a while, and nowhere else."""

import pytest

import routh
from routh.base import progress

CALLS = {
    "futures": (
        "system = routh.systems.get('rocking-block')\n"
        "routh.simulate_many(system.model, system.state, n=3, duration=0.02)"
    ),
    "futures in processes": (
        "system = routh.systems.get('rocking-block')\n"
        "routh.simulate_many(system.model, system.state, n=3, duration=0.02, processes=2)"
    ),
    "points": (
        "routh.scan(lambda mu: routh.systems.impact('rocking-block', mu=mu), {'mu': [0.1, 0.5, 0.9]}, n=8)"
    ),
    "designs at most": (
        "from routh.robust import design\n"
        "design(lambda mu: routh.systems.impact('rocking-block', mu=mu), over={'mu': (0.2, 1.0)},\n"
        "       method='search', evaluations=3, n=16, check=16)"
    ),
}


def test_notebooks_show_a_bar_for_each_long_call():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    first = "import routh\nfrom routh.base import progress\nprogress.PATIENCE = progress._EVERY = 0.0"
    cells = [nbformat.v4.new_code_cell(code) for code in (first, *(f"{code};" for code in CALLS.values()))]
    book = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    for name, cell in zip(CALLS, book.cells[1:], strict=True):
        shown = [output["data"]["text/html"] for output in cell.outputs if "data" in output]
        bars = [html for html in shown if "<progress" in html]
        assert len(bars) == 1, name  # changed in place
        assert f"3/3 {name.removesuffix(' in processes')}" in bars[0], name


def test_a_bar_waits_and_is_redrawn_seldom(monkeypatch):
    now, drawn = [0.0], []
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "show", lambda html: drawn.append(html) or "handle")
    monkeypatch.setattr(progress, "change", lambda handle, html: drawn.append(html))
    with progress.counted(1000, "<b>") as tell:
        for done in range(1, 1001):
            now[0] += 0.01
            tell(done)
    assert 40 < len(drawn) < 60  # of ten seconds: from the first one on, five a second
    assert "100/1000 &lt;b&gt; 1 s" in drawn[0]
    assert "1000/1000" in drawn[-1]


def test_elsewhere_nothing_is_shown(capfd):
    assert list(progress.counted_through([1, 2], "things")) == [1, 2]
    routh.scan(lambda mu: routh.systems.impact("rocking-block", mu=mu), {"mu": [0.1, 0.5]}, n=8)
    assert capfd.readouterr() == ("", "")
