"""A user's project that is checked by mypy sees routh's types: README's snippet, and what is wrong in it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parents[1]
SNIPPET = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL))
KNOWN = """
reveal_type(outcomes.ambiguity)
reveal_type(block.nv)
reveal_type(routh.laws.Simultaneous()(block).status)
"""
WRONG = """
import routh

routh.smaple(routh.systems.get("rocking-block").problem, 10)
routh.ImpactProblem(1, 2, 3, names=4)
"""


def test_the_snippet_is_typed(tmp_path):
    (tmp_path / "snippet.py").write_text(SNIPPET + KNOWN)
    (tmp_path / "wrong.py").write_text(WRONG)
    # from the repository, with its settings: what its own run of mypy has kept is used again
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, sorted(tmp_path.glob("*.py")))]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    errors = [line for line in lines if ": error:" in line]
    assert errors, done.stderr
    assert all("wrong.py" in line for line in errors), done.stdout
    assert any("smaple" in line for line in errors)
    assert any("names" in line or "argument" in line for line in errors[1:])
    revealed = [line.partition('is "')[2] for line in lines if "Revealed type" in line]
    assert [text.rstrip('"').rpartition(".")[2] for text in revealed] == ["float", "int", "Status"]
