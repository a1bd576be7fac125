"""Every notebook of examples/ runs from top to bottom, shows pictures, and is stored with what it shows."""

import os
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
site_notebooks = pytest.importorskip("site_notebooks")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
LONGEST_TEXT = 5000  # characters that one cell shows: a result has a short repr
NUMBER = re.compile(r"[\d.e+-]+")
LARGEST = 100_000  # bytes of a notebook with its pictures


def test_there_are_six():
    assert len(NOTEBOOKS) == 6


def _has_picture(data):
    return "image/png" in data or "image/svg+xml" in data or "<img" in data.get("text/html", "")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setattr("os.environ", dict(os.environ))
    book, stored = site_notebooks.executed(path, tmp_path), nbformat.read(path, as_version=4)
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    shown = [output["data"] for output in outputs if "data" in output]
    assert sum(map(_has_picture, shown)) >= 2
    assert all(len(data.get("text/plain", "")) < LONGEST_TEXT for data in shown)
    complaints = [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert not [text for text in complaints if "Warning" in text]
    assert kinds(stored) == kinds(book), "python docs/site_notebooks.py stores what cells show"


NAMED = re.compile(r"`[^`]*`|\$[^$]*\$|\b(?:HP23's Algorithm \d|GPL-\d)")  # code, formulas and names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_number_in_the_text_is_in_a_cell_or_in_what_it_shows(path):
    cells = nbformat.read(path, as_version=4).cells
    shown = [cell.source + str(cell.outputs) for cell in cells if cell.cell_type == "code"]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    numbers = re.findall(r"\d+(?:\.\d+)?", NAMED.sub("", text))
    computed = set(re.findall(r"\d+(?:\.\d+)?", "\n".join(shown)))
    assert not [number for number in numbers if number not in computed]


def kinds(book):
    """What each cell shows: a picture, words; and the words of what it prints, without numbers."""
    return [
        [
            re.sub(r"[\d.e+-]+|\s+", " ", output["text"]).split()
            if "text" in output
            else sorted(output["data"])
            for output in site_notebooks.lasting(cell.outputs)
        ]
        for cell in book.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_notebooks_are_small_and_name_no_place(path):
    assert path.stat().st_size < LARGEST
    assert not re.search(r"/(?:home|root|tmp|Users|work)/", path.read_text())
