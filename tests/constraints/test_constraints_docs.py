"""The example of docs/theory/constraints.md runs as written."""

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "theory" / "constraints.md"


def test_the_example_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], str(DOCUMENT), "exec"), {})
    printed = capsys.readouterr().out
    assert "SOLVED" in printed
    assert "(101, 4, 3) (101, 4, 3)" in printed
