"""Every notebook of examples/ runs from top to bottom, and shows pictures."""

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
LONGEST_TEXT = 5000  # characters that one cell shows: a result has a short repr


def test_there_are_six():
    assert len(NOTEBOOKS) == 6


def _has_picture(data):
    return "image/png" in data or "image/svg+xml" in data or "<img" in data.get("text/html", "")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent / "src"))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.setitem(os.environ, "JUPYTER_PLATFORM_DIRS", "1")
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "outputs are not kept in the repository"
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    shown = [output["data"] for output in outputs if "data" in output]
    assert sum(map(_has_picture, shown)) >= 2
    assert all(len(data.get("text/plain", "")) < LONGEST_TEXT for data in shown)
    complaints = [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert not [text for text in complaints if "Warning" in text]
