"""Every Python block of the documentation runs as it is written, and prints what it promises."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import site_blocks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if site_blocks.blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_blocks_run(page, tmp_path):
    if "import gymnasium" in page.read_text():
        pytest.importorskip("gymnasium")
    command = [sys.executable, str(DOCS / "site_blocks.py"), str(page)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_promises_are_kept(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 2\nprint(x, 0.123)\n# -> 2 0.1...\n```\n\n```python\nprint(x + 1)\n# -> 3\n```\n"
    )
    site_blocks.run(page)
    page.write_text("```python\nprint(2)\n# -> 3\n```\n")
    with pytest.raises(AssertionError, match="promises"):
        site_blocks.run(page)


def test_a_picture_that_no_block_wrote_is_missed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('```python\nname = "a.png"\n```\n\n![a](a.png)\n')
    with pytest.raises(AssertionError, match="did not write"):
        site_blocks.run(page)


def test_a_command_that_writes_a_picture_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\npip install nothing\nrouth run bouncing-ball --quiet --out ball.png  # a ball\n"
        "routh run nonsense --out other.png\n```\n\n![a ball](ball.png)\n"
    )
    assert site_blocks.made_by(page) == ["ball.png"]
    site_blocks.run(page)
    assert (tmp_path / "ball.png").read_bytes()[:4] == b"\x89PNG"
    assert not (tmp_path / "other.png").exists()


def test_the_guide_makes_promises():
    """A formatter that rewrote the sign of a promise would leave pages that promise nothing."""
    promises = [text for page in PAGES for block in site_blocks.blocks(page) for text in block.promised]
    assert len(promises) > 50


@pytest.mark.parametrize("page", sorted((DOCS / "measured").glob("*.md")), ids=lambda page: page.stem)
def test_every_measured_page_with_a_table_names_command_date_and_machine(page):
    text = page.read_text()
    if page.stem == "index" or "|---" not in text:
        return
    assert re.search(r"2026-\d\d-\d\d", text), "no date"
    assert re.search(r"Neoverse-N1|aarch64|H200|x86-64", text), "no machine"
    assert re.search(r"python benchmarks/|routh reproduce|pytest ", text), "no command"
