"""Progress in a notebook: the bar appears among the outputs of the cell."""

import os
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("xarray")


def test_progress_is_seen_in_a_notebook(tmp_path, monkeypatch):
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    monkeypatch.setenv("PYTHONPATH", path)
    code = (
        "import sweep_points\nfrom routh import sweep\n"
        f"study = sweep.study({str(tmp_path / 's')!r}, problems=sweep_points.block,\n"
        "                    over={'mu': [0.1, 0.2, 0.3]}, measure=[sweep.ambiguity(16)])\n"
        "study.run('here')\n"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    shown = str(book.cells[0].outputs)
    assert "points" in shown
    assert "3/3" in shown
    assert "RunReport(computed=3" in shown
