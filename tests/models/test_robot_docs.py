"""The examples of docs/guide/robots.md run as written, and print what their comments say."""

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "guide" / "robots.md"


def test_examples_run(capsys, tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    assert len(blocks) == 4
    names = {}
    for block in blocks:
        exec(compile(block, str(DOCUMENT), "exec"), names)
    printed = capsys.readouterr().out
    assert "('crate/floor', 'crate/floor#2', 'crate/floor#3', 'crate/floor#4')" in printed
    assert "breaks: still approaching at" in printed
    assert "True ['impact', 'close']\nTrue" in printed
    assert "('foot/ground',)" in printed
    assert "['SOLVED', 'NO_CONTACT', 'REFUSED']" in printed
    assert "crate/floor is 0.6 m deep; wanted at most 0.1 m (deepest=)" in printed
    assert "(3, 4, 6) (3, 4) (3,)" in printed
